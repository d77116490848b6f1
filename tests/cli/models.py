"""Small models for the command line's tests, written to a temporary directory."""

from __future__ import annotations

DEADLOCK = '''\
"""Two philosophers that can deadlock."""
from mazurka.model import Array, Mutex

N = 2
forks = Array(Mutex, N)

def philosopher(i):
    left, right = forks[i], forks[(i + 1) % N]
    with left:
        with right:
            pass

threads = [philosopher(i) for i in range(N)]
'''

LOST_UPDATE = """\
from mazurka.model import Int

n: Int[0, 9] = 0

def add():
    global n
    n += 1
    assert n == 1, "somebody else has counted"

threads = [add(), add()]
"""

HOLDS = """\
from mazurka.model import Int, Mutex

n: Int[0, 9] = 0
lock = Mutex()

def add():
    global n
    with lock:
        n += 1
        assert n <= 2

threads = [add(), add()]
"""

RACE = """\
from mazurka.model import Int

n: Int[0, 9] = 0

def write(value):
    global n
    n = value

threads = [write(1), write(2)]
"""

LARGE = """\
from mazurka.model import Array, Int, choose

cells = Array(Int[0, 15], 10)

def scramble(i):
    while True:
        cells[i] = choose(range(16))

threads = [scramble(i) for i in range(10)]
"""

UNSUPPORTED = """\
from mazurka.model import Int

def f():
    raise ValueError

threads = [f()]
"""
