"""The checking mode: a search is repeated on the interpreter, and the two must agree.

For `full` that is the unreduced reference search.  For transactions it is paper 000's algorithm in
plain Python (`mazurka.stateful.completion`), which asserts the invariants of Theorem 2 on what it
has explored.  Slow: a few thousand states a second.
"""

from __future__ import annotations

from mazurka.analysis.discipline import Discipline
from mazurka.errors import InternalError
from mazurka.ir.program import Program
from mazurka.stateful.completion import Completion, assert_theorem_2, explore_transactions
from mazurka.stateful.reference import explore
from mazurka.stateful.strategy import SearchOptions, SearchResult
from mazurka.stateful.transactions import Transaction

OPTIONAL = {"assert", "deadlock", "race"}


def check_full(program: Program, options: SearchOptions, result: SearchResult) -> str:
    found = explore(program, races="race" in options.properties)
    _require_verdict(found.kinds, options, result)
    _require_counts(len(found.states), found.transitions, options, result)
    return f"self-check: the interpreter's search of all {len(found.states):,} states agrees"


def check_transactions(
    program: Program, options: SearchOptions, how: Transaction, result: SearchResult
) -> str:
    done, _ = explore_transactions(
        program,
        how.completion,
        reading=how.reading,
        races="race" in options.properties,
        discipline=Discipline(program, options.movers),
    )
    claim = ""
    if how.completion in (Completion.COMMIT_POINTS, Completion.EVERY_STATE):
        assert_theorem_2(done)
        claim = " and keeps Theorem 2's invariants"
    _require_verdict(done.kinds, options, result)
    states = len(done.states)
    if not how.inner_loop:
        _require_counts(states, done.transitions, options, result)
    return f"self-check: the interpreter's search of {states:,} states agrees{claim}"


def _require_verdict(kinds: set[str], options: SearchOptions, result: SearchResult) -> None:
    wanted = kinds - (OPTIONAL - options.properties) - {"bound"}
    if bool(wanted) != (result.violation is not None):
        raise InternalError(
            f"self-check: the interpreter finds {sorted(wanted) or 'nothing'}, the search does not"
            " agree"
        )


def _require_counts(
    states: int, transitions: int, options: SearchOptions, result: SearchResult
) -> None:
    if result.violation is not None and options.stop_at_first:
        return
    counted = (result.statistics.states, result.statistics.transitions)
    if counted != (states, transitions):
        raise InternalError(
            f"self-check: {counted[0]:,} states and {counted[1]:,} transitions, but"
            f" {states:,} and {transitions:,} on the interpreter"
        )
