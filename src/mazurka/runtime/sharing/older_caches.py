"""Caches of functions (`functools.lru_cache`) that have entries before the runs begin.

C code keeps the entries, and nothing but calling the function adds one.  The collector's view of
the object shows them, in the order of their last use.  A cache without bounds has a plain
dictionary of results, which can be filled as it was.  A bounded one is emptied and filled anew: the
function is called once for each entry, with code in the place of its own that gives the old result.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from gc import get_referents
from itertools import pairwise
from operator import is_
from types import CodeType, FunctionType
from typing import Any, Final, TypeAlias

CACHED: Final = type(lru_cache(len))
Entries: TypeAlias = list[Any]
"""A list of keys and a list of results; nothing of an empty cache."""
RESULT: Final = "the result"
"""Stands in code for what it gives."""


def read_entries(function: Any) -> Entries | None:
    """Copy what is in a cache; None if that could not be put back."""
    size = function.cache_info().currsize
    if not size:
        return []
    held = get_referents(function)
    table = _table_in(function, held)
    if table is None:
        return None
    if function.cache_info().maxsize is None:
        return [list(table), list(table.values())]
    first = next((at for at, one in enumerate(held) if type(one) is not type), 0)
    keys, results = held[first::3][:size], held[first + 1 :: 3][:size]  # and each entry's type
    if {id(key) for key in keys} != {id(key) for key in table}:
        return None
    return [keys, results] if type(function.__wrapped__) is FunctionType else None


def put_entries_back(function: Any, old: Entries) -> None:
    """Let a cache hold what it held."""
    present = read_entries(function)
    if present is not None and is_same(present, old):
        return
    if not old:
        function.cache_clear()
    elif function.cache_info().maxsize is None:
        table = _table_in(function, get_referents(function))
        assert table is not None
        table.clear()
        table.update(zip(*old, strict=True))
    else:
        _fill_anew(function, old)


def is_same(one: Entries, other: Entries) -> bool:
    """Whether two copies of a container hold the same objects."""
    return len(one) == len(other) and all(
        len(part) == len(known) and all(map(is_, part, known))
        for part, known in zip(one, other, strict=True)
    )


def _table_in(function: Any, held: list[Any]) -> dict[Any, Any] | None:
    """Find the dictionary of the entries: C code shows it just before the function."""
    for one, following in pairwise(held):
        if type(one) is dict and following is function.__wrapped__:
            return one if len(one) == function.cache_info().currsize else None
    return None


def _fill_anew(function: Any, old: Entries) -> None:
    """Empty a bounded cache, and call the function for each entry, the oldest use first."""
    mark, typed = _mark_in(function), function.cache_parameters()["typed"]
    function.cache_clear()
    for key, result in zip(*old, strict=True):
        arguments, named = _split(key, mark, typed=typed)
        with _gives(function.__wrapped__, result):
            function(*arguments, **named)


def _mark_in(function: Any) -> Any:
    """Find what separates positions from names in the keys: C code shows it after the function."""
    held = get_referents(function)
    return next(next_one for one, next_one in pairwise(held) if one is function.__wrapped__)


def _split(key: Any, mark: Any, *, typed: bool) -> tuple[Any, dict[str, Any]]:
    """Make the arguments of a call of a key: positions, and behind the mark names and values; then,
    if the cache tells types apart, the types of all."""
    if type(key) is not tuple:
        return (key,), {}
    at = next((number for number, part in enumerate(key) if part is mark), None)
    if at is None:
        return key[: len(key) // 2 if typed else None], {}
    count = (len(key) - 1 - 2 * at) // 3 if typed else (len(key) - 1 - at) // 2
    rest = key[at + 1 : at + 1 + 2 * count]
    return key[:at], dict(zip(rest[::2], rest[1::2], strict=True))


@contextmanager
def _gives(wrapped: FunctionType, result: Any) -> Iterator[None]:
    """Let a function give a result and do nothing else."""
    own = wrapped.__code__
    wrapped.__code__ = _code_giving(result, len(own.co_freevars))
    try:
        yield
    finally:
        wrapped.__code__ = own


def _code_giving(result: Any, free: int) -> CodeType:
    """Make code that gives a result whatever it is called with, and has some free variables."""
    names = ", ".join(f"free{number}" for number in range(free))
    text = f"def outer({names}):\n def inner(*a, **b):\n  {names or 'a'}\n  return {RESULT!r}\n"
    outer: Any = compile(text, __file__, "exec").co_consts[0]
    inner: CodeType = next(one for one in outer.co_consts if type(one) is CodeType)
    consts = (result if type(one) is str and one == RESULT else one for one in inner.co_consts)
    return inner.replace(co_consts=tuple(consts))
