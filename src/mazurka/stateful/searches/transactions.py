"""Searches by transactions, round after round, until the synchronization discipline holds.

Paper 002's optimistic approach: assume, search, and where the search shows an assumption to be
wrong, weaken it and search again.  Each round weakens at least one assumption for good, and there
are finitely many, so the rounds come to an end.  What the earlier rounds have seen of the cells is
kept: every state they reached can really be reached.

A round is a search by `mazurka.stateful.kernels.transactions` under one discipline.  One that
breaks the discipline goes on for a while, to learn of other cells that break it as well.  A
violation that it finds meanwhile is real.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property

from mazurka.analysis.discipline import Broken, Discipline
from mazurka.analysis.laws import MoverUse
from mazurka.analysis.locksets import Protection, classify_cells
from mazurka.analysis.static_facts import find_static_facts
from mazurka.compiled.memory import Area
from mazurka.errors import InternalError
from mazurka.ir.interpreter import State, Step
from mazurka.ir.native.step import NativeProgram
from mazurka.search import CUT_SHORT, CellClass, Move, Observer, Round, SearchOptions, SearchResult
from mazurka.stateful import blocks
from mazurka.stateful.searches.discipline_tables import DisciplineTables
from mazurka.stateful.searches.kernel_search import StackSearch
from mazurka.stateful.variants import MOVERS, Completion, Transaction

LOOK_AHEAD = 8
"""How many successors are made before the first is looked up, where all threads are explored."""
LINGER = 1 << 12
"""How many transitions a round that has broken the discipline goes on for at least."""


class TransactionRound(StackSearch):
    """One search under one discipline."""

    kernel_name = "transactions"

    def __init__(
        self,
        native: NativeProgram,
        options: SearchOptions,
        observer: Observer,
        how: Transaction,
        discipline: Discipline,
    ) -> None:
        super().__init__(native, options, observer)
        self.how = how
        self.discipline = discipline
        self.tables = DisciplineTables(self.view, discipline, how.mover_use)
        self.info_bytes = info_bytes(len(self.layout.program.threads), how.mover_use)
        self.broken: Broken | None = None
        self.broken_at: tuple[State, Step] | None = None
        self.last_transition = 0
        self.conductor.stops.sampled = how.completion is Completion.NONE
        self.enter_search()

    def enter_search(self) -> None:
        view, numbers, words = self.view, self.numbers, self.layout.words
        view.keep(blocks.INFO, Area(self.limit_bytes // 8, scattered=True))
        self.enter_initial_state(
            blocks.BUFFER, LOOK_AHEAD * (words + blocks.SUCCESSOR_WORDS) + words
        )
        numbers[blocks.MOST_SUCCESSORS] = LOOK_AHEAD
        self.enter_initial_state(blocks.INITIAL, words)
        view.keep(blocks.INITIAL_MASKS, self.local_masks())
        numbers[blocks.INFO_BYTES] = self.info_bytes
        numbers[blocks.COMPLETION] = self.how.completion
        numbers[blocks.INNER_LOOP] = self.how.inner_loop

    def local_masks(self) -> Area:
        """For each thread the bits of its local cells."""
        words, program = self.layout.words, self.layout.program
        masks = Area(words * len(program.threads))
        for cell, slot in zip(program.cells, self.layout.slots, strict=True):
            if cell.owner is not None and slot.width:
                masks.words[cell.owner * words + slot.word] |= slot.mask << slot.shift
        return masks

    # --- what stands on the stack -------------------------------------------------------------

    def state_at(self, frame: int) -> State:
        return self.layout.unpack(self.words_at(frame))

    def move_of(self, frame: int) -> Move:
        """The move last tried in a frame."""
        word = self.frames.words[frame]
        width = blocks.FRAME_TID_SHIFT - blocks.FRAME_CHOICE_SHIFT
        choice = word >> blocks.FRAME_CHOICE_SHIFT & (1 << width) - 1
        width = blocks.FRAME_NUM_SHIFT - blocks.FRAME_TID_SHIFT
        return Move(word >> blocks.FRAME_TID_SHIFT & (1 << width) - 1, choice - 1)

    def path(self, frame: int) -> tuple[Move, ...]:
        """The schedule that leads to the state of a frame."""
        moves: list[Move] = []
        for earlier in range(frame):
            move = self.move_of(earlier)
            moves.append(move)
            if self.how.inner_loop:
                moves += self.steps_between(earlier, move)
        return tuple(moves)

    def steps_between(self, frame: int, move: Move) -> Iterator[Move]:
        """The invisible steps that were run through on the way to the next frame."""
        goal = self.state_at(frame + 1)
        interpreter = self.conductor.interpreter
        state = interpreter.step(self.state_at(frame), move.thread, move.choice).state
        while state != goal:
            yield Move(move.thread)
            state = interpreter.step(state, move.thread).state

    # --- slices -------------------------------------------------------------------------------

    def slice(self, budget: int) -> bool:
        """A round that has broken its discipline is over some time after that."""
        if self.broken is not None:
            budget = min(budget, self.last_transition - self.numbers[blocks.TRANSITIONS])
        over = super().slice(budget)
        transitions = self.numbers[blocks.TRANSITIONS]
        return over or (self.broken is not None and transitions >= self.last_transition)

    def deal_with(self, reason: int) -> bool:
        if reason == blocks.BROKEN:
            self.refine(self.numbers[blocks.FRAME])
        return super().deal_with(reason)

    def mark_bytes(self) -> int:
        return self.store.size * self.info_bytes

    def refine(self, frame: int) -> None:
        """The kernel has met an access that the discipline forbids: find another discipline."""
        self.tables.read_back()
        move = Move(self.numbers[blocks.MOVE_THREAD], self.numbers[blocks.MOVE_CHOICE])
        found = self.breaking_step(self.state_at(frame), move)
        if self.broken is None:
            self.broken, self.broken_at = found[0], found[1:]
            done = self.numbers[blocks.TRANSITIONS]
            self.last_transition = 2 * done + LINGER
        self.tables.enter()

    def breaking_step(self, state: State, move: Move) -> tuple[Broken, State, Step]:
        """Let the discipline look at the step in question, and at those run through behind it."""
        interpreter = self.conductor.interpreter
        while True:
            step = interpreter.step(state, move.thread, move.choice)
            try:
                self.discipline.mover(state, step)
            except Broken as broken:
                return broken, state, step
            if not self.how.inner_loop or not step.happened or step.state == state:
                raise InternalError("the native code sees a broken discipline, the interpreter not")
            state, move = step.state, Move(move.thread)


def info_bytes(threads: int, mover_use: MoverUse) -> int:
    """Bytes for each state: flags, and a bit for each thread that can be before its commit."""
    bits = blocks.INFO_FIRST_THREAD + (threads if mover_use is MoverUse.FULL else 0)
    return -(-bits // 8)


class TransactionSearch:
    """The rounds of one search."""

    def __init__(
        self, code: NativeProgram, options: SearchOptions, observer: Observer, how: Transaction
    ) -> None:
        self.code = code
        self.options = options
        self.observer = observer
        self.how = how
        self.discipline = Discipline(code.program, options.value(MOVERS))
        self.rounds: list[Round] = []
        self.classes: dict[int, CellClass] = {}
        self.started = time.perf_counter()

    def run(self) -> SearchResult:
        while True:
            search = TransactionRound(
                self.code, self.remaining_options(), self.observer, self.how, self.discipline
            )
            result = search.run()
            search.tables.read_back()
            self.classify()
            if search.broken is None or self.is_final(result):
                return self.answer(result)
            self.rounds.append(Round(result.statistics, reason_for(search)))
            self.observer.message(f"round {len(self.rounds) + 1}: {self.rounds[-1].reason}")

    def remaining_options(self) -> SearchOptions:
        """A time limit is for all rounds together."""
        limit = self.options.limit_seconds
        if limit is None:
            return self.options
        left = limit - (time.perf_counter() - self.started)
        return replace(self.options, limit_seconds=max(left, 1e-9))

    def is_final(self, result: SearchResult) -> bool:
        """Whether a round that broke the discipline ends the search all the same."""
        if result.violation is not None and self.options.stop_at_first:
            return True
        return not CUT_SHORT.isdisjoint(result.limits)

    def classify(self) -> None:
        """Note each cell's class, with the round from which on it has had it."""
        cells, number = self.code.program.cells, len(self.rounds) + 1
        for address, kind, locks in self.discipline.cells():
            names = ", ".join(cells[lock].name for lock in locks) or None
            before = self.classes.get(address)
            if before is None or (before.kind, before.lock) != (kind, names):
                name = cells[address].name
                self.classes[address] = CellClass(name, kind, names, number, address)

    def answer(self, result: SearchResult) -> SearchResult:
        classification = tuple(self.classes[address] for address in sorted(self.classes))
        if result.violation is not None and self.options.stop_at_first:
            classification = ()  # the search has not seen every access
        return replace(
            result,
            classification=classification,
            rounds=tuple(self.rounds),
            notes=(*result.notes, *self.notes(result), *self.self_check(result)),
        )

    def can_race(self, address: int) -> bool:
        """Whether a cell is touched by anything but atomic operations; observers do not count."""
        program = self.code.program
        accesses = find_static_facts(program).laws.accesses.get(address, [])
        watching = [access for access in accesses if program.threads[access.thread].observer]
        if watching and self.unobserved[address].kind != "unprotected":
            return False
        return any(not access.edge.indivisible for access in accesses if access not in watching)

    @cached_property
    def unobserved(self) -> Mapping[int, Protection]:
        """How the threads share the cells if nobody watches them."""
        return classify_cells(self.code.program, observed=False).cells

    def self_check(self, result: SearchResult) -> Iterator[str]:
        if self.options.self_check and CUT_SHORT.isdisjoint(result.limits):
            from mazurka.stateful.self_check import check_transactions

            yield check_transactions(self.code.program, self.options, self.how, result)

    def notes(self, result: SearchResult) -> Iterator[str]:
        """What the user should know of cells without protection, and of wrong declarations."""
        yield from self.discipline.corrections
        exposed = [
            each.cell
            for address, each in sorted(self.classes.items())
            if each.kind == "unprotected" and self.can_race(address)
        ]
        if not exposed or result.violation is not None or not CUT_SHORT.isdisjoint(result.limits):
            return
        movers = self.options.value(MOVERS)
        if movers != MOVERS.default and "race" not in self.options.properties:
            yield f"not shown to be protected (--movers {movers}): {join_names(exposed)}"
        elif "race" not in self.options.properties:
            yield (
                f"may have data races: {join_names(exposed)}; `--property race` tells"
                " whether two accesses can really meet"
            )
        else:
            yield f"unprotected, but no two conflicting accesses can meet: {join_names(exposed)}"


def join_names(names: list[str], most: int = 6) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def reason_for(search: TransactionRound) -> str:
    """A sentence about what broke the discipline of a round."""
    assert search.broken is not None
    assert search.broken_at is not None
    program = search.layout.program
    broken, (state, step) = search.broken, search.broken_at
    thread = program.threads[broken.thread]
    edges = [program.edges[number] for number in step.edges]
    edges = edges or list(thread.edges_at(state[thread.counter]))
    where = f" ({thread.name}, {edges[0].span})" if edges else f" ({thread.name})"
    return f"`{program.cells[broken.cell].name}` {broken.reason}{where}"


def mover_use_for(options: SearchOptions) -> MoverUse:
    """Right movers lose deadlocks and races: they count only where nobody asks for these."""
    return MoverUse.FULL if options.properties <= {"assert"} else MoverUse.BLOCKING
