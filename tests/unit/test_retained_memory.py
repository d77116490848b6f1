"""A thousand checks in one process need no more memory than a few.

What is counted is exact: blocks of Python's allocator, and bytes that C code has allocated and not
freed.  Both are asked for in a process of its own, after some checks that fill caches, and then
after each of several groups of checks.  What every check keeps is found in every group; a table
that grows now and then is not.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from importlib.util import find_spec

import pytest
from tests.limits import ENOUGH

pytestmark = pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="needs a C library that counts"
)

FIRST, GROUPS, CHECKS = 14, 3, 3
"""Checks that fill caches, groups that are counted, and checks in each."""
MOST_BYTES = 8_000
"""Bytes a check: pools of Python and of the C library need some at any moment."""
MOST_BLOCKS = 20

WAYS = {
    "the usual": "check()",
    "full": "check(strategy='full')",
    "cpc": "check(strategy='cpc')",
    "cartesian": "check(strategy='cartesian')",
    "stateless": "check(engine='stateless')",
    "bmc": "check(strategy='bmc')",
    "temporal": "check(ltl='G (x <= 5)')",
    "another program each time": "check(strategy='full', text=MODEL.replace('= 5', f'= {number}'))",
    "real threads": "explored()",
}
PROGRAM = """
import ctypes, gc, json, sys, threading
import mazurka

MODEL = '''
from mazurka.model import Int, Mutex
MOST = 5
x: Int[0, 1000] = 0
m = Mutex()
def work():
    global x
    with m:
        x = (x + 1) % MOST
threads = [work(), work()]
'''

class Counts(ctypes.Structure):
    _fields_ = [(each, ctypes.c_size_t) for each in (
        "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split())]

library = ctypes.CDLL(None)
library.mallinfo2.restype = Counts

def check(text=MODEL, **options):
    with open("model.py", "w") as file:
        file.write(text)
    mazurka.check("model.py", **options)

@mazurka.explore
def explored():
    value, lock = [0], threading.Lock()
    def work():
        with lock:
            value[0] += 1
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert value[0] == 2

def count():
    gc.collect()
    found = library.mallinfo2()
    return found.uordblks + found.hblkhd, sys.getallocatedblocks()

def run(way, first, last):
    for number in range(first, last):
        eval(way)
    return count()

ways, first, groups, checks = json.loads(sys.argv[1])
ways = list(ways.items())
for name, way in ways[:1] + ways:  # the first one fills caches for all, and is counted again
    end = 100 + first
    counts = [run(way, 100, end)]
    for group in range(groups):
        counts.append(run(way, end, end + checks))
        end += checks
    # For each kind: the least that any of the groups has kept.
    kept = [min((b - a) / checks for a, b in zip(kind, kind[1:])) for kind in zip(*counts)]
    print(json.dumps([name, kept]), flush=True)
"""


@pytest.fixture(scope="module")
def retained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[float, float]]:
    """Bytes and blocks that a check keeps, for each way."""
    folder = tmp_path_factory.mktemp("checks")
    (folder / "program.py").write_text(PROGRAM)
    ways = {name: way for name, way in WAYS.items() if name != "bmc" or find_spec("pysat")}
    run = subprocess.run(
        [sys.executable, "program.py", json.dumps([ways, FIRST, GROUPS, CHECKS])],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=ENOUGH,
        check=True,
    )
    return dict(map(json.loads, run.stdout.splitlines()))


@pytest.mark.parametrize("way", WAYS)
def test_checks_give_their_memory_back(retained: dict[str, tuple[float, float]], way: str) -> None:
    if way == "bmc":
        pytest.importorskip("pysat")
    kept, blocks = retained[way]
    assert kept < MOST_BYTES, f"{kept:,.0f} bytes and {blocks:,.1f} blocks a check"
    assert blocks < MOST_BLOCKS
