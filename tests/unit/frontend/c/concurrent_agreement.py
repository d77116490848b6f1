"""Compares all strategies on a C program with the unreduced interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import mazurka
from mazurka.checking import load_program
from mazurka.search.reading import Reading
from mazurka.search.registry import load_strategy, strategy_names
from mazurka.stateful.reference.full import explore

MANY = 20_000
ASKED = ("assert", "deadlock")
SOUND = tuple(
    name
    for name in strategy_names()
    if load_strategy(name).sound and set(ASKED) <= load_strategy(name).preserves
)
"""All strategies that can answer what is asked."""


def find_disagreements(
    source: str, folder: Path, strategies: Sequence[str], seconds: float = 20
) -> tuple[str, list[str]]:
    """What the interpreter finds in the program, and the strategies that say something else."""
    path = folder / "program.c"
    path.write_text(source, encoding="utf-8")
    program = load_program(str(path), Reading(language="c", merge=False))
    space = explore(program, races=False, limit=MANY)
    if not space.complete or "bound" in space.kinds:
        return "unknown", []
    expected = "violated" if space.kinds else "holds"
    wrong = []
    for name in strategies:
        found = mazurka.check(path, strategy=name, properties=ASKED, limit_seconds=seconds)
        kinds = set() if found.violation is None else {found.violation.kind}
        if found.verdict not in (expected, "inconclusive") or not kinds <= space.kinds:
            wrong.append(f"{name}: {found.verdict} {sorted(kinds)}, not {sorted(space.kinds)}")
    return expected, wrong
