"""Code objects are taken apart and put together; rewritten ones do what the plain ones do."""

from __future__ import annotations

import collections
import dataclasses
import json.decoder
import json.encoder
import queue
import sys
import textwrap
import traceback
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest
from rewriting_snippets import SNIPPETS
from rewritten_sources import run_plain, under_control

from mazurka.runtime.core.sites import is_rewritten
from mazurka.runtime.rewrite.bytecode import rewriting
from mazurka.runtime.rewrite.bytecode.assembly import UnknownCodeError, assemble, disassemble
from mazurka.runtime.rewrite.bytecode.rewriting import rewrite_code
from mazurka.runtime.rewrite.bytecode.stack import EMPTY, entries_before

NOT_UNDER_CONTROL = {"async"}  # an event loop waits for sockets
MODULES = (collections, dataclasses, json.decoder, json.encoder, queue, textwrap, traceback)


def run_watched(source: str) -> ModuleType:
    """Run a source whose instructions have been rewritten."""
    module = ModuleType("snippet")
    code = compile(source, "snippet.py", "exec", dont_inherit=True)
    exec(rewrite_code(code, is_top=True), module.__dict__)
    return module


def codes_in(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


def library_codes() -> Iterator[CodeType]:
    for module in MODULES:
        spec = module.__spec__
        assert spec is not None
        loader: Any = spec.loader
        yield from codes_in(loader.get_code(module.__name__))


def test_what_is_taken_apart_is_put_together_as_it_was() -> None:
    count = 0
    for code in library_codes():
        again = assemble(code, disassemble(code), code.co_consts, code.co_stacksize)
        assert again.co_code == code.co_code
        assert again.co_exceptiontable == code.co_exceptiontable
        assert list(again.co_positions()) == list(code.co_positions())
        count += 1
    assert count > 300


def test_the_stack_is_known_before_each_instruction() -> None:
    for code in library_codes():
        stacks = entries_before(disassemble(code), code.co_names)
        assert max(map(len, stacks.values())) <= code.co_stacksize
        rewritten = rewrite_code(code)
        depths = entries_before(disassemble(rewritten), rewritten.co_names).values()
        assert max(map(len, depths)) <= rewritten.co_stacksize


def test_calls_have_an_empty_entry_beside_what_they_call() -> None:
    code = compile("f(1, g(2), k=3)", "", "eval")
    parts = disassemble(code)
    stacks = entries_before(parts, code.co_names)
    calls = [one for one in parts.instructions if one.name in ("CALL", "CALL_KW")]
    assert [stacks[id(one)].count(EMPTY) for one in calls] == [2, 1]


@pytest.mark.parametrize("name", SNIPPETS)
def test_watched_code_does_the_same(name: str) -> None:
    source = SNIPPETS[name]
    expected = repr(run_plain(source).result)
    assert repr(run_watched(source).result) == expected
    if name not in NOT_UNDER_CONTROL:
        assert under_control(lambda: repr(run_watched(source).result)) == expected


MORE = {
    "many constants and long jumps": """
def f(box, n):
    total = 0
    while n:
        n -= 1
        if n % 2:
            continue
"""
    + "".join(f"        box.n{i} = total = box.n{i - 1} + {i + 1000}\n" for i in range(1, 200))
    + """    return total, box.n199
class Box: n0 = 0
result = f(Box(), 3)
""",
    "named arguments": """
def f(*a, **k): return a, sorted(k.items())
def g(x, y):
    return f(x, k=y if x else f), f(*[x, y], k=1), f(*x, **{'a': y}), f(x, *y, z=2, **dict(w=3))
result = repr(g([1], [2]))
""",
    "exceptions": """
class A:
    def __enter__(self): return self
    def __exit__(self, *e): self.e = e[0]; return True
def f(d):
    out = []
    for k in 'ab':
        try:
            out.append(d[k])
        except KeyError as e:
            out.append(e.args)
        finally:
            out.append(k)
    with A() as a, A() as b:
        a.n[0]
    try:
        try: d.missing
        except* AttributeError as g: out.append(len(g.exceptions))
    except TypeError: out.append('t')
    return out, b.e, hasattr(a, 'e')
result = repr(f({'a': 1}))
""",
    "generators": """
def f(xs):
    got = yield len(xs)
    xs.append(got)
    yield from (x * 2 for x in xs if x)
    return 'end'
def g():
    end = yield from f([1, 2])
    yield end
it = g()
result = [next(it), it.send(5), *it]
""",
    "deleted names": """
x = 1
def f():
    global x
    del x
    try: x
    except NameError as e: return str(e)
result = f()
try: del y
except NameError as e: result += str(e)
z = 1
del z
result += str('z' in dir())
""",
    "texts": """
def f(s):
    ns = {}
    exec(s, ns)
    return ns['g'](eval(' 1 + n', {'n': 2}))
result = f('def g(a):\\n  return [a, a + 1][-1]')
""",
}


@pytest.mark.parametrize("name", MORE)
def test_more_code_does_the_same(name: str) -> None:
    expected = run_plain(MORE[name]).result
    assert run_watched(MORE[name]).result == expected
    assert under_control(lambda: run_watched(MORE[name]).result) == expected


def failing(values: list[int]) -> int:
    values.append(1)
    return (
        values[0]
        + values[7]
    )  # fmt: skip


def test_lines_are_those_of_the_source() -> None:
    plain = failing.__code__
    with pytest.raises(IndexError) as before:
        failing([])
    failing.__code__ = rewrite_code(plain)
    try:
        with pytest.raises(IndexError) as after:
            failing([])
    finally:
        failing.__code__ = plain
    where = [
        next(entry for entry in error.traceback if entry.name == "failing").lineno
        for error in (before, after)
    ]
    assert where[0] == where[1] == plain.co_firstlineno + 3


def test_the_same_code_keeps_its_places() -> None:
    text = "def f(o):\n    o.n += 1\n"
    one, other = (compile(text, "<string>", "exec") for _ in range(2))
    assert one is not other
    assert rewrite_code(one) is rewrite_code(other)
    assert rewrite_code(rewrite_code(one)) is rewrite_code(one)
    assert is_rewritten(rewrite_code(one))
    assert not is_rewritten(one)
    assert rewrite_code(compile(text, "<else>", "exec")) is not rewrite_code(one)


def test_what_is_not_understood_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    code = (lambda o: o.n * 31).__code__
    monkeypatch.setattr(rewriting, "NEWEST", (3, 10))
    with pytest.raises(UnknownCodeError, match=f"Python 3.{sys.version_info[1]}"):
        rewrite_code(code)


def test_jumps_into_the_middle_are_refused() -> None:
    def f(x: int) -> int:
        return 1 if x else 1 << x

    code = f.__code__
    units = bytearray(code.co_code)
    jump = next(at for at, one in _jumps(code) if one)
    units[jump + 1] = 250
    with pytest.raises(UnknownCodeError):
        rewrite_code(code.replace(co_code=bytes(units)))


def _jumps(code: CodeType) -> Iterator[tuple[int, bool]]:
    import dis

    for one in dis.get_instructions(code):
        yield one.offset, one.opname.startswith("POP_JUMP")


def test_functions_keep_their_signature_and_cells() -> None:
    def outer(a: int, *, b: int = 2) -> Any:
        def inner(c: int) -> int:
            nonlocal a
            a += c
            return a + b

        return inner

    function = FunctionType(rewrite_code(outer.__code__), globals(), "outer", None, None)
    function.__kwdefaults__ = {"b": 2}
    inner = function(1)
    assert inner.__code__.co_freevars == outer(1).__code__.co_freevars == ("a", "b")
    assert [inner(1), inner(2)] == [4, 6]
