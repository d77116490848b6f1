"""Paper 002: how cells get their classes, and what happens when a class is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from mazurka import check
from mazurka.report.answer import HOLDS, VIOLATED
from mazurka.report.verdict import Verdict

EXAMPLES = Path(__file__).parents[2] / "examples"
STRATEGIES = ("optimistic", "cpc")

every_strategy = pytest.mark.parametrize("strategy", STRATEGIES)

HEADER = """
import threading
from mazurka.model import Array, Int, protected_by, unprotected, unshared
"""


def checked(folder: Path, text: str, strategy: str, **options: object) -> Verdict:
    model = folder / "model.py"
    model.write_text(HEADER + text, encoding="utf-8")
    return check(model, strategy=strategy, **options)  # type: ignore[arg-type]


def classes(verdict: Verdict) -> dict[str, tuple[str, str | None]]:
    return {each.cell: (each.kind, each.lock) for each in verdict.classification}


@every_strategy
def test_the_buffer_of_user_and_driver_is_handed_over(strategy: str) -> None:
    verdict = check(EXAMPLES / "user_driver.py", strategy=strategy)
    assert verdict.verdict == HOLDS
    assert classes(verdict) == {f"buf[{i}]": ("handed over", None) for i in range(3)}


@every_strategy
def test_a_buffer_released_too_early_is_not(strategy: str) -> None:
    verdict = check(EXAMPLES / "user_driver.py", strategy=strategy, definitions={"EARLY": 1})
    assert verdict.verdict == VIOLATED


TWO_LOCKS = """
a, b = threading.Lock(), threading.Lock()
x: Int[0, 9] = 0

def one():
    global x
    with a:
        with b:
            x += 1

def other():
    global x
    with b:
        x += 1

threads = [one(), other()]
"""


@every_strategy
@pytest.mark.parametrize("movers", ["inferred", "static"])
def test_the_lockset_is_what_all_accesses_have_in_common(
    tmp_path: Path, strategy: str, movers: str
) -> None:
    verdict = checked(tmp_path, TWO_LOCKS, strategy, movers=movers)
    assert verdict.verdict == HOLDS
    assert classes(verdict) == {"x": ("protected", "b")}
    assert not verdict.rounds


ONLY_A = TWO_LOCKS.replace("    with b:\n        x += 1", "    with a:\n        pass\n    x += 1")


@every_strategy
def test_a_cell_without_a_common_lock_becomes_unprotected(tmp_path: Path, strategy: str) -> None:
    """The first round relies on x, the second does not; its reason names cell, thread and line."""
    verdict = checked(tmp_path, ONLY_A, strategy)
    assert verdict.verdict == HOLDS
    assert classes(verdict) == {"x": ("unprotected", None)}
    reasons = [each.reason for each in verdict.rounds]
    assert reasons
    assert all("`x`" in reason and "model.py:" in reason for reason in reasons)
    assert any("may have data races: `x`" in note for note in verdict.notes)


@every_strategy
def test_the_candidate_is_confirmed_by_the_race(tmp_path: Path, strategy: str) -> None:
    verdict = checked(tmp_path, ONLY_A, strategy, properties=("race",))
    assert verdict.verdict == VIOLATED
    assert verdict.violation is not None
    assert verdict.violation.kind == "race"


FLAG = """
x: Int[0, 9] = 0
done: Int[0, 1] = 0

def writer():
    global x, done
    x = 5
    done = 1

def reader():
    global x
    while done == 0:
        pass
    assert x == 5
    x = 6

threads = [writer(), reader()]
"""


@every_strategy
def test_a_candidate_is_dropped_where_accesses_never_meet(tmp_path: Path, strategy: str) -> None:
    """x is handed over by a flag that Mazurka does not take for synchronization."""
    verdict = checked(tmp_path, FLAG, strategy, properties=("assert",))
    assert verdict.verdict == HOLDS
    assert classes(verdict)["x"] == ("unprotected", None)
    raced = checked(tmp_path, FLAG, strategy, properties=("race",))
    assert raced.violation is not None
    assert "`done`" in raced.violation.message, "x itself does not race"


JOINED = """
m = threading.Lock()
total: Int[0, 9] = 0

