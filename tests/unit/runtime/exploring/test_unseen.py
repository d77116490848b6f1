"""Failures that need a switch where the search sees nothing shared."""

from __future__ import annotations

import base64
import json
import sys
import zlib
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from tests.unit.runtime.observed_programs import module_of

from mazurka.runtime.core.interruptions import InstructionHook, LeaveAt, find_touching
from mazurka.runtime.exploring import unseen
from mazurka.runtime.exploring.entry import explore_test, replay_test
from mazurka.runtime.exploring.options import ExploreOptions, Test
from mazurka.runtime.exploring.tokens import TokenError, decode
from mazurka.runtime.exploring.workers import parallel
from mazurka.runtime.python.events import EVENTS
from mazurka.runtime.story.result import Result
from mazurka.runtime.testing.decorator import make_test
from mazurka.stateless.runs import Failed

pytestmark = pytest.mark.unseen
MONITORED = pytest.mark.skipif(sys.version_info < (3, 12), reason="there is no sys.monitoring")
HEAD = """
import threading
class Box:
    def __init__(self):
        self.n = 0
        self.lock = threading.Lock()
def together(*functions):
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""
LOST_UPDATE = """
def program():
    box = Box()
    def add():
        seen = box.n
        box.n = seen + 1
    together(add, add)
    assert box.n == 2, "lost"
"""
LOCKED = LOST_UPDATE.replace(
    """        seen = box.n
        box.n = seen + 1""",
    """        with box.lock:
            seen = box.n
            box.n = seen + 1""",
)
IN_MAIN = """
def program():
    box = Box()
    def change():
        box.n = 1
    thread = threading.Thread(target=change)
    thread.start()
    before = box.n
    after = box.n
    thread.join()
    assert before == after, "changed"
"""
SECOND_VISIT = """
def program():
    box, done = Box(), []
    def add():
        for one in (1, 2):
            seen = box.n
            box.n = seen + one
    def jump():
        if box.n == 1:
            box.n = 10
            done.append(1)
    together(add, jump)
    assert box.n == (12 if done else 3), box.n
"""

THREE = """
def program():
    box = Box()
    def first():
        box.n = 1
    def second():
        box.n = 2
    def look():
        seen = box.n
        assert box.n == seen, "moved"
    together(look, first, second)
"""
IN_ORDER = """
def program():
    box, seen = Box(), []
    def first():
        box.n = 1
        ready.set()
    def second():
        ready.wait()
        seen.append(box.n)
    ready = threading.Event()
    together(second, first)
    assert seen == [1]
"""
ONE_BY_ONE = """
def program():
    box = Box()
    def add():
        for _ in range(5):
            box.n += 1
    together(add)
    together(add)
    assert box.n == 10
"""
BLIND = """
def read(thing, name, site):
    return getattr(thing, name)
def write(value, thing, name, site):
    setattr(thing, name, value)
"""


@pytest.fixture
def blind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody see who reads and writes attributes."""
    space: dict[str, Any] = {"__name__": "mazurka"}  # which is not observed itself
    exec(BLIND, space)
    monkeypatch.setitem(EVENTS, "read_attribute", space["read"])
    monkeypatch.setitem(EVENTS, "write_attribute", space["write"])


def explore(folder: Path, program: str, **options: Any) -> Result:
    return explore_test(find_test(folder, program), ExploreOptions(**options))


def find_test(folder: Path, program: str) -> Test:
    (folder / "pyproject.toml").touch()
    made = module_of(folder, HEAD + program)
    return make_test(made.program, made.program)


@pytest.mark.usefixtures("blind")
@pytest.mark.parametrize("program", [LOST_UPDATE, IN_MAIN, SECOND_VISIT, THREE])
def test_a_failure_is_found_that_needs_an_unseen_access(
    tmp_path: Path, program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert explore(tmp_path, program).verdict == "violated"
    monkeypatch.setattr(unseen, "MOST_RUNS", 0)
    assert explore(tmp_path, program).verdict == "holds"


@pytest.mark.usefixtures("blind")
def test_the_lock_is_respected(tmp_path: Path) -> None:
    assert explore(tmp_path, LOCKED).verdict == "holds"


@pytest.mark.parametrize("program", [LOCKED, IN_ORDER])
def test_what_holds_still_holds(tmp_path: Path, program: str) -> None:
    result = explore(tmp_path, program)
    assert result.verdict == "holds", result.report()


def test_runs_that_look_for_it_are_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = explore(tmp_path, LOCKED)
    monkeypatch.setattr(unseen, "MOST_RUNS", 0)
    assert counted.executions == explore(tmp_path, LOCKED).executions


def test_no_thread_is_left_while_no_other_could_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: set[str] = set()

    def run(program: Any, decider: Any, hook: InstructionHook) -> list[Failed]:
        if type(hook) is LeaveAt:
            left.add(hook.thread)
        return run_once(program, decider, hook)

    run_once = unseen._run
    monkeypatch.setattr(unseen, "_run", run)
    assert explore(tmp_path, ONE_BY_ONE).verdict == "holds"
    assert left == {"0"}  # which starts threads, and may wait before it joins them


@pytest.mark.usefixtures("blind")
def test_modules_that_are_left_out_are_accepted(tmp_path: Path) -> None:
    assert explore(tmp_path, LOST_UPDATE, leave_out=("json",)).verdict == "holds"


@pytest.mark.filterwarnings("ignore:other threads run")  # those of tests before
@pytest.mark.usefixtures("blind")
def test_several_workers_miss_it_no_more_than_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "SCOUTING", 1)
    busy = LOST_UPDATE.replace("seen = box.n", "with box.lock: seen = box.n")
    result = explore(tmp_path, busy, workers=2)
    assert result.verdict == "violated"
    assert "2 workers" in result.scope


