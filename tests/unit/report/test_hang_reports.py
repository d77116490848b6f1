"""A hang is shown with its loop, saved, and reproduced."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

import mazurka
from mazurka.report.summary import Summary
from mazurka.report.tracefile import NOT_REPRODUCED, REPRODUCED
from mazurka.report.verdict import Verdict

DOOR = """
from mazurka.model import *

wants = [False, False]

def enter(me):
    wants[me] = True
    while wants[1 - me]:
        yield_()
    wants[me] = False

def ends():
    pass

threads = [enter(0), enter(1), ends()]
"""


LATE = """
from mazurka.model import *

stop = other = False

def first():
    global stop
    stop = True
    if other:
        pass
    while stop:
        yield_()

def second():
    global stop
    stop = True
    while stop:
        yield_()

threads = [first(), second()]
"""
"""The hang is there when one of them has written; the other one has still to go to its loop."""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "door.py"
    path.write_text(DOOR, encoding="utf-8")
    return path


@pytest.fixture
def verdict(model: Path) -> Verdict:
    return mazurka.check(model)


def test_the_loops_are_told(verdict: Verdict) -> None:
    assert verdict.violation is not None
    assert verdict.violation.kind == "hang"
    data = verdict.to_json()
    assert data["property"] == ["assert", "deadlock", "hang"]
    assert data["loop_start"] == 2
    assert [(loop["thread"], loop["lines"], loop["reads"]) for loop in data["loops"]] == [  # type: ignore[attr-defined]
        ("enter(0)", [8, 9], {"wants[1]": True}),
        ("enter(1)", [8, 9], {"wants[0]": True}),
    ]
    statuses = [each["status"] for each in data["ending"]]  # type: ignore[attr-defined]
    assert statuses == ["goes round", "goes round", "finished"]


def test_the_report_shows_them(verdict: Verdict) -> None:
    console = Console(width=100, record=True, file=io.StringIO())
    Summary(console, verdict).print()
    shown = console.export_text()
    assert "from here on these steps are repeated for ever:" in shown
    assert "enter(0), lines 8 and 9: while wants[1 - me]:   wants[1] is True" in shown
    assert "also: ends (finished)" in shown


def test_steps_and_switches_are_counted_up_to_the_hang(tmp_path: Path) -> None:
    path = tmp_path / "late.py"
    path.write_text(LATE, encoding="utf-8")
    verdict = mazurka.check(path)
    assert verdict.trace is not None
    assert (verdict.trace.steps, verdict.trace.switches) == (1, 0)
    assert verdict.to_json()["settled"] == 1
    console = Console(width=100, record=True, file=io.StringIO())
    Summary(console, verdict).print()
    shown = console.export_text()
    assert "1 step, 0 context switches to the hang, with the fewest context switches" in shown
    found = mazurka.check(path, counterexample="found")
    assert found.trace is not None
    assert verdict.alternative is not None
    counts = verdict.alternative.steps, verdict.alternative.switches
    assert counts == (found.trace.steps, found.trace.switches) == (4, 2)
    assert "nothing shared changes; the threads go to their loops" in shown
    saved = tmp_path / "hang.json"
    mazurka.save_trace(saved, verdict)
    assert mazurka.replay(saved).trace.settled == 1


def test_a_saved_hang_is_reproduced(verdict: Verdict, tmp_path: Path) -> None:
    path = tmp_path / "hang.json"
    mazurka.save_trace(path, verdict)
    report = mazurka.replay(path)
    assert report.outcome == REPRODUCED
    assert report.finding == verdict.violation


@pytest.mark.parametrize("start", [None, 0, 3, 99])
def test_another_loop_is_not(verdict: Verdict, tmp_path: Path, start: int | None) -> None:
    path = tmp_path / "hang.json"
    mazurka.save_trace(path, verdict)
    data = json.loads(path.read_text(encoding="utf-8"))
    data["loop_start"] = start
    path.write_text(json.dumps(data), encoding="utf-8")
    assert mazurka.replay(path).outcome == NOT_REPRODUCED


def test_strategies_that_cannot_look_for_hangs_say_what_they_checked(model: Path) -> None:
    verdict = mazurka.check(model, strategy="cartesian")
    assert verdict.verdict == "holds"
    assert verdict.properties == ("assert", "deadlock")
    assert "hangs were not looked for: strategy cartesian does not preserve them" in verdict.notes
    assert verdict.to_json()["notes"] == list(verdict.notes)
    with pytest.raises(mazurka.MazurkaError, match="does not preserve hang"):
        mazurka.check(model, strategy="cartesian", properties=("hang",))
    with pytest.raises(mazurka.MazurkaError, match="hangs cannot be looked for"):
        mazurka.check(model, granularity="line", properties=("hang",))
    in_lines = mazurka.check(model, granularity="line")
    assert in_lines.properties == ("assert", "deadlock")
    (note,) = in_lines.notes
    assert note == "hangs were not looked for: with --granularity line they cannot be told"
    asked = mazurka.check(model, strategy="cartesian", properties=("assert", "deadlock"))
    assert not asked.notes


EXCUSED = """
from mazurka.model import *

