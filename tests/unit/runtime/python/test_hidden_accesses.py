"""Accesses to shared data that are easily overlooked: each program fails under some schedule.

A program is written as `### name`, definitions, `---`, and the body of the test.  `with GUARD:`
stands for nothing, where the failure has to be found, and for a lock, where the same program is
right and needs few executions: each pair of critical sections in either order.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hidden_attributes import ATTRIBUTES
from hidden_bindings import BINDINGS
from hidden_calls import CALLS
from hidden_containers import CONTAINERS
from hidden_elements import ELEMENTS
from hidden_files import FILES, WITHOUT_LOCK
from hidden_insides import INSIDES
from hidden_library import LIBRARY
from hidden_process import PROCESS
from hidden_special_methods import SPECIAL_METHODS
from observed_programs import module_of

from mazurka.report.answer import HOLDS, INCONCLUSIVE, VIOLATED
from mazurka.runtime.exploring.entry import explore_test
from mazurka.runtime.exploring.options import ExploreOptions
from mazurka.runtime.story.result import Result
from mazurka.runtime.testing.decorator import make_test

HEAD = """
import abc, bisect, collections, contextlib, copy, dataclasses, functools, heapq, io, inspect
import itertools, json, math, operator, os, random, sys, threading, types, weakref

def together(*bodies):
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

"""


def cases(*texts: str) -> Iterator[tuple[str, str, str]]:
    for part in "".join(texts).split("### ")[1:]:
        name, _, rest = part.partition("\n")
        definitions, _, body = rest.partition("---\n")
        yield name, definitions, body


@cache
def programs() -> dict[str, tuple[str, str]]:
    """All programs; no variable holds them, or each exploration would go through them."""
    texts = (ATTRIBUTES, BINDINGS, CALLS, CONTAINERS, ELEMENTS, FILES, INSIDES, LIBRARY, PROCESS)
    texts += (SPECIAL_METHODS,)
    return {name: (definitions, body) for name, definitions, body in cases(*texts)}


GUARDED = [
    name
    for name, (_, body) in programs().items()
    if "GUARD" in body and "def look" not in body and name not in WITHOUT_LOCK
]
"""Those of which a lock makes right programs; in the others the order itself is the failure."""


def explored(folder: Path, name: str, guard: str) -> Result:
    definitions, body = programs()[name]
    body = body.replace("with GUARD:", guard)
    lines = f"def program():\n    lock = threading.Lock()\n{textwrap.indent(body, '    ')}"
    module = module_of(folder, HEAD + definitions + lines)
    return explore_test(make_test(module.program, module.program), ExploreOptions(preemptions=2))


@pytest.mark.parametrize("name", programs())
def test_the_failure_is_found(tmp_path: Path, name: str) -> None:
    result = explored(tmp_path, name, "if True:")
    assert result.verdict == VIOLATED, result.scope
    assert result.not_observed == named_in(name)


@pytest.mark.parametrize("name", GUARDED)
def test_with_a_lock_it_holds_after_few_executions(tmp_path: Path, name: str) -> None:
    result = explored(tmp_path, name, "with lock:")
    assert result.verdict == HOLDS, result.report()
    assert result.not_observed == named_in(name)
    assert result.executions <= 3


def named_in(name: str) -> tuple[str, ...]:
    """The library whose C code a program uses, if that is named although its objects are seen."""
    definitions = programs()[name][0]
    if name == "locks of the process":
        return ("fcntl",)
    return tuple(module for module in ("mmap", "pickle") if f"import {module}" in definitions)


NAMED = {
    "assignment to __dict__": "own = Box()\nown.__dict__ = {'n': box.n + 1}",
    "weakref": "table = Table()\nlen(weakref.proxy(table))",
    "ctypes": "ctypes.c_int(1).value += 1",
    "an attribute in a pattern": "match {1: 2}:\n    case {box.n: 2}: pass",
    "locals()": "got.append(locals()['bound'])",
    "sys.getrefcount": "sys.getrefcount(box)",
    "os": "os.getpriority(os.PRIO_PROCESS, 0)",
}
HIDDEN = {
    "sys.setrecursionlimit": "sys.setrecursionlimit(sys.getrecursionlimit() + 1)",
    "decimal.setcontext": "decimal.setcontext(decimal.BasicContext)",
    "codecs.register": "codecs.register(lambda name: None)",
    "codecs.register_error": "codecs.register_error('strict', codecs.strict_errors)",
}
"""Functions that change what C code uses, where nobody sees it: nothing is proved then."""
COUNTED = "program.<locals>.work.<locals>.Counted"
UNOBSERVED = {
    "eval (of what is not known before)": "eval(*('box.n', {'box': box}))",
    "exec (of what is not known before)": "exec(*('box.n = 1', {'box': box}))",
    "assignment to __dict__ (nobody sees which accesses come before it)": (
        "box.__dict__ = {'n': box.n + 1}"
    ),
    "assignment to __defaults__ of together (nobody sees which calls come before it)": (
        "together.__defaults__ = None"
    ),
    "assignment to cell_contents (nobody sees which functions read it)": (
        "(lambda: box).__closure__[0].cell_contents = box"
    ),
    f"assignment to x of {COUNTED} (nobody sees which accesses come before it)": (
        "class Counted(ctypes.Structure):\n    _fields_ = [('x', ctypes.c_int)]\nCounted.x = 5"
    ),
    "property.__init__ (nobody sees which accesses come before it)": (
        "vars(Box)['c'].__init__(None)"
    ),
    "the identity of a re.Pattern (it depends on what its module remembers)": (
        "re.compile('x') is re.compile('x')"
    ),
    "the identity of a typing.GenericAlias (it depends on what its module remembers)": (
        "id(typing.List[Box])"
    ),
    "assignment to dedent of textwrap (nobody sees which code reads it by its name alone)": (
        "textwrap.dedent('x')\ntextwrap.dedent = textwrap.dedent"
    ),
}
"""Python code that runs without being observed: nothing is proved then."""
ON_DEMAND = {
    "inspect.getmembers": "inspect.getmembers(box)",
    "functools.singledispatch": "functools.singledispatch(sorted)",
    "functools.lru_cache of C code": "functools.lru_cache(sorted)((1, 2))",
    "functools.lru_cache of Python code": "functools.lru_cache(together)()",
    "textwrap.TextWrapper": "textwrap.TextWrapper().wrap('x')",
    "copyreg.pickle": "copyreg.pickle(Box, copyreg.pickle)",
    "unittest.mock": "getattr(sys.modules['unittest.' + 'kcom'[::-1]], 'kcoM'[::-1])()",
}
"""Parts of the standard library that are rewritten when a thread enters them."""
if sys.version_info >= (3, 14):
    NAMED["Thread(context=...)"] = "threading.Thread(context=contextvars.Context()).start()"


@pytest.mark.parametrize("name", NAMED)
def test_what_is_not_seen_is_named(tmp_path: Path, name: str) -> None:
    result = explore_line(tmp_path, NAMED[name])
    assert result.verdict == HOLDS, result.report()
    assert name in result.not_observed


@pytest.mark.parametrize("name", UNOBSERVED)
def test_python_code_that_is_not_observed_proves_nothing(tmp_path: Path, name: str) -> None:
    result = explore_line(tmp_path, UNOBSERVED[name])
    assert result.verdict == INCONCLUSIVE, result.report()
    assert result.not_observed == (name,)
    assert f"Python code has run that cannot be observed: {name}; its" in result.scope


def test_nothing_is_proved_where_the_end_of_a_view_is_not_ordered(tmp_path: Path) -> None:
    source = """
