"""Explorations against brute force on real threads, on random programs about parts of objects.

The suite compares two programs of each family; `benchmarks/random_objects.py` as many as you like,
with `--family` those of one family.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from mazurka.runtime.sharing.older_state import OlderState
from tests.soundness.amounts import shares
from tests.soundness.object_agreement import compare
from tests.soundness.opcode_runs import find_outcomes
from tests.soundness.random_objects import HEAD, SUBJECTS, random_objects

FAMILIES = ("annotations", "metaclasses", "asynchronous", "descriptors")
PROGRAMS = shares(2)
"""Of each family."""
LOST_UPDATE = """
def program(together):
    box = Plain()
    box.n = 0
    def add():
        box.n += 1
    together(add, add)
    return str(box.n)
"""
OLDER = """
def older(): pass
def program(together):
    made = []
    def make():
        if "made" not in older.__annotations__:
            older.__annotations__["made"] = 1
            made.append(1)
    together(make, make)
    return str(made)
"""


@pytest.mark.parametrize("family", FAMILIES)
def test_explorations_see_what_brute_force_sees(family: str, tmp_path: Path) -> None:
    for seed in range(PROGRAMS):
        agreement = compare(random_objects(seed, family), tmp_path)
        assert agreement is None or agreement.problems == [], seed


def test_programs_are_varied() -> None:
    sources = [random_objects(seed) for seed in range(200)]
    assert all(ast.parse(source) for source in sources)
    older = [source[len(HEAD) :].partition("def program(")[0] for source in sources]
    assert {bool(each.strip()) for each in older} == {True, False}
    for subject in SUBJECTS:
        made = subject.made.strip().splitlines()[0].replace("$", "0")
        assert any(made in source for source in sources), made


def test_brute_force_sees_a_lost_update() -> None:
    """One thread is preempted between reading and writing; without preemptions both add."""
    found = find_outcomes(HEAD + LOST_UPDATE, 1, 1000)
    assert found.complete
    assert found.least == {"2": 0, "1": 1}


def test_what_is_not_put_back_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agreement = compare(HEAD + OLDER, tmp_path)
    assert agreement is not None
    assert agreement.problems == []
    assert agreement.outcomes == 2
    monkeypatch.setattr(OlderState, "meet", lambda self, thing: None)
    agreement = compare(HEAD + OLDER, tmp_path)
    assert agreement is not None
    assert agreement.problems
