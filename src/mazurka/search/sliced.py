"""Tell violations of a program without what nothing depends on by the program itself.

`mazurka.ir.passes.slicing` has the proof.  A step of the sliced program passes some edges; the
program itself passes the same ones, perhaps in more steps, since it has more that others could
notice.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING

from mazurka.errors import InternalError
from mazurka.ir.program import Mode
from mazurka.search.result import Move, Violation

if TYPE_CHECKING:
    from mazurka.ir.passes.slicing import SlicedProgram

SLICEABLE = frozenset({"assert", "deadlock"})
"""What a sliced program may be searched for."""


def tell_violation(sliced: SlicedProgram, violation: Violation) -> Violation:
    """Tell a violation of a sliced program by the steps of the program itself."""
    follower = _SlicedRun(sliced)
    for move in violation.path:
        follower.follow(move)
    return replace(violation, path=tuple(follower.moves))


class _SlicedRun:
    """Takes the steps of both programs side by side."""

    def __init__(self, sliced: SlicedProgram) -> None:
        from mazurka.ir.interpreter import Interpreter

        self.sliced = sliced
        self.inner, self.outer = Interpreter(sliced.program), Interpreter(sliced.origin)
        self.state = sliced.program.initial_state()
        self.own_state = sliced.origin.initial_state()
        self.moves: list[Move] = []

    def follow(self, move: Move) -> None:
        """Take one step of the sliced program, and what belongs to it."""
        from mazurka.ir.passes.samples import RecordedChoices

        run = RecordedChoices(self.sliced.program, self.state, move.thread, move.choice)
        step = self.inner.finish(run, self.state)
        if not step.happened:
            raise InternalError("a schedule of the sliced program cannot be followed")
        self.state = step.state
        chosen, left = deque(run.made), deque(step.edges)
        while left:
            self.take(move.thread, left, chosen)

    def take(self, thread: int, left: deque[int], chosen: deque[tuple[int, int]]) -> None:
        """Take one step of the program itself, along the edges that are left."""
        number = self.find_choice(left, chosen)
        step = self.outer.step(self.own_state, thread, number)
        if not step.happened:
            raise InternalError("a schedule of the sliced program is none of the program itself")
        self.own_state = step.state
        self.moves.append(Move(thread, number))
        for edge in step.edges:
            if not left or edge != left.popleft():
                raise InternalError("the sliced program goes another way")

    def find_choice(self, left: deque[int], chosen: deque[tuple[int, int]]) -> int:
        """The number of the choices of a step along these edges; what was left out is 0."""
        number, scale = 0, 1
        edges = self.sliced.origin.edges
        for position, edge in enumerate(left):
            if position and self.mode_at(edge) is Mode.VISIBLE:
                break
            if chosen and chosen[0][0] == edge:
                number += scale * chosen.popleft()[1]
            scale *= edges[edge].choices
        return number

    def mode_at(self, edge: int) -> Mode:
        """The mode of the location that an edge leaves, in the program itself."""
        origin = self.sliced.origin
        for first, thread in zip(
            reversed(origin.first_edge), reversed(origin.threads), strict=True
        ):
            if edge >= first:
                return thread.locations[origin.edges[edge].source].mode
        raise AssertionError("edges are numbered from 0 on")
