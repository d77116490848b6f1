"""What objects hold is found without asking them: no code of the program runs."""

from __future__ import annotations

import builtins
import functools
import itertools
import sys
import threading
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from mazurka.runtime.core import insides
from mazurka.runtime.core.patches import Patches
from mazurka.runtime.primitives import lock as locks
from mazurka.runtime.program import existing
from mazurka.runtime.program.existing import Takeover
from mazurka.runtime.rewrite.named_objects import find_named_objects


def refuse(*_: Any, **__: Any) -> Any:
    raise RuntimeError("asked too early")


class Meta(type):
    """A class that must not be asked anything, either."""

    __getattribute__ = __setattr__ = refuse
    __eq__ = __hash__ = __instancecheck__ = __subclasscheck__ = refuse


def hostile(base: type, **more: Any) -> type:
    """A class whose objects refuse to be looked at in any way that it can prevent."""
    names = ("__getattribute__", "__iter__", "__len__", "__getitem__", "__setitem__", "__eq__")
    more |= dict.fromkeys((*names, "__hash__", "__bool__", "__repr__", "__format__"), refuse)
    more |= {"items": refuse, "keys": refuse, "values": refuse, "__class__": property(refuse)}
    return Meta("Hostile", (base,), more)


def proxies() -> Iterator[Any]:
    for base in (object, dict, list, tuple, deque, set, str, int, OrderedDict, defaultdict):
        kind = hostile(base)
        yield type.__call__(kind)
        yield kind
    yield type.__call__(hostile(functools.partial), print, 1)
    yield type.__call__(hostile(object, __dict__=property(refuse)))
    yield type.__call__(hostile(object, __slots__=("lock",)))
    yield type.__call__(hostile(threading.local))


PROXIES = range(sum(1 for _ in proxies()))
PROXY = type.__call__(hostile(object))
"""Met by every exploration in this process."""


def proxy_at(index: int) -> Any:
    return next(itertools.islice(proxies(), index, None))


class Lazy(ModuleType):
    __getattribute__ = refuse


def module_with(name: str, **names: Any) -> ModuleType:
    module = Lazy(name)
    insides.names_in(module).update(names, __getattr__=refuse)
    return module


@pytest.mark.parametrize("index", PROXIES)
def test_naming_asks_nobody(index: int) -> None:
    proxy = proxy_at(index)
    module = module_with("lazy", proxy=proxy, inside=[proxy], keys={1: proxy})
    found = [name for thing, name in find_named_objects({"lazy": module}, lambda: proxy)]
    assert "lazy.inside" in found


@pytest.mark.parametrize("index", PROXIES)
def test_taking_over_asks_nobody(index: int, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy, lock = proxy_at(index), threading.Lock()
    space = {"proxy": proxy, "inside": [proxy, (proxy,)], "lock": lock, "call": lambda: proxy}
    module = module_with("lazy", **space)
    monkeypatch.setitem(sys.modules, "lazy", module)
    patches = Patches()
    Takeover(patches, {}).everything(lambda: proxy)
    assert type(insides.names_in(module)["lock"]) is locks.Lock
    patches.undo()
    assert insides.names_in(module)["lock"] is lock


def test_locks_are_replaced_whatever_holds_them() -> None:
    """Containers and classes that forbid it do not come to know."""
    items: Any = type.__call__(hostile(list))
    list.append(items, threading.Lock())
    entries: Any = type.__call__(hostile(dict))
    dict.__setitem__(entries, "lock", threading.Lock())
    kind = hostile(object, lock=threading.Lock())
    own = vars(type)["__dict__"].__get__(kind)

    def held() -> list[Any]:
        return [list.__getitem__(items, 0), dict.__getitem__(entries, "lock"), own["lock"]]

    before = held()
    patches = Patches()
    Takeover(patches, {}).everything(lambda: (items, entries, kind))
    assert [type(lock) for lock in held()] == [locks.Lock] * 3
    patches.undo()
    assert [new is old for new, old in zip(held(), before, strict=True)] == [True] * 3


def test_a_lock_among_the_builtins_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    lock, space = threading.Lock(), vars(builtins)
    monkeypatch.setitem(space, "everybodys_lock", lock)
    patches = Patches()
    Takeover(patches, {}).everything(lambda: None)
    assert type(space["everybodys_lock"]) is locks.Lock
    assert space["everybodys_lock"].origin == "builtins.everybodys_lock"
    patches.undo()
    assert space["everybodys_lock"] is lock


def test_a_function_of_c_in_a_class_stays_no_method() -> None:
    class Clock:
        now = staticmethod(len)
        later: Any = len

    def ours(value: Any) -> int:
        return -1

    patches = Patches()
    Takeover(patches, {id(len): ours}).everything(lambda: Clock)
    assert (Clock().now([]), Clock().later([])) == (-1, -1)
    patches.undo()
    assert (Clock().now([]), Clock().later([])) == (0, 0)
    assert type(vars(Clock)["now"]) is staticmethod


def search(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which modules of the package are searched now."""
    searched: list[str] = []
    original = Takeover._dictionary

    def note(self: Takeover, space: dict[Any, Any], prefix: str) -> None:
        if prefix.startswith("installed_") and prefix.count(".") == 1:
            searched.append(prefix.rstrip("."))
        original(self, space, prefix)

    patches = Patches()
    with monkeypatch.context() as patched:
        patched.setattr(Takeover, "_dictionary", note)
        Takeover(patches, {}).everything(lambda: None)
    patches.undo()
    return sorted(searched)


def test_an_installed_package_is_searched_again_only_if_need_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain, locked = ModuleType("installed_plain"), ModuleType("installed_locked")
    for module in (plain, locked):
        module.__file__ = f"/lib/site-packages/{module.__name__}.py"
        monkeypatch.setitem(sys.modules, module.__name__, module)
    insides.names_in(plain)["lock"] = None
    insides.names_in(locked)["deep"] = [[threading.Lock()]]
    try:
        assert search(monkeypatch) == ["installed_locked", "installed_plain"]
        assert search(monkeypatch) == ["installed_locked"]
        insides.names_in(plain)["lock"] = threading.Lock()
        assert search(monkeypatch) == ["installed_locked", "installed_plain"]
        insides.names_in(plain)["lock"] = None
        insides.names_in(plain)["more"] = {"lock": threading.Lock()}
        assert search(monkeypatch) == ["installed_locked", "installed_plain"]
    finally:
        existing._clean.pop("installed_plain", None)
        existing._clean.pop("installed_locked", None)


def test_a_class_that_c_code_has_not_finished_has_no_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """A static type that was never made ready: its dictionary and its bases are missing."""
    nothing = dict.fromkeys(("__dict__", "__mro__"), lambda _: None)
    monkeypatch.setattr(insides, "_of_class", {**insides._of_class, **nothing})
    assert insides.names_in_class(int) == {}
    assert insides.ancestors(int) == (int,)
    assert insides.slots(int) == []


def test_an_object_may_have_no_dictionary_yet() -> None:
    """Classes that mypyc makes keep the dictionary in a slot, which is empty at first."""

    class Slots:
        __slots__ = ("space",)

    class Compiled(Slots):
        __slots__ = ()
        __dict__ = vars(Slots)["space"]

    get, thing = insides.attributes(Compiled), Compiled()
    assert get is not None
    assert get(thing) is None
    thing.space = {"n": 1}
    assert get(thing) is thing.space
