"""What Mazurka asks classes and objects runs no code of the program: its hooks run as without."""

from __future__ import annotations

import functools
import operator
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import mazurka
from mazurka.runtime.python import attributes

LOG: list[tuple[str, str]] = []
IS_ON = [False]


def note(kind: str, name: str = "") -> None:
    if IS_ON[0]:
        LOG.append((kind, name))


class Meta(type):
    def __getattribute__(cls, name: str) -> Any:
        note("class", name)
        return super().__getattribute__(name)

    def __instancecheck__(cls, thing: object) -> bool:
        note("instance")
        return type.__instancecheck__(cls, thing)

    def __bool__(cls) -> bool:
        note("truth of class")
        return True

    def __repr__(cls) -> str:
        note("text of class")
        return "class"


class Asked(metaclass=Meta):
    """Is asked for everything."""

    shared = 0

    def __init__(self) -> None:
        self.n = 1
        self.items = [1, 2]

    def __getattribute__(self, name: str) -> Any:
        note("get", name)
        return super().__getattribute__(name)

    def __getattr__(self, name: str) -> Any:
        note("missing", name)
        raise AttributeError(name)

    def __setattr__(self, name: str, value: object) -> None:
        note("set", name)
        super().__setattr__(name, value)

    def __len__(self) -> int:
        note("length")
        return 2

    def __iter__(self) -> Iterator[int]:
        note("iterate")
        return iter(self.items)

    def __repr__(self) -> str:
        note("text")
        return "thing"

    def __bool__(self) -> bool:
        note("truth")
        return True

    def __enter__(self) -> Asked:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    @property
    def twice(self) -> int:
        return 2 * self.n

    @classmethod
    def of_class(cls) -> int:
        return cls.shared

    def method(self) -> int:
        return self.n


class Plain(metaclass=Meta):
    def __init__(self) -> None:
        self.n = 1

    def method(self) -> int:
        return self.n


class Steps(metaclass=Meta):
    def __init__(self) -> None:
        self.left = 2

    def __iter__(self) -> Steps:
        return self

    def __next__(self) -> int:
        self.left -= 1
        if self.left < 0:
            raise StopIteration
        return self.left


class Row(list[int], metaclass=Meta):
    pass


class Table(dict[str, int], metaclass=Meta):
    pass


class BrokenError(Exception, metaclass=Meta):
    pass


class Slotted(metaclass=Meta):
    __slots__ = ("a",)


def manage(thing: Asked) -> int:
    with thing as found:
        return found.n


def catch() -> Any:
    try:
        raise BrokenError("x")
    except BrokenError as error:
        return error.args


def match(thing: object) -> int:
    match thing:
        case Plain(n=1):
            return 1
    return 2


def derive() -> int:
    class Derived(Plain):
        def method(self) -> int:
            return super().method()

    return Derived().method()


def run(work: Callable[[], object]) -> None:
    threads = [threading.Thread(target=each) for each in (work, lambda: None)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


WAYS: tuple[Callable[[Asked, Plain], object], ...] = (
    lambda asked, plain: (asked.n, plain.n, asked.twice),
    lambda asked, plain: (getattr(asked, "none", 0), hasattr(plain, "none")),
    lambda asked, plain: (setattr(asked, "n", 2), setattr(plain, "n", 2)),
    lambda asked, plain: (asked.method(), plain.method(), Asked.of_class()),
    lambda asked, plain: (Asked.shared, setattr(Plain, "other", 1), Plain.__name__),
    lambda asked, plain: (isinstance(asked, Asked), issubclass(Plain, object)),
    lambda asked, plain: (tuple(one for one in asked), 1 in asked, len(asked)),
    lambda asked, plain: (bool(asked), not plain, 1 if asked else 2),
    lambda asked, plain: (repr(asked), f"{asked}", repr(Asked), bool(Asked)),
    lambda asked, plain: (asked.__class__, vars(plain), len(dir(plain))),
    lambda asked, plain: (manage(asked), catch(), match(plain), derive()),
    lambda asked, plain: (Row([1]).append(2), sorted(Row([2, 1])), Row([1]).index(1)),
    lambda asked, plain: (Table(a=1)["a"], Table(a=1).get("b"), dict(**Table(a=1))),
    lambda asked, plain: (list(Steps()), next(Steps()), sum(Steps()), [*Steps()]),
    lambda asked, plain: list(zip(Steps(), map(str, Steps()), strict=True)),
    lambda asked, plain: (functools.partial(plain.method)(), operator.attrgetter("n")(plain)),
    lambda asked, plain: (setattr(Slotted(), "a", 1), Asked(), Plain()),
    lambda asked, plain: ([asked, plain].index(plain), {plain: 1}[plain], {Plain: 1}[Plain]),
    lambda asked, plain: run(plain.method),
)


def hooks_of(way: Callable[[Asked, Plain], object]) -> list[tuple[str, str]]:
    asked, plain = Asked(), Plain()
    LOG.clear()
    IS_ON[0] = True
    try:
        way(asked, plain)
    finally:
        IS_ON[0] = False
    return list(LOG)


def append_hooks(found: list[Any], way: Callable[[Asked, Plain], object]) -> None:
    found.append(hooks_of(way))


def program() -> None:
    for way, expected in zip(WAYS, EXPECTED, strict=True):
        assert hooks_of(way) == expected
        found: list[Any] = []
        run(functools.partial(append_hooks, found, way))
        assert found == [expected]


EXPECTED = [hooks_of(way) for way in WAYS]


def test_hooks_run_as_without_mazurka() -> None:
    result = mazurka.explore(program, preemptions=0)
    assert result.verdict == "holds", result.report()


def test_a_look_that_asks_the_class_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant asks a class as anybody would."""
    monkeypatch.setattr(
        attributes, "asks_first", lambda kind: not isinstance(kind.__getattribute__, type(len))
    )
    assert mazurka.explore(program, preemptions=0).verdict != "holds"