@pytest.mark.usefixtures("blind")
def test_the_report_says_where_the_thread_is_left(tmp_path: Path) -> None:
    result = explore(tmp_path, LOST_UPDATE)
    assert "needs a switch where nothing shared is seen to be used" in result.scope
    report = " ".join(result.report(width=100).split())
    assert "unseen access: Thread-1 (add) is left in the middle of line" in report
    assert "Thread-2 (add) runs meanwhile" in report
    assert "goes on here" in report
    assert result.violation is not None
    assert "lost" in result.violation.message


@pytest.mark.usefixtures("blind")
def test_the_token_replays_it(tmp_path: Path) -> None:
    test = find_test(tmp_path, LOST_UPDATE)
    found = explore_test(test, ExploreOptions())
    assert found.token is not None
    token = decode(found.token)
    assert token.interruption is not None
    assert token.interruption.function == "program.<locals>.add"
    assert replay_test(test, ExploreOptions(), token).verdict == "violated"
    elsewhere = replace(token, interruption=token.interruption._replace(visit=9))
    assert replay_test(test, ExploreOptions(), elsewhere).verdict != "violated"


@pytest.mark.parametrize("wrong", [[], ["0", "a.py", "f", 1], ["0", "a.py", "f", "1", 1]])
def test_a_damaged_token_is_refused(wrong: list[object]) -> None:
    content = json.dumps(["a.py::test", "assert", [], "", wrong]).encode()
    packed = base64.urlsafe_b64encode(zlib.compress(content)).decode().rstrip("=")
    with pytest.raises(TokenError, match="damaged"):
        decode(f"mz1-{packed}")


def test_a_trace_function_of_somebody_else_is_put_back(tmp_path: Path) -> None:
    def trace(*arguments: object) -> None:
        """Trace nothing."""

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        assert explore(tmp_path, LOCKED).verdict == "holds"
        assert sys.gettrace() is trace
    finally:
        sys.settrace(before)


@pytest.mark.usefixtures("blind")
def test_a_trace_function_that_traces_lines_and_instructions_hides_nothing(tmp_path: Path) -> None:
    def trace(frame: FrameType, event: str, argument: object) -> Any:
        frame.f_trace_opcodes = True
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        assert explore(tmp_path, IN_MAIN).verdict == "violated"
    finally:
        sys.settrace(before)


@MONITORED
@pytest.mark.usefixtures("blind")
def test_tools_of_others_are_left_alone(tmp_path: Path) -> None:
    monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
    events = monitoring.events
    space: dict[str, Any] = {"__name__": "mazurka", "lines": set()}  # which is not observed
    exec("def note(code, line): lines.add(line)", space)
    monitoring.use_tool_id(3, "somebody's")
    monitoring.register_callback(3, events.LINE, space["note"])
    monitoring.set_events(3, events.LINE)
    try:
        assert explore(tmp_path, LOST_UPDATE).verdict == "violated"
        assert monitoring.get_tool(3) == "somebody's"
        assert monitoring.get_events(3) == events.LINE
        assert space["lines"]
    finally:
        monitoring.set_events(3, 0)
        monitoring.register_callback(3, events.LINE, None)
        monitoring.free_tool_id(3)
    assert [monitoring.get_tool(number) for number in (3, 4, 5)] == [None, None, None]


@MONITORED
@pytest.mark.usefixtures("blind")
def test_where_no_number_is_left_nothing_is_looked_for(tmp_path: Path) -> None:
    monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
    test = find_test(tmp_path, LOST_UPDATE)
    found = explore_test(test, ExploreOptions())
    assert found.token is not None
    for number in (3, 5):
        monitoring.use_tool_id(number, "somebody's")
    try:
        assert explore_test(test, ExploreOptions()).verdict == "holds"
        replayed = replay_test(test, ExploreOptions(), decode(found.token))
        assert replayed.verdict == "error", replayed.scope
        assert "have left no number for Mazurka" in str(replayed.error)
    finally:
        for number in (3, 5):
            monitoring.free_tool_id(number)


def test_only_what_touches_something_counts() -> None:
    def add(one: int, two: int) -> int:
        both = [one, two]
        del both
        return one

    assert not find_touching(add.__code__)
    assert find_touching(find_test.__code__)
