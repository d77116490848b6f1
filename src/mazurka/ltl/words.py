"""Evaluate a formula over one infinite word, from its definition and without an automaton.

The word is a lasso: letters that come once, then letters that are repeated for ever.  Position i is
followed by i + 1, the last one by the first of the loop.  The truth of an `until` is the least
solution of  v[i] = right[i] or (left[i] and v[next(i)]),  that of a `release` the greatest solution
of v[i] = right[i] and (left[i] or v[next(i)]).  A solution is found after as many rounds as there
are positions, since each round carries a value one position backwards.

Counterexamples are confirmed with this, and translations to automata are tested with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mazurka.ir.expressions import Expr
from mazurka.ltl.formulas import Formula


def holds_on(
    formula: Formula, length: int, loop_start: int, truth: Callable[[int, Expr], bool]
) -> bool:
    """Whether a formula holds on a lasso of `length` letters whose loop begins at `loop_start`.

    `truth(position, proposition)` says which propositions hold where."""
    assert 0 <= loop_start < length
    following = [*range(1, length), loop_start]
    return _evaluate(formula, following, truth, {})[0]


def _evaluate(
    formula: Formula,
    following: Sequence[int],
    truth: Callable[[int, Expr], bool],
    known: dict[Formula, list[bool]],
) -> list[bool]:
    """The truth of a formula at each position."""
    if formula not in known:
        parts = [_evaluate(each, following, truth, known) for each in formula.operands]
        known[formula] = _combine(formula, parts, following, truth)
    return known[formula]


def _combine(
    formula: Formula,
    parts: list[list[bool]],
    following: Sequence[int],
    truth: Callable[[int, Expr], bool],
) -> list[bool]:
    positions = range(len(following))
    match formula.operator:
        case "true" | "false":
            return [formula.operator == "true" for _ in positions]
        case "atom":
            assert formula.proposition is not None
            return [truth(position, formula.proposition) for position in positions]
        case "not":
            return [not each for each in parts[0]]
        case "and":
            return [left and right for left, right in zip(*parts, strict=True)]
        case "or":
            return [left or right for left, right in zip(*parts, strict=True)]
        case "next":
            return [parts[0][position] for position in following]
    left, right = parts
    values = [formula.operator == "release" for _ in positions]
    for _ in positions:
        for here in reversed(positions):
            later = values[following[here]]
            if formula.operator == "until":
                values[here] = right[here] or (left[here] and later)
            else:
                values[here] = right[here] and (left[here] or later)
    return values
