"""C code that goes through a list and asks the elements, where these answer in Python.

`x in l`, `l.index(x)`, `l.count(x)` and `l.remove(x)` compare one element after the other, with the
list as it is at that moment; so do `min`, `max`, `any`, `all`, `sum` and `set`.  As long as the
elements are compared by C code all this is one access.  Where a class of the program has `__eq__`
(`__lt__`, `__bool__`, ...), other threads may run while that does, so each step is an access of its
own; `remove` then removes whatever has come to that index.

`heapq` and `bisect` do such things, too, with many steps; where that could matter, it is named.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from types import FunctionType
from typing import Any, Final

from mazurka.runtime.core.insides import elements
from mazurka.runtime.core.moment import now
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.python.containers import perform
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.locations import points, step
from mazurka.runtime.sharing.monitoring import unobserved

SEARCHING: Final = frozenset({"remove", "index", "count"})
_ORDER: Final = ("__lt__", "__gt__")
_ASKS: Final[dict[Any, tuple[str, ...]]] = {
    **dict.fromkeys((min, max), _ORDER),
    **dict.fromkeys((any, all), ("__bool__", "__len__")),
    **dict.fromkeys((set, frozenset), ("__hash__", "__eq__")),
    sum: ("__add__", "__radd__"),
}


def _answers(values: Any, names: tuple[str, ...]) -> bool:
    """Whether any of some values has a method of these names that is written in Python."""
    kinds = set(map(type, values))
    return any(type(getattr(kind, name, None)) is FunctionType for kind in kinds for name in names)


def asks_elements(function: Any, values: Any) -> bool:
    """Whether a built-in function that goes through a container runs code of the program."""
    names = _ASKS.get(function)
    if names is None or not issubclass(type(values), (list, deque, dict, set)):
        return False
    asked = list(dict.keys(values)) if issubclass(type(values), dict) else elements(values)
    return _answers(asked, names)


def compares(values: list[Any], wanted: Any) -> bool:
    return _answers((wanted, *values), ("__eq__",))


def search(values: list[Any], name: str, site: int, wanted: Any) -> Any:
    """`values.index(wanted)` and the like, step by step."""
    if name == "count":
        return sum(1 for _ in _found(values, site, wanted))
    for index in _found(values, site, wanted):
        if name == "index":
            return index
        whole = (values, list, How.CHANGE, None)
        return perform(whole, site, values.__delitem__, slice(index, index + 1))
    text = f"{wanted!r} is not in list" if name == "index" else "list.remove(x): x not in list"
    raise ValueError(text)


def contains(values: list[Any], site: int, wanted: Any) -> bool:
    """`wanted in values`"""
    return any(True for _ in _found(values, site, wanted))


def _found(values: list[Any], site: int, wanted: Any) -> Iterator[int]:
    index, born = 0, session.current.running.turns
    while True:
        try:
            value = perform((values, list, How.READ, index), site, values.__getitem__, index)
        except IndexError:
            return
        if value is wanted or value == wanted:
            yield index
        index += 1
        step(born)


def note_comparisons(function: Any, arguments: tuple[Any, ...], site: int) -> None:
    """`heapq.heappush(values, value)`: name it where others use the same list meanwhile."""
    if site not in points or now.alone or not arguments or type(arguments[0]) is not list:
        return
    if function.__module__ in ("_heapq", "_bisect") and _answers(
        (*arguments[0], *arguments[1:]), _ORDER
    ):
        unobserved.note(f"comparisons inside of {function.__module__.lstrip('_')}")
