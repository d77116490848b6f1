"""Several searches at the same time; the first one that comes to its end has the answer.

They share one budget of memory.  The first choice begins with what the others cannot have, and the
others with a small share each.  A search that has stopped gives its share back: when the first
choice needs more, it asks the others to stop and goes on with all of it, and when it has stopped
itself, the others may have all of it.

A contender that works *apart*, in processes of its own (a solver), looks at the program in another
way: it may decide what none of the others can.  So it keeps its share when the others need more, it
goes on where somebody outside stops the others, and it has decided only if it says something about
all executions.

One that *begins late* waits until somebody says so, and takes nothing from the first choice: of
memory it has a share like the others, and gives it back when the first choice needs more; where all
processors are busy, the last of the others stops for it.

A rival that fails is out of the race, and a notice says why: it cannot make an answer of another
search wrong, nor a lack of one right.  A failure of the first choice is one of the check.  A first
choice that refuses the program leaves the race to the others; the refusal stands if nobody answers.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field, replace

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
from mazurka.search.resources import default_limit_bytes, processors

RIVAL_SHARE = 8
"""The part of the memory with which each search beside the first choice begins."""
APART_SHARE = 4
"""The part of the memory that is kept for a search that works apart."""
LOOK_SECONDS = 0.1
"""How long one that begins late waits until it asks again whether it is time."""
LEAST_SECONDS = 1e-9
GRACE = 0.2
"""How many seconds searches have to stop in when the time is up."""


@dataclass(frozen=True)
class Contender:
    """A strategy, and what speaks for it."""

    strategy: Strategy
    reason: str
    apart: bool = False
    """Whether it works in processes of its own; the first choice only where all others do."""
    tuning: Mapping[str, object] = field(default_factory=dict)
    """Options of the strategy's own that nobody has asked for."""
    begins: Callable[[], bool] | None = None
    """For one that works apart and begins late: whether it is time."""


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
        self.all_bytes = options.limit_bytes or default_limit_bytes()
        self.apart = sum(each.apart and each.begins is None for each in contenders[1:])
        """How many beside the first choice work apart, from the beginning."""
        kept = min(self.apart * self.all_bytes // APART_SHARE, self.all_bytes // 2)
        if contenders[0].apart:  # all do, and share alike
            kept = self.apart * self.all_bytes // len(contenders)
        self.room = self.all_bytes - kept
        """The memory of those that do not work apart."""
        self.lanes: dict[int, threading.Thread] = {}
        self.replaced: set[int] = set()
        """Those that have stopped for one that begins late."""
        self.began = time.perf_counter()

    def run(self) -> Chosen:
        if len(self.contenders) == 1:
            (alone,) = self.contenders
            return self.search(alone, self.options, self.observer)
        self.lanes = {each: self.make_lane(each) for each in range(1, len(self.contenders))}
        for lane in self.lanes.values():
            lane.start()
        self.work(0)
        try:
            self.wait_for(self.lanes)
        except KeyboardInterrupt:
            self.interrupted = True
            self.over.set()
            self.wait_for(self.lanes)
        return self.best()

    @property
    def rivals(self) -> list[int]:
        """Those beside the first choice that share its memory."""
        return [
            position
            for position in self.lanes
            if not self.contenders[position].apart or self.contenders[position].begins is not None
        ]

    def make_lane(self, position: int) -> threading.Thread:
        """A thread for a contender; it has the same time limit as this one."""
        context = copy_context()
        return threading.Thread(target=context.run, args=(self.work, position), daemon=True)

    def wait_for(self, positions: Iterable[int]) -> None:
        """Wait until they have stopped; when the time is up, not for one that does not notice."""
        with undisturbed():
            for position in positions:
                left = seconds_left()
                self.lanes[position].join(None if left is None else left + GRACE)

    def work(self, position: int) -> None:
        observer = self.observer if position == 0 else Background(self.observer)
        if not self.wait_to_begin(position):
            return
        try:
            chosen = self.search(self.contenders[position], self.options_for(position), observer)
        except BaseException as error:  # whatever it is, somebody is told
            if position == 0:
                self.error = error
                if not isinstance(error, UnsupportedError):
                    self.over.set()
            elif not isinstance(error, UnsupportedError | TimeLimitError):
                name = self.contenders[position].strategy.name
                self.observer.notice(f"{name} has failed, and is left out: {error!r}")
            return
        self.answers[position] = chosen
        if self.has_answered(position) or "interrupted" in chosen.result.limits:
            self.over.set()

    def wait_to_begin(self, position: int) -> bool:
        """Wait until a contender is to begin; whether it is, before the first choice has stopped
        or needs all of the memory."""
        contender = self.contenders[position]
        if contender.begins is None:
            return True
        while not (self.over.is_set() or self.cleared.is_set() or 0 in self.answers):
            if contender.begins():
                self.make_room(position)
                self.observer.message(f"{contender.strategy.name} beside it: {contender.reason}")
                return True
            left = seconds_left()
            if left is not None and left <= 0:
                return False
            self.over.wait(LOOK_SECONDS)
        return False

    def make_room(self, position: int) -> None:
        """Stop the last of the others where there are more than processors."""
        busy = [each for each, lane in self.lanes.items() if lane.is_alive() and each != position]
        others = [each for each in busy if not self.contenders[each].apart]
        if others and 1 + len(busy) >= processors():
            self.replaced.add(max(others))

    def has_answered(self, position: int) -> bool:
        """Whether a contender that has stopped has the answer."""
        result = self.answers[position].result
        if self.contenders[position].apart:
            return result.violation is not None or not result.limits
        return is_answer(result, self.options)

    def search(self, contender: Contender, options: SearchOptions, observer: Observer) -> Chosen:
        strategy = contender.strategy
        if not options.properties <= strategy.preserves:
            raise InternalError(f"{strategy.name} does not preserve what it is asked for")
        options = replace(options, tuning={**options.tuning, **contender.tuning})
        return Chosen(strategy, contender.reason, strategy.run(self.program, options, observer))

    def options_for(self, position: int) -> SearchOptions:
        """What a contender is asked: as all, but with its share of the memory."""
        options = replace(self.options, limit_bytes=self.room, cancelled=self.is_over)
        share = max(self.room // RIVAL_SHARE, 1)
        if position == 0:
            rest = max(self.room - len(self.rivals) * share, 1)
            return replace(options, share_bytes=rest, more_bytes=self.clear_memory)
        if self.contenders[position].begins is not None:
            return self.options_for_late(options, position, share)
        if self.contenders[position].apart:
            lost = options.dispensable - self.contenders[position].strategy.preserves
            return replace(
                options,
                properties=options.properties - lost,
                cancelled=self.over.is_set,
                limit_bytes=self.all_bytes,
                share_bytes=max((self.all_bytes - self.room) // self.apart, 1),
                more_bytes=lambda: self.all_bytes if self.others_have_stopped(position) else 0,
            )
        return replace(
            options,
            share_bytes=share,
            cancelled=lambda: self.is_over() or self.cleared.is_set() or position in self.replaced,
            more_bytes=self.inherit_memory,
        )

    def options_for_late(self, options: SearchOptions, position: int, share: int) -> SearchOptions:
        """What one that begins late is asked: as one that works apart, in the time that is left."""
        limit = options.limit_seconds
        spent = time.perf_counter() - self.began
        lost = options.dispensable - self.contenders[position].strategy.preserves
        return replace(
            options,
            properties=options.properties - lost,
            limit_seconds=None if limit is None else max(limit - spent, LEAST_SECONDS),
            share_bytes=share,
            cancelled=lambda: self.over.is_set() or self.cleared.is_set(),
            more_bytes=self.inherit_memory,
        )

    def is_over(self) -> bool:
        """Whether those that share memory need not go on: there is an answer, or somebody outside
        has stopped them."""
        outside = self.options.cancelled
        return self.over.is_set() or (outside is not None and outside())

    def others_have_stopped(self, position: int) -> bool:
        lanes = [lane for each, lane in self.lanes.items() if each != position]
        return 0 in self.answers and not any(lane.is_alive() for lane in lanes)

    def clear_memory(self) -> int:
        """Stop the rivals, and give all of their memory to the first choice."""
        self.cleared.set()
        self.wait_for(self.rivals)
        return self.room

    def inherit_memory(self) -> int:
        """What is there for the rivals when the first choice has stopped; 0 while it goes on."""
        return self.room // len(self.rivals) if 0 in self.answers else 0

    def best(self) -> Chosen:
        """An answer if there is one, else whatever the first choice has to say."""
        if not isinstance(self.error, UnsupportedError | TimeLimitError | None):
            raise self.error
        for position, chosen in self.answers.items():
            if self.has_answered(position):
                return chosen
        if self.error is not None:
            raise self.error
        chosen = self.answers[0]
        notes = (*chosen.result.notes, *self.describe_apart())
        chosen = replace(chosen, result=replace(chosen.result, notes=notes))
        if self.interrupted:
            limits = tuple({*chosen.result.limits, "interrupted"} - {"cancelled"})
            chosen = replace(chosen, result=replace(chosen.result, limits=limits))
        return chosen

    def describe_apart(self) -> Iterator[str]:
        """How far those came that work apart beside the first choice, and have not decided."""
        for position, chosen in self.answers.items():
            if position and self.contenders[position].apart:
                figures = chosen.result.statistics
                far = f"{figures.unrolled or 0:,} {figures.unrolled_unit}s"
                ended = "; ".join(chosen.result.limits)
                yield f"{chosen.strategy.name} beside it: no violation within {far}, then {ended}"


def is_answer(result: SearchResult, options: SearchOptions) -> bool:
    ended = result.violation is not None and options.stop_at_first
    return ended or CUT_SHORT.isdisjoint(result.limits)
