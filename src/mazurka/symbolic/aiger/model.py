"""A circuit as AIGER files have it.

Biere, Heljanko, Wieringa, *AIGER 1.9 and Beyond* (report 11/2, JKU Linz, 2011).  A variable is a
number from 1 on, a literal is `2 * variable + negated`; 0 is false and 1 is true.  Here variables
are always numbered as the binary form wants it: first the inputs, then the latches, then the
conjunctions, each of which has operands with smaller numbers.

| section | here | meaning |
|---|---|---|
| I | `inputs` | how many variables are free in every frame |
| L | `latches` | for each variable of the state the literal that it takes, and its first value |
| O | `outputs` | literals with no meaning for a model checker (before 1.9: what is bad) |
| A | `conjunctions` | for each further variable its two operands, the larger one first |
| B | `bad` | literals that no run may reach |
| C | `constraints` | literals that hold in every frame of a run |
| J | `justice` | sets of literals: no run may have all of a set again and again for ever |
| F | `fairness` | literals that runs with a loop must have again and again |
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

SECTIONS = {"i": "inputs", "l": "latches", "o": "outputs", "b": "bad", "c": "constraints"}
SECTIONS |= {"j": "justice", "f": "fairness"}
"""By the letter with which symbols begin, the part that they name."""


class AigerLatch(NamedTuple):
    """A bit of the state."""

    taken: int
    """The literal whose value it has in the next frame."""
    first: int | None
    """Its value in the first frame; None for any."""


@dataclass(frozen=True, kw_only=True)
class AigerCircuit:
    """The contents of an AIGER file."""

    inputs: int
    latches: tuple[AigerLatch, ...] = ()
    conjunctions: tuple[tuple[int, int], ...] = ()
    outputs: tuple[int, ...] = ()
    bad: tuple[int, ...] = ()
    constraints: tuple[int, ...] = ()
    justice: tuple[tuple[int, ...], ...] = ()
    fairness: tuple[int, ...] = ()
    symbols: dict[str, str] = field(default_factory=dict)
    """Names, by the letter of the section and the position in it: `l0` is the first latch."""
    comment: str = ""

    @property
    def variables(self) -> int:
        return self.inputs + len(self.latches) + len(self.conjunctions)

    @property
    def header(self) -> tuple[int, ...]:
        """The numbers of the first line; those at its end are left out where they are 0."""
        numbers = [self.variables, self.inputs, len(self.latches), len(self.outputs)]
        numbers.append(len(self.conjunctions))
        more = [len(self.bad), len(self.constraints), len(self.justice), len(self.fairness)]
        while more and not more[-1]:
            more.pop()
        return (*numbers, *more)

    def latch_literal(self, position: int) -> int:
        return 2 * (1 + self.inputs + position)

    def conjunction_literal(self, position: int) -> int:
        return 2 * (1 + self.inputs + len(self.latches) + position)
