"""A plugin for the pytest of processes that tests start: explorations have the time they need.

As in the process of the tests (`no_usual_limits` in `tests/conftest.py`): on a slow machine
any of them may take longer than people wait.
"""

from __future__ import annotations

import math


def pytest_runtest_setup() -> None:
    from mazurka.runtime.exploring import options  # not earlier: many sessions run no test
    from mazurka.runtime.testing.pytest import plugin
    from mazurka.stateless.explored import Allowance

    endless = Allowance(math.inf, math.inf)
    options.ExploreOptions.find_allowance = lambda asked: endless  # type: ignore[method-assign]
    plugin.SECONDS = 600.0
