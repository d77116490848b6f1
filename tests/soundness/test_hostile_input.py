"""Damaged input of every kind ends with an answer, a refusal or a limit, and within its limits.

`benchmarks/hostile.py` reads as much of it as you like.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from random import Random

import pytest

from tests.limits import ENOUGH
from tests.soundness.hostile.inputs import (
    JSON,
    KINDS,
    PYTHON,
    C,
    Seeds,
    find_c_programs,
    find_models,
)
from tests.soundness.hostile.mutations import as_bytes, mutate

ROOT = Path(__file__).parents[2]
INPUTS = 40
"""With what is loaded first, a few seconds of the processor."""
KINDS_READ = "python,c,json,formula,configuration"


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux")
def test_damaged_input_is_read_within_limits(tmp_path: Path) -> None:
    """In a process of its own: it forks, and the process of the tests is large."""
    command = [sys.executable, "benchmarks/hostile.py", "--inputs", str(INPUTS), "--jobs", "1"]
    done = subprocess.run(
        [*command, "--only", KINDS_READ, "--into", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=ENOUGH,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"| all | {INPUTS} |" in done.stdout


MISTAKES = """
import sys, time, os, signal
sys.path.insert(0, ".")
from pathlib import Path
from tests.soundness.hostile import children
from tests.soundness.hostile.inputs import HostileInput

def compute(*words):
    while True:
        pass

children.MOST_MEMORY = 50 << 20  # machines may be slow to give memory
children.PROCESSOR_SECONDS = float(sys.argv[2])

def take(*words):
    kept = b"x" * (children.MOST_MEMORY + (100 << 20))
    return 0

children.ACTIONS |= {
    "fails": lambda: 1 // 0,
    "computes": compute,
    "dies": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "takes": take,
    "disagrees": lambda: children.guarded(lambda: disagree(), as_json=False),
    "breaks": lambda: children.guarded(lambda: [][0], as_json=False),
    "ends": lambda: 77,
    "holds": lambda: 0,
}

def disagree():
    raise children.Disagreement("holds")

asked = [HostileInput(name, (name,)) for name in sys.argv[3:]]

def judge(inputs):
    for _, one, ending, _ in children.run_all(enumerate(inputs), Path(sys.argv[1]), 2):
        print(one.kind, ending.outcome, sep=": ")

judge([each for each in asked if each.kind != "computes"])
children.PROCESSOR_SECONDS = 0.5  # for the input that never ends alone: the others may take long
judge([each for each in asked if each.kind == "computes"])
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux")
def test_every_kind_of_finding_is_noticed(tmp_path: Path) -> None:
    expected = {
        "fails": "internal error",
        "breaks": "internal error",
        "computes": "hang",
        "dies": "signal",
        "takes": "memory",
        "disagrees": "wrong",
        "ends": "wrong",
        "holds": "accepted",
    }
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(MISTAKES), str(tmp_path), str(ENOUGH), *expected],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=ENOUGH,
        check=False,
    )
    assert dict(line.split(": ") for line in done.stdout.splitlines()) == expected, done.stderr


def test_damage_is_the_same_each_time_and_mostly_is_some() -> None:
    for mutations, texts in (
        (PYTHON, find_models()),
        (C, find_c_programs()),
        (JSON, ['{"a": [1, 2, {"b": null}], "c": "text"}', '[{"d": 1}, []]']),
    ):
        made = [mutate(Random(seed), mutations, texts) for seed in range(60)]
        assert made == [mutate(Random(seed), mutations, texts) for seed in range(60)]
        assert sum(text not in texts for text in made) > 45
        assert all(isinstance(as_bytes(text), bytes) for text in made)


def test_input_of_every_kind_can_be_made() -> None:
    seeds = Seeds(find_models(), find_c_programs())
    for kind in ("python", "c", "formula", "configuration"):
        asked = KINDS[kind](Random(1), seeds)
        assert asked.kind == kind
        assert asked.files
