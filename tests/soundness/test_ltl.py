"""Temporal formulas: models whose answer is known, and random programs against the product."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from mazurka.frontend.python.elaboration import elaborate
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import Program
from mazurka.ltl.lassos import refute_lasso, shorten_lasso
from mazurka.ltl.parsing import parse_formula
from mazurka.ltl.propositions import ProgramNames, may_merge
from mazurka.stateful.reference.ltl import MarkedStep, check_formula, find_components
from mazurka.symbolic.aiger.exporting import export_circuit
from mazurka.symbolic.aiger.model import AigerCircuit
from mazurka.symbolic.circuit import Interleaving
from mazurka.symbolic.temporal.runs import encode_runs
from tests.soundness.aiger_agreement import evaluate
from tests.soundness.ltl_agreement import (
    AGREES,
    NESTED,
    UNDECIDED,
    compare_formula,
    search_by,
    search_nested,
)

TURNS = """\
from mazurka.model import *
x: Int[0, 1] = 0
y: Int[0, 1] = 0
m = Mutex()
def flips():
    global x
    while True:
        x = 1 - x
def writes():
    global y
    with m:
        y = 1
threads = [flips(), writes()]
"""
STOPS = """\
from mazurka.model import *
x: Int[0, 1] = 0
y: Int[0, 1] = 0
def stops():
    global y
    assume(x == 1)
    y = 1
def writes():
    global x
    x = choose(0, 1)
threads = [stops(), writes()]
"""
WAITS = """\
from mazurka.model import *
done: Int[0, 1] = 0
a = Mutex()
b = Mutex()
def one():
    global done
    with a:
        with b:
            done = 1
def two():
    with b:
        with a:
            pass
threads = [one(), two()]
"""
COUNTS = f"""\
from mazurka.model import *
x: Int[0, 12] = 0
def counts():
    global x
{"".join(f"    x = {k + 1}{chr(10)}" for k in range(12))}
threads = [counts()]
"""
CASES = [
    # model, formula, weak fairness, holds
    (TURNS, "F y", False, False),
    (TURNS, "F y", True, True),
    (TURNS, "G F x", False, True),  # the other thread ends, so this one must go on
    (TURNS, "G F x", True, True),
    (TURNS, "F G x", True, False),
    (TURNS, "G (y -> G y)", False, True),
    (TURNS, "!y U (m || G !y)", False, True),
    (TURNS, "G (m -> F !m)", False, False),
    (TURNS, "G (m -> F !m)", True, True),
    (TURNS, "F writes@end", True, True),
    (TURNS, "G (x -> X !x)", False, False),
    (STOPS, "F y", True, True),  # the run in which the assumption fails is left out
    (STOPS, "F x", True, True),
    (STOPS, "F x", False, True),  # a thread that is passed over for ever needs another that moves
    (WAITS, "F done", True, False),  # the deadlock: its last state is repeated
    (WAITS, "G !done || F done", False, True),
    (COUNTS, "G F x < 12", True, False),  # only the last state says so, after twelve steps
    (COUNTS, "F G x == 12", True, True),
]


SYMBOLIC = ("bdd", "bmc", "pdr")


def program_of(model: str) -> Program:
    return prepare(elaborate(model, "model.py"), merge=False)


@pytest.mark.parametrize(("model", "text", "fair", "holds"), CASES)
def test_models_with_known_answers(model: str, text: str, fair: bool, holds: bool) -> None:
    program = program_of(model)
    formula = parse_formula(text, ProgramNames(program))

    assert check_formula(program, formula, fair=fair).violated is not holds
    for strategy in (NESTED, *SYMBOLIC):
        found = search_by(strategy, program, formula, fair=fair)
        assert (found.violation is None) is holds
        # Bounded search knows all runs where they come to rest.
        assert bool(found.limits) is (holds and strategy == "bmc" and model is TURNS)


def test_random_programs_against_the_product() -> None:
    compared = 0
    for seed in range(40):
        found = compare_formula(seed)
        if found is not None:
            assert set(found.answers.values()) == {AGREES}, found
            compared += 1
    assert compared >= 20


def test_random_programs_in_the_symbolic_engine() -> None:
    """Bounded search finds what there is and never more; the search for invariants decides."""
    told: dict[str, set[str]] = {}
    for seed in (0, 2):
        found = compare_formula(seed, SYMBOLIC)
        if found is not None:
            assert not found.differs, found
            for strategy, answer in found.answers.items():
                told.setdefault(strategy, set()).add(answer)
    assert told["bmc"] == {AGREES, UNDECIDED}
    assert told["pdr"] == told["bdd"] == {AGREES}


LATE = """\
from mazurka.model import *
x: Int[0, 1] = 0
y: Int[0, 1] = 0
def stops():
    global x
    x = 1
    k = choose(1, 1) + 1
    k = k + 1
    assume(y == k)
