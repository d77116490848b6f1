"""Every way into code that nobody has rewritten yet: it is observed, or named.

A module that belongs to no project has a way in; threads that take it lose an update there.  Where
the code of the module cannot be rewritten, nothing is proved, and the verdict says so.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from types import CodeType

import pytest
from tests.unit.runtime.observed_programs import module_of

from mazurka.report.answer import HOLDS, INCONCLUSIVE, UNOBSERVED, VIOLATED
from mazurka.runtime.exploring.entry import explore_test
from mazurka.runtime.exploring.options import ExploreOptions
from mazurka.runtime.rewrite import sources
from mazurka.runtime.rewrite.bytecode import rewriting
from mazurka.runtime.rewrite.bytecode.assembly import UnknownCodeError
from mazurka.runtime.story.result import Result
from mazurka.runtime.testing.decorator import make_test

AWAY = """
import functools, weakref
class Box:
    n = 0
box = Box()
def add(*_, **__):
    box.n = box.n + 1
    return 0
"""
WAYS = {
    "a call": ("", "away.add()"),
    "a call of an object": ("class C:\n __call__ = add\nc = C()", "away.c()"),
    "a method that is a target": ("class C:\n m = add\nc = C()", "in_thread(away.c.m)"),
    "a static method": ("class C:\n s = staticmethod(add)", "away.C.s()"),
    "a class method": ("class C:\n s = classmethod(add)", "away.C.s()"),
    "a property": ("class C:\n p = property(add)\nc = C()", "away.c.p"),
    "a property that is set": ("class C:\n p = property(add, add)\nc = C()", "away.c.p = 1"),
    "another descriptor": (
        "class D:\n __get__ = add\nclass C:\n d = D()\nc = C()",
        "away.c.d",
    ),
    "a missing attribute": ("class C:\n __getattr__ = add\nc = C()", "away.c.x"),
    "any attribute": ("class C:\n __getattribute__ = add\nc = C()", "away.c.x"),
    "an attribute that is set": ("class C:\n __setattr__ = add\nc = C()", "away.c.x = 1"),
    "with": (
        "class C:\n __enter__ = add\n def __exit__(*a): pass\nc = C()",
        "with away.c: pass",
    ),
    "for": (
        "class C:\n def __iter__(self): return self\n"
        " def __next__(self):\n  add()\n  raise StopIteration\nc = C()",
        "for _ in away.c: pass",
    ),
    "in": ("class C:\n __contains__ = add\nc = C()", "1 in away.c"),
    "an operator": ("class C:\n __add__ = add\nc = C()", "away.c + 1"),
    "a reflected operator": ("class C:\n __radd__ = add\nc = C()", "1 + away.c"),
    "an augmented assignment": ("class C:\n __iadd__ = add\nc = C()", "x = away.c; x += 1"),
    "a comparison": ("class C:\n __lt__ = add\nc = C()", "away.c < 1"),
    "an equality in C code": ("class C:\n __eq__ = add\nc = C()", "[away.c].count(1)"),
    "a hash": ("class C:\n __hash__ = add\nc = C()", "{away.c: 1}"),
    "len": ("class C:\n __len__ = add\nc = C()", "len(away.c)"),
    "a test of truth": ("class C:\n __bool__ = lambda s: not add()\nc = C()", "if away.c: pass"),
    "an index": ("class C:\n __index__ = add\nc = C()", "[1][away.c]"),
    "a subscript": ("class C:\n __getitem__ = add\nc = C()", "away.c[1]"),
    "formatting": ("class C:\n def __format__(s, f): add(); return ''\nc = C()", "f'{away.c}'"),
    "repr in C code": ("class C:\n def __repr__(s): add(); return ''\nc = C()", "str([away.c])"),
    "a finalizer": ("class C:\n __del__ = add", "away.C()"),
    "the end of a weak reference": (
        "class C: pass\ndef go():\n c = C()\n c.r = weakref.ref(c, add)\n"
        " keep.append(c.r)\n del c\nkeep = []",
        "away.go()",
    ),
    "a sort key": ("", "sorted([1], key=away.add)"),
    "map": ("", "list(map(away.add, [1]))"),
    "a partial function": ("p = functools.partial(add, 1)", "away.p()"),
    "reduce": ("", "functools.reduce(away.add, [1, 2])"),
    "a cache": ("c = functools.lru_cache(add)", "away.c.cache_clear(); away.c(object())"),
    "a substitution": ("def s(m): add(); return ''", "re.sub('a', away.s, 'a')"),
    "a metaclass": ("class M(type):\n __call__ = add\nclass C(metaclass=M): pass", "away.C()"),
    "a base class": (
        "class C:\n def __init_subclass__(cls): add()",
        "type('D', (away.C,), {})",
    ),
    "a name that is set": (
        "class S:\n __set_name__ = add",
        "type('D', (), {'s': away.S()})",
    ),
    "a decorator at import": (
        "def d(f):\n def w(*a): add(); return f(*a)\n return w\n@d\ndef g(): pass",
        "away.g()",
    ),
    "a generator": ("def g():\n add()\n yield", "list(away.g())"),
    "what exec has made": (
        "space = {'add': add}\nexec('def f(): add()', space)\nf = space['f']",
        "away.f()",
    ),
    "a function that C code holds": ("k = functools.cmp_to_key(add)", "sorted([1, 2], key=away.k)"),
    "a named tuple": (
        "import collections\nclass P(collections.namedtuple('P', 'x')):\n"
        " def m(s): add()\np = P(1)",
        "away.p.m()",
    ),
    "a dataclass": (
        "import dataclasses\n@dataclasses.dataclass\nclass P:\n"
        " x: int = dataclasses.field(default_factory=add)",
        "away.P()",
    ),
}


IN_THREAD = """
def in_thread(target):
    thread = threading.Thread(target=target)
    thread.start()
    thread.join()
