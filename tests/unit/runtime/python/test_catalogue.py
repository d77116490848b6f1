"""The catalogue: rows that contradict nobody, and a default that hides nothing."""

from __future__ import annotations

import marshal
import struct
import textwrap
import zlib
from pathlib import Path
from typing import Any

import pytest
from observed_programs import module_of

import mazurka
from mazurka.runtime.python import catalogue, functions
from mazurka.runtime.python.calls import performers
from mazurka.runtime.python.catalogue import METHODS, ROWS, CallEffect, effect_of, method_effect
from mazurka.runtime.python.events import Events
from mazurka.runtime.sharing.accesses import How

# -- rows ----------------------------------------------------------------------------------------


def test_no_function_has_two_rows() -> None:
    functions_in_rows = [function for _, row in ROWS for function in row]
    twice = {f for f in functions_in_rows if functions_in_rows.count(f) > 1}
    assert twice <= {catalogue.BATCHED}, "before Python 3.12 another name of `pairwise`"


def test_every_effect_is_performed() -> None:
    assert Events.call is not None, "whoever rewrites code has loaded all performers"
    assert {*performers, CallEffect.TOUCHES_NOTHING} == set(CallEffect)
    assert performers[CallEffect.TOUCHES_ALL] is functions.touch_all


# -- the default ---------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [marshal.dumps, struct.pack_into, zlib.crc32])
def test_a_function_without_a_row_touches_everything(function: Any) -> None:
    assert effect_of(function) is CallEffect.TOUCHES_ALL


@pytest.mark.parametrize("container", METHODS, ids=lambda kind: kind.__name__)
def test_a_method_without_a_row_changes_its_container(container: Any) -> None:
    for name in vars(container):
        method = getattr(container, name)
        if name in METHODS[container] or name in catalogue.ASIDE:
            continue
        if type(method) in catalogue.DESCRIPTORS:
            assert method_effect(container, name) is How.CHANGE


def test_an_unknown_method_of_an_object_of_c_code_changes_its_arguments() -> None:
    assert "readinto" not in catalogue.READS_ARGUMENTS
    assert "whatever" not in catalogue.READS_ARGUMENTS


HEAD = """
import array, decimal, io, marshal, operator, re, struct, threading

def together(*bodies):
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

"""
READS: dict[str, tuple[str, str, str]] = {
    "function": ("[0]", "shared[0] = 1", "marshal.dumps(shared)"),
    "function, deeply": ("[[0]]", "shared[0][0] = 1", "marshal.dumps(shared)"),
    "function, an object inside": (
        "[io.BytesIO(b'ab')]",
        "shared[0].read(1)",
        "operator.call(shared[0].tell)",
    ),
    "comparison, deeply": ("[[0]]", "shared[0][0] = 1", "operator.eq(shared, [[0]])"),
    "search, deeply": ("[[0]]", "shared[0][0] = 1", "operator.countOf(shared, [0])"),
    "comparison by a slot, deeply": ("[[0]]", "shared[0][0] = 1", "shared.__eq__([[0]])"),
    "order by a slot, deeply": ("[[0]]", "shared[0][0] = 1", "shared.__lt__([[1]])"),
    "text by a slot, deeply": ("([0],)", "shared[0][0] = 1", "shared.__repr__()"),
    "search by a method, deeply": ("[[0]]", "shared[0][0] = 1", "shared.count([0])"),
    "constructor": ("[0, (1,), 0]", "shared[2] = 1", "decimal.Decimal(shared)"),
    "constructor of a number": ("bytearray(b'1')", "shared[0] = 50", "int(shared)"),
    "method of a value": ("[1]", "shared[0] = 2", "sorted(frozenset().union(shared))"),
    "method of a pattern": (
        "bytearray(b'1')",
        "shared[0] = 50",
        "bool(re.match(b'1', shared))",
    ),
    "method of a text": ("{97: 'b'}", "shared[97] = 'c'", "'a'.translate(shared)"),
    "method that is not bound": ("['a']", "shared[0] = 'b'", "str.join('', shared)"),
    "value's method that is not bound": (
        "[1]",
        "shared[0] = 2",
        "sorted(frozenset.union(frozenset(), shared))",
    ),
    "method of a container": ("bytearray(b'1')", "shared[0] = 97", "shared.isdigit()"),
    "method of a container as a value": (
        "bytearray(b'1')",
        "shared[0] = 97",
        "(lambda f: f())(shared.isdigit)",
    ),
}
"""What threads share, what one of them does, and what the other reads, which depends on the order;
no row says so."""
WRITES: dict[str, tuple[str, str]] = {
    "function": ("bytearray(4)", "struct.pack_into('i', shared, 0, 1)"),
    "method of a value": ("bytearray(4)", "struct.Struct('i').pack_into(shared, 0, 1)"),
    "method of an object of C code": ("bytearray(4)", "io.BytesIO(b'abcd').readinto(shared)"),
    "method of a container": ("array.array('u', 'a')", "shared.fromunicode('b')"),
    "slot of a container": ("{0}", "shared.__ior__({1})"),
}
"""What threads share, and what changes it, though no row says so."""


def verdict_of(folder: Path, shared: str, one: str, other: str) -> str:
    """Whether what one thread reads can depend on what the other one does."""
    body = f"""
    shared, found = {shared}, []
    def change():
        {one}
    def look():
        found.append({other})
    before = {other}
    together(look, change)
    assert found == [before], found
    """
    source = f"{HEAD}def program():\n{textwrap.indent(textwrap.dedent(body), '    ')}"
    module = module_of(folder, source)
    result = mazurka.explore(module.program, preemptions=1)
    return result.verdict


@pytest.mark.parametrize("name", READS)
def test_what_code_without_a_row_reads_is_seen(tmp_path: Path, name: str) -> None:
    shared, one, other = READS[name]
    assert verdict_of(tmp_path, shared, one, other) == "violated"


@pytest.mark.parametrize("name", WRITES)
def test_what_code_without_a_row_changes_is_seen(tmp_path: Path, name: str) -> None:
    shared, one = WRITES[name]
    assert verdict_of(tmp_path, shared, one, "list(shared)") == "violated"
