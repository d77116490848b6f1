"""What functions, methods, tuples and classes hold is older than the runs where they are: caches in
closures, behind bound methods, in arguments of partial functions, in modules of no project."""

from __future__ import annotations

import gc
import textwrap
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from tests.unit.runtime.observed_programs import module_of

import mazurka
from mazurka.report.answer import HOLDS, VIOLATED
from mazurka.runtime.sharing.captured import find_captured

DECORATORS = """
def memo():
    cache = {}
    def get(key):
        if key not in cache:
            cache[key] = [key]
        return cache[key]
    return get

def lazy(make):
    def get(key):
        if not hasattr(get, "made"):
            get.made = make(key)
        return get.made
    return get

def standing(known={}):
    def get(key, *, known=known):
        return look_up(known, key)
    return get

class Memo:
    def __init__(self):
        self.cache = {}
    def get(self, key):
        return look_up(self.cache, key)

def look_up(cache, key):
    if key not in cache:
        cache[key] = [key]
    return cache[key]
"""
REGISTRY = """
import collections, contextvars, enum, functools, itertools
from {decorators} import Memo, lazy, look_up, memo, standing

by_closure = memo()
by_attribute = lazy(lambda key: [key])
by_default = standing({})
by_method = Memo().get
by_argument = functools.partial(look_up, {})
by_wrapper = functools.wraps(len)(memo())
in_a_table = {"get": memo()}
in_a_list = [Memo().get]

class Holder:
    static = staticmethod(memo())
    bound = Memo().get

class Meta(type):
    of_all = {}

class Plain(metaclass=Meta):
    of_class = {}

class Kind(enum.Enum):
    TABLE = {}

plain = Plain()
pair = ({}, (0, {}))
named = collections.namedtuple("Named", "a b")({}, 0)
variable = contextvars.ContextVar("variable", default={})
error = ValueError({})
always = itertools.repeat({})
"""
PROGRAM = """
import sys, threading

def registry():
    return sys.modules["{registry}"]

def fill(cache):
    if 5 not in cache:
        cache[5] = [5]
    return cache[5]

WAYS = {
    "object": lambda: fill(registry().plain.of_class),
    "metaclass": lambda: fill(registry().Plain.of_all),
    "member": lambda: fill(registry().Kind.TABLE.value),
    "tuple": lambda: fill(registry().pair[0]),
    "deeper tuple": lambda: fill(registry().pair[1][1]),
    "named tuple": lambda: fill(registry().named.a),
    "unpacked": lambda: fill([*registry().pair][0]),
    "context variable": lambda: fill(registry().variable.get()),
    "error": lambda: fill(registry().error.args[0]),
    "repeat": lambda: fill(next(registry().always)),
    "closure": lambda: registry().by_closure(5),
    "attribute": lambda: registry().by_attribute(5),
    "default": lambda: registry().by_default(5),
    "method": lambda: registry().by_method(5),
    "argument": lambda: registry().by_argument(5),
    "wrapper": lambda: registry().by_wrapper(5),
    "table": lambda: registry().in_a_table["get"](5),
    "list": lambda: registry().in_a_list[0](5),
    "static": lambda: registry().Holder.static(5),
    "bound": lambda: registry().Holder.bound(5),
    "map": lambda: list(map(registry().by_closure, [5]))[0],
    "getattr": lambda: getattr(registry(), "by_closure")(5),
}

def run(way, beside):
    found = []
    def work():
        found.append(WAYS[way]())
    threads = [threading.Thread(target=work) for _ in range(1 + beside)]
    for thread in threads:
        thread.start()
    if not beside:
        threads[0].join()
        work()
    for thread in threads:
        thread.join()
    assert found[0] is found[1]
"""
WAYS = (
    *("closure", "attribute", "default", "method", "argument", "wrapper"),
    *("table", "list", "static", "bound", "map", "getattr"),
    *("object", "metaclass", "member", "tuple", "deeper tuple", "named tuple", "unpacked"),
    *("context variable", "error", "repeat"),
)


