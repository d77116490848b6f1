"""Proxies whose objects have gone, and values that threads keep for themselves."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable

import pytest

import mazurka


class Thing:
    """Can be referred to weakly."""

    def __init__(self) -> None:
        self.number = 0


class Own(threading.local):
    """Prepares itself in each thread, with arguments."""

    def __init__(self, start: int) -> None:
        self.number = start
        self.numbers = [start]


OWN = Own(3)


def together(*bodies: Callable[[], object]) -> None:
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def drop_behind_proxy() -> None:
    thing = [Thing()]
    proxy = weakref.proxy(thing[0])
    holders = [[proxy], {"proxy": proxy}, Thing()]
    holders[2].__dict__["proxy"] = proxy
    failed = []

    def look() -> None:
        try:
            proxy.number += 1
        except ReferenceError:
            failed.append(proxy)

    together(look, thing.clear)
    assert len(failed) < 2
    with pytest.raises(ReferenceError):
        proxy.number  # noqa: B018 - it is gone
    assert type(holders[0]) is list


def keep_own_values() -> None:
    made, seen = Own(5), []

    def work() -> None:
        for own in (OWN, made):
            own.number += 1
            own.numbers.append(own.number)
        seen.append((OWN.number, OWN.numbers, made.number, made.numbers))

    together(work, work)
    assert seen == [(4, [3, 4], 6, [5, 6])] * 2


def test_nothing_is_proved_where_the_end_of_an_object_behind_a_proxy_is_not_ordered() -> None:
    result = mazurka.explore(drop_behind_proxy, preemptions=2)
    assert result.verdict == "inconclusive", result
    assert [name.partition(" (")[0] for name in result.not_observed] == [
        f"the end of an object of the type {Thing.__module__}.Thing"
    ]


def test_values_that_threads_keep_for_themselves_are_no_others() -> None:
    result = mazurka.explore(keep_own_values, preemptions=2)
    assert result.verdict == "holds", result
