"""Add the automaton of a formula to a program, as one more thread.

The thread has a location for each state of the automaton, and a step of it is a transition: it
chooses one, and inside the same atomic section tests what that demands of the program's state;
where it is not met, the choice is not possible.  So the step functions of the interpreter and of
the native code serve for the automaton as well.  It is an observer, reads cells and writes none but
its own.

A search must not let it move like a thread: a step of the product is one step of this thread and
then one of the program (`mazurka.stateful.searches.nested`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from mazurka.ir.expressions import ONE, ZERO, Binary, Choice, Conditional, Const, Expr, Load, negate
from mazurka.ir.program import (
    FIRST_LOCATION,
    Assign,
    Cell,
    Edge,
    Kind,
    Location,
    Mode,
    Program,
    Role,
    Span,
    Thread,
)
from mazurka.ltl.automata import BuchiAutomaton, Letter

NAME = "formula"
SPAN = Span("", 0)


@dataclass(frozen=True)
class ClaimedProgram:
    """A program with an automaton beside it."""

    program: Program
    thread: int
    """The number of the thread that is the automaton."""
    accepting: frozenset[int]
    """The locations of that thread that are accepting."""


def add_claim(program: Program, automaton: BuchiAutomaton) -> ClaimedProgram:
    number = len(program.threads)
    counter, choice = len(program.cells), len(program.cells) + 1
    states = len(automaton.transitions)
    most = max(1, *(len(row) for row in automaton.transitions))
    resting = Location(Mode.VISIBLE, resets=(choice,))
    reserved = program.threads[0].locations[:FIRST_LOCATION]
    locations = (*reserved, *[resting] * states, *[Location(Mode.ATOMIC)] * states)
    edges: list[Edge] = []
    for state, row in enumerate(automaton.transitions):
        if not row:
            continue
        here, inside = FIRST_LOCATION + state, FIRST_LOCATION + states + state
        chosen = (Assign(Const(choice), Choice()),)
        edges.append(Edge(here, inside, Kind.LOCAL, SPAN, None, chosen, choices=len(row)))
        for position, (letter, target) in enumerate(row):
            taken = Binary("eq", Load(Const(choice)), Const(position))
            guard = Conditional(taken, demand(letter), ZERO)
            edges.append(Edge(inside, FIRST_LOCATION + target, Kind.ACCESS, SPAN, guard))
    thread = Thread(
        NAME, counter, FIRST_LOCATION, locations, tuple(edges), active=True, observer=True
    )
    cells = (
        *program.cells,
        Cell(NAME, 0, len(locations) - 1, FIRST_LOCATION, number, Role.COUNTER),
        Cell(f"{NAME} choice", 0, most - 1, 0, number),
    )
    whole = replace(program, cells=cells, threads=(*program.threads, thread))
    accepting = frozenset(FIRST_LOCATION + state for state in automaton.accepting)
    return ClaimedProgram(whole, number, accepting)


def demand(letter: Letter) -> Expr:
    """An expression that is true where the program's state meets what a transition demands."""
    whole: Expr = ONE
    for proposition, sign in sorted(letter, key=repr):
        literal = proposition if sign else negate(proposition)
        whole = literal if whole == ONE else Conditional(whole, literal, ZERO)
    return whole
