"""The options of the pytest plugin: those of `mazurka.explore`, for all tests of a session.

This is loaded in every pytest session of an environment in which Mazurka is installed; so it
imports nothing of the engine.
"""

from __future__ import annotations

from typing import Any

import pytest

NUMBERS: dict[str, tuple[type, str, str]] = {
    "seed": (int, "N", "for random and pct schedules"),
    "executions": (int, "N", "the most runs of a test; for random schedules, how many"),
    "seconds": (float, "S", "stop the search of a test after this many seconds"),
    "workers": (int, "N", "processes that search together"),
    "max-steps": (int, "N", "the most steps of an execution"),
    "patience": (float, "S", "report a call that nobody controls after this many seconds"),
}


def add_options(parser: pytest.Parser) -> None:
    group = parser.getgroup("mazurka", "threads under every schedule (values for explored tests)")
    group.addoption(
        "--mazurka-preemptions",
        metavar="K",
        help="the most preemptions of an execution; none for any number",
    )
    group.addoption(
        "--mazurka-strategy",
        metavar="NAME",
        help="how to search: algorithm2 (the default), algorithm1, cb-dfs, optimal-dpor,"
        " source-dpor, dpor, sleep-sets, random, pct",
    )
    for name, (kind, metavar, text) in NUMBERS.items():
        group.addoption(f"--mazurka-{name}", type=kind, metavar=metavar, help=text)
    group.addoption(
        "--mazurka-races",
        action="store_true",
        default=None,
        help="report data races, even where the test passes",
    )
    group.addoption(
        "--mazurka-instrument",
        action="append",
        metavar="MODULE",
        help="observe the accesses of this module or package, too; repeatable",
    )
    group.addoption(
        "--mazurka-real-time",
        action="store_true",
        default=None,
        help="let time.sleep and the clocks follow the world instead of the schedule",
    )
    group.addoption(
        "--mazurka-replay",
        metavar="TOKEN",
        help="run the failing schedule of a token again, and nothing else",
    )


def read_command_line(config: pytest.Config) -> dict[str, Any]:
    """Read the options of the command line, by the names that `mazurka.explore` has for them."""
    found: dict[str, Any] = {
        name.replace("-", "_"): config.getoption(f"--mazurka-{name}")
        for name in ("strategy", "races", "instrument", *NUMBERS)
    }
    if config.getoption("--mazurka-real-time"):
        found["virtual_time"] = False
    found = {name: value for name, value in found.items() if value is not None}
    bound = config.getoption("--mazurka-preemptions")
    if bound is not None:
        if bound != "none" and not bound.isdecimal():
            raise pytest.UsageError(f"--mazurka-preemptions needs a number or none, not {bound!r}")
        found["preemptions"] = None if bound == "none" else int(bound)
    return found


def check_options(config: pytest.Config) -> None:
    """Refuse what makes no sense before any test runs."""
    given = read_command_line(config)
    if not given:
        return
    from mazurka.errors import MazurkaError
    from mazurka.runtime.testing.named_options import refuse_useless

    try:
        refuse_useless(given)
    except MazurkaError as error:
        raise pytest.UsageError(f"--mazurka options: {error}") from None
