"""Rewritten code does what the plain one does."""

from __future__ import annotations

import importlib
import importlib.util
import types
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any

import pytest
from rewriting_snippets import SNIPPETS
from rewritten_sources import run_plain, run_rewritten, under_control

from mazurka.runtime.rewrite.source.statements import compile_observed

NOT_UNDER_CONTROL = {"async"}  # an event loop waits for sockets


def shown(module: ModuleType) -> str:
    return repr(module.result)


@pytest.mark.parametrize("name", SNIPPETS)
def test_same_results(name: str) -> None:
    source = SNIPPETS[name]
    expected = shown(run_plain(source))
    assert shown(run_rewritten(source)) == expected
    if name not in NOT_UNDER_CONTROL:
        assert under_control(lambda: shown(run_rewritten(source))) == expected


def functions_of(code: CodeType) -> set[tuple[Any, ...]]:
    found = set()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            arguments = constant.co_varnames[: constant.co_argcount + constant.co_kwonlyargcount]
            key = (constant.co_qualname, constant.co_firstlineno, constant.co_freevars, arguments)
            found |= {(*key, constant.co_flags)} | functions_of(constant)
    return found


LIBRARY = ("textwrap", "heapq", "dataclasses", "argparse", "json.decoder", "collections", "enum")


@pytest.mark.parametrize("name", [*LIBRARY, "typing", "ast", "asyncio.tasks", "http.client"])
def test_functions_keep_their_free_variables(name: str) -> None:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    with open(spec.origin, "rb") as file:
        source = file.read()
    plain = compile(source, spec.origin, "exec", dont_inherit=True)
    assert functions_of(plain) <= functions_of(compile_observed(source, spec.origin))


def library(name: str) -> ModuleType:
    """A module of the standard library, rewritten."""
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    with open(spec.origin) as file:
        source = file.read()
    return run_rewritten(source, name, spec.origin)


def wrap_text(module: ModuleType) -> object:
    text = "  One two three, four-five six.\n\n Seven eight  nine ten eleven."
    return (
        module.wrap(text, 14),
        module.dedent(text),
        module.shorten(text, 20),
        module.indent("a", "-"),
    )


def use_heap(module: ModuleType) -> object:
    heap: list[int] = []
    for value in (5, 3, 8, 1, 9, 2):
        module.heappush(heap, value)
    merged = list(module.merge([1, 4], [2, 3]))
    return (
        module.nlargest(2, heap),
        module.heappop(heap),
        merged,
        module.nsmallest(3, "heap", key=ord),
    )


def parse_arguments(module: ModuleType) -> object:
    parser = module.ArgumentParser(prog="p", add_help=False)
    parser.add_argument("a", type=int)
    parser.add_argument("--b", nargs="*", default=[1], choices=["x", "y"])
    parser.add_argument("-v", action="count")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--c", action="store_true")
    return vars(parser.parse_args(["3", "-vv", "--b", "x", "y", "--c"])), parser.format_help()


def make_dataclass(module: ModuleType) -> object:
    made = module.make_dataclass("P", [("x", int), ("y", list, module.field(default_factory=list))])
    one = made(1)
    one.y.append(2)
    return repr(one), module.asdict(one), module.replace(one, x=5) == made(5, [2]), made(1).y


def use_collections(module: ModuleType) -> object:
    point = module.namedtuple("point", "x y")
    chain = module.ChainMap({"a": 1}, {"b": 2})
    users = module.UserDict(a=1)
    users["b"] = 2
    counter = module.Counter("hello")
    return (
        point(1, y=2)._replace(x=3),
        dict(chain),
        users,
        counter.most_common(1),
        counter - counter,
    )


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("textwrap", wrap_text),
        ("heapq", use_heap),
        ("argparse", parse_arguments),
        ("dataclasses", make_dataclass),
        ("collections", use_collections),
    ],
)
def test_rewritten_modules_of_the_standard_library(
    name: str, use: Callable[[ModuleType], object]
) -> None:
    expected = repr(use(importlib.import_module(name)))
    assert repr(use(library(name))) == expected
    assert repr(under_control(lambda: use(library(name)))) == expected


def test_lines_are_kept() -> None:
    source = "def f(o):\n    x = 1\n    return (o.\n        missing)\n"
    module = run_rewritten(source)
    with pytest.raises(AttributeError) as error:
        module.f(1)
    frame = error.traceback[1]
    assert frame.lineno + 1 in (3, 4)
    assert isinstance(module.f, types.FunctionType)


def test_a_failing_comparison_says_what_was_compared() -> None:
    module = run_rewritten("def f(a, b):\n    assert a == b\n")
    with pytest.raises(AssertionError, match=r"^1 == 2 "):
        module.f(1, 2)
    with pytest.raises(AssertionError, match=r"^mine$"):
        run_rewritten("assert 1 > 2, 'mine'\n")
