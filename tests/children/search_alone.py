"""A plugin for the pytest of processes that tests start: explorations tell what the search finds.

As in the process of the tests (`nothing_unseen` in `tests/conftest.py`), no further runs are made
to look for what a search does not see: they take as long as most of these searches.
"""

from __future__ import annotations


def pytest_runtest_setup() -> None:
    from mazurka.runtime.exploring import unseen  # not earlier: many sessions run no test

    unseen.MOST_RUNS = 0
