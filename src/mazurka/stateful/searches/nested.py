"""Look for runs that violate a temporal formula: the Python side of the nested search.

The kernel (`mazurka.stateful.kernels.nested`) searches the product of the program and the automaton
of the negated formula.  What it finds is a lasso, which is judged from the definitions
(`mazurka.ltl.lassos`) before anybody hears of it.
"""

from __future__ import annotations

from dataclasses import replace

from mazurka.compiled.memory import Area
from mazurka.errors import InternalError, UnsupportedError
from mazurka.ir.native.step import native
from mazurka.ir.program import Program
from mazurka.ltl.automata import degeneralize, translate
from mazurka.ltl.claim import add_claim
from mazurka.ltl.fairness import find_conditions
from mazurka.ltl.formulas import Formula, negation
from mazurka.ltl.lassos import refute_lasso
from mazurka.search import Move, Observer, SearchOptions, Violation
from mazurka.search.result import LASSO
from mazurka.stateful import blocks
from mazurka.stateful.compiled.view import ProgramView
from mazurka.stateful.searches.kernel_search import KernelSearch

MOST_THREADS = 64
"""Of the program; sets of them are the bits of a word."""
BUFFERED = 3
"""Records in the buffer: a successor, and half of one."""


class NestedSearch(KernelSearch):
    kernel_name = "nested"
    where = blocks.FRAME
    stack_arrays = (blocks.STACK, blocks.PROGRESS, blocks.ABLE_AT, blocks.STOPPED_AT)

    def __init__(
        self,
        program: Program,
        formula: Formula,
        options: SearchOptions,
        observer: Observer,
        *,
        fair: bool = False,
    ) -> None:
        self.origin = program
        self.formula = formula
        self.fair = fair
        if len(program.threads) > MOST_THREADS:
            raise UnsupportedError(
                f"{len(program.threads)} threads; a formula is checked for at most {MOST_THREADS}"
            )
        claimed = add_claim(program, degeneralize(translate(negation(formula))))
        options = replace(options, symmetry=False, properties=frozenset())
        view = ProgramView(native(claimed.program), options)
        super().__init__(view, options, observer, extra_words=1)
        view.block.numbers[blocks.WORDS] = self.record_words
        self.frame_bytes = 8 * len(self.stack_arrays)
        for array in self.stack_arrays:
            view.keep(array, Area(self.limit_bytes // self.frame_bytes))
        view.keep(blocks.COLOURS, Area(self.limit_bytes // 64 + 1))
        self.enter_initial_state(blocks.BUFFER, BUFFERED * self.record_words, ((0,),))
        numbers = self.numbers
        numbers[blocks.ROOM] = view.kept[blocks.STACK].length
        numbers[blocks.CLAIM] = claimed.thread
        slot = self.layout.slots[claimed.program.threads[claimed.thread].counter]
        codes = range(1 << slot.width)
        known = [slot.points is None or code < len(slot.points) for code in codes]
        view.keep(
            blocks.ACCEPTING,
            Area.of(known[code] and slot.decode(code) in claimed.accepting for code in codes),
        )
        conditions = find_conditions(program, fair=fair)
        pairs = [number for each in conditions for number in (each.thread, each.fair)]
        view.keep(blocks.CONDITIONS, Area.of([*pairs, 0]))
        numbers[blocks.CONDITION_COUNT] = len(conditions)
        choices = [max(bounds) for bounds in self.layout.choices]
        numbers[blocks.MOST_MOVES] = max(choices[: claimed.thread])
        numbers[blocks.MOST_CLAIMS] = choices[claimed.thread]

    def deal_with(self, reason: int) -> bool:
        if reason != blocks.CYCLE:
            return super().deal_with(reason)
        self.conductor.violation = self.read_lasso()
        return True

    def read_lasso(self) -> Violation:
        """The lasso on the stack, judged."""
        numbers = self.numbers
        top, red_base = numbers[blocks.FRAME], numbers[blocks.RED_BASE]
        entries = self.view.kept[blocks.STACK].words
        frames = [*range(red_base - 1), *range(red_base, top + 1)] if red_base else range(top + 1)
        outer = range(red_base or top + 1)
        closed = numbers[blocks.CLOSED_AT]
        start = next(frame for frame in outer if entries[frame] == closed)
        moves = [self.move_at(frame) for frame in frames]
        path = tuple(move for move in moves if move is not None)
        if None in moves:  # the run ends, and the program stays from there on
            start = len(path)
        wrong = refute_lasso(self.origin, self.formula, path, start, fair=self.fair)
        if wrong is not None:
            raise InternalError(f"the interpreter does not confirm a counterexample: {wrong}")
        return Violation(LASSO, path, loop_start=start)

    def move_at(self, frame: int) -> Move | None:
        """The move last made from a frame; None where the program stays."""
        number = self.view.kept[blocks.PROGRESS].words[frame] - 1
        turn = number // self.numbers[blocks.MOST_CLAIMS]
        thread, choice = divmod(turn, self.numbers[blocks.MOST_MOVES])
        return None if thread == self.numbers[blocks.CLAIM] else Move(thread, choice)

    def mark_bytes(self) -> int:
        return self.store.size

    def other_bytes(self) -> int:
        return self.numbers[blocks.DEEPEST] * self.frame_bytes
