"""Ways to go through an iterator, and programs whose threads share one."""

from __future__ import annotations

import collections
import functools
import heapq
import io
import itertools
import math
import operator
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import mazurka
from mazurka.runtime.story.result import Result


def counted(count: int = 3) -> Iterator[int]:
    yield from range(count)


class Bag(list[Any]):
    pass


class Held:
    """Its iterator is always the same one."""

    def __init__(self, items: Any) -> None:
        self.items = items

    def __iter__(self) -> Any:
        return self.items


def unpack(items: Any) -> Any:
    [*rest] = items
    return rest


def augmented(items: Any) -> Any:
    found: list[Any] = []
    found += items
    return found


def replaced(items: Any) -> Any:
    found = [7, 7]
    found[:] = items
    return found


def delegating(items: Any) -> Any:
    yield from items


def merged(items: Any) -> Any:
    table: dict[Any, Any] = {}
    table |= zip(items, items, strict=False)
    return table


def looped(items: Any) -> None:
    for _ in items:
        pass


def mapped_in_pool(items: Any) -> None:
    with ThreadPoolExecutor(1) as pool:
        list(pool.map(str, items))


def gathered(*items: Any) -> Any:
    return items


WAYS: dict[str, Callable[[Any], Any]] = {
    "[*it]": lambda it: [*it],
    "{*it}": lambda it: {*it},
    "(*it,)": lambda it: (*it,),
    "f(*it)": lambda it: gathered(*it),
    "[*a] = it": unpack,
    "x in it": lambda it: 9 in it,
    "x not in it": lambda it: 9 not in it,
    "0 < x in it": lambda it: 0 < 9 in it,
    "[9] in it": lambda it: [9] in it,
    "list.extend": lambda it: [0].extend(it),
    "list +=": augmented,
    "list[:] =": replaced,
    "list(it)": list,
    "class of a list": Bag,
    "set.update": lambda it: {0}.update(it),
    "set.update of two": lambda it: {0}.update([1], it),
    "set.isdisjoint": lambda it: {9}.isdisjoint(it),
    "set.union": lambda it: {9}.union(it),
    "dict.update": lambda it: {}.update((x, x) for x in it),
    "dict |=": merged,
    "dict.fromkeys": lambda it: dict.fromkeys(it),
    "deque.extend": lambda it: collections.deque().extend(it),
    "Counter": collections.Counter,
    "yield from": lambda it: list(delegating(it)),
    "reduce": lambda it: functools.reduce(lambda a, b: a + b, it, 0),
    "reduce in C": lambda it: functools.reduce(operator.add, it, 0),
    "math.fsum": math.fsum,
    "heapq.nlargest": lambda it: heapq.nlargest(2, it),
    "heapq.merge": lambda it: list(heapq.merge(it, it)),
    "operator.countOf": lambda it: operator.countOf(it, 9),
    "max with a key": lambda it: max(it, key=lambda x: -x, default=0),
    "b''.join": lambda it: b"".join(bytes([x]) for x in it),
    "writelines": lambda it: io.StringIO().writelines(map(str, it)),
    "islice": lambda it: list(itertools.islice(it, 3)),
    "chain.from_iterable": lambda it: list(itertools.chain.from_iterable([it])),
    "map of a pool": mapped_in_pool,
    "for": looped,
}


def run(*functions: Callable[[], Any]) -> None:
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def explored(way: Callable[[Any], Any], make: Callable[[], Any]) -> Result:
    """Two threads go through the same thing."""

    def program() -> None:
        items = make()
        run(functools.partial(way, items), functools.partial(way, items))

    return mazurka.explore(program, preemptions=1)
