"""What reports say of steps that the library takes: futures, caches, barriers, its bookkeeping."""

from __future__ import annotations

import copy
import functools
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest

import mazurka
from mazurka.errors import InternalError
from mazurka.runtime.exploring.guard import explain_contradiction
from mazurka.stateless.explored import DivergedError


def explored(program: Callable[[], None], preemptions: int = 1) -> mazurka.Result:
    result = mazurka.explore(program, preemptions=preemptions)
    assert result.violation is not None, result.report()
    return result


def run(*targets: Callable[[], object]) -> None:
    threads = [threading.Thread(target=target) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# -- barriers --------------------------------------------------------------------------------------


def test_a_barrier_that_notifies_nobody_has_lost_nothing() -> None:
    def program() -> None:
        gate = threading.Barrier(2)
        run(gate.wait, gate.wait, gate.wait)

    text = explored(program, 0).report(200)
    assert "waits at barrier gate, where 1 of 2 threads has arrived" in text
    assert "lost wake-up" not in text
    assert "gate.wait()   acquire gate" in text
    assert ", in gate.wait()   waits at barrier gate" in text


def test_an_object_has_one_label_by_itself_and_by_its_model() -> None:
    def program() -> None:
        ready, late = threading.Event(), threading.Event()
        run(ready.set, late.wait)

    text = explored(program, 0).report(200)
    assert "ready.set()   set ready" in text
    assert "ready#2" not in text


def test_nor_has_one_that_the_program_calls_itself() -> None:
    def program() -> None:
        gate = threading.Barrier(2)

        def pass_through() -> None:
            gate.wait()

        run(pass_through, pass_through, pass_through)

    text = explored(program, 0).report(200)
    assert "lost wake-up" not in text
    assert "gate.wait()" in text


def test_a_notification_of_the_program_is_lost() -> None:
    def program() -> None:
        ready = threading.Condition()

        def tell() -> None:
            with ready:
                ready.notify_all()

        def wait() -> None:
            with ready:
                ready.wait()

        run(tell, wait)

    result = explored(program)
    assert result.violation is not None
    assert result.violation.message.startswith("lost wake-up: Thread-1 (tell) notified ready at")


def test_a_timer_of_the_library_has_its_call() -> None:
    def program() -> None:
        gate = threading.Barrier(2)
        timer = threading.Timer(1, gate.wait, args=(None,))
        timer.start()
        timer.join()

    assert "in gate.wait(None)   waits at barrier gate" in explored(program, 0).report(200)


# -- loops that wait -------------------------------------------------------------------------------


def test_a_loop_waits_for_an_element_by_its_name() -> None:
    def program() -> None:
        serving = [0]

        def wait() -> None:
            while serving[0] != 1:
                pass

        run(wait)

    result = explored(program, 0)
    assert result.violation is not None
    assert result.violation.message.endswith("waits for a change of serving[0]")
    assert result.violation.details[1].startswith(
        "thread Thread-1 (wait) waits for a change of serving[0] at "
    )


def test_a_loop_waits_for_several_elements_of_a_container() -> None:
    def program() -> None:
        flags = {"one": False, "two": False}

        def wait() -> None:
            while not (flags["one"] or flags["two"]):
                pass

        def write() -> None:
            flags["one"] = False
            flags["two"] = False

        run(wait, write)

    result = explored(program, 0)
    assert result.violation is not None
    assert result.violation.message.endswith("waits for a change of flags")


# -- futures ---------------------------------------------------------------------------------------


def answered_twice() -> None:
    answer: Future[int] = Future()

    def give() -> None:
        if not answer.done():
            answer.set_result(1)

    run(give, give)


def test_the_state_of_a_future_is_told() -> None:
    result = explored(answered_twice)
    text = result.report(200)
    assert text.count("answer ➜ pending") == 2
    assert text.count("answer = finished") == 1
    assert text.count("answer ➜ finished") == 1
    assert {"answer": "pending"} in [step["reads"] for step in trace_of(result)]


def test_an_address_in_a_message_says_nothing() -> None:
    result = explored(answered_twice)
    assert result.violation is not None
    assert result.violation.message == (
        "InvalidStateError: FINISHED: <Future state=finished returned int>"
    )


def test_other_numbers_in_a_message_stay() -> None:
    def program() -> None:
        raise ValueError("no instruction at 0x7f, <page at 0x10>, nor at 0x7f0000001000")

    result = explored(program, 0)
    assert result.violation is not None
    assert "at 0x7f, <page at 0x10>, nor at 0x7f0000001000" in result.violation.message


def trace_of(result: mazurka.Result) -> list[dict[str, Any]]:
    found: Any = result.to_json()["trace"]
    return list(found)


# -- caches ----------------------------------------------------------------------------------------


def with_order() -> None:
    calls: list[int] = []

    @functools.lru_cache(maxsize=4)
    def square(number: int) -> int:
        calls.append(number)
        return number * number

    ask(square, calls)


def without_order() -> None:
    calls: list[int] = []

    @functools.cache
    def square(number: int) -> int:
        calls.append(number)
        return number * number

    ask(square, calls)


def ask(square: Any, calls: list[int]) -> None:
    run(lambda: (square(2), square(2)), lambda: square(2))
    square.cache_clear()
    assert len(calls) == 1


@pytest.mark.parametrize("program", [with_order, without_order])
def test_what_a_cache_is_asked_is_told(program: Callable[[], None]) -> None:
    text = explored(program).report(200)
    assert text.count("cache of square: miss") == 2
    assert text.count("cache of square: filled") == 2
    assert text.count("cache of square: hit") == 1
    assert text.count("cache of square: cleared") == 1


# -- notes and errors ------------------------------------------------------------------------------


def test_what_the_library_keeps_for_itself_is_no_note() -> None:
    def program() -> None:
        table = {"a": [1], "b": [2]}
        run(lambda: table.update(c=[3]), lambda: copy.deepcopy(table))

    result = explored(program)
    assert result.notes == ()


def test_what_a_search_has_noticed_is_told_in_words_of_the_test(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("MAZURKA_DEBUG", raising=False)
    inside = InternalError("Theorem 4: a state that is not in H")
    text = str(explain_contradiction(inside, ("test_a.py", 3)))
    assert text.startswith("test_a.py:3: executions that should be the same are not: threads that")
    assert "Theorem" not in text
    monkeypatch.setenv("MAZURKA_DEBUG", "1")
    assert "Theorem 4" in str(explain_contradiction(inside, (None, None)))


def test_a_thread_that_cannot_go_on_any_more_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MAZURKA_DEBUG", raising=False)
    text = str(explain_contradiction(DivergedError("thread 1 could go on"), (None, None)))
    assert "What was noticed: thread 1 could go on." in text
