"""Mutants of what takes the order of relaxed operations away: each misses a race."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mazurka.frontend.c.library import atomics
from mazurka.ir.passes import unordered
from mazurka.ir.program import ORDERED, Relaxed
from tests.unit.test_memory_model import FLAG_LOCK, LOAD, RELAXED_LOCK, STORE, check

SENT = ("data = 1; " + STORE.format("relaxed") + ";", f"if ({LOAD.format('acquire')}) data++;")
TAKEN = ("data = 1; " + STORE.format("release") + ";", f"if ({LOAD.format('relaxed')}) data++;")
FAILED = (
    "data = 1; " + STORE.format("release") + ";",
    "int one = 2; if (!atomic_compare_exchange_strong_explicit(&flag, &one, 3,"
    " memory_order_acquire, memory_order_relaxed) && one == 1) data++;",
)
VARIABLE = (
    "memory_order o = p ? memory_order_release : memory_order_relaxed; data = 1;"
    "atomic_store_explicit(&flag, 1, o);",
    f"if ({LOAD.format('acquire')}) data++;",
)


def ignore(kind: Relaxed) -> Any:
    found = atomics.find_relaxed
    return lambda *order, **what: found(*order, **what) & ~kind


@pytest.mark.parametrize(
    ("program", "kind"),
    [
        (SENT, Relaxed.WRITE),
        (TAKEN, Relaxed.READ),
        (FAILED, Relaxed.FAILURE),
        ((RELAXED_LOCK.format("relaxed"), "f(0);"), Relaxed.WRITE),
        ((FLAG_LOCK.format("relaxed", "release"), "f(0);"), Relaxed.READ),
    ],
)
def test_weakness_that_is_not_noted(
    program: tuple[str, str], kind: Relaxed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert check(*program, tmp_path, "race").verdict == "inconclusive"
    monkeypatch.setattr(atomics, "find_relaxed", ignore(kind))
    assert check(*program, tmp_path, "race").verdict == "holds"


def test_unknown_orders_that_count_as_strong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert check(*VARIABLE, tmp_path, "race").verdict == "inconclusive"
    monkeypatch.setattr(atomics, "RELAXED", atomics.SEQ_CST)
    assert check(*VARIABLE, tmp_path, "race").verdict == "holds"


def test_operations_that_succeed_with_what_the_cell_has_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An exchange that forgets what weak writes may have left misses the race of a relaxed lock."""
    program = (RELAXED_LOCK.format("relaxed"), "f(0);")
    monkeypatch.setattr(unordered, "_list_values", lambda values: ())
    assert check(*program, tmp_path, "race").verdict == "holds"
    assert Relaxed(0) == ORDERED
