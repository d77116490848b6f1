"""A program as a circuit: what every back end of the symbolic engine is given.

    circuit = encode(program, Interleaving.FULL)      # mazurka.symbolic.encoding

One *frame* of a circuit leads from a state to a next one.  Which steps a frame makes depends on the
interleaving: one step of one thread, or a round of many.  In terms of literals of `graph`:

| part | meaning |
|---|---|
| `latches` | the state: leaves with first values; `nexts` are the literals that they take |
| `inputs` | the free leaves: who moves, and what is chosen |
| `constraint` | a frame counts as a transition only where it holds |
| `bad` | by property or fault, that this state violates it, or that a step from it does; it may \
depend on inputs, and does not need `constraint` |
| `unknown` | like `bad`: a step whose loops were not unrolled often enough (`UNROLLING`), or that \
needs more than the model provides for (`Fault.BOUND`) |
| `events` | what happens in a frame, in order: for reading a schedule out of a model |

The states at the ends of transitions from the initial state are exactly the reachable states of the
program, apart from what lies behind `unknown` steps; and a property is violated exactly if `bad` is
possible in one of them, again apart from what lies behind `unknown` steps.  So a proof has to show
that both are impossible.  Nodes are numbered in topological order (`Aig.fanins`).
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from mazurka.ir.program import Fault, Program
from mazurka.search.result import LASSO
from mazurka.symbolic.environment import Latch, StateBits
from mazurka.symbolic.graphs.graph import Aig
from mazurka.symbolic.graphs.words import Word
from mazurka.symbolic.record import ChoiceKey

DEADLOCK = "deadlock"
OF_STATES = frozenset({DEADLOCK, LASSO})
"""What is bad in a state, and not because of a step from it."""
UNROLLING = "unrolling"


class Interleaving(enum.StrEnum):
    """Which steps make a frame."""

    FULL = "full"
    """One step of one thread."""
    PARTIAL_ORDER = "partial-order"
    """The same, of a thread in a conditional stubborn set of the state.  The ends of transitions
    are not all reachable states; violations, and states in which nobody moves, are as reachable as
    before."""
    TRANSACTIONS = "transactions"
    """A transaction: the same, with smaller sets, since what a thread can do only with a lock that
    another one holds comes after the holder's next step; and the thread runs on while nobody can
    interfere."""
    PEEPHOLE = "peephole"
    """One step of one thread, and two adjacent independent steps only in the order of their
    threads; `latches` remember the last step."""
    SWEEPS = "sweeps"
    """Each thread in turn runs on as far as it likes."""
    EARLIEST_SWEEPS = "earliest-sweeps"
    """The same, but only schedules in which each step has the earliest turn possible: for bounded
    searches.  The ends of transitions are then not all reachable states, and `latches` remember
    what others have done; violations are as reachable as before."""


REDUCED = frozenset({Interleaving.PARTIAL_ORDER, Interleaving.TRANSACTIONS})
"""Those that look at the state alone, and do not lead to all reachable states."""


class StepEvent(NamedTuple):
    """A step that takes place in a frame where the literal holds; `fault` is how it fails."""

    literal: int
    thread: int
    fault: Fault | None = None


class Rest(NamedTuple):
    """How to tell that paths of a circuit need not be followed further, though they have no end."""

    moving: int
    """A literal about a frame; where it does not hold, it will not hold in any later frame."""
    tail: int
    """How many transitions behind the last frame in which it holds lead to all that matters."""


@dataclass(frozen=True)
class Circuit:
    """A program as a transition system over bits; the module's docstring explains the parts."""

    program: Program
    graph: Aig
    bits: StateBits
    latches: tuple[Latch, ...]
    """First those of `bits`; behind them what an interleaving remembers beside the state."""
    nexts: tuple[int, ...]
    inputs: tuple[int, ...]
    constraint: int
    bad: Mapping[str, int]
    unknown: Mapping[str, int]
    ends: Mapping[str, int]
    """Other states in which nobody moves, where deadlocks are looked for: `stopped`, `ended`,
    `excused`, as `mazurka.symbolic.outlook.Standstills` has them."""
    events: tuple[StepEvent, ...]
    """In a frame that is `bad` because of a fault, the last of them is the first fault that
    holds.  A frame that is bad otherwise is so in its first state."""
    choices: Mapping[ChoiceKey, Word]
    """The inputs behind the choices of steps."""
    idles: bool
    """Whether a frame in which `constraint` does not hold changes nothing: such a frame may then
    count as a transition."""

    def describe(self) -> str:
        """What was encoded, for `--explain` and for tests."""
        counts = ("latch", "es", len(self.latches)), ("input", "s", len(self.inputs))
        parts = [f"{many:,} {noun}{'' if many == 1 else end}" for noun, end, many in counts]
        return f"{', '.join(parts)}, {self.graph.nodes:,} nodes"
