"""Random models full of counters in loops, and the comparison of their ranges with what happens.

`escape` looks for a state in which a cell holds a value outside the range that was derived for it.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

from mazurka.errors import MazurkaError
from mazurka.frontend.registry import load_frontend
from mazurka.ir.interpreter import Interpreter
from mazurka.ir.passes.ranges import infer_ranges
from mazurka.ir.program import Program, Role
from mazurka.ir.values.intervals import LARGEST, SMALLEST
from mazurka.search.reading import Reading

SHARED, LOCAL = ("g", "h"), ("n", "m")
HEAD = """from mazurka.model import *
g = 0
h = 2
a = Array(Int, 2)
def add(amount):
    global g
    g += amount
def restart(value):
    global h
    h = value
    return value
"""


class CountingModel:
    """Writes one model; every choice is made by `chance`."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.loops = 0
        self.text = HEAD
        for number in range(chance.choice((1, 1, 2))):
            self.write_thread(number)
        self.text += "threads = [" + ", ".join(f"f{n}()" for n in range(number + 1)) + "]\n"

    def write_thread(self, number: int) -> None:
        lines = ["global g, h", *(f"{name} = 0" for name in LOCAL), *self.block(3)]
        self.text += f"def f{number}():\n" + "".join(f"    {line}\n" for line in lines)

    def block(self, depth: int) -> list[str]:
        lines: list[str] = []
        for _ in range(self.chance.choice((1, 2, 2, 3))):
            lines += self.statement(depth)
        return lines

    def statement(self, depth: int) -> list[str]:
        kind = self.chance.randrange(10) if depth else 9
        if kind < 3:
            return self.count(depth)
        if kind < 5:
            return self.repeat(depth)
        if kind == 5:
            test = self.chance.choice(("choose(0, 1)", "n > 1", "g == 0", f"m < {self.number()}"))
            body, other = self.block(depth - 1), self.block(depth - 1)
            return [f"if {test}:", *indent(body), "else:", *indent(other)]
        if kind == 6:
            return self.unusual(depth)
        return [self.assignment()]

    def unusual(self, depth: int) -> list[str]:
        """Loops that may not end, that count in a shared variable, and atomic sections."""
        kind = self.chance.randrange(6)
        if kind == 0:
            return ["while True:", *indent(self.block(depth - 1)), *self.maybe("    break")]
        if kind == 1:
            step = self.chance.choice(("h += 1", "h = h + 1", "h += m"))
            return [f"while h < {self.number()}:", *indent([step, *self.block(depth - 1)])]
        if kind == 2:
            return ["with atomic():", *indent([self.assignment(), self.assignment()])]
        if kind == 3:
            return [self.chance.choice(("add(1)", "add(-1)", "add(n)", f"add({self.number()})"))]
        if kind == 4:
            return [self.chance.choice(("n = restart(0)", "m = restart(n)", "restart(-1)"))]
        return [self.assignment()]

    def count(self, depth: int) -> list[str]:
        self.loops += 1
        ends = self.chance.choice(("3", "1, 3", "3, 0, -1", "0, 4, 2", "choose(0, 2)"))
        return [f"for k{self.loops} in range({ends}):", *indent(self.loop_body(depth))]

    def repeat(self, depth: int) -> list[str]:
        """A `while` loop with a counter of its own, which the body may change, too."""
        self.loops += 1
        name = f"i{self.loops}"
        more = self.maybe(self.chance.choice((f"{name} += 1", f"{name} += g", f"{name} -= 1")), 0.2)
        step, rest = [f"{name} += {self.chance.choice((1, 1, 2))}"], self.loop_body(depth)
        body = [*step, *more, *rest] if self.chance.random() < 0.5 else [*more, *rest, *step]
        return [f"{name} = 0", f"while {name} < {self.number()}:", *indent(body)]

    def loop_body(self, depth: int) -> list[str]:
        lines = self.block(depth - 1)
        if self.chance.random() < 0.2:
            lines += ["if choose(0, 1):", "    " + self.chance.choice(("break", "continue"))]
        return lines

    def assignment(self) -> str:
        own, other = self.chance.sample(LOCAL, 2)
        shared = self.chance.choice(SHARED)
        place = self.chance.choice((own, own, shared, "a[choose(0, 1)]"))
        return self.chance.choice(
            (
                f"{place} += {self.number()}",
                f"{place} += {self.number()}",
                f"{place} -= {self.number()}",
                f"{place} = {self.number()}",
                f"{own} = {shared}",
                f"{shared} = {other} + 1",
                f"{own} = {other} - 1",
                f"{own} = max({own}, {other}) + 1",
                f"{own} = {own} + (1 if {other} > 2 else 2)",
                f"{own} += {shared}",
            )
        )

    def maybe(self, line: str, often: float = 0.5) -> list[str]:
        return [line] if self.chance.random() < often else []

    def number(self) -> int:
        return self.chance.choice((1, 1, 2, 3))


def indent(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def read_model(text: str, directory: Path) -> Program:
    path = directory / "model.py"
    path.write_text(text, encoding="utf-8")
    return load_frontend("python").load(str(path), Reading())


def without_limits(program: Program) -> Program:
    """The program as the interpreter must run it before ranges are known."""
    wide = [
        (SMALLEST, LARGEST) if cell.inferred else (cell.low, cell.high) for cell in program.cells
    ]
    cells = (
        type(cell)(cell.name, low, high, cell.initial, cell.owner, cell.role)
        for cell, (low, high) in zip(program.cells, wide, strict=True)
    )
    return Program(program.name, tuple(cells), program.threads)


def escape(program: Program, most_states: int) -> str | None:
    """Describe a value outside a derived range; None if there is none, or no range either."""
    try:
        cells = infer_ranges(program).program.cells
    except MazurkaError:
        return None
    machine = Interpreter(without_limits(program))
    start = program.initial_state()
    seen, stack = {start}, [start]
    while stack and len(seen) < most_states:
        for _, step in machine.steps(stack.pop()):
            if not step.happened or step.state in seen:
                continue
            seen.add(step.state)
            stack.append(step.state)
            for cell, value in zip(cells, step.state, strict=True):
                if cell.role is not Role.COUNTER and not cell.low <= value <= cell.high:
                    return f"{cell.name} is {value}, not in {cell.low}..{cell.high}"
    return None
