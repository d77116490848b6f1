"""The checking mode: a search is repeated on the interpreter, and the two must agree.

For `full` that is the unreduced reference search.  For transactions it is paper 000's algorithm in
plain Python (`stateful.reference.cpc`), which asserts the invariants of Theorem 2 on what it
has explored; for cartesian vectors paper 003's (`stateful.reference.cartesian`), which must cover
the same states.  Slow: a few thousand states a second.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from mazurka.analysis.discipline import Discipline
from mazurka.errors import InternalError
from mazurka.ir.interpreter import State
from mazurka.ir.program import Program
from mazurka.search import SearchOptions, SearchResult
from mazurka.stateful.quotient import code_for
from mazurka.stateful.reference.cartesian import Cartesian
from mazurka.stateful.reference.cpc import GivenUp, assert_theorem_2, explore_transactions
from mazurka.stateful.reference.full import explore
from mazurka.stateful.reference.stubborn import explore_persistent
from mazurka.stateful.variants import (
    CYCLE_RULE,
    MOVERS,
    Completion,
    CycleRule,
    Proviso,
    Relation,
    Transaction,
)

UNFINISHED = "self-check: the interpreter did not come to an end within the time limit"
OPTIONAL = {"assert", "deadlock", "hang", "race"}


def check_full(program: Program, options: SearchOptions, result: SearchResult) -> str:
    code = code_for(program, options)
    found = explore(
        code.program,
        races="race" in options.properties,
        hangs="hang" in options.properties,
        stop=_time_is_up(options),
        symmetry=code.symmetry,
    )
    if not found.complete:
        return UNFINISHED
    _require_verdict(found.kinds, options, result)
    _require_counts(len(found.states), found.transitions, options, result)
    return f"self-check: the interpreter's search of all {len(found.states):,} states agrees"


def check_transactions(
    program: Program, options: SearchOptions, how: Transaction, result: SearchResult
) -> str:
    try:
        done, _ = explore_transactions(
            program,
            how.completion,
            mover_use=how.mover_use,
            races="race" in options.properties,
            hangs="hang" in options.properties,
            discipline=Discipline(program, options.value(MOVERS)),
            stop=_time_is_up(options),
        )
    except GivenUp:
        return UNFINISHED
    claim = ""
    if how.completion in (Completion.COMMIT_POINTS, Completion.EVERY_STATE):
        assert_theorem_2(done)
        claim = ", and the invariants of paper 000's Theorem 2 hold"
    _require_verdict(done.kinds, options, result)
    states = len(done.states)
    if not how.inner_loop:
        _require_counts(states, done.transitions, options, result)
    return f"self-check: the interpreter's search of {states:,} states agrees{claim}"


def check_cartesian(
    program: Program, options: SearchOptions, result: SearchResult, covered: set[State]
) -> str:
    """`covered` are the states of the search itself, which a number would not tell apart."""
    rule = CycleRule(options.value(CYCLE_RULE))
    written = Cartesian(program, rule)
    if not written.model_check(_time_is_up(options)):
        return UNFINISHED
    _require_verdict(written.kinds, options, result)
    counted = written.transitions if rule is CycleRule.TABLE1 else written.moves
    _require_counts(len(written.covered), counted, options, result)
    if not covered <= written.covered:
        raise InternalError("self-check: the interpreter's cartesian vectors lead to other states")
    states = len(written.covered)
    return f"self-check: the interpreter's search of {states:,} cartesian vectors agrees"


def check_persistent(
    program: Program,
    options: SearchOptions,
    relation: Relation,
    proviso: Proviso,
    result: SearchResult,
) -> str:
    code = code_for(program, options)
    done = explore_persistent(
        code.program,
        relation=relation,
        proviso=proviso,
        races="race" in options.properties,
        hangs="hang" in options.properties,
        stop=_time_is_up(options),
        symmetry=code.symmetry,
    )
    if not done.complete:
        return UNFINISHED
    _require_verdict(done.kinds, options, result)
    _require_counts(len(done.states), done.transitions, options, result)
    return f"self-check: the interpreter's search of {len(done.states):,} states agrees"


def _time_is_up(options: SearchOptions) -> Callable[[], bool]:
    """The time limit, if there is one, is granted to the interpreter once more."""
    if options.limit_seconds is None:
        return lambda: False
    end = time.perf_counter() + options.limit_seconds
    return lambda: time.perf_counter() > end


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
