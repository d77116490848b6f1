"""The ranges of counters in loops with a known number of rounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from mazurka.frontend.registry import load_frontend
from mazurka.ir.passes.ranges import UnboundedError, infer_ranges
from mazurka.ir.values import fixpoint
from mazurka.ir.values.fixpoint import Analysis
from mazurka.search.reading import Reading

HEAD = "from mazurka.model import *\ntotal = 0\n"


@pytest.fixture
def ranges(tmp_path: Path):
    """Derive the ranges of a model's variables, by name; of several threads, the last one's."""

    def derive(text: str) -> dict[str, tuple[int, int]]:
        path = tmp_path / "model.py"
        path.write_text(HEAD + text, encoding="utf-8")
        cells = infer_ranges(load_frontend("python").load(str(path), Reading())).program.cells
        return {cell.name: (cell.low, cell.high) for cell in cells}

    return derive


def body(*lines: str, calls: str = "f()") -> str:
    inside = "".join(f"    {line}\n" for line in ("global total", "n = 0", *lines))
    return f"def f(start=0):\n{inside}threads = [{calls}]\n"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["for k in range(4):", "    n += 1"], (0, 4)),
        (["for k in range(1000):", "    n -= 2"], (-2000, 0)),
        (["for k in range(3, 0, -1):", "    n += k"], (0, 9)),
        (["for k in range(choose(1, 5)):", "    n += choose(-1, 2)"], (-5, 10)),
        (["for j in range(3):", "    for k in range(4):", "        n += 1"], (0, 12)),
        (["k = 0", "while k < 7:", "    k += 2", "    n += 1"], (0, 4)),
        (["for k in range(4):", "    if choose(0, 1):", "        n += 1", "    else:",
          "        n += 3"], (0, 12)),
        (["for k in range(4):", "    if choose(0, 1):", "        break", "    n += 1"], (0, 4)),
        (["while True:", "    n = 0", "    for k in range(4):", "        n += 1"], (0, 4)),
        (["n += 1", "n += 1"], (0, 2)),
    ],
)  # fmt: skip
def test_local_counters(ranges, lines, expected):
    assert ranges(body(*lines))["n"] == expected


def test_many_counters_in_branches_are_bounded_in_few_steps(ranges):
    """Each of them is a ranking cell: trying all of their orders would never end."""
    zeros = [f"n{k} = 0" for k in range(30)]
    counts = [line for k in range(30) for line in ("    if choose(0, 1):", f"        n{k} += 1")]
    found = ranges(body(*zeros, "for k in range(10):", *counts))
    assert all(found[f"n{k}"] == (0, 10) for k in range(30))


def test_the_analysis_gives_up_precision_after_counted_work(tmp_path, monkeypatch):
    """Cells that grow one after the other, with many constants at which they might stop."""
    zeros = [f"n{k} = 0" for k in range(30)]
    steps = [line for k in range(30)
             for line in (f"    n{k} = n{(k + 1) % 30} + 1", f"    if n{k} == {1001 * k}:",
                          f"        n{k} = {k}")]  # fmt: skip
    path = tmp_path / "model.py"
    path.write_text(HEAD + body(*zeros, "while total == 0:", *steps), encoding="utf-8")
    program = load_frontend("python").load(str(path), Reading())
    whole = Analysis(program, wraps=False)
    whole.ascend()
    monkeypatch.setattr(fixpoint, "LEAST_ENDURANCE", 0)
    monkeypatch.setattr(fixpoint, "ENDURANCE", 1)
    short = Analysis(program, wraps=False)
    short.ascend()
    assert short.endurance < short.work < whole.work / 2
    for small, large in zip(whole.all_values(), short.all_values(), strict=True):
        assert small.is_subset(large)


def test_threads_add_to_a_shared_counter(ranges):
    assert ranges(body("total += 1", calls="f(), f(), f()"))["total"] == (0, 3)
    each = body("for k in range(5):", "    total += 2", calls="f(), f()")
    assert ranges(each)["total"] == (0, 20)
    both = body("total += 1", "n = total", "total -= 2", calls="f(), f(), f()")
    assert ranges(both)["total"] == ranges(both)["n"] == (-6, 3)


def test_a_shared_counter_that_one_thread_sets_back(ranges):
    lines = ("while True:", "    total = 0", "    for k in range(4):", "        total += 1")
    assert ranges(body(*lines))["total"] == (0, 4)
    with pytest.raises(UnboundedError):  # the other one may add to what was read before
        ranges(body(*lines, calls="f(), f()"))


def test_threads_that_are_started_in_a_loop(ranges):
    lines = ("for k in range(2):", "    n += 1", "total += n")
    started = body(*lines).rpartition("threads")[0]
    main = "def main():\n    i = 0\n    while i < 3:\n        spawn(f).join()\n        i += 1\n"
    assert ranges(f"{started}{main}threads = [main()]\n")["total"] == (0, 6)


@pytest.mark.parametrize(
    "lines",
    [
        ["while True:", "    n += 1"],
        ["while choose(0, 1):", "    total += 1"],
        ["k = 0", "while k < 4:", "    n += 1", "    if choose(0, 1):", "        k += 1"],
        ["k = 0", "while k < 4:", "    n += 1", "    k += 1", "    k -= 1"],
        ["for k in range(4):", "    n += n + 1"],
        ["while total < 4:", "    n += 1", "    total += 1"],
    ],
)
def test_counters_without_a_bound_are_refused(ranges, lines):
    with pytest.raises(UnboundedError):
        ranges(body(*lines))


@pytest.mark.parametrize(
    ("text", "place", "advice"),
    [
        ("x = 0\ny = 0\n"
         "def f():\n    global x, y\n    while True:\n        y += 1\n        x = y\n",
         (4, 1), "declare it, for example `y: Int[0, 10] = 0`"),
        ("def f(p=0):\n    while True:\n        p += 1\n",
         (3, 7), "for example `count: Int[0, 10] = p`"),
        ("class Box:\n    def __init__(self):\n        self.n = 0\nb = Box()\n"
         "def f():\n    while True:\n        b.n += 1\n",
         (5, 9), "for example `self.n: Int[0, 10] = ...`"),
        ("class Box:\n    m: Int[0, 1]\n    n: int = 0\nb = Box()\n"
         "def f():\n    while True:\n        b.n += 1\n",
         (5, 5), "for example `n: Int[0, 10] = 0`"),
        ("q = Queue(2)\ndef f():\n    q.put(0)\n    while True:\n        q.put(q.get() + 1)\n",
         (3, 1), "the items of `q` (they may grow without limit); declare them, for example"
         " `Queue(2, Int[0, 10])`"),
    ],
)  # fmt: skip
def test_advice_points_to_the_declaration(ranges, text, place, advice):
    with pytest.raises(UnboundedError) as caught:
        ranges(f"{text}threads = [f()]\n")
    assert (caught.value.line, caught.value.column) == place
    assert advice in caught.value.message
