"""A pytest plugin that writes what was found about the one test of a session to a JSON file.

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

told: dict[str, Any] = {"verdict": "error", "message": "no test was run"}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    started, processor = time.perf_counter(), time.process_time()
    try:
        yield
    finally:
        told["seconds"] = round(time.process_time() - processor, 3)
        told["wall_seconds"] = round(time.perf_counter() - started, 3)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    told["outcome"] = report.outcome if report.when == "call" or report.failed else "passed"
    if report.failed:
        crash = getattr(report.longrepr, "reprcrash", None)
        told["message"] = crash.message if crash else str(report.longrepr)[-1000:]
    told["properties"] = dict(report.user_properties)


def pytest_sessionfinish(session: pytest.Session) -> None:
    from mazurka.runtime.testing.pytest.plugin import RESULTS

    results = session.config.stash[RESULTS]
    if results:
        told.update(describe(results[-1]))
    Path(os.environ["REAL_PACKAGES_REPORT"]).write_text(json.dumps(told, default=str))


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