def verdict_of(folder: Path, way: str, *, beside: bool) -> str:
    """Explore two threads that use for the first time what modules of no project hold."""
    gc.freeze()  # so that the collection looks at new objects only
    decorators = module_of(folder, DECORATORS)
    registry = module_of(folder, REGISTRY.replace("{decorators}", decorators.__name__))
    gc.collect()
    gc.unfreeze()
    project = folder / "project"
    project.mkdir()
    (project / "pyproject.toml").touch()
    module = module_of(project, PROGRAM.replace("{registry}", registry.__name__))

    def test() -> None:
        module.run(way, beside)

    test.__module__ = module.__name__
    return mazurka.explore(test, preemptions=2).verdict


@pytest.mark.parametrize("way", WAYS)
def test_the_race_of_a_first_use_is_found(way: str, tmp_path: Path) -> None:
    """The module that holds the function is never entered: its functions are from elsewhere."""
    assert verdict_of(tmp_path, way, beside=True) == VIOLATED


@pytest.mark.parametrize("way", WAYS)
def test_one_use_after_the_other_holds(way: str, tmp_path: Path) -> None:
    assert verdict_of(tmp_path, way, beside=False) == HOLDS


FACTORY = """
from types import ModuleType

def remember(make):
    made = {}
    def get(base):
        try:
            return made[base]
        except KeyError:
            module = ModuleType("made")
            module.__dict__.update(make(base))
            return made.setdefault(base, module)
    return get
"""
MADE = """
from {factory} import remember
get = remember(lambda base: {"Builder": base})
"""
USE = """
import threading

def program():
    import {made} as made
    found = []
    threads = [threading.Thread(target=lambda: found.append(made.get(int).Builder)) for _ in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [int, int]
"""


def test_a_module_that_a_run_has_made_and_what_holds_it_go_together(tmp_path: Path) -> None:
    """Before, the cache kept a module that was emptied at the end of the run, for ever."""
    factory = module_of(tmp_path, FACTORY)
    made = module_of(tmp_path, MADE.replace("{factory}", factory.__name__))
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").touch()
    program = module_of(project, USE.replace("{made}", made.__name__)).program
    assert mazurka.explore(program, preemptions=1).verdict == HOLDS
    program()


# -- what is found


class Thing:
    def method(self) -> Thing:
        return self

    @property
    def part(self) -> Thing:
        return self


def capture(value: Any) -> Any:
    return lambda: value


def default(value: Any) -> Any:
    return lambda value=value: value


def keyword(value: Any) -> Any:
    def function(*, value: Any = value) -> Any:
        return value

    return function


def attribute(value: Any) -> Any:
    def function() -> None: ...

    function.value = value  # type: ignore[attr-defined]
    return function


AROUND: dict[str, Any] = {
    "capture": capture,
    "default": default,
    "keyword": keyword,
    "attribute": attribute,
    "method": lambda value: value.method,
    "partial": lambda value: partial(print, value),
    "partial keyword": lambda value: partial(print, end=value),
    "static method": lambda value: staticmethod(capture(value)),
    "class method": lambda value: classmethod(capture(value)),
    "property": lambda value: property(capture(value)),
    "cached": lambda value: cache(capture(value)),
    "deeper": lambda value: capture(partial(capture(value))),
    "tuple": lambda value: (1, (value,)),
    "error": lambda value: ValueError(value),
    "method of C code": lambda value: (value,).index,
}


@pytest.mark.parametrize("name", AROUND)
def test_what_is_around_a_function_leads_to_what_the_function_holds(name: str) -> None:
    value = Thing()
    assert any(part is value for part in find_captured([AROUND[name](value)]))


def test_other_objects_hold_nothing_here() -> None:
    assert find_captured([Thing(), [capture(Thing())], {}, 5, textwrap, Thing]) == ()


def test_what_runs_tests_is_left_alone() -> None:
    assert find_captured([pytest.fixture(scope="session")]) == ()
