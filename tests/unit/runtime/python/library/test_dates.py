"""Dates follow the virtual clock, however the code gets at it."""

from __future__ import annotations

import collections
import dataclasses
import functools
import operator
import threading
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any

import pytest

import mazurka
from mazurka.runtime.primitives import clock

DAYS = 3


class Moment(datetime):
    """A subclass that changes nothing."""


class Shifted(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Shifted:
        return super().now(tz) + timedelta(hours=1)

    @classmethod
    def fromtimestamp(cls, timestamp: float, tz: tzinfo | None = None) -> Shifted:
        raise AssertionError("now() does not call this")


class Pair(datetime):
    def __new__(cls, *arguments: Any, **named: Any) -> Pair:
        return super().__new__(cls, *arguments, **named)


@dataclasses.dataclass
class Row:
    at: datetime = dataclasses.field(default_factory=datetime.now)


class Service:
    clock = datetime.now

    def __init__(self, clock: Callable[[], datetime] = datetime.now) -> None:
        self.own = clock


kept: collections.defaultdict[float, datetime] = collections.defaultdict(datetime.now)


def by_default(read: Callable[[], datetime] = datetime.now) -> datetime:
    return read()


def filled(factory: Callable[[], datetime]) -> datetime:
    table: collections.defaultdict[int, datetime] = collections.defaultdict(factory)
    return table[0]


def from_thread() -> datetime:
    found: list[datetime] = []
    thread = threading.Thread(target=lambda: found.append(datetime.now()))
    thread.start()
    thread.join()
    return found[0]


def written(form: str) -> datetime:
    return datetime.strptime(form, "%a %b %d %H:%M:%S %Y")


WAYS: dict[str, Callable[[], Any]] = {
    "now": lambda: datetime.now(),
    "with a zone": lambda: datetime.now(UTC),
    "with a zone by name": lambda: datetime.now(tz=UTC),
    "today": lambda: datetime.today(),
    "date": lambda: date.today(),
    "of a subclass": lambda: Moment.now(),
    "of a subclass with its own": lambda: Shifted.now(),
    "of a subclass with arguments": lambda: Pair.now(),
    "of an object": lambda: datetime(2000, 1, 1).now(),
    "default_factory": lambda: Row().at,
    "defaultdict": lambda: kept[time.time()],
    "defaultdict of the run": lambda: filled(datetime.now),
    "default value": by_default,
    "attribute of a class": lambda: Service.clock(),
    "attribute of an object": lambda: Service().own(),
    "called by C code": lambda: next(map(datetime.now, [UTC])),
    "two-argument iter": lambda: next(iter(datetime.now, None)),
    "methodcaller": lambda: operator.methodcaller("now")(datetime),
    "partial": functools.partial(datetime.now, UTC),
    "getattr": lambda: getattr(datetime, "no" + "w")(),
    "another thread": from_thread,
    "localtime": lambda: datetime(*time.localtime()[:6]),
    "gmtime": lambda: datetime(*time.gmtime(None)[:6]),
    "ctime": lambda: written(time.ctime()),
    "asctime": lambda: written(time.asctime()),
    "strftime": lambda: datetime.strptime(time.strftime("%Y-%m-%d"), "%Y-%m-%d"),
    "clock_gettime": lambda: datetime.fromtimestamp(time.clock_gettime(time.CLOCK_REALTIME)),
}


def days_between(read: Callable[[], Any]) -> int:
    before: Any = read()
    time.sleep(DAYS * 86_400 + 60)
    passed: timedelta = read() - before
    return round(passed / timedelta(days=1))


@pytest.mark.parametrize("name", WAYS)
def test_the_virtual_time_passes(name: str) -> None:
    read = WAYS[name]

    def program() -> None:
        kept.clear()
        assert days_between(read) == DAYS

    result = mazurka.explore(program, preemptions=1)
    assert result, result.report()
    assert result.not_observed == ()
    assert result.notes == ()


@pytest.mark.filterwarnings("ignore:.*utcnow.*:DeprecationWarning")
def test_without_a_zone() -> None:
    def program() -> None:
        now = datetime.utcnow()
        assert now.tzinfo is None
        assert abs(now - datetime.now(UTC).replace(tzinfo=None)) < timedelta(seconds=5)
        assert days_between(lambda: datetime.utcnow()) == DAYS

    assert mazurka.explore(program, preemptions=1)


def test_all_clocks_agree() -> None:
    def program() -> None:
        time.sleep(DAYS * 86_400)
        stamp = time.time()
        assert abs(datetime.now().timestamp() - stamp) < 5
        assert abs(Shifted.now().timestamp() - 3600 - stamp) < 5
        assert abs(time.mktime(time.localtime()) - stamp) < 5
        assert time.localtime(86_400) == time.localtime(86_400.0)
        assert time.gmtime(0).tm_year == 1970
        assert time.strftime("%Y", time.gmtime(0)) == "1970"
        assert time.asctime(time.gmtime(0)) == "Thu Jan  1 00:00:00 1970"
        assert type(Moment.now()) is Moment
        assert type(Pair.now()) is Pair
        with pytest.raises(TypeError):
            datetime.now("UTC")  # type: ignore[arg-type]

    result = mazurka.explore(program, preemptions=0)
    assert result, result.report()


def test_a_branch_that_the_schedule_decides() -> None:
    """Who is late depends on who sleeps, not on when the test is run."""

    def program() -> None:
        seen: list[str] = []
        deadline = datetime.now() + timedelta(seconds=10)

        def work() -> None:
            time.sleep(20)
            seen.append("late" if datetime.now() > deadline else "in time")

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert seen == ["in time"]

    result = mazurka.explore(program, preemptions=2)
    assert result.verdict == "violated"


@pytest.mark.parametrize("read", [datetime.now, datetime.today], ids=["now", "today"])
def test_a_loop_that_polls_comes_to_its_deadline(read: Callable[[], datetime]) -> None:
    def program() -> None:
        done: list[int] = []
        thread = threading.Thread(target=done.append, args=(1,))
        thread.start()
        deadline = read() + timedelta(days=1)
        while not done and read() < deadline:
            pass
        thread.join()

    result = mazurka.explore(program, preemptions=1)
    assert result, result.report()


def test_values_are_the_same_again() -> None:
    def program() -> None:
        class Box:
            stamp: datetime | None = None

        box = Box()

        def stamp() -> None:
            box.stamp = datetime.now()

        threads = [threading.Thread(target=stamp) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert mazurka.explore(program, preemptions=1).notes == ()


def test_real_time_stays_real() -> None:
    real, away = time.localtime, timedelta(days=DAYS)

    def program() -> None:
        assert clock.wall is None
        assert time.localtime is real
        before = datetime.now()
        threading.Event().wait(0.01)
        assert before < datetime.now() < before + away

    result = mazurka.explore(program, preemptions=0, virtual_time=False)
    assert result, result.report()


def test_nothing_is_left_behind() -> None:
    real = (time.time, time.localtime, time.strftime, time.clock_gettime)
    assert mazurka.explore(lambda: None, preemptions=0).verdict in ("holds", "error")
    assert clock.wall is None
    assert (time.time, time.localtime, time.strftime, time.clock_gettime) == real
    assert abs(datetime.now().timestamp() - time.time()) < 60


@pytest.mark.parametrize(
    ("read", "name"),
    [
        (lambda: time.process_time(), "time.process_time"),
        (lambda: time.thread_time_ns(), "time.thread_time_ns"),
        (lambda: time.clock_gettime(time.CLOCK_PROCESS_CPUTIME_ID), "time.clock_gettime"),
    ],
)
def test_clocks_of_the_processor_are_named(read: Callable[[], float], name: str) -> None:
    def program() -> None:
        read()

    assert mazurka.explore(program, preemptions=0).not_observed == (name,)
