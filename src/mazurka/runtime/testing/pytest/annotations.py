"""Annotations of GitHub Actions: GitHub shows a failed exploration beside the line that fails.

In a job of GitHub Actions, a line of output that begins with `::error` is a command: GitHub shows
its message beside a line of a file.  pytest writes none.  The plugin
pytest-github-actions-annotate-failures writes them for all failed tests, with the place that our
reports give; where it is loaded, nothing is written here.  Everything is read off the reports of
the tests, which come from the worker processes of pytest-xdist as well.

This is loaded in every pytest session of an environment in which Mazurka is installed; so it
imports nothing of the engine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mazurka.runtime.testing.pytest.summary import EXPLORED, read_properties

OTHER = "pytest_github_actions_annotate_failures"
"""The plugin that annotates all failed tests, by the name of its entry point."""


def annotate(terminal: Any, config: pytest.Config) -> None:
    """Print an annotation for each test whose exploration has failed, in a job of GitHub."""
    if os.environ.get("GITHUB_ACTIONS") != "true" or config.pluginmanager.has_plugin(OTHER):
        return
    root = Path(os.environ.get("GITHUB_WORKSPACE") or config.rootpath).resolve()
    for report in (*terminal.stats.get("failed", ()), *terminal.stats.get("error", ())):
        if EXPLORED in read_properties(report):
            terminal.line(command_of(report, root, config))


def command_of(report: pytest.TestReport, root: Path, config: pytest.Config) -> str:
    """Return the command that annotates the line at which an exploration has failed.

    A failure inside of an installed package is shown at the test: GitHub knows the files of the
    repository only."""
    crash = getattr(report.longrepr, "reprcrash", None)
    message = crash.message if crash is not None else report.longreprtext
    scope = read_properties(report)[EXPLORED]
    when = " under some schedule" if scope.startswith("violated:") else ""
    properties = {"title": f"{report.nodeid}{when}"}
    for file, line in _find_places(report, crash, config):
        if file.is_relative_to(root) and file.is_file():
            name = file.relative_to(root).as_posix()
            properties = {"file": name, "line": str(line), **properties}
            break
    told = ",".join(f"{name}={_escape(value, ':,')}" for name, value in properties.items())
    return "::error {}::{}".format(told, _escape(f"{message}\n{scope}"))


def _find_places(
    report: pytest.TestReport, crash: Any, config: pytest.Config
) -> Iterator[tuple[Path, int]]:
    """Find where a test has failed, and then where it begins."""
    if crash is not None:
        yield (config.invocation_params.dir / crash.path).resolve(), crash.lineno
    file, line, _ = report.location
    yield (config.rootpath / file).resolve(), (line or 0) + 1


def _escape(text: str, others: str = "") -> str:
    """Write a text so that a command ends with its line; `others` end what comes before it."""
    for mark in f"%\r\n{others}":
        text = text.replace(mark, f"%{ord(mark):02X}")
    return text
