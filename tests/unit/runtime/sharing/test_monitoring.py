"""What nobody watches is named."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from observed_programs import find, module_of

from mazurka.report.answer import HOLDS
from mazurka.runtime.core.sites import MARK
from mazurka.runtime.exploring.exploration import describe_scope
from mazurka.runtime.exploring.options import ExploreOptions
from mazurka.runtime.sharing import monitoring
from mazurka.runtime.sharing.monitoring import Unobserved, package_of
from mazurka.stateless.explored import Explored


@pytest.mark.parametrize(
    ("module", "package"),
    [
        ("numpy.core", "numpy"),
        ("mazurka.runtime.primitives.lock", None),
        ("json.decoder", None),
        ("sqlite3", "sqlite3"),
        ("unittest.case", "unittest"),
        ("namedtuple_Point", None),
        (None, None),
    ],
)
def test_packages(module: str | None, package: str | None) -> None:
    assert package_of(module) == package


@pytest.mark.parametrize(
    ("names", "code", "left_out", "told"),
    [
        ([], [], (), ""),
        (["io.open", "os"], [], (), "not observed: io.open, os"),
        (["os"], [], ("json",), "not observed: os; left out: json"),
        (
            ["f (no source)", "os"],
            ["f (no source)"],
            (),
            "Python code has run that cannot be observed: f (no source); its accesses are no"
            " scheduling points, so failures may have been missed (--leave-out NAME accepts that"
            " for a module); not observed: os",
        ),
    ],
)
def test_the_verdict_says_what_was_not_observed(
    names: list[str], code: list[str], left_out: tuple[str, ...], told: str
) -> None:
    options = ExploreOptions(leave_out=left_out)
    scope = describe_scope(HOLDS, Explored(), options, names, code)
    assert scope.partition("run once; ")[2] == told


OTHERS = """
class Box:
    n = 0
def add(box):
    box.n = box.n + 1
"""
CALLING = """
import json, threading
from {other} import Box, add
def program():
    box = Box()
    def work():
        json.dumps([1])
        add(box)
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return box.n
"""


def test_other_packages_are_observed(tmp_path: Path) -> None:
    other = module_of(tmp_path, OTHERS)
    found = find(tmp_path, CALLING.replace("{other}", other.__name__))
    assert found.not_observed == []
    assert found.outcomes == {1, 2}


class FakeMonitoring:
    """`sys.monitoring` as Python 3.12 has it, as far as it is used."""

    events = SimpleNamespace(PY_START=1, PY_THROW=2)
    DISABLE = object()

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.tool: str | None = None

    def get_tool(self, tool: int) -> str | None:
        return self.tool

    def use_tool_id(self, tool: int, name: str) -> None:
        self.tool = name

    def free_tool_id(self, tool: int) -> None:
        self.tool = None

    def register_callback(self, tool: int, event: int, callback: Any) -> None:
        if event == self.events.PY_START:
            self.callback = callback

    def set_events(self, tool: int, events: int) -> None:
        self.active = events

    def restart_events(self) -> None:
        self.calls.append(("restart",))


def test_monitoring_names_what_begins_under_control(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeMonitoring()
    monkeypatch.setattr(sys, "monitoring", fake, raising=False)
    unobserved = Unobserved()
    unobserved.start_monitoring()
    assert fake.tool == "mazurka"
    assert fake.active == fake.events.PY_START | fake.events.PY_THROW
    code = (lambda: None).__code__
    strange = {"__name__": "strange.inner", "call": fake.callback, "code": code}
    exec("def f(): return call(code, 0)", strange)
    watched = {"__name__": "watched", "call": fake.callback, "code": code, MARK: None}
    exec("def f(): return call(code, 0)", watched)
    call_strange: Any = strange["f"]
    call_watched: Any = watched["f"]
    assert call_strange() is None  # not under control
    assert fake.callback(package_of.__code__, 0) is fake.DISABLE  # our own never is
    assert unobserved.packages == set()
    monkeypatch.setattr(monitoring, "get_ident", lambda: monitoring.session.current.ident)
    assert call_strange() is fake.DISABLE
    assert call_watched() is fake.DISABLE
    assert unobserved.packages == {"strange"}
    unobserved.stop_monitoring()
    assert fake.tool is None
    assert fake.active == 0


ENDS = """
import threading
class Tells:
    def __init__(self, box):
        self.box = box
    def __del__(self):
        self.box.append(1)
def rest(box):
    try:
        yield
    finally:
        box.append(1)
def program():
    box = []
    def work():
        {work}
    thread = threading.Thread(target=work)
    thread.start()
    seen = len(box)
    thread.join()
    return seen
"""
BETWEEN = "(may run while no thread is under control)"


@pytest.mark.skipif(not monitoring.ENDS_LATE, reason="needs a free-threaded interpreter")
def test_the_rest_of_a_generator_that_another_thread_ends_is_named(tmp_path: Path) -> None:
    source = ENDS.replace("{work}", "held.clear()").replace(
        "    thread.start()", "    held = [rest(box)]\n    next(held[0])\n    thread.start()"
    )
    found = find(tmp_path, source)
    assert set(found.not_observed) - {"observed_programs"} == {f"rest {BETWEEN}"}


def test_what_runs_between_threads_is_named_unless_our_own_code_calls_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = SimpleNamespace(program=object(), over=False, ident=0)
    monkeypatch.setattr(monitoring, "session", SimpleNamespace(current=run))
    told: Any = Unobserved()
    monkeypatch.setattr(told, "_add_between", told.packages.add)
    code = SimpleNamespace(co_filename=next(iter(monitoring._BETWEEN)))
    for module, names in (("contextlib", set()), ("program", {"package_of"})):
        space = {"__name__": module, MARK: None}
        frame = SimpleNamespace(f_back=SimpleNamespace(f_code=code), f_globals=space)
        told._began_between(package_of.__code__, frame)
        assert told.packages == names


def test_objects_that_end_late_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a free-threaded interpreter lets them."""
    source = ENDS.replace("{work}", "Tells(box)")
    if not monitoring.ENDS_LATE:
        assert set(find(tmp_path, source).not_observed) <= {"observed_programs"}
    monkeypatch.setattr(monitoring, "ENDS_LATE", True)
    found = find(tmp_path, source)
    assert set(found.not_observed) - {"observed_programs"} == {f"Tells.__del__ {BETWEEN}"}


@pytest.mark.skipif(not hasattr(sys, "monitoring"), reason="needs sys.monitoring")
def test_the_real_monitoring_is_given_back() -> None:
    unobserved = Unobserved()
    unobserved.start_monitoring()
    real: Any = sys.monitoring  # type: ignore[attr-defined]
    assert real.get_tool(monitoring.TOOL) == "mazurka"
    unobserved.stop_monitoring()
    assert real.get_tool(monitoring.TOOL) is None
