"""A pytest plugin that writes what was found about each test to a JSON file, by file and name.

The file is named by `REAL_PACKAGES_REPORT`.  The plugin changes nothing about the exploration.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

told: dict[str, dict[str, Any]] = {}
"""By the name of the file, without its folder, and that of the test: `test_blinker.py::test_it`."""


def name_of(nodeid: str) -> str:
    return nodeid.rpartition("/")[2]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    from mazurka.runtime.testing.pytest.plugin import RESULTS

    about = told[name_of(item.nodeid)] = {"verdict": "error", "message": "the test was not run"}
    before = len(item.config.stash[RESULTS])
    yield
    for result in item.config.stash[RESULTS][before:]:
        about.update(describe(result))
    Path(os.environ["REAL_PACKAGES_REPORT"]).write_text(json.dumps(told, default=str))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    started, processor = time.perf_counter(), time.process_time()
    try:
        yield
    finally:
        about = told[name_of(item.nodeid)]
        about["seconds"] = round(time.process_time() - processor, 3)
        about["wall_seconds"] = round(time.perf_counter() - started, 3)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    about = told[name_of(report.nodeid)]
    about["outcome"] = report.outcome if report.when == "call" or report.failed else "passed"
    if report.failed:
        crash = getattr(report.longrepr, "reprcrash", None)
        about["message"] = crash.message if crash else str(report.longrepr)[-1000:]
        about["report"] = str(report.longrepr)
    about["properties"] = dict(report.user_properties)


def describe(result: Any) -> dict[str, Any]:
    """Describe a result by what the table and its JSON file show."""
    violation = result.violation
    return {
        "verdict": "error" if result.error is not None else result.verdict,
        "message": str(result.error or (violation and violation.message) or ""),
        "kind": violation.kind if violation else None,
        "executions": result.executions,
        "scope": result.scope,
        "not_observed": list(result.not_observed),
        "notes": list(result.notes),
    }
