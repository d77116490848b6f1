"""The native step function on programs built by hand; random ones are in tests/soundness."""

from __future__ import annotations

import ctypes
from collections import Counter
from itertools import product

import pytest
from operator_cases import BINARY_CASES, CONVERT_CASES, LARGEST, SMALLEST, UNARY_CASES
from step_programs import (
    blocked_section,
    creation,
    merged_assume,
    passing_resets,
    section_counting,
    section_with_fault,
    two_choices,
    uneven_choices,
)
from tests.soundness.agreement import NativeRunner, disagreement
from tests.unit.ir.programs import Builder, crossed_locks, load, lost_update, put

from mazurka.compiled.memory import Area
from mazurka.ir.expressions import BINARY_OPERATORS, Binary, Const, Convert, Expr, Unary
from mazurka.ir.interpreter import Interpreter
from mazurka.ir.native.step import INVALID, NativeProgram, generate_assembly, native
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import FINISHED, Kind, Program

PROGRAMS = {
    "two choices": two_choices(),
    "uneven choices": uneven_choices(),
    "blocked section": blocked_section(Kind.AWAIT),
    "stopped section": blocked_section(Kind.ASSUME),
    "merged assumption": merged_assume(),
    "resets": passing_resets(),
    "fault in a section": section_with_fault(),
    "creation": creation(),
    "lost update": lost_update(),
    "crossed locks": crossed_locks(),
    "section of 65,536 edges": section_counting(65_535),
    "section of 65,537 edges": section_counting(65_536),
    "section that repeats": section_counting(9, 3),
}

CORNERS = (0, 1, -1, 2, -7, 63, 64, LARGEST, SMALLEST)


def calculator(results: list[Expr]) -> Program:
    """Cells 1 and 2 are operands of 64 bits, cell 3 takes the result of thread k's expression."""
    builder = Builder()
    for name in ("a", "b", "result"):
        builder.shared(name, SMALLEST, LARGEST)
    for expr in results:
        body = builder.thread()
        body.edge(body.at(), FINISHED, put(3, expr))
    return builder.program()


@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees_with_the_interpreter(name: str) -> None:
    covered: Counter[str] = Counter()
    assert disagreement(PROGRAMS[name], covered=covered) is None
    assert covered["states"] >= 1


def test_the_comparison_notices_another_program() -> None:
    """The runner of one program disagrees with the steps of another."""
    right, wrong = section_with_fault(), blocked_section(Kind.AWAIT)
    state = right.initial_state()
    step = Interpreter(right).step(state, 0)
    assert NativeRunner(right).compare(state, 0, step) is None
    assert NativeRunner(wrong).compare(state, 0, step) is not None


def test_every_binary_operator_on_every_pair_of_corners() -> None:
    operators = sorted(BINARY_OPERATORS)
    program = calculator([Binary(operator, load(1), load(2)) for operator in operators])
    runner, interpreter = NativeRunner(program), Interpreter(program)
    expected = {(o, x, y): result for o, x, y, result in BINARY_CASES}
    operands = {(x, y) for _, x, y, _ in BINARY_CASES} | set(product(CORNERS, CORNERS))
    start = program.initial_state()
    for left, right in operands:
        state = (0, left, right, *start[3:])
        for thread, operator in enumerate(operators):
            step = interpreter.step(state, thread)
            assert runner.compare(state, 0, step) is None
            known = expected.get((operator, left, right), step.state[3])
            assert step.state[3] == known


def test_unary_operators_and_conversions() -> None:
    results: list[Expr] = [Unary(operator, load(1)) for operator, _, _ in UNARY_CASES]
    results += [Convert(load(1), width, signed) for _, width, signed, _ in CONVERT_CASES]
    values = [(x, result) for _, x, result in UNARY_CASES]
    values += [(x, result) for x, _, _, result in CONVERT_CASES]
    program = calculator(results)
    runner, interpreter = NativeRunner(program), Interpreter(program)
    start = program.initial_state()
    for thread, (operand, result) in enumerate(values):
        state = (0, operand, *start[2:])
        step = interpreter.step(state, thread)
        assert step.state[3] == result
        assert runner.compare(state, 0, step) is None


def test_a_footprint_that_does_not_fit_says_so_and_writes_no_further() -> None:
    builder = Builder()
    cells = [builder.shared(f"c{number}", 0, 1) for number in range(5)]
    body = builder.thread()
    body.edge(body.at(), FINISHED, *(put(cell, 1) for cell in cells))
    compiled = NativeProgram(builder.program())
    step = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 5)(compiled.recording_step.address)
    words = compiled.layout.words
    source = Area.of(compiled.layout.pack(compiled.program.initial_state()))
    target = Area(words)
    for capacity in (2, 5):
        footprint = Area(16)
        footprint.numbers[0] = capacity
        assert step(source.address, 0, 0, target.address, footprint.address) == 0
        found = footprint.numbers.tolist()
        written = min(capacity, len(cells))
        assert found[2 : 2 + written] == [2 * cell + 1 for cell in cells[:written]]
        assert (found[1] > capacity) == (capacity < len(cells))
        assert not any(found[capacity + 3 :])


def test_there_is_no_thread_behind_the_last() -> None:
    compiled = NativeProgram(lost_update())
    step = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 5)(compiled.step.address)
    source, target = Area(compiled.layout.words), Area(compiled.layout.words)
    assert step(source.address, 2, 0, target.address, 0) == INVALID


def test_native_code_is_made_once_for_each_program() -> None:
    program, same = lost_update(), lost_update()
    assert native(program) is native(program)
    assert native(program) is not native(same)


def test_the_text_is_the_same_each_time() -> None:
    """Nothing may depend on the order of sets: runs must be repeatable."""
    texts = {
        generate_assembly(NativeProgram(prepare(lost_update())).layout, record=True)
        for _ in range(3)
    }
    assert len(texts) == 1


def test_constants_of_64_bits() -> None:
    program = calculator([Const(SMALLEST), Const(LARGEST), Const(-1)])
    assert disagreement(program, limit=50) is None
