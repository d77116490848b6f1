"""Random models whose threads choose all the time, and do something else by what they choose.

Steps with several choices are where searches over schedules have to know that choices of one thread
exclude each other: one of them reads what another thread writes, and the other one does not.
"""

from __future__ import annotations

from random import Random

VARIABLES = ("x", "y", "z")
HEAD = """\
from mazurka.model import Int, assume, atomic, await_, choose
x: Int[0, 3] = 0
y: Int[0, 3] = 0
z: Int[0, 3] = 0
"""


def write_choosing(rng: Random) -> str:
    """The text of a model of two or three threads, each of one or two statements."""
    names = [f"t{number}" for number in range(rng.randint(2, 3))]
    lines: list[str] = []
    for name in names:
        lines += [f"def {name}():", "    global x, y, z"]
        for _ in range(rng.randint(1, 2)):
            lines += [f"    {line}" for line in _statement(rng)]
    return HEAD + "\n".join([*lines, f"threads = [{', '.join(f'{name}()' for name in names)}]"])


def _statement(rng: Random) -> list[str]:
    one, other, outcomes = rng.choice(VARIABLES), rng.choice(VARIABLES), rng.randint(2, 3)
    match rng.randint(0, 5):
        case 0:
            return [f"{one} = {other}"]
        case 1:
            return [f"{one} = choose(range({outcomes}))"]
        case 2:
            return [f"if choose(range({outcomes})) == 1:", f"    {one} = 1"]
        case _:
            return ["with atomic():", *(f"    {line}" for line in _section(rng, outcomes))]


def _section(rng: Random, outcomes: int) -> list[str]:
    one, other, third = (rng.choice(VARIABLES) for _ in range(3))
    lines = [f"c = choose(range({outcomes}))"]
    if rng.random() < 0.3:
        lines.append(rng.choice([f"assume({third} != c or c == 0)", f"await_({third} <= c)"]))
    lines += [f"if c == {rng.randrange(outcomes)}:", f"    {one} = {rng.choice(['c', other, '1'])}"]
    if rng.random() < 0.5:
        lines += ["else:", rng.choice([f"    {other} = 1", f"    assert {other} != 2"])]
    return lines
