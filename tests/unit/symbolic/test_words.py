"""Operators on words compute what the IR's arithmetic computes, for all patterns of their bits."""

from __future__ import annotations

import random

import numpy as np
import pytest

from mazurka.ir import arithmetic
from mazurka.ir.expressions import BINARY_OPERATORS, UNARY_OPERATORS
from mazurka.symbolic.graphs.graph import FALSE, TRUE, Aig
from mazurka.symbolic.graphs.words import Word, Words, width_for

LANES = 2
RUNS = 64 * LANES
EDGES = (-(2**63), -(2**63) + 1, -(2**31), -2, -1, 0, 1, 2, 3, 63, 64, 2**31, 2**63 - 1)


class Numbers:
    """Words whose leaves have given values in each of many runs, and what comes of them."""

    def __init__(self) -> None:
        self.words = Words(Aig())
        self.leaves: dict[int, np.ndarray] = {}

    def given(self, values: list[int], low: int, high: int) -> Word:
        word = self.words.add_leaves(low, high)
        for position, literal in enumerate(self.words.literals(word)):
            row = np.zeros(LANES, np.uint64)
            for run, value in enumerate(values):
                if value >> position & 1:
                    row[run // 64] |= np.uint64(1 << run % 64)
            self.leaves[literal >> 1] = row
        return word

    def evaluate(self) -> np.ndarray:
        graph = self.words.graph
        rows = np.zeros((graph.nodes, LANES), np.uint64)
        for node, row in self.leaves.items():
            rows[node] = row
        graph.evaluate(rows)
        return rows

    def truths(self, rows: np.ndarray, literal: int) -> list[int]:
        row = rows[literal >> 1]
        return [int(row[run // 64]) >> run % 64 & 1 ^ literal & 1 for run in range(RUNS)]

    def values(self, rows: np.ndarray, word: Word) -> list[int]:
        if word.is_constant:
            return [word.low] * RUNS
        bits = [self.truths(rows, literal) for literal in self.words.literals(word)]
        found = [sum(bit[run] << place for place, bit in enumerate(bits)) for run in range(RUNS)]
        top = 1 << word.width
        return [v - top if word.signed and 2 * v >= top else v for v in found]


def random_bounds(random: random.Random) -> tuple[int, int]:
    low, high = sorted(random.choice(EDGES) for _ in range(2))
    if random.random() < 0.6:  # small numbers meet special cases more often
        low = random.randint(-9, 5)
        high = low + random.randint(0, 14)
    return low, high


def random_values(random: random.Random, low: int, high: int) -> list[int]:
    ends = [value for value in (*EDGES, low, high, low + 1, high - 1) if low <= value <= high]
    return [
        random.choice(ends) if random.random() < 0.5 else random.randint(low, high)
        for _ in range(RUNS)
    ]


@pytest.mark.parametrize("operator", sorted(BINARY_OPERATORS))
def test_binary_operators_are_those_of_the_arithmetic(operator: str) -> None:
    chance = random.Random(operator)
    for _ in range(12):
        numbers, operands, given = Numbers(), [], []
        for _ in range(2):
            low, high = random_bounds(chance)
            given.append(random_values(chance, low, high))
            operands.append(numbers.given(given[-1], low, high))
        result = numbers.words.binary(operator, *operands)
        found = numbers.values(numbers.evaluate(), result)
        for x, y, value in zip(*given, found, strict=True):
            expected = arithmetic.binary(operator, x, y)
            if expected is not None:
                assert value == expected, (operator, x, y)
                assert result.low <= value <= result.high


@pytest.mark.parametrize("operator", sorted(UNARY_OPERATORS))
def test_unary_operators_are_those_of_the_arithmetic(operator: str) -> None:
    chance = random.Random(operator)
    for _ in range(12):
        numbers = Numbers()
        low, high = random_bounds(chance)
        given = random_values(chance, low, high)
        result = numbers.words.unary(operator, numbers.given(given, low, high))
        found = numbers.values(numbers.evaluate(), result)
        assert found == [arithmetic.UNARY[operator](x) for x in given]


def test_conversions_are_those_of_the_arithmetic() -> None:
    chance = random.Random(5)
    for _ in range(30):
        numbers = Numbers()
        low, high = random_bounds(chance)
        width, signed = chance.choice((1, 3, 8, 32, 63, 64)), chance.random() < 0.5
        given = random_values(chance, low, high)
        result = numbers.words.convert(numbers.given(given, low, high), width, signed)
        found = numbers.values(numbers.evaluate(), result)
        assert found == [arithmetic.convert(x, width, signed) for x in given]


def test_choices_between_words() -> None:
    chance = random.Random(6)
    for count in range(2, 8):
        numbers = Numbers()
        which = random_values(chance, 0, count)
        index = numbers.given(which, 0, count)
        bounds = [random_bounds(chance) for _ in range(count + 1)]
        given = [random_values(chance, *each) for each in bounds]
        words = [numbers.given(v, *each) for v, each in zip(given, bounds, strict=True)]
        cases = [(numbers.words.equals(index, k), words[k]) for k in range(count)]
        picked = numbers.words.pick(cases, words[count])
        selected = numbers.words.select(cases[0][0], words[0], words[1])
        known = numbers.words.from_alternatives({k * k: at for k, (at, _) in enumerate(cases)})
        rows = numbers.evaluate()
        assert numbers.values(rows, picked) == [given[k][run] for run, k in enumerate(which)]
        assert numbers.values(rows, selected) == [given[k != 0][run] for run, k in enumerate(which)]
        assert all(
            value == k * k
            for value, k in zip(numbers.values(rows, known), which, strict=True)
            if k < count
        )


def test_closer_bounds_keep_the_number() -> None:
    numbers = Numbers()
    given = random_values(random.Random(7), 3, 9)
    wide = numbers.given(given, -100, 1000)
    close = numbers.words.clip(wide, 3, 9)
    assert (close.width, close.low, close.high) == (4, 3, 9)
    assert numbers.values(numbers.evaluate(), close) == given


def test_bounds_decide_what_they_can() -> None:
    words = Words(Aig())
    small, large = words.add_leaves(0, 5), words.add_leaves(6, 9)
    assert words.less(small, large) == TRUE
    assert words.equal(small, large) == FALSE
    assert words.binary("and", small, words.constant(0)) == words.constant(0)
    assert width_for(0, 0) == 0
    assert width_for(-1, 0) == 1
    assert words.graph.nodes == 1 + small.width + large.width
