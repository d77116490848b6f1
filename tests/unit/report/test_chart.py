"""The sequence chart of a counterexample: who sends what to whom, and that it is valid SVG."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

import mazurka
from mazurka.checking import load_program
from mazurka.report.chart import draw_chart
from mazurka.report.exchanges import Arrow, Exchanges, Hold, find_exchanges
from mazurka.report.svg import Drawing, escape, fit
from mazurka.search import Move

MESSAGES = """
from mazurka.model import Mutex, Queue
q = Queue(2)
lock = Mutex()

def producer():
    q.put(7)
    q.put(8)
    with lock:
        q.put(9)

def consumer():
    a = q.get()
    b = q.get()
    assert a < b < 8

threads = [producer(), consumer()]
"""
NOTIFIED = """
import threading
changed = threading.Condition()
ready = False

def waiter():
    with changed:
        first = 1
        while not ready:
            first = 0
            changed.wait()
        assert first

def setter():
    global ready
    with changed:
        ready = True
        changed.notify()

threads = [waiter(), setter()]
"""
CROSSED = """
from mazurka.model import Mutex
a, b = Mutex(), Mutex()

def one(first, second):
    with first:
        with second:
            pass

threads = [one(a, b), one(b, a)]
"""
COUNTED = """
from mazurka.model import Mutex, yield_
lock = Mutex()
n = 0

def adder():
    global n
    yield_()
    with lock:
        n += 1
    assert n < 2

threads = [adder(), adder()]
"""


SELECTED = """
from mazurka.model import Int, Queue, select
data, stop = Queue(1, Int[0, 9]), Queue(1, Int[0, 9])
last = 0

def server():
    global last
    for _ in range(2):
        which, item = select(data, stop)
        last = item
    assert last < 2

def client():
    data.put(1)
    stop.put(2)

threads = [server(), client()]
"""


@pytest.fixture
def story(tmp_path: Path):
    """Check a model; returns its program, and what was found."""

    def tell(text: str):
        path = tmp_path / "model.py"
        path.write_text(text, encoding="utf-8")
        verdict = mazurka.check(path, strategy="full", counterexample="switches")
        assert verdict.trace is not None
        return load_program(str(path), verdict.subject.reading), verdict

    return tell


def exchanges(told) -> Exchanges:
    program, verdict = told
    return find_exchanges(program, verdict.trace.moves)


def texts(drawing: str) -> list[str]:
    return [node.text or "" for node in ElementTree.fromstring(drawing).iter() if node.text]


def test_messages_and_what_is_in_the_queue(story):
    found = exchanges(story(MESSAGES))
    messages = [arrow for arrow in found.arrows if arrow.kind == "message"]
    assert [arrow.label for arrow in messages] == ["7", "8"]
    assert all(arrow.source < arrow.target for arrow in messages)
    contents = list(found.contents["q"].values())
    assert contents[0] == (7,)
    assert (7, 8) in contents or (8,) in contents


def test_a_notification_leads_to_who_is_woken(story):
    program, verdict = story(NOTIFIED)
    found = find_exchanges(program, verdict.trace.moves)
    (wake,) = [arrow for arrow in found.arrows if arrow.kind == "wakes"]
    rows = {row.number: row for row in verdict.trace.rows}
    assert "notify" in rows[wake.source].told[0].text
    assert "wake up" in rows[wake.target].told[0].text
    assert {hold.lock for hold in found.holds} == {"changed"}


def test_a_release_lets_a_waiting_thread_go_on(story):
    program, _ = story(COUNTED)
    found = find_exchanges(program, [Move(thread) for thread in (1, 0, 0, 0, 0, 0, 1)])
    assert found.holds == [Hold(0, "lock", 3, 6), Hold(1, "lock", 7, None)]
    assert found.arrows == [Arrow(6, 7, "unblocks")]


def test_a_deadlock_shows_who_waits_for_whom(story):
    program, verdict = story(CROSSED)
    drawing = draw_chart(program, verdict.trace, verdict.violation)
    shown = texts(drawing)
    assert shown.count("waits for") == 2
    assert shown.count("held by") == 2
    assert {"a", "b", "who waits for whom"} <= set(shown)
    assert sum("acquire" in text for text in shown) == 2
    waiting = {each.wants: each.holders for each in verdict.trace.ending}
    assert waiting == {"b": (1,), "a": (0,)}


def test_long_traces_are_shortened(story):
    text = MESSAGES.replace("b = q.get()", "b = 9\n    for k in range(300):\n        yield_()")
    program, verdict = story(text.replace("import Mutex", "import yield_, Mutex"))
    short = draw_chart(program, verdict.trace, verdict.violation)
    whole = draw_chart(program, verdict.trace, verdict.violation, full=True)
    assert any("steps left out" in text for text in texts(short))
    assert not any("steps left out" in text for text in texts(whole))
    assert len(short) < len(whole)


def test_texts_are_escaped_and_cut():
    assert escape("a < b & c > \x00\ud800") == "a &lt; b &amp; c &gt; ??"
    assert fit("abcdef", 4) == "abc…"
    drawing = Drawing("a < b", "mark")
    drawing.text(1, 2, "x < y", "dim")
    drawing.label(5, 6, "<&>", "small dim")
    page = ElementTree.fromstring(drawing.finish())
    assert page.tag.endswith("svg")
    assert {"a < b", "x < y", "<&>"} <= {node.text for node in page.iter()}


def test_a_select_that_finds_one_of_its_queues_empty_does_not_wait(story):
    program, verdict = story(SELECTED)
    found = find_exchanges(program, verdict.trace.moves)
    threads = [move.thread for move in verdict.trace.moves]
    ends = [(threads[arrow.source - 1], threads[arrow.target - 1]) for arrow in found.arrows]
    assert ends
    assert all(one != other for one, other in ends)
