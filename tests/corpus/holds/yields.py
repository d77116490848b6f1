# expect: holds
"""Yielding and sleeping change nothing but give others the chance to run."""

import time

from mazurka.model import Int, yield_

n: Int[0, 2] = 0


def setter():
    global n
    yield_()
    n = 1
    time.sleep(0.1)
    n = 2


def looker():
    first = n
    second = n
    assert first <= second


threads = [setter(), looker()]
