"""Several searches at the same time; the first one that comes to its end has the answer.

They share one budget of memory.  The first choice begins with what the others cannot have, and the
others with a small share each.  A search that has stopped gives its share back: when the first
choice needs more, it asks the others to stop and goes on with all of it, and when it has stopped
itself, the others may have all of it.

A rival that fails is out of the race, and a notice says why: it cannot make an answer of another
search wrong, nor a lack of one right.  A failure of the first choice is one of the check.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextvars import copy_context
from dataclasses import dataclass, replace

from mazurka.deadline import TimeLimitError, seconds_left, undisturbed
from mazurka.errors import InternalError, UnsupportedError
from mazurka.ir.program import Program
from mazurka.search import (
    CUT_SHORT,
    Chosen,
    Observer,
    SearchOptions,
    SearchResult,
    Silent,
    Strategy,
)
from mazurka.search.resources import default_limit_bytes

RIVAL_SHARE = 8
"""The part of the memory with which each search beside the first choice begins."""
GRACE = 0.2
"""How many seconds searches have to stop in when the time is up."""


@dataclass(frozen=True)
class Contender:
    """A strategy, and what speaks for it."""

    strategy: Strategy
    reason: str


class Background(Silent):
    """The observer of a search that runs beside another one: it may say why there is a pause."""

    def __init__(self, observer: Observer) -> None:
        self.observer = observer

    def notice(self, text: str) -> None:
        self.observer.notice(text)


class Race:
    """The searches of one program by several contenders, the first choice first."""

    def __init__(
        self,
        program: Program,
        contenders: Sequence[Contender],
        options: SearchOptions,
        observer: Observer,
    ) -> None:
        self.program = program
        self.contenders = contenders
        self.observer = observer
        self.options = options
        self.over = threading.Event()
        self.cleared = threading.Event()
        """The first choice needs the memory of the others."""
        self.answers: dict[int, Chosen] = {}
        self.error: BaseException | None = None
        """Why the first choice has failed."""
        self.interrupted = False
        self.room = options.limit_bytes or default_limit_bytes()
        self.lanes: list[threading.Thread] = []

    def run(self) -> Chosen:
        if len(self.contenders) == 1:
            (alone,) = self.contenders
            return self.search(alone, self.options, self.observer)
        self.lanes = [self.make_lane(position) for position in range(1, len(self.contenders))]
        for lane in self.lanes:
            lane.start()
        self.work(0)
        try:
            self.wait_for_others()
        except KeyboardInterrupt:
            self.interrupted = True
            self.over.set()
            self.wait_for_others()
        return self.best()

    def make_lane(self, position: int) -> threading.Thread:
        """A thread for a contender; it has the same time limit as this one."""
        context = copy_context()
        return threading.Thread(target=context.run, args=(self.work, position), daemon=True)

    def wait_for_others(self) -> None:
        """Wait until all have stopped; when the time is up, not for one that does not notice."""
        with undisturbed():
            for lane in self.lanes:
                left = seconds_left()
                lane.join(None if left is None else left + GRACE)

    def work(self, position: int) -> None:
        observer = self.observer if position == 0 else Background(self.observer)
        try:
            chosen = self.search(self.contenders[position], self.options_for(position), observer)
        except BaseException as error:  # whatever it is, somebody is told
            if position == 0:
                self.error = error
                self.over.set()
            elif not isinstance(error, UnsupportedError | TimeLimitError):
                name = self.contenders[position].strategy.name
                self.observer.notice(f"{name} has failed, and is left out: {error!r}")
            return
        self.answers[position] = chosen
        if is_answer(chosen.result, self.options) or "interrupted" in chosen.result.limits:
            self.over.set()

    def search(self, contender: Contender, options: SearchOptions, observer: Observer) -> Chosen:
        strategy = contender.strategy
        if not options.properties <= strategy.preserves:
            raise InternalError(f"{strategy.name} does not preserve what it is asked for")
        return Chosen(strategy, contender.reason, strategy.run(self.program, options, observer))

    def options_for(self, position: int) -> SearchOptions:
        """What a contender is asked: as all, but with its share of the memory."""
        share = max(self.room // RIVAL_SHARE, 1)
        if position == 0:
            return replace(
                self.options,
                limit_bytes=self.room,
                share_bytes=max(self.room - len(self.lanes) * share, 1),
                cancelled=self.over.is_set,
                more_bytes=self.clear_memory,
            )
        return replace(
            self.options,
            limit_bytes=self.room,
            share_bytes=share,
            cancelled=lambda: self.over.is_set() or self.cleared.is_set(),
            more_bytes=self.inherit_memory,
        )

    def clear_memory(self) -> int:
        """Stop the other searches, and give all of the memory to the first choice."""
        self.cleared.set()
        self.wait_for_others()
        return self.room

    def inherit_memory(self) -> int:
        """What is there for the others when the first choice has stopped; 0 while it goes on."""
        return self.room // len(self.lanes) if 0 in self.answers else 0

    def best(self) -> Chosen:
        """An answer if there is one, else whatever the first choice has to say."""
        if self.error is not None:
            raise self.error
        for chosen in self.answers.values():
            if is_answer(chosen.result, self.options):
                return chosen
        chosen = self.answers[0]
        if self.interrupted:
            limits = tuple({*chosen.result.limits, "interrupted"} - {"cancelled"})
            chosen = replace(chosen, result=replace(chosen.result, limits=limits))
        return chosen


def is_answer(result: SearchResult, options: SearchOptions) -> bool:
    ended = result.violation is not None and options.stop_at_first
    return ended or CUT_SHORT.isdisjoint(result.limits)
