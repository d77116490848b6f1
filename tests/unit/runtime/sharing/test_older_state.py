"""Every run finds what is older than the runs as the first one did."""

from __future__ import annotations

import sys
import threading
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.unit.runtime.observed_programs import module_of, observed

import mazurka
from mazurka.runtime.sharing.older_state import OlderState
from mazurka.stateless.explored import RunOptions
from mazurka.stateless.iterative import explore

LAZY = """
import threading
from functools import cache

class Thing:
    instance = None

class Slotted:
    __slots__ = ("made",)

def remember(default=[]):
    if not default:
        default.append(Thing())
    return default[-1]

def make_memory():
    made = None
    def get():
        nonlocal made
        if made is None:
            made = Thing()
        return made
    return get

found, table, things, ready = None, {}, [], set()
holder, slotted, captured = Thing(), Slotted(), make_memory()

def of_module():
    global found
    if found is None:
        found = Thing()
    return found

def of_table():
    if "key" not in table:
        table["key"] = Thing()
    return table["key"]

def of_list():
    if not things:
        things.append(Thing())
    return things[-1]

def of_class():
    if Thing.instance is None:
        Thing.instance = Thing()
    return Thing.instance

def of_object():
    if not hasattr(holder, "made"):
        holder.made = Thing()
    return holder.made

def of_slot():
    if not hasattr(slotted, "made"):
        slotted.made = Thing()
    return slotted.made

def of_function():
    if not hasattr(of_function, "made"):
        of_function.made = Thing()
    return of_function.made

@cache
def of_cache():
    return Thing()

WAYS = [of_module, of_table, of_list, of_class, of_object, of_slot, of_function, of_cache]
WAYS += [remember, captured]

def run(get):
    got = []
    threads = [threading.Thread(target=lambda: got.append(get())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got[0] is got[1]
"""
WAYS = 10


