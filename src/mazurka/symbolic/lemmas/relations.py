"""Linear equations between wide cells that all samples satisfy, in general or under a condition.

Karr, *Affine Relationships Among Variables of a Program* (Acta Informatica 1976) computes such
equations from the program.  Here they are read off the samples (as Sharma et al., *A Data Driven
Approach for Algebraic Loop Invariants*, ESOP 2013): the equations are the null space of the
differences of samples.  Being guesses, they need no proof at this point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm

import numpy as np

from mazurka.symbolic.graphs.words import Word, Words
from mazurka.symbolic.lemmas.sampling import Integers

LARGEST_COEFFICIENT = 4
MOST_TERMS = 4
MOST_ROWS = 256
"""So many samples are looked at to find an equation; all are to confirm it."""
LEAST_SAMPLES = 3
LARGEST_NUMBER = 1 << 56
"""Sums of larger numbers could leave 64 bits: samples with them are not looked at."""

PRIME = 2_147_483_647
"""Products of two numbers below it fit 64 bits."""

Equation = tuple[tuple[tuple[int, int], ...], int]
"""Pairs of a cell and its coefficient, and the sum that these products have."""


def find_equations(cells: Sequence[int], rows: Integers) -> list[Equation]:
    """The equations with small coefficients that all rows, one value a cell, satisfy."""
    if len(rows) < LEAST_SAMPLES or not cells or np.abs(rows).max() > LARGEST_NUMBER:
        return []
    chosen = rows[np.linspace(0, len(rows) - 1, min(len(rows), MOST_ROWS)).astype(np.int64)]
    differences = keep_independent(chosen[1:] - chosen[0])
    found = []
    for vector in find_null_space(differences.tolist(), len(cells)):
        used = [(cell, each) for cell, each in zip(cells, vector, strict=True) if each]
        if len(used) > MOST_TERMS or any(abs(each) > LARGEST_COEFFICIENT for _, each in used):
            continue
        sums = rows @ np.array(vector, np.int64)
        if (sums == sums[0]).all():
            found.append((tuple(used), int(sums[0])))
    return found


def keep_independent(rows: Integers) -> Integers:
    """Rows that span all others, few of them: most samples say nothing new, and exact numbers are
    slow.

    Rows are told apart modulo a prime.  By chance that may lose one, and then an equation is found
    that some samples contradict: it is noticed when all are looked at.
    """
    left, kept = np.mod(rows, PRIME), []
    for column in range(rows.shape[1]):
        (candidates,) = np.nonzero(left[:, column])
        if not len(candidates):
            continue
        chosen = int(candidates[0])
        kept.append(chosen)
        pivot = left[chosen] * pow(int(left[chosen, column]), -1, PRIME) % PRIME
        left = (left - left[:, column, None] * pivot) % PRIME
    return rows[kept]


def find_null_space(rows: Sequence[Sequence[int]], width: int) -> list[list[int]]:
    """Vectors of integers, a basis of those with which all rows have the product 0."""
    reduced: dict[int, list[Fraction]] = {}
    """By pivot a row that has 1 there, and 0 at all other pivots."""
    for row in rows:
        rest = [Fraction(each) for each in row]
        for pivot, known in reduced.items():
            rest = _subtract(rest, known, rest[pivot])
        place = next((i for i in reversed(range(width)) if rest[i]), None)
        if place is None:
            continue
        rest = [each / rest[place] for each in rest]
        for pivot, known in reduced.items():
            reduced[pivot] = _subtract(known, rest, known[place])
        reduced[place] = rest
        if len(reduced) == width:
            return []
    found = []
    for free in (i for i in range(width) if i not in reduced):
        vector = [Fraction(int(i == free)) for i in range(width)]
        for pivot, known in reduced.items():
            vector[pivot] = -known[free]
        scale = lcm(*(each.denominator for each in vector))
        found.append([int(each * scale) for each in vector])
    return found


def _subtract(row: list[Fraction], other: list[Fraction], times: Fraction) -> list[Fraction]:
    if not times:
        return row
    return [a - times * b for a, b in zip(row, other, strict=True)]


def encode_equation(words: Words, cells: Mapping[int, Word], equation: Equation) -> int:
    """A literal that says an equation holds; nothing is subtracted, so that nothing wraps."""
    terms, total = equation
    sides = [words.constant(0), words.constant(0)]
    for cell, factor in terms:
        times = words.constant(abs(factor))
        term = cells[cell] if abs(factor) == 1 else words.binary("mul", cells[cell], times)
        side = factor < 0
        sides[side] = words.binary("add", sides[side], term)
    side = total > 0
    sides[side] = words.binary("add", sides[side], words.constant(abs(total)))
    return words.equal(*sides)
