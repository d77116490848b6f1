"""Operations in counterexamples: the values they moved, what came of them, whom they woke."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest

from mazurka.frontend.python.elaboration import elaborate
from mazurka.ir.passes.prepare import prepare
from mazurka.report.columns import Columns
from mazurka.report.verdict import Verdict


@pytest.fixture
def violated(judge) -> Callable[[str], Verdict]:
    """The verdict on a model that has a violation."""

    def run(source: str) -> Verdict:
        text = "from mazurka.model import *\n" + textwrap.dedent(source)
        verdict = judge(prepare(elaborate(text, "model.py")))
        assert verdict.trace is not None
        return verdict

    return run


@pytest.fixture
def drawn(violated, printed) -> Callable[[str], str]:
    """The counterexample of a model, on a wide terminal."""

    def run(source: str, encoding: str = "utf-8") -> str:
        trace = violated(source).trace
        return printed(lambda console: Columns(console, trace).draw(), 200, encoding)

    return run


QUEUES = """
    queues = [Queue(2, Int[0, 3]) for i in range(2)]
    def producer():
        queues[1].put(2)
        queues[1].put(3)
    def consumer():
        assert queues[1].get() + queues[1].get() == 6
    threads = [producer(), consumer()]
"""


def test_a_queue_shows_what_goes_in_and_what_comes_out(drawn):
    text = drawn(QUEUES)
    assert "queues[1].put(2)   put 2 into queues[1]" in text
    assert "queues[1].put(3)   put 3 into queues[1]" in text
    assert "get from queues[1] ➜ 2" in text
    assert "get from queues[1] ➜ 3" in text
    assert "item[" not in text


def test_without_unicode_an_arrow_is_written_in_letters(drawn):
    assert "get from queues[1] -> 2" in drawn(QUEUES, "ascii")


def test_the_newest_item_of_a_stack_comes_out(drawn):
    text = drawn("""
        stack = LifoQueue(2, Int[0, 3])
        def f():
            stack.put(1)
            stack.put(3)
            assert stack.get() == 1
        threads = [f()]
    """)
    assert "get from stack ➜ 3" in text


def test_a_value_that_a_variable_shows_is_not_said_twice(drawn):
    text = drawn("""
        q = Queue(1, Int[0, 3])
        def f():
            wish = choose(2, 3)
            q.put(wish)
            got = q.get()
            assert got == 4
        threads = [f()]
    """)
    assert "wish = choose(2, 3)   wish = 2" in text
    assert "got = q.get()   get from q  got = 2" in text


def test_the_outcome_of_a_choice_is_shown(drawn):
    text = drawn("""
        x: Int[0, 1] = 0
        def f():
            if choose(False, True):
                if choose(4, 5, 6) == 5:
                    if choose(range(2, 8, 3)) == 5:
                        assert False
        threads = [f()]
    """)
    assert "if choose(False, True):   choose ➜ True" in text
    assert "if choose(4, 5, 6) == 5:   choose ➜ 5" in text
    assert "if choose(range(2, 8, 3)) == 5:   choose ➜ 5" in text


def test_an_atomic_section_tells_its_operations(drawn, violated):
    source = """
        q = Queue(2, Int[0, 3])
        lock = Mutex()
        n: Int[0, 3] = 1
        def f():
            with atomic():
                with lock:
                    for item in range(2):
                        if not q.full():
                            q.put(item + n)
                if choose(False, True):
                    assert q.get() == 2
        threads = [f()]
    """
    line = (
        "acquire lock  q.full() ➜ False  put 1 into q  q.full() ➜ False  put 2 into q"
        "  release lock  choose ➜ True  get from q ➜ 1"
    )
    text = " ".join(drawn(source).split())
    assert " ".join(line.split()) in text
    assert "q = " not in text
    assert "item[" not in text
    row = violated(source).trace.rows[0].to_json()
    assert row["operation"] == "atomic"
    assert {"operation": "put 2 into q", "result": None} in row["operations"]
    assert {"operation": "q.full()", "result": False} in row["operations"]


def test_of_very_many_operations_the_first_and_the_last_are_shown(drawn):
    text = drawn("""
        q = Queue(1, Int[0, 99])
        def f():
            with atomic():
                for i in range(60):
                    q.put(i)
                    assert q.get() < 59
        threads = [f()]
    """)
    assert "put 0 into q" in text
    assert "put 59 into q" in text
    assert "put 30 into q" not in text
    assert "… 100 more" in text


def test_an_assertion_names_what_it_was_given(violated):
    verdict = violated("""
        q = Queue(1, Int[0, 3])
        done = Event()
        def a():
            q.put(2)
            done.set()
        def b():
            done.wait()
            assert not done.is_set() or q.get() == 1, "wrong"
        threads = [a(), b()]
    """)
    assert verdict.violation.message == "wrong (done.is_set() is True, q.get() is 2)"


def test_values_of_other_lines_are_not_those_of_the_assertion(violated):
    verdict = violated("""
        q = Queue(1, Int[0, 3])
        def f(x):
            q.put(x)
            if q.get() == 2:
                assert x == 3, "wrong"
        threads = [f(2)]
    """)
    assert verdict.violation.message.startswith("wrong")
    assert "q.get()" not in verdict.violation.message


def test_a_tuple_of_which_a_part_does_not_fit(violated):
    verdict = violated("""
        q = Queue(1, (Int[0, 1], Int[0, 3]))
        def f():
            q.put((0, 4))
        threads = [f()]
    """)
    assert verdict.violation.message == "put 4 into part [1] of an item of `q`, which holds 0..3"
    assert verdict.trace.rows[-1].told[0].words == "put (0, 4) into q"


def test_a_number_that_a_queue_cannot_hold(violated, drawn):
    source = """
        q = Queue(2, Int[0, 3])
        x: Int[0, 5] = 3
        def a():
            global x
            x += 1
        def b():
            q.put(x)
        threads = [a(), b()]
    """
    verdict = violated(source)
    assert verdict.violation.message == "put 4 into `q`, which holds 0..3"
    assert "put 4 into q" in drawn(source)


def test_an_event_says_that_the_time_is_up(drawn):
    source = """
        e = Event()
        x: Int[0, 1] = 0
        def a():
            global x
            x = 1
            e.set()
        def b():
            {wait}
            assert x == {wrong}
        threads = [a(), b()]
    """
    late = drawn(source.format(wait="e.wait(timeout=1)", wrong=1))
    assert "e.wait(timeout=1)   e.wait(): timed out" in late
    told = drawn(source.format(wait="assume(e.wait(timeout=1))", wrong=0))
    assert "e.wait() ➜ True" in told


def test_a_condition_tells_a_timeout_from_a_notification(drawn):
    source = """
        c = Condition()
        x: Bool = False
        def a():
            with c:
                if c.wait(timeout=1):
                    assert {notified}
                else:
                    assert {late}
        def b():
            with c:
                c.{notify}
        threads = [a(), b()]
    """
    for notify in ("notify()", "notify_all()"):
        late = drawn(source.format(notify=notify, notified=True, late=False))
        assert "wake up at c: timed out" in late
        notified = drawn(source.format(notify=notify, notified=False, late=True))
        assert "wake up at c" in notified
        assert "timed out" not in notified


@pytest.mark.parametrize(
    ("notify", "woken"),
    [
        ("notify()", "notify c: wakes a(0)"),
        ("notify(2)", "notify c: wakes a(0) and a(1)"),
        ("notify_all()", "notify_all c: wakes a(0), a(1) and a(2)"),
    ],
)
def test_a_notification_names_those_whom_it_wakes(drawn, notify, woken):
    text = drawn(f"""
        c = Condition()
        n: Int[0, 3] = 0
        def a(i):
            global n
            with c:
                assume(n == i)
                n += 1
                c.wait()
        def b():
            with c:
                assume(n == 3)
                c.{notify}
                assert False
        threads = [a(i) for i in range(3)] + [b()]
    """)
    assert f"c.{notify} {woken} " in " ".join(text.split())


@pytest.mark.parametrize("name", ["notify", "notify_all"])
def test_a_notification_may_wake_nobody(drawn, name):
    text = drawn(f"""
        c = Condition()
        def b():
            with c:
                c.{name}()
                assert False
        threads = [b()]
    """)
    assert f"{name} c: wakes nobody" in text


READERS = """
    rw = RWLock()
    never = Event()
    def reader():
        with rw.read():
            never.wait()
    def writer():
        with rw.write():
            pass
    def both():
        with rw.read():
            with rw.write():
                pass
    threads = [{threads}]
