"""How long a test lets something take, in one place.

No test depends on how fast the machine is, in either direction.  So a limit in a test is of one of
three kinds:

- It *must not be reached*: `ENOUGH`, many minutes.  What it guards takes seconds.
- It *must be reached*: `SOON` for work that cannot finish (`ENDLESS`, `FACTORS`) on any machine,
  or `NO_TIME`, which has passed before anything begins.  A clock that the test moves is better.
- It decides *how much is looked at*: count executions, states or transitions instead of seconds.

A test that waits for something else to happen calls `wait_until`, and never just sleeps.

The environment variable `MAZURKA_TEST_TIMES` scales the limits: 10 for a slow machine, 0.1 to find
out which test would fail on one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

SCALE = float(os.environ.get("MAZURKA_TEST_TIMES", "1"))
ENOUGH = 600.0 * SCALE
"""Seconds, for a limit that must not be reached."""
SOON = 0.5 * SCALE
"""Seconds, for a limit that work without an end must reach."""
NO_TIME = 1e-9
"""Seconds, for a limit that has passed before the work begins."""
PAUSE = 0.02
"""Seconds between two looks at something that a test waits for."""

ENDLESS = """
from mazurka.model import Int, Mutex
MAX = 2**40
given: Int[0, MAX] = 0
taken: Int[0, MAX] = 0
m = Mutex()
def giver():
    global given
    while True:
        with m:
            if given < MAX:
                given += 1
def taker():
    global taken
    while True:
        with m:
            if taken < given:
                taken += 1
            assert taken <= given
threads = [giver(), taker()]
"""
"""A model with 2**79 states: no search that stores states or describes all of them by diagrams
finishes.  A proof by induction may; no solver finishes `FACTORS`."""

FACTORS = """
from mazurka.model import Int, choose

MOST = 4294967295
left: Int[0, MOST] = 0
right: Int[0, MOST] = 0
product: Int[0, 4611686018427387904] = 0

def multiplies():
    global left, right, product
    left = choose(range(2, 2147483647))
    right = choose(range(2, 2147483647))
    product = left * right
    assert product != 2138334329186788511, "two factors"

threads = [multiplies()]
"""
"""The number is a product of two primes of ten digits: no solver finds them soon."""


def wait_until(happened: Callable[[], object], what: str = "what the test waits for") -> None:
    """Return when something has happened; fail where it has not after `ENOUGH` seconds."""
    end = time.monotonic() + ENOUGH
    while not happened():
        assert time.monotonic() < end, f"{what} has not happened for {ENOUGH:g} s"
        time.sleep(PAUSE)