"""


def explore_way(folder: Path, away: str, way: str) -> Result:
    """Let two threads take a way into a module that nobody has rewritten."""
    other = module_of(folder, AWAY + away)
    source = f"""
import functools, re, threading
import {other.__name__} as away
{IN_THREAD}
def work():
{textwrap.indent(way, "    ")}
def program():
    away.box.n = 0
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert away.box.n >= 2, away.box.n
"""
    return explore_project(folder, source)


def explore_project(folder: Path, source: str) -> Result:
    """Explore the function `program` of a project that consists of one module."""
    project = folder / "project"
    project.mkdir()
    (project / "pyproject.toml").touch()
    module = module_of(project, source)
    test = make_test(module.program, module.program)
    return explore_test(test, ExploreOptions(preemptions=1, patience=60))


@pytest.mark.parametrize("way", WAYS)
def test_code_is_observed_whatever_leads_there(tmp_path: Path, way: str) -> None:
    result = explore_way(tmp_path, *WAYS[way])
    assert result.verdict == VIOLATED, result.report()


def test_code_that_cannot_be_observed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One program takes all ways; each leads to a function with a name of its own."""
    rewrite_file, rewrite_code = sources.rewrite_file, rewriting.rewrite_code

    def lose_source(file: str) -> sources.RewrittenSource:
        if "project" not in file:
            raise OSError("it is gone")
        return rewrite_file(file)

    def refuse(code: CodeType, **how: bool) -> CodeType:
        if "project" not in code.co_filename:
            raise UnknownCodeError("strange instructions")
        return rewrite_code(code, **how)

    lines = ["import functools, re, threading", *IN_THREAD.splitlines()]
    for number, (away, way) in enumerate(WAYS.values()):
        other = module_of(tmp_path, re.sub(r"\badd\b", f"add_{number}", AWAY + away))
        way = re.sub(r"\badd\b", f"add_{number}", way)
        lines += [f"def way_{number}():", f"    import {other.__name__} as away"]
        lines += textwrap.indent(way, "    ").splitlines()
    lines += ["def program():", *(f"    way_{number}()" for number in range(len(WAYS)))]
    monkeypatch.setattr(sources, "rewrite_file", lose_source)
    monkeypatch.setattr(rewriting, "rewrite_code", refuse)
    result = explore_project(tmp_path, "\n".join(lines))
    assert result.verdict == INCONCLUSIVE, result.report()
    assert result.limits == (UNOBSERVED,)
    named = [one for one in result.not_observed if "strange instructions" in one]
    missing = {
        way
        for number, way in enumerate(WAYS)
        if not any(one.startswith(f"add_{number} (") for one in named)
    }
    assert missing == set()


def test_what_is_left_out_is_named(tmp_path: Path) -> None:
    other = module_of(tmp_path, AWAY)
    source = f"""
import threading
import {other.__name__} as away
def program():
    thread = threading.Thread(target=away.add)
    thread.start()
    away.add()
    thread.join()
"""
    module = module_of(tmp_path, source)
    options = ExploreOptions(preemptions=1, leave_out=(other.__name__,))
    result = explore_test(make_test(module.program, module.program), options)
    assert result.verdict == HOLDS
    assert result.left_out == (other.__name__,)
    assert result.scope.endswith(f"; left out: {other.__name__}")


BEGUN = """
def steps():
    while True:
        add()
        yield
begun = steps()
next(begun)
"""


def test_a_generator_that_was_begun_before_is_named(tmp_path: Path) -> None:
    result = explore_way(tmp_path, BEGUN, "next(away.begun)")
    assert "steps (begun before the exploration)" in result.not_observed


def test_functions_get_their_own_code_back(tmp_path: Path) -> None:
    other = module_of(tmp_path, AWAY + "def unused(a, *b, c=1, **d): pass")
    codes = other.add.__code__, other.unused.__code__
    source = f"""
import inspect, {other.__name__} as away
def program():
    away.add()
    assert str(inspect.signature(away.unused)) == "(a, *b, c=1, **d)"
    assert away.unused.__code__.co_firstlineno == 9
"""
    module = module_of(tmp_path, source)
    result = explore_test(make_test(module.program, module.program), ExploreOptions())
    assert result.verdict == HOLDS, result.report()
    assert (other.add.__code__, other.unused.__code__) == codes