def program():
    data = bytearray(b"abc")
    def view():
        shown = memoryview(data)
        shown[0]
    def change():
        try:
            data.append(1)
        except BufferError:
            pass
    together(view, change)
"""
    module = module_of(tmp_path, HEAD + source)
    result = explore_test(make_test(module.program, module.program), ExploreOptions(preemptions=2))
    assert result.verdict == INCONCLUSIVE, result.report()
    assert result.not_observed == (
        "the end of a memoryview (other threads use its buffer meanwhile)",
    )


@pytest.mark.parametrize("name", HIDDEN)
def test_nothing_is_proved_if_what_only_c_code_uses_is_changed(tmp_path: Path, name: str) -> None:
    result = explore_line(tmp_path, HIDDEN[name])
    assert result.verdict == INCONCLUSIVE, result.report()
    assert result.not_observed == (f"{name} (changes what C code keeps)",)
    assert f"while other threads ran: {name} (changes what C code keeps); nobody" in result.scope


@pytest.mark.parametrize(
    "line",
    [
        "sys.setrecursionlimit(sys.getrecursionlimit())",
        "locale.setlocale(locale.LC_ALL, locale.setlocale(locale.LC_ALL))",
    ],
)
def test_a_setting_that_stays_the_same_hides_nothing(tmp_path: Path, line: str) -> None:
    result = explore_line(tmp_path, line)
    assert (result.verdict, result.not_observed) == (HOLDS, ()), result.report()


@pytest.mark.parametrize("name", ON_DEMAND)
def test_parts_of_the_library_are_observed_on_demand(tmp_path: Path, name: str) -> None:
    result = explore_line(tmp_path, ON_DEMAND[name])
    assert result.verdict == HOLDS, result.report()
    assert set(result.not_observed) <= {"weakref"}


def explore_line(tmp_path: Path, line: str) -> Result:
    """Explore a program of two threads, one of which runs a line."""
    source = f"""{HEAD}import codecs, contextvars, copyreg, ctypes, decimal, locale
