"""Deliberately broken excuses: the corpus' models about assumptions must tell each from ours."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from mazurka.analysis import standstill, unstopped
from mazurka.analysis.futures import Futures
from mazurka.frontend.python import load_model
from mazurka.ir.interpreter import State
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import Program
from mazurka.ir.values.fixpoint import Analysis
from mazurka.stateful.reference.full import explore

CORPUS = Path(__file__).parent.parent / "corpus"
MODELS = [
    *sorted(CORPUS.glob("*/assume_*.py")),
    CORPUS / "violated" / "await_behind_an_assume.py",
]

original_find = standstill.find_deadlocked
original_may_write = standstill._may_write


def excuse_nothing(
    program: Program, state: State, waiting: Mapping[int, int], stopped: Collection[int]
) -> frozenset[int]:
    return frozenset(waiting)


def excuse_everything(
    program: Program, state: State, waiting: Mapping[int, int], stopped: Collection[int]
) -> frozenset[int]:
    return frozenset() if stopped else frozenset(waiting)


def excuse_by_stopped_threads_only(
    program: Program, state: State, waiting: Mapping[int, int], stopped: Collection[int]
) -> frozenset[int]:
    """Those who wait for an excused thread are not excused."""
    futures = standstill.find_futures(standstill.find_unstopped(program))
    written = original_may_write(futures, state, stopped, frozenset())
    return frozenset(thread for thread, reads in waiting.items() if not reads & written)


def start_nobody(
    futures: Futures, state: State, threads: Collection[int], held: frozenset[int]
) -> int:
    written = 0
    for thread in threads:
        place = state[futures.program.threads[thread].counter]
        written |= futures.later(thread, place, held).writes
    return written


def take_any_lock(
    futures: Futures, state: State, threads: Collection[int], held: frozenset[int]
) -> int:
    return original_may_write(futures, state, threads, frozenset())


def judge_what_is_left(program: Program) -> Program:
    return unstopped.find_unstopped(replace(program, text=None))


MUTANTS: dict[str, tuple[object, str, Callable[..., object], set[str]]] = {
    "no wait is excused": (
        *(standstill, "find_deadlocked", excuse_nothing),
        {"assume_stops", "assume_excuses_in_turn"},
    ),
    "every wait is excused": (
        *(standstill, "find_deadlocked", excuse_everything),
        {"assume_keeps_the_lock"},
    ),
    "waits are excused by stopped threads only": (
        *(standstill, "find_deadlocked", excuse_by_stopped_threads_only),
        {"assume_excuses_in_turn"},
    ),
    "threads that would be started do not count": (
        *(standstill, "_may_write", start_nobody),
        {"assume_would_start_a_helper"},
    ),
    "stopped threads take locks that others hold": (
        *(standstill, "_may_write", take_any_lock),
        {"assume_beside_crossed_locks"},
    ),
    "nothing is done where the text ends": (
        *(unstopped, "_find_ending", lambda thread, text: frozenset()),
        {"assume_then_failure"},
    ),
    "code behind checks that fail dropped": (
        *(unstopped._EndlessAnalysis, "take", Analysis.take),
        {"assume_then_failing_check"},
    ),
    "judged by what passes have left": (
        *(standstill, "find_unstopped", judge_what_is_left),
        {"assume_keeps_the_lock"},
    ),
}
"""What is broken, and the models in which that makes a deadlock, or hides one."""


def deadlocking() -> set[str]:
    """The models in which the unreduced search finds a deadlock."""
    return {path.stem for path in MODELS if explore(prepare(load_model(path))).deadlocks}


def test_each_mutant_is_told_from_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = {path.stem for path in MODELS if "violated deadlock" in path.read_text()}
    assert deadlocking() == expected
    for title, (owner, name, mutant, changed) in MUTANTS.items():
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, mutant)
            found = deadlocking()
        assert changed <= found ^ expected, f"{title}: {found ^ expected}"