"""


@pytest.mark.parametrize(
    ("threads", "reason"),
    [
        ("reader(), writer()", "waits for `rw`, read by reader"),
        ("reader(), reader(), writer()", "waits for `rw`, read by reader and reader#2"),
        ("both()", "waits for `rw`, which it reads itself"),
        ("reader(), both()", "waits for `rw`, which it reads itself, together with reader"),
    ],
)
def test_a_writer_names_all_readers(violated, threads, reason):
    """One of the deadlocks that the search may meet; readers may also come after the writer."""
    verdict = violated(READERS.format(threads=threads))
    last = [standing for standing in verdict.trace.ending if standing.status == "waits"][-1]
    assert last.reason == reason


def test_a_wrong_release_names_the_holder(violated):
    verdict = violated("""
        m = Mutex()
        taken = False
        def holder():
            global taken
            m.acquire()
            taken = True
        def other():
            assume(taken)
            m.release()
        threads = [holder(), other()]
    """)
    assert verdict.violation.message == (
        "release of `m`, which this thread does not hold (m is held by holder)"
    )


def test_an_assertion_names_what_nobody_ever_changes(violated):
    """No step reads such a variable, so no row shows its value."""
    verdict = violated("""
        x: Int[0, 1] = 0
        y: Bool = False
        N = 5
        def f():
            N = 7
            assert x == 1 or y or N == 8
        threads = [f()]
    """)
    expected = "assertion failed: x == 1 or y or N == 8 (x is 0, y is False, N is 7)"
    assert verdict.violation.message == expected