@pytest.fixture(scope="module")
def lazy(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return module_of(tmp_path_factory.mktemp("lazy"), LAZY)


@pytest.mark.parametrize("way", range(WAYS))
def test_a_race_in_what_is_made_once_is_found(way: int, lazy: ModuleType) -> None:
    assert len(lazy.WAYS) == WAYS
    get = lazy.WAYS[way]

    def test() -> None:
        lazy.run(get)

    before = {name: str(value) for name, value in vars(lazy).items() if name != "__builtins__"}
    test.__module__ = lazy.__name__
    for _ in range(2):  # the first exploration has left nothing behind
        result = mazurka.explore(test, preemptions=2)
        assert result.verdict == "violated", result
    after = {name: str(value) for name, value in vars(lazy).items() if name != "__builtins__"}
    assert after == before


KEEPER = """
class Registry:
    def __init__(self):
        self.things = {}
    def get(self, key):
        if key not in self.things:
            self.things[key] = []
        return self.things[key]
"""
KEPT = """
class Shop:
    registry = None
    sold = []
    def sell(self, piece):
        self.sold.append(piece)
        return len(self.sold)

def remember(piece, known=[]):
    known.append(piece)
    return len(known)

def make_count():
    counts = [0]
    def count():
        counts[0] += 1
        return counts[0]
    return count

count = make_count()
"""
NEW = """
import threading

def through_class():
    found = kept.Shop.registry.get("a")
    found.append(1)
    return len(found)

def through_object():
    return kept.Shop().sell(1)

def by_default():
    return kept.remember(1)

def by_capture():
    return kept.count()

def run(way, beside):
    if beside:
        threading.Thread(target=len, args=("",)).start()
    assert way() == 1
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """A test's module; two others, which are observed when a run first enters them."""
    others = tmp_path_factory.mktemp("others")
    shop = module_of(tmp_path_factory.mktemp("shop"), NEW)
    vars(shop)["kept"] = kept = module_of(others, KEPT)
    kept.Shop.registry = module_of(others, KEEPER).Registry()
    return shop


@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside another"])
@pytest.mark.parametrize("way", ["through_class", "through_object", "by_default", "by_capture"])
def test_what_the_first_run_changes_in_modules_that_it_enters_is_put_back(
    way: str, beside: bool, shop: ModuleType
) -> None:
    def test() -> None:
        shop.run(vars(shop)[way], beside)

    with observed(shop, test) as program:
        found = program.supervise(lambda: explore(program, 1, "algorithm-2", RunOptions()))
        assert not found.failures, found.failures
        assert program.restarts  # the first run came there unprepared


class Own(list[int]):
    """A list that must not be asked."""

    def __iter__(self) -> Any:
        raise AssertionError

    def __len__(self) -> int:
        raise AssertionError


class Slots:
    __slots__ = ("one", "two")


@cache
def remembered(number: int) -> int:
    return number


def cell_of(value: Any) -> Any:
    return (lambda: value).__closure__[0]  # type: ignore[index]


def change_slots(thing: Any) -> None:
    thing.two = 3
    del thing.one


def make_slots() -> Slots:
    made = Slots()
    made.one = [1]
    return made


def make_module() -> ModuleType:
    made = ModuleType("made")
    vars(made).update(one=1, two=2)
    return made


def change_module(thing: Any) -> None:
    thing.one = 3
    del thing.two
    thing.three = 4


def make_class() -> type:
    return type("Made", (), {"one": 1, "two": 2})


CONTAINERS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any], Callable[[Any], Any]]] = {
    "list": (lambda: [1, 2], lambda one: one.reverse(), repr),
    "own list": (lambda: Own([1, 2]), lambda one: one.append(3), lambda one: list.__len__(one)),
    "order": (lambda: {2: 0, 1: 0}, lambda one: one.update({2: one.pop(2)}), repr),
    "counter": (lambda: Counter("ab"), lambda one: one.update("a"), repr),
    "default": (lambda: defaultdict(list), lambda one: one[1].append(1), repr),
    "ordered": (lambda: OrderedDict(a=1, b=2), lambda one: one.move_to_end("a"), repr),
    "set": (lambda: {1, 2}, lambda one: one.clear(), repr),
    "deque": (lambda: deque([1, 2], 3), lambda one: one.rotate(1), repr),
    "bytes": (lambda: bytearray(b"ab"), lambda one: one.extend(b"c"), repr),
    "cache": (lambda: remembered, lambda one: one(1), lambda one: one.cache_info().currsize),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_container_has_its_elements_again(name: str) -> None:
    make, change, show = CONTAINERS[name]
    thing, state = make(), OlderState()
    before = show(thing)
    for _ in range(2):
        state.meet(thing)
        change(thing)
        assert show(thing) != before
        state.put_back(lambda key: None)
        assert show(thing) == before


VARIABLES: dict[str, tuple[Callable[[], Any], Callable[[Any], Any], Callable[[Any], Any]]] = {
    "slots": (make_slots, change_slots, lambda one: (one.one, hasattr(one, "two"))),
    "module": (make_module, change_module, lambda one: sorted(map(str, vars(one).items()))),
    "class": (make_class, change_module, lambda one: (one.one, one.two, hasattr(one, "three"))),
    "cell": (lambda: cell_of(1), lambda one: setattr(one, "cell_contents", 2), repr),
    "empty cell": (lambda: cell_of(1), lambda one: delattr(one, "cell_contents"), repr),
}


@pytest.mark.parametrize("name", VARIABLES)
def test_an_object_has_its_variables_again(name: str) -> None:
    make, change, show = VARIABLES[name]
    thing, state = make(), OlderState()
    before = show(thing)
    touched = dict.fromkeys(["one", "two", "three", "cell_contents"])
    for _ in range(2):
        state.meet(thing)
        change(thing)
        state.put_back(lambda key: touched)
        assert show(thing) == before


REGISTRY = """
import threading
known = {}
order = []
def register(name):
    known[name] = len(known)
    order.append(name)
def test():
    order.append("begun")
    import %s
    thread = threading.Thread(target=known.get, args=("plugin",))
    thread.start()
    thread.join()
    assert "plugin" in known
    assert order.count("begun") == 1
"""


def test_what_an_import_registers_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    module = module_of(tmp_path, REGISTRY % "plugin_of_a_test")
    plugin = f"import {module.__name__} as home\nhome.register('plugin')\n"
    (tmp_path / "plugin_of_a_test.py").write_text(plugin)
    try:
        result = mazurka.explore(module.test, preemptions=2)
    finally:
        sys.modules.pop("plugin_of_a_test", None)
    assert result.verdict == "holds", result
    assert "plugin" in module.known


values = zip([1] * 99, strict=True)  # nobody can set it back


def test_what_runs_have_taught_stays_if_a_program_goes_through_all_modules() -> None:
    """Such a program comes to the points that were learned, which no earlier run had."""
    module = sys.modules["mazurka.runtime.sharing.locations"]
    done = [0]

    def add() -> None:
        done[0] += 1

    def test() -> None:
        assert module.learned.points is module.points
        len(module.points)
        done[0] = 0
        threads = [threading.Thread(target=add) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert done[0] == 2

    result = mazurka.explore(test, preemptions=1)
    assert result.verdict == "violated", result.error


def test_what_c_code_keeps_is_still_noticed() -> None:
    lock = threading.Lock()

    def keep() -> None:
        if (1,) in values:
            with lock:
                list(values)

    text = str(mazurka.explore(keep, preemptions=1).error)
    assert "the first execution has left something behind" in text


USED_UP = """
import threading

def count():
    yield from ("a", "b")

names, steps, known = [], count(), set()

def look_up(name):
    if not names:
        names.extend(steps)
    return name in names

def program():
    threads = [threading.Thread(target=known.add, args=(look_up(name),)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert known == {True}
"""


@pytest.mark.parametrize("keep", [True, False])
def test_what_an_older_generator_has_filled_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: bool
) -> None:
    """Otherwise the list would be empty again, and the generator at its end: later executions fail,
    which shows nothing about the test."""
    if not keep:
        monkeypatch.setattr(OlderState, "keep_all", lambda self: None)
    module = module_of(tmp_path, USED_UP)
    result = mazurka.explore(module.program, preemptions=1)
    assert result.verdict == "inconclusive"
    assert ("the failure of one of these may come of that" in result.scope) is not keep
    assert "count (begun before the exploration)" in result.not_observed


REPLACED_CODE = """
import threading

names = []

def make():
    names.append(0)

def lazy(default=0):
    global known
    known = 7
    lazy.__code__ = compiled.__code__
    lazy.__defaults__ = (1,)
    return lazy()

def compiled(default=0):
    make()
    return known + default

def program():
    assert lazy() == 8
    threads = [threading.Thread(target=names.append, args=(n,)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(names) == 3
"""


def test_code_that_a_run_has_assigned_is_put_back(tmp_path: Path) -> None:
    """Like the globals that it needs: a function that compiles itself at its first call."""
    module = module_of(tmp_path, REPLACED_CODE)
    code = module.lazy.__code__
    result = mazurka.explore(module.program, preemptions=1)
    assert (result.verdict, result.error) == ("holds", None), result.report()
    assert module.lazy.__code__ is code
    assert module.lazy.__defaults__ == (0,)


@pytest.mark.parametrize(
    ("home", "is_put_back"), [("some.program", True), ("_pytest.runner", False)]
)
def test_what_runs_tests_keeps_its_own_count(home: str, is_put_back: bool) -> None:
    """It sets up and tears down what it has counted; a program may come to it by its modules."""
    keeper = type("Keeper", (), {"__module__": home})()
    keeper.count = 0
    state = OlderState()
    state.meet(keeper)
    keeper.count = 1
    state.put_back(lambda _: {"count": None})
    assert keeper.count == (0 if is_put_back else 1)
