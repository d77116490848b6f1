"""What a report says of threads that wait: their condition, and the values it reads."""

from __future__ import annotations

from pathlib import Path

import pytest

import mazurka

HEAD = """
from mazurka.model import *

turn: Int[0, 3] = 0
flags = Array(Bool, 2)
m = Mutex()

def change():
    global turn
    turn = 3
    flags[0] = True

def called(n):
    return turn == n and flags[0]
"""


def reasons(path: Path, body: str) -> list[str]:
    model = path / "model.py"
    model.write_text(f"{HEAD}\ndef f(i):\n{body}\n\nthreads = [f(1), change()]\n")
    verdict = mazurka.check(model)
    assert verdict.trace is not None
    return [one.reason for one in verdict.trace.ending if one.status == "waits"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            "    await_(turn == i or flags[i])",
            "waits until `turn == i or flags[i]` (turn is 3, flags[1] is False)",
        ),
        ("    await_(called(i))", "waits until `called(i)` (turn is 3)"),
        (
            "    with atomic():\n        flags[1] = True\n        await_(m.locked())",
            "waits until `m.locked()` (m is free)",
        ),
        ("    await_(False)", "waits until `False`"),
    ],
)
def test_a_thread_waits_for_its_condition(tmp_path: Path, body: str, reason: str) -> None:
    assert reasons(tmp_path, body) == [reason]


WAITERS = """
from mazurka.model import *

n: Int[0, 2] = 0
begun: Bool = False
c = Condition()

def enough():
    return n > 1

def waits():
    global begun
    with c:
        begun = True
        c.wait_for(PREDICATE)

def counts():
    global n
    await_(begun)
    with c:
        n = VALUE
        REST

threads = [waits(), counts()]
"""


@pytest.mark.parametrize(
    ("predicate", "value", "rest", "reason"),
    [
        ("lambda: n > 1", 1, "c.notify()", "waits until `n > 1` (n is 1); not notified on `c`"),
        ("enough", 1, "c.notify()", "waits until `enough()` (n is 1); not notified on `c`"),
        (
            "lambda: n > 1",
            2,
            "pass",
            "waits to be notified on `c`, although `n > 1` holds by now (n is 2)",
        ),
        (
            "lambda: n > 1",
            2,
            "c.notify()\n        c.acquire()",
            "waits for `c`, held by counts, to see whether `n > 1`",
        ),
    ],
)
def test_wait_for_tells_its_predicate(
    tmp_path: Path, predicate: str, value: int, rest: str, reason: str
) -> None:
    model = tmp_path / "model.py"
    text = WAITERS.replace("PREDICATE", predicate).replace("VALUE", str(value))
    model.write_text(text.replace("REST", rest))
    verdict = mazurka.check(model)
    assert verdict.trace is not None
    assert reason in {one.reason for one in verdict.trace.ending}


EXCHANGES = """
from mazurka.model import *

c = Channel(Int[0, 9])
a, b, full = Queue(1), Queue(1), Queue(1)
over: Bool = False

def f():
    BODY

def g():
    global over
    over = True
    await_(False)

threads = [f(), g()]
"""


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("c.get()", "waits for somebody to offer an item on `c`"),
        ("c.put(2)", "waits for somebody to take what it offers on `c`"),
        ("a.get()", "waits for queue `a` to have an item"),
        ("select(a, c)", "waits for an item from one of `a` and `c`"),
        (
            "select(a, b if full.full() else None)",
            "waits for queue `a` to have an item (`b` is left out: `full.full()` is false)",
        ),
        (
            "select(a if full.full() else None, b if full.full() else None)",
            "waits, since no condition of its `select` holds (`a` is left out: `full.full()` is"
            " false; `b` is left out: `full.full()` is false)",
        ),
    ],
)
def test_channels_and_queues_are_named_as_what_they_are(
    tmp_path: Path, body: str, reason: str
) -> None:
    model = tmp_path / "model.py"
    model.write_text(EXCHANGES.replace("BODY", body))
    verdict = mazurka.check(model)
    assert verdict.trace is not None
    assert verdict.trace.ending[0].reason == reason
    told = [each.words for row in verdict.trace.rows for each in row.told]
    assert ("offer 2 on c" in told) == (body == "c.put(2)")


UNSET = """
from mazurka.model import *

go: Bool = False
n, over = 3, 5
other = False

def waits(over):
    await_(go or n > over)

def loops():
    while not other:
        pass

def hides():
    other: Int[0, 1] = 0
    while not other:
        other = 0

threads = [waits(4), THREAD()]
"""


def test_values_that_nobody_sets_are_named(tmp_path: Path) -> None:
    """They are constants, which no step reads; a variable of the function has another value."""
    model = tmp_path / "model.py"
    for thread, reads in (("loops", {"other": False}), ("hides", {})):
        model.write_text(UNSET.replace("THREAD", thread))
        verdict = mazurka.check(model)
        assert verdict.trace is not None
        assert (
            verdict.trace.ending[0].reason == "waits until `go or n > over` (go is False, n is 3)"
        )
        (spinning,) = verdict.trace.spinning
        assert spinning.reads == reads
        assert verdict.trace.rows[-1].reads == reads