def worker():
    global total
    with m:
        total += 1

def main():
    global total
    total = 1
    ts = [threading.Thread(target=worker) for _ in range(2)]
    for t in ts:
        t.start()
    for t in ts:
        t.join()
    assert total == 3

threads = [main()]
"""


@every_strategy
def test_creation_and_join_hand_over(tmp_path: Path, strategy: str) -> None:
    """main needs no lock before it has started anybody, and once it has joined them all."""
    verdict = checked(tmp_path, JOINED, strategy)
    assert verdict.verdict == HOLDS
    assert classes(verdict)["total"] == ("protected", "m")


@every_strategy
def test_a_read_before_the_join_breaks_it(tmp_path: Path, strategy: str) -> None:
    early = JOINED.replace("    for t in ts:\n        t.join()\n", "")
    verdict = checked(tmp_path, early, strategy)
    assert verdict.verdict == VIOLATED


DECLARED = "\nprotected_by(a, x)\n"


@every_strategy
@pytest.mark.parametrize("movers", ["inferred", "declared"])
def test_a_wrong_declaration_is_reported_and_corrected(
    tmp_path: Path, strategy: str, movers: str
) -> None:
    verdict = checked(tmp_path, ONLY_A + DECLARED, strategy, movers=movers)
    assert verdict.verdict == HOLDS
    assert any("`x` is declared protected by `a`" in note for note in verdict.notes)
    assert classes(verdict) == {"x": ("unprotected", None)}


@every_strategy
def test_what_is_declared_unprotected_needs_no_round(tmp_path: Path, strategy: str) -> None:
    verdict = checked(tmp_path, ONLY_A + "\nunprotected(x)\n", strategy)
    assert verdict.verdict == HOLDS
    assert classes(verdict) == {"x": ("unprotected", None)}
    assert not verdict.rounds


@every_strategy
def test_what_is_wrongly_declared_unshared_is_corrected(tmp_path: Path, strategy: str) -> None:
    verdict = checked(tmp_path, ONLY_A + "\nunshared(x)\n", strategy)
    assert verdict.verdict == HOLDS
    assert any("`x` is declared unshared, but" in note for note in verdict.notes)
    assert classes(verdict) == {"x": ("unprotected", None)}


@every_strategy
def test_a_declaration_of_the_wrong_lock_is_noticed(tmp_path: Path, strategy: str) -> None:
    """x is protected, and proven to be, but by another lock than the model says."""
    text = TWO_LOCKS.replace("    with a:\n        with b:", "    if True:\n        with b:")
    verdict = checked(tmp_path, text + DECLARED, strategy)
    assert verdict.verdict == HOLDS
    assert any("`x` is declared protected by `a`" in note for note in verdict.notes)
    assert classes(verdict) == {"x": ("protected", "b")}


@every_strategy
def test_what_only_atomic_operations_touch_is_no_candidate(tmp_path: Path, strategy: str) -> None:
    text = """
from mazurka.model import fetch_add
hits: Int[0, 4] = 0

def visitor():
    fetch_add(hits, 1)

threads = [visitor(), visitor()]
"""
    verdict = checked(tmp_path, text, strategy)
    assert verdict.verdict == HOLDS
    assert not any("candidates" in note for note in verdict.notes)


@every_strategy
def test_a_search_that_ends_at_a_violation_claims_no_classes(tmp_path: Path, strategy: str) -> None:
    early = JOINED.replace("    for t in ts:\n        t.join()\n", "")
    assert checked(tmp_path, early, strategy).classification == ()
    assert checked(tmp_path, early, strategy, explore_all=True).classification
