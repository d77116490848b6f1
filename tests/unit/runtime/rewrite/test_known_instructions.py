"""What the rewriter of instructions takes for granted is so in the running version of Python."""

from __future__ import annotations

import dis
import sys
from types import CodeType

import pytest

from mazurka.runtime.rewrite.bytecode import instructions, rewriting, rules
from mazurka.runtime.rewrite.bytecode.assembly import UnknownCodeError, disassemble
from mazurka.runtime.rewrite.bytecode.builder import Builder

NEVER_COMPILED = frozenset(
    {"ENTER_EXECUTOR", "TRACE_RECORD", "RESERVED", "INTERPRETER_EXIT", "EXIT_INIT_CHECK"}
)
"""Instructions that the interpreter alone makes."""


def instructions_of(source: str) -> list[dis.Instruction]:
    return list(dis.get_instructions(compile(source, "", "exec")))


def find(source: str, name: str) -> dis.Instruction:
    return next(one for one in instructions_of(source) if one.opname == name)


def test_every_instruction_is_known() -> None:
    names = (
        name
        for name, number in dis.opmap.items()
        if number < 256 and not name.startswith("INSTRUMENTED_")
    )
    code = compile("", "", "exec")
    builder = Builder(code, disassemble(code), (), is_open=True, fills=False)
    rewritten = rules.IN_CONTEXT | rules.InstructionRules(builder).by_name.keys()
    known = instructions.LEFT | rewritten | NEVER_COMPILED
    assert sorted(set(names) - known) == []


@pytest.mark.parametrize("sign", ["<", "<=", "==", "!=", ">", ">="])
def test_comparisons_have_their_numbers(sign: str) -> None:
    found = find(f"a {sign} b", "COMPARE_OP")
    assert found.arg is not None
    assert dis.cmp_op[found.arg >> instructions.COMPARISON_SHIFT] == sign


def test_truth_is_asked_where_it_was() -> None:
    names = {one.opname for one in instructions_of("if f: g")}
    assert ("TO_BOOL" in names) is not instructions.TRUTH_IS_ASKED
    if not instructions.TRUTH_IS_ASKED:
        tested = find("if a < b: g", "COMPARE_OP")
        assert tested.arg is not None
        assert tested.arg & instructions.COMPARISON_IS_TESTED


def test_calls_have_their_entries() -> None:
    names = [one.opname for one in instructions_of("f = g\nf(1)")]
    at = names.index("PUSH_NULL")
    assert names[at + (1 if instructions.EMPTY_FIRST else -1)].startswith("LOAD_")
    method = find("f().g()", "LOAD_ATTR" if instructions.METHODS_ARE_ATTRIBUTES else "LOAD_METHOD")
    assert method.argval == "g"
    names = [one.opname for one in instructions_of("f(*g)")]
    assert (names.count("PUSH_NULL") == 2) is instructions.NAMED_ARGUMENTS_ALWAYS


def test_numbers_are_those_of_the_interpreter() -> None:
    if sys.version_info >= (3, 12):
        assert find("+f", "CALL_INTRINSIC_1").arg == instructions.POSITIVE
    if sys.version_info >= (3, 14):
        assert find("a[b]", "BINARY_OP").arg == instructions.SUBSCRIPT
        taken = [one for one in instructions_of("with f: g") if one.opname == "LOAD_SPECIAL"]
        assert taken[0].arg == instructions.EXIT
        assert taken[0].argrepr == "__exit__"


def test_an_unknown_instruction_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "LEFT", instructions.LEFT - {"BUILD_TUPLE"})
    whole = compile("def f(a, b): return (a, b)", "an unknown instruction", "exec")
    code = next(one for one in whole.co_consts if isinstance(one, CodeType))
    with pytest.raises(UnknownCodeError, match="the instruction BUILD_TUPLE"):
        rewriting.rewrite_code(code)
