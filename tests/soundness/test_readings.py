"""Random programs mean the same as models and as real programs.

`benchmarks/readings.py` compares as many as you like.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from mazurka.errors import UnsupportedError
from mazurka.frontend.python import arguments
from mazurka.frontend.python.lowering import Lowering
from tests.soundness.amounts import shares
from tests.soundness.random_readings import Reading, as_model, as_real, random_reading
from tests.soundness.reading_agreement import (
    ALGORITHMS,
    difference,
    outcomes_of_model,
    outcomes_of_runs,
)
from tests.soundness.value_readings import random_value_reading

PROGRAMS = shares(20)
PORTION = 10
VALUES = shares(6)
RUNS = 60
"""Programs with more runs are left out."""
DEFAULT = ("a = 1", "def f(n=a):", "    global a", "    a = n", "a = 2", "threads = [<<f|>>]")


def compare(reading: Reading, folder: Path, algorithm: str) -> str | None:
    """What differs; None if nothing does, or the program is left out."""
    try:
        model = outcomes_of_model(reading)
    except UnsupportedError:
        return None
    runs = outcomes_of_runs(reading, folder, algorithm, RUNS)
    if model is None or runs is None or "bound" in model[0].failures:
        return None
    return difference(model, runs)


@pytest.mark.parametrize("first", range(0, PROGRAMS, PORTION))
def test_models_do_what_real_programs_do(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + PORTION):
        problem = compare(random_reading(seed), tmp_path, ALGORITHMS[seed % 2])
        assert problem is None, (seed, problem)


def test_names_hold_values_as_in_python(tmp_path: Path) -> None:
    for seed in range(VALUES):
        problem = compare(random_value_reading(seed), tmp_path, ALGORITHMS[seed % 2])
        assert problem is None, (seed, problem)


def test_programs_about_values_are_varied() -> None:
    whole = "\n".join(random_value_reading(seed).model for seed in range(60))
    constructs = (
        "class Pair", "x, y = y, x", "same(channel.get())", "pick(", "twice(", "next_of()", "base",
        "= same(", "for z in (", " else y)", "both1 = [", "break",
    )  # fmt: skip
    for used in constructs:
        assert used in whole, used


def test_programs_are_varied() -> None:
    whole = "\n".join(random_reading(seed).model for seed in range(300))
    constructs = (
        "threads += [", "] if ", "else:", "@dataclass", "class Box", "def helper(n=", "t0.join()",
        "threading.Thread(target=", "threads = [first(i) for i in xs]", "barrier.wait()",
        "while not (", "channel.get()", "event.wait()", "for k1 in ",
    )  # fmt: skip
    for used in constructs:
        assert used in whole, used


def test_a_wrong_reading_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start = ["for thread in threads: thread.start()", "for thread in threads: thread.join()"]
    real = [*map(as_real, DEFAULT), *start, 'note(("a", a))']
    source = "\n".join(("import threading", "def program(note):", *(f"    {x}" for x in real), ""))
    reading = Reading("\n".join(map(as_model, DEFAULT)), source, ("a",))
    assert compare(reading, tmp_path, ALGORITHMS[0]) is None

    def at_each_call(low: Lowering, default: object) -> object:
        return low.value(default)  # type: ignore[arg-type]

    monkeypatch.setattr(arguments, "evaluate_default", at_each_call)
    problem = compare(reading, tmp_path, ALGORITHMS[0])
    assert problem == "the model does not end with (('a', 1),)"
