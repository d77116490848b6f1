"""The native searches find what the interpreter's unreduced search finds."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mazurka.ir.interpreter import Interpreter
from mazurka.ir.passes.liveness import reset_dead_locals
from mazurka.ir.program import Program, Span
from mazurka.report.selection import context_switches
from mazurka.search import SearchOptions, SearchResult, Silent, Violation
from mazurka.search.races import race_address
from mazurka.search.registry import load_strategy
from mazurka.stateful.reference.full import explore
from mazurka.stateful.searches import conduct
from mazurka.stateful.searches.minimize import FewestSwitches, fewest_steps, fewest_switches
from tests.soundness.amounts import shares
from tests.soundness.mover_models import program_of
from tests.soundness.profiles import random_programs
from tests.soundness.random_programs import random_program
from tests.soundness.replaying import replays

STATES = 3000
EVERYTHING = frozenset({"assert", "deadlock", "race"})


def search(program: Program, order: str, **options: object) -> SearchResult:
    chosen = SearchOptions(properties=EVERYTHING, order=order, **options)  # type: ignore[arg-type]
    return load_strategy("full").run(program, chosen, Silent())


@pytest.mark.parametrize("order", ["dfs", "bfs"])
@settings(random_programs, max_examples=shares(30))
@given(rng=st.randoms(use_true_random=False), faults=st.booleans())
def test_counts_and_verdict_are_the_oracles(order: str, rng: Random, faults: bool) -> None:
    program = reset_dead_locals(random_program(rng, faults=faults))
    whole = explore(program, limit=STATES)
    if not whole.complete:
        return
    everything = search(program, order, stop_at_first=False)
    assert everything.statistics.states == len(whole.states)
    assert everything.statistics.transitions == whole.transitions
    real = whole.kinds - {"bound"}
    assert ("bound" in whole.kinds) == bool(everything.limits)
    assert (everything.violation is not None) == bool(real)
    first = search(program, order)
    assert (first.violation is not None) == bool(real)
    for violation in (everything.violation, first.violation):
        if violation is not None:
            assert violation.kind in real
            assert replays(program, violation)


def test_a_schedule_passes_a_failed_assertion_only_if_nobody_asked_for_it() -> None:
    """The effects of a step that fails remain, and only these let the other thread fail."""
    program = program_of("""
        seen = [0, 0]
        at: Int[0, 2] = 0
        def first():
            global at
            with atomic():
                at = 2
                assert at == 0
        def second():
            seen[at] = 1
        threads = [first(), second()]
    """)
    options = SearchOptions(properties=frozenset({"deadlock"}), stop_at_first=False)
    found = load_strategy("full").run(program, options, Silent()).violation
    assert found is not None
    assert found.kind == "index"
    assert [move.thread for move in found.path] == [0, 1, 1]
    assert replays(program, found, options.properties)
    assert not replays(program, found)


@settings(random_programs, max_examples=shares(20))
@given(rng=st.randoms(use_true_random=False))
def test_breadth_first_counterexamples_are_shortest(rng: Random) -> None:
    program = reset_dead_locals(random_program(rng))
    whole = explore(program, limit=STATES)
    found = search(program, "bfs").violation
    if not whole.complete or found is None:
        return
    lengths = [len(whole.path_to(state)) for state in whole.deadlocks]
    lengths += [len(whole.path_to(state)) for state, *_ in whole.races]
    lengths += [
        len(whole.path_to(state)) for state, _, report in whole.faults if report.fault != "bound"
    ]
    before = len(found.path) - (found.kind not in ("deadlock", "race"))
    assert before == min(lengths)


def where_it_fails(program: Program, violation: Violation) -> Span | None:
    """Where the last step fails, if it does."""
    interpreter, state, line = Interpreter(program), program.initial_state(), None
    for move in violation.path:
        step = interpreter.step(state, move.thread, move.choice)
        state, line = step.state, step.fault.span if step.fault else None
    return line


def switches_by_brute_force(program: Program, violation: Violation) -> int:
    """The fewest switches to a violation of the same kind (and line), by plain search."""
    interpreter = Interpreter(program)
    deadlocks = set(explore(program).deadlocks)
    line = where_it_fails(program, violation)
    threads = range(len(program.threads))
    level = {(program.initial_state(), thread) for thread in threads}
    seen = set(level)
    for switches in range(10_000):
        todo = list(level)
        level = set()
        while todo:
            state, last = todo.pop()
            happened = [step for _, step in interpreter.steps(state) if step.happened]
            if violation.kind == "deadlock" and state in deadlocks:
                return switches
            if violation.kind == "race" and any(
                race_address(program, one, other) is not None
                for one in happened
                for other in happened
                if one.thread != other.thread
            ):
                return switches
            for step in happened:
                same = step.thread == last
                if step.fault and (step.fault.fault, step.fault.span) == (violation.kind, line):
                    if same:
                        return switches
                    level.add(((), 0))
                node = (step.state, step.thread)
                if node not in seen and same:
                    seen.add(node)
                    todo.append(node)
        if ((), 0) in level:
            return switches + 1
        closed = list(seen)
        for state, last in closed:
            for _, step in interpreter.steps(state):
                node = (step.state, step.thread)
                if step.happened and node not in seen and step.thread != last:
                    level.add(node)
        seen |= level
    raise AssertionError("not found")


@settings(random_programs, max_examples=shares(13))
@given(rng=st.randoms(use_true_random=False))
def test_minimized_counterexamples_have_the_fewest_switches(rng: Random) -> None:
    program = reset_dead_locals(random_program(rng))
    if not explore(program, limit=400).complete:
        return
    found = search(program, "dfs").violation
    if found is None:
        return
    best = fewest_switches(program, found, SearchOptions(), Silent())
    assert best is not None
    assert best.kind == found.kind
    assert replays(program, best)
    assert context_switches(best.path) <= context_switches(found.path)
    switches = context_switches(best.path)
    assert switches == switches_by_brute_force(program, found)
    assert FewestSwitches(program, found, Silent()).find(SearchOptions(), below=switches) is None
    interrupted = FewestSwitches(program, found, Silent())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conduct, "FIRST_SLICE", 1)
        early = interrupted.find(SearchOptions(limit_transitions=1))
    assert (early or interrupted.find(SearchOptions(), below=switches + 1)) == best


@settings(random_programs, max_examples=shares(8))
@given(rng=st.randoms(use_true_random=False))
def test_shortened_counterexamples_are_shortest_for_their_violation(rng: Random) -> None:
    program = reset_dead_locals(random_program(rng))
    whole = explore(program, limit=400)
    found = search(program, "dfs").violation
    if not whole.complete or found is None:
        return
    best = fewest_steps(program, found, SearchOptions(), Silent())
    assert best is not None
    assert best.kind == found.kind
    assert replays(program, best)
    if found.kind == "deadlock":
        assert len(best.path) == min(len(whole.path_to(state)) for state in whole.deadlocks)
    elif found.kind == "race":
        assert len(best.path) == min(len(whole.path_to(state)) for state, *_ in whole.races)
    else:
        line = where_it_fails(program, found)
        assert len(best.path) == 1 + min(
            len(whole.path_to(state))
            for state, _, report in whole.faults
            if (report.fault, report.span) == (found.kind, line)
        )
