"""Searches side by side: the first to end has the answer, and they share one budget of memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection

import pytest

from mazurka.errors import UnsupportedError
from mazurka.ir.program import Program
from mazurka.search import (
    Observer,
    SearchOptions,
    SearchResult,
    Silent,
    Statistics,
    Strategy,
    Violation,
)
from mazurka.stateful.race import APART_SHARE, RIVAL_SHARE, Contender, Race

PROGRAM = Program("nothing", (), ())
DONE = SearchResult(Statistics(states=7))
CANCELLED = SearchResult(Statistics(states=1), limits=("cancelled",))
NO_MEMORY = SearchResult(Statistics(states=1), limits=("memory",))
PATIENCE = 20.0

Run = Callable[[SearchOptions], SearchResult]


class Listener(Silent):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.notices: list[str] = []

    def notice(self, text: str) -> None:
        self.notices.append(text)


def race(
    *searches: Run,
    limit_bytes: int = 800,
    observer: Observer | None = None,
    apart: Collection[int] = (),
    cancelled: Callable[[], bool] | None = None,
    begins: Callable[[], bool] | None = None,
) -> Race:
    """`begins`: when the searches that work apart are to begin."""

    def strategy(number: int, search: Run) -> Strategy:
        def run(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
            return search(options)

        preserved = SearchOptions().properties | ({"hang"} if number not in apart else set())
        return Strategy(f"s{number}", "", preserved, ("dfs",), run)

    contenders = [
        Contender(
            strategy(number, search),
            f"reason {number}",
            apart=number in apart,
            begins=begins if number in apart else None,
        )
        for number, search in enumerate(searches)
    ]
    options = SearchOptions(
        properties=SearchOptions().properties | {"hang"} if apart else SearchOptions().properties,
        dispensable=frozenset({"hang"}),
        limit_bytes=limit_bytes,
        cancelled=cancelled,
    )
    return Race(PROGRAM, contenders, options, observer or Silent())


def until_cancelled(options: SearchOptions) -> SearchResult:
    assert options.cancelled is not None
    wait_until(options.cancelled)
    return CANCELLED


def wait_until(condition: Callable[[], bool]) -> None:
    pause = threading.Event()
    for _ in range(int(PATIENCE / 0.001)):
        if condition():
            return
        pause.wait(0.001)
    pytest.fail("it never happened")


def test_whoever_ends_first_has_the_answer() -> None:
    for first, second, name in (
        (lambda options: DONE, until_cancelled, "s0"),
        (until_cancelled, lambda options: DONE, "s1"),
    ):
        chosen = race(first, second).run()
        assert (chosen.strategy.name, chosen.result) == (name, DONE)
        assert chosen.reason == f"reason {name[1]}"


def test_a_violation_is_an_answer() -> None:
    found = SearchResult(Statistics(), Violation("assert", ()))
    assert race(until_cancelled, lambda options: found).run().result is found


def test_alone_a_search_has_all_the_memory() -> None:
    seen: list[SearchOptions] = []

    def search(options: SearchOptions) -> SearchResult:
        seen.append(options)
        return DONE

    race(search).run()
    assert (seen[0].limit_bytes, seen[0].share_bytes) == (800, None)


def test_the_first_choice_gets_the_memory_of_the_others() -> None:
    rivals: list[int | None] = []

    def first(options: SearchOptions) -> SearchResult:
        assert options.share_bytes == 800 - 2 * (800 // RIVAL_SHARE)
        assert options.more_bytes is not None
        assert options.more_bytes() == 800  # it waits until the others have stopped
        assert len(rivals) == 2
        return DONE

    def rival(options: SearchOptions) -> SearchResult:
        result = until_cancelled(options)
        rivals.append(options.share_bytes)
        return result

    assert race(first, rival, rival).run().strategy.name == "s0"
    assert rivals == [100, 100]


def test_others_get_the_memory_of_a_first_choice_that_has_stopped() -> None:
    def rival(options: SearchOptions) -> SearchResult:
        more = options.more_bytes
        assert more is not None
        wait_until(lambda: more() == 800)
        return DONE

    chosen = race(lambda options: NO_MEMORY, rival).run()
    assert (chosen.strategy.name, chosen.result) == ("s1", DONE)


def test_without_an_answer_the_first_choice_speaks() -> None:
    chosen = race(lambda options: NO_MEMORY, lambda options: NO_MEMORY).run()
    assert (chosen.strategy.name, chosen.result.limits) == ("s0", ("memory",))


def run_out_of_memory(options: SearchOptions) -> SearchResult:
    raise MemoryError


def refuse(options: SearchOptions) -> SearchResult:
    raise UnsupportedError("too many threads")


def test_a_failure_of_the_first_choice_is_raised() -> None:
    with pytest.raises(MemoryError):
        race(run_out_of_memory, until_cancelled).run()


def test_a_first_choice_that_refuses_leaves_the_answer_to_the_others() -> None:
    assert race(refuse, lambda options: DONE).run().result is DONE
    with pytest.raises(UnsupportedError):
        race(refuse, lambda options: NO_MEMORY).run()
    with pytest.raises(UnsupportedError):
        race(refuse, refuse).run()


def test_a_rival_that_fails_is_left_out_with_a_notice() -> None:
    listener = Listener()

    def wait_for_notice(options: SearchOptions) -> SearchResult:
        wait_until(lambda: bool(listener.notices))
        return DONE

    assert race(wait_for_notice, run_out_of_memory, observer=listener).run().result is DONE
    assert listener.notices == ["s1 has failed, and is left out: MemoryError()"]
    chosen = race(lambda options: NO_MEMORY, run_out_of_memory).run()
    assert (chosen.strategy.name, chosen.result.limits) == ("s0", ("memory",))


def test_a_rival_may_be_unable() -> None:
    listener = Listener()
    assert race(lambda options: DONE, refuse, observer=listener).run().result is DONE
    assert not listener.notices


def test_an_interrupted_search_ends_the_others() -> None:
    stopped = SearchResult(Statistics(), limits=("interrupted",))
    chosen = race(lambda options: stopped, until_cancelled).run()
    assert chosen.result.limits == ("interrupted",)


def test_one_that_works_apart_keeps_its_share_until_the_others_have_stopped() -> None:
    kept = 800 // APART_SHARE

    def first(options: SearchOptions) -> SearchResult:
        assert options.more_bytes is not None
        assert options.more_bytes() == 800 - kept
        return NO_MEMORY

    def apart(options: SearchOptions) -> SearchResult:
        assert (options.share_bytes, options.properties) == (kept, SearchOptions().properties)
        assert options.cancelled is not None
        more, cancelled = options.more_bytes, options.cancelled
        assert more is not None
        wait_until(lambda: more() == 800)
        assert not cancelled()
        return DONE

    assert race(first, apart, apart=[1]).run().strategy.name == "s1"


def test_one_that_works_apart_has_decided_only_if_it_knows_all() -> None:
    bounded = SearchResult(Statistics(), limits=("some execution has more than 5 rounds",))
    assert race(lambda options: DONE, lambda options: bounded, apart=[1]).run().result is DONE
    chosen = race(lambda options: NO_MEMORY, lambda options: bounded, apart=[1]).run()
    assert chosen.result.limits == ("memory",)
    assert chosen.result.notes == (
        "s1 beside it: no violation within 0 steps, then some execution has more than 5 rounds",
    )


def test_somebody_outside_stops_those_that_do_not_work_apart() -> None:
    def apart(options: SearchOptions) -> SearchResult:
        assert options.cancelled is not None
        assert not options.cancelled()
        return DONE

    for rivals in (0, 1):
        searches = [until_cancelled] * (1 + rivals)
        chosen = race(*searches, apart, apart=[1 + rivals], cancelled=lambda: True).run()
        assert chosen.result is DONE
    assert race(*[until_cancelled] * 2, cancelled=lambda: True).run().result == CANCELLED


# --- one that begins late -----------------------------------------------------------------------


def test_who_begins_late_does_not_end_the_first_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mazurka.stateful.race.processors", lambda: 2)
    late, second_ended = threading.Event(), threading.Event()
    asked: list[SearchOptions] = []

    def first(options: SearchOptions) -> SearchResult:
        assert second_ended.wait(PATIENCE)
        assert options.cancelled is not None
        assert not options.cancelled()
        return DONE

    def second(options: SearchOptions) -> SearchResult:
        until_cancelled(options)  # there are two processors
        second_ended.set()
        return CANCELLED

    def circuit(options: SearchOptions) -> SearchResult:
        asked.append(options)
        return until_cancelled(options)

    threading.Timer(0.01, late.set).start()
    chosen = race(first, second, circuit, apart={2}, begins=late.is_set).run()
    assert (chosen.strategy.name, chosen.result.limits) == ("s0", ())
    assert "hang" not in asked[0].properties
    assert asked[0].share_bytes == 800 // RIVAL_SHARE


def test_who_begins_late_may_have_the_answer() -> None:
    chosen = race(until_cancelled, lambda options: DONE, apart={1}, begins=lambda: True).run()
    assert chosen.strategy.name == "s1"


def test_who_is_not_to_begin_is_not_asked() -> None:
    def fail(options: SearchOptions) -> SearchResult:
        raise AssertionError

    chosen = race(lambda options: DONE, fail, apart={1}, begins=lambda: False).run()
    assert (chosen.strategy.name, chosen.result.limits) == ("s0", ())


def test_who_begins_late_stops_where_the_first_choice_needs_its_memory() -> None:
    begun = threading.Event()

    def first(options: SearchOptions) -> SearchResult:
        assert begun.wait(PATIENCE)
        assert options.more_bytes is not None
        assert options.more_bytes() == 800
        return DONE

    def circuit(options: SearchOptions) -> SearchResult:
        begun.set()
        return until_cancelled(options)

    chosen = race(first, circuit, apart={1}, begins=lambda: True).run()
    assert chosen.strategy.name == "s0"
