"""Deliberately wrong ways to take conditions apart; a random condition must show each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from mazurka.ir.expressions import Binary, Conditional, Const, Expr
from mazurka.ir.values import evaluation, facts, splitting
from mazurka.ir.values.splitting import Judge, SplitPart
from tests.unit.ir.splitting_cases import find_mistake

original, partition = splitting.split, splitting.partition


def forget_otherwise(
    condition: Expr, outcome: bool, subject: Expr, points: Sequence[int], judge: Judge
) -> Iterator[SplitPart]:
    if isinstance(condition, Conditional):
        taken, _ = splitting.partition(condition.test, subject, points, judge)
        return original(condition.then, outcome, subject, taken, judge)
    return original(condition, outcome, subject, points, judge)


def trust_other_questions(
    condition: Expr, outcome: bool, subject: Expr, points: Sequence[int], judge: Judge
) -> Iterator[SplitPart]:
    return original(condition, outcome, subject, points, lambda expr: True)


def compare_strictly(
    condition: Expr, outcome: bool, subject: Expr, points: Sequence[int], judge: Judge
) -> Iterator[SplitPart]:
    match condition:
        case Binary("le", left, Const() as right):
            condition = Binary("lt", left, right)
        case _:
            pass
    return original(condition, outcome, subject, points, judge)


@pytest.mark.parametrize("mutant", [forget_otherwise, trust_other_questions, compare_strictly])
def test_mutants_are_caught(monkeypatch: pytest.MonkeyPatch, mutant: object) -> None:
    monkeypatch.setattr(splitting, "split", mutant)
    monkeypatch.setattr(facts, "split", mutant)
    assert any(find_mistake(seed) for seed in range(120))


def swap_sides(
    condition: Expr, subject: Expr, points: Sequence[int], judge: Judge
) -> tuple[Sequence[int], Sequence[int]]:
    return partition(condition, subject, points, judge)[::-1]


def keep_one(
    condition: Expr, subject: Expr, points: Sequence[int], judge: Judge
) -> tuple[Sequence[int], Sequence[int]]:
    taken, refused = partition(condition, subject, points, judge)
    return taken[:1], refused[:1]


def trust_all(
    condition: Expr, subject: Expr, points: Sequence[int], judge: Judge
) -> tuple[Sequence[int], Sequence[int]]:
    return partition(condition, subject, points, lambda expr: True)


@pytest.mark.parametrize("mutant", [swap_sides, keep_one, trust_all])
def test_mutants_of_partitions_are_caught(monkeypatch: pytest.MonkeyPatch, mutant: object) -> None:
    monkeypatch.setattr(evaluation, "partition", mutant)
    assert any(find_mistake(seed) for seed in range(120))