def goes_on():
    while True:
        yield_()
threads = [stops(), goes_on()]
"""


SPINS = """
from mazurka.model import Int, atomic, yield_
x: Int[0, 1] = 0
y: Int[0, 1] = 0
def sets():
    global x
    x = 1
    while True:
        yield_()
def spins():
    global y
    with atomic():
        while x == 1:
            pass
    y = 0
threads = [sets(), spins()]
"""


def test_a_thread_may_stay_before_its_assumption() -> None:
    program = program_of(LATE)
    formula = parse_formula("G !x", ProgramNames(program))

    assert not may_merge(program, formula, fair=False)
    assert may_merge(program, formula, fair=True)
    assert check_formula(program, formula).violated
    assert not check_formula(program, formula, fair=True).violated
    assert not check_formula(prepare(elaborate(LATE, "model.py")), formula, fair=True).violated


def test_a_lasso_is_short_where_the_run_ends() -> None:
    program = program_of(WAITS)
    formula = parse_formula("F done", ProgramNames(program))
    found = search_nested(program, formula, fair=True).violation

    assert found is not None
    assert found.kind == "ltl"
    assert found.loop_start == len(found.path)


def test_induction_proves_a_formula() -> None:
    program = program_of(STOPS)
    formula = parse_formula("F y", ProgramNames(program))
    found = search_by("k-induction", program, formula, fair=True)

    assert found.violation is None
    assert not found.limits
    assert found.statistics.proof is not None


@pytest.mark.parametrize("strategy", ["bdd", "bmc", "k-induction", "pdr", "portfolio"])
def test_a_step_that_never_ends_is_no_run_that_violates_a_formula(strategy: str) -> None:
    program = program_of(SPINS)
    for text, violated in (("G !y", False), ("G !x", True)):
        formula = parse_formula(text, ProgramNames(program))
        found = search_by(strategy, program, formula, fair=False)
        assert (found.violation is not None) == violated
        assert found.violation is None or found.violation.kind == "ltl"
        assert violated or "a step never ends" in found.limits


def test_a_lasso_is_shortened() -> None:
    """Three rounds of a loop, entered after one more: a single round is left."""
    program = program_of(TURNS)
    formula = parse_formula("F y", ProgramNames(program))
    found = search_by("bmc", program, formula, fair=False).violation
    assert found is not None
    assert found.loop_start == 0
    long = replace(found, path=found.path * 4, loop_start=len(found.path))
    assert refute_lasso(program, formula, long.path, long.loop_start or 0, fair=False) is None

    assert shorten_lasso(program, formula, long, fair=False) == found


def find_fair_loop(circuit: AigerCircuit) -> bool:
    """Whether a justice property of a circuit is possible, from the definition of AIGER's."""
    first = tuple(latch.first or 0 for latch in circuit.latches)
    (justice,) = circuit.justice
    graph: dict[Any, list[MarkedStep]] = {}
    waiting = [first]
    while waiting:
        state = waiting.pop()
        if state in graph:
            continue
        graph[state] = []
        for inputs in product((0, 1), repeat=circuit.inputs):
            values = evaluate(circuit, state, inputs)
            if all(values[each] for each in circuit.constraints):
                after: Any = tuple(values[latch.taken] for latch in circuit.latches)
                marks = frozenset(n for n, each in enumerate(justice) if values[each])
                graph[state].append(MarkedStep(after, None, marks))
                waiting.append(after)
    for component in find_components(graph):
        inside = [each for state in component for each in graph[state] if each.target in component]
        if inside and len(frozenset().union(*(each.marks for each in inside))) == len(justice):
            return True
    return False


@pytest.mark.parametrize(("model", "text", "fair", "holds"), [CASES[n] for n in (0, 1, 4, 14)])
def test_exported_runs_have_a_fair_loop_where_the_formula_is_violated(
    model: str, text: str, fair: bool, holds: bool
) -> None:
    program = program_of(model)
    runs = encode_runs(program, parse_formula(text, ProgramNames(program)), fair=fair)
    circuit = export_circuit(runs.circuit, Interleaving.FULL, justice=[runs.justice])

    assert circuit.inputs <= 4
    assert find_fair_loop(circuit) is not holds