import re, textwrap, typing, unittest.mock, warnings
class Box:
    n = 1
    c = property(operator.attrgetter("n"))
class Table(dict):
    pass
class Abstract(abc.ABC):
    pass
def program():
    box, got, bound = Box(), [], 1
    def rebind():
        nonlocal bound
        bound = 2
    def work():
        bound
{textwrap.indent(line, "        ")}
    together(work, rebind)
"""
    module = module_of(tmp_path, source)
    return explore_test(make_test(module.program, module.program), ExploreOptions(preemptions=2))


RIGHT = {
    "a counter takes up a list at once": """
    shared = collections.Counter()
    together(lambda: shared.update(["a"]), lambda: shared.update(["a"]))
    assert shared["a"] == 2
""",
    "a default is set once": """
    shared = {}
    def work():
        shared.setdefault("k", []).append(1)
    together(work, work)
    assert len(shared["k"]) == 2
""",
    "functions from a comprehension see its last value": """
    kept = [lambda: n for n in range(2)]
    got = []
    together(*(lambda f=f: got.append(f()) for f in kept))
    assert got == [1, 1]
""",
    "a list with a star is read after the arguments by name": """
    def count(*given, n):
        return len(given) >= n
    items, found = [1], []
    together(lambda: found.append(count(*items, n=len(items))), lambda: items.append(2))
    assert found == [True]
""",
    "a list with a star among others is read before the arguments by name": """
    def count(*given, n):
        return len(given) <= n
    items, found = [1], []
    together(lambda: found.append(count(*items, *(), n=len(items))), lambda: items.append(2))
    assert found == [True]
""",
    "an object that can be gone through is a number": """
    class Number:
        def __iter__(self): return iter((1, 2))
        def __index__(self): return 3
        def __float__(self): return 3.0
        def __add__(self, other): return self
    def work():
        n = Number()
        assert math.hypot(n, 4) == 5 and math.gcd(n, 6) == 3 and math.fsum(n) == 3
        assert list(enumerate("a", n)) == [(3, "a")]
        assert list(itertools.islice("abcd", n)) == ["a", "b", "c"]
        assert bytes(n) == bytes(3) and sum((1, 2), n) is n and {0}.union(n) == {0, 1, 2}
        collections.deque((1, 2)).rotate(n)
    together(work)
""",
    "a getter of several elements is one step": """
    d, got = {"x": 0, "y": 0}, []
    get = operator.itemgetter("x", "y")
    together(lambda: d.update(x=1, y=1), lambda: got.append(get(d)))
    assert got[0] in ((0, 0), (1, 1))
""",
    "a getter of several attributes is one step": """
    o, got = types.SimpleNamespace(x=0, y=0), []
    get = operator.attrgetter("x", "y")
    together(lambda: vars(o).update(x=1, y=1), lambda: got.append(get(o)))
    assert got[0] in ((0, 0), (1, 1))
""",
    "a format string is one step": """
    o, d, got = types.SimpleNamespace(x=0, y=0), {"a": 0, "b": 0}, []
    together(
        lambda: (vars(o).update(x=1, y=1), d.update(a=1, b=1)),
        lambda: got.append("{0.x}{0.y} {d[a]}{d[b]} {1}".format(o, 1, d=d)),
    )
    assert got[0] in ("00 00 1", "11 00 1", "11 11 1")
""",
    "a function that is called twice has one cache": """
    make = object_of("k")
    got = []
    together(lambda: got.append(object_of("k")), lambda: got.append(object_of("k")))
    assert got == [make, make]
""",
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_holds(tmp_path: Path, name: str) -> None:
    cached = "@functools.cache\ndef object_of(key):\n    return object()\n"
    module = module_of(tmp_path, f"{HEAD}{cached}def program():\n{RIGHT[name]}")
    result = explore_test(make_test(module.program, module.program), ExploreOptions(preemptions=2))
    assert result.verdict == HOLDS, result.report()
    assert result.not_observed == ()


@pytest.mark.filterwarnings("ignore:other threads run")  # what tests before have left behind
def test_workers_say_the_same_as_one_process(tmp_path: Path) -> None:
    source = """
def program():
    shared = {"n": 0}
    def work():
        for _ in range(2):
            read = shared["n"]
            shared["n"] = read + 1
            if shared["n"] != read + 1:
                sys.getrefcount(work)
    together(work, work, work)
"""
    module = module_of(tmp_path, HEAD + source)
    test = make_test(module.program, module.program)
    alone, several = (explore_test(test, ExploreOptions(workers=workers)) for workers in (1, 2))
    assert alone.not_observed == several.not_observed == ("sys.getrefcount",)
    assert several.scope == alone.scope.replace("each run once", "run by 2 workers")