go = other = False

def stops():
    global NAME
    assume(other)
    NAME = True

def polls():
    while not go:
        yield_()

threads = [stops(), polls()]
"""


def test_a_hang_that_a_stopped_thread_could_end_is_excused(tmp_path: Path) -> None:
    path = tmp_path / "polls.py"
    path.write_text(EXCUSED.replace("NAME", "go"), encoding="utf-8")
    verdict = mazurka.check(path)
    assert verdict.verdict == "holds"
    told = "threads go round for ever in some states because of `assume` at line 8: no hang"
    assert told in verdict.notes


def test_a_hang_that_it_could_not_end_is_found(tmp_path: Path) -> None:
    path = tmp_path / "polls.py"
    path.write_text(EXCUSED.replace("NAME", "other"), encoding="utf-8")
    verdict = mazurka.check(path)
    assert verdict.violation is not None
    assert verdict.violation.message.startswith("polls goes round a loop for ever")
    statuses = [each["status"] for each in verdict.to_json()["ending"]]  # type: ignore[attr-defined]
    assert statuses == ["stopped", "goes round"]


def test_every_strategy_excludes_hangs_where_no_loop_is_quiet(tmp_path: Path) -> None:
    path = tmp_path / "counts.py"
    path.write_text(
        "from mazurka.model import *\nx: Int[0, 4] = 0\ndef count():\n    global x\n"
        "    for _ in range(2):\n        x = (x + 1) % 5\nthreads = [count(), count()]\n",
        encoding="utf-8",
    )
    verdict = mazurka.check(path, strategy="cartesian")
    assert verdict.verdict == "holds"
    assert verdict.properties == ("assert", "deadlock", "hang")


SERVERS = {
    "hang": "request = False\ndef server():\n    global request\n    while True:\n"
    "        if request:\n            request = False\n"
    "def client():\n    global request\n    request = True\n",
    "deadlock": "from mazurka.model import Int, Queue\nq = Queue(1, Int[0, 1])\n"
    "def server():\n    while True:\n        q.get()\ndef client():\n    q.put(1)\n",
}


@pytest.mark.parametrize("kind", SERVERS)
def test_a_server_that_idles_is_told_how_to_end(tmp_path: Path, kind: str):
    path = tmp_path / "server.py"
    path.write_text(SERVERS[kind] + "threads = [server(), client()]\n", encoding="utf-8")
    found = mazurka.check(path)
    assert found.violation is not None
    assert found.violation.kind == kind
    assert "if server may wait for ever after the others have ended" in summary(found)
    ending = path.read_text(encoding="utf-8").replace("while True", "for _ in range(2)")
    path.write_text(ending, encoding="utf-8")
    assert "may wait for ever after" not in summary(mazurka.check(path))


def summary(verdict: Verdict) -> str:
    stream = io.StringIO()
    Summary(Console(file=stream, width=200), verdict).print()
    return stream.getvalue()
