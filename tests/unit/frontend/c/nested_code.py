"""Random C texts that are nested deeply, or long; every statement must be in the program."""

from __future__ import annotations

import random
from collections.abc import Callable

Wrapper = Callable[[str, int], str]
"""Puts a statement into another one, which runs it; the number makes names unlike others."""

AROUND: tuple[Wrapper, ...] = (
    lambda inner, number: "{ " + inner + " }",
    lambda inner, number: f"if (x >= 0) {inner}",
    lambda inner, number: f"if (x < 0) ; else {inner}",
    lambda inner, number: f"do {inner} while (x < 0);",
    lambda inner, number: f"for (int i{number} = 0; i{number} < 1; i{number}++) {inner}",
    lambda inner, number: f"switch (x) {{ case {number}: default: {inner} }}",
    lambda inner, number: f"l{number}: {inner}",
    lambda inner, number: f"(({{ {inner} 0; }}));",
)
"""Statements around another one."""

OPERANDS: tuple[Callable[[str], str], ...] = (
    lambda inner: f"({inner})",
    lambda inner: f"- {inner}",
    lambda inner: f"~ {inner}",
    lambda inner: f"(int) {inner}",
    lambda inner: f"{inner} + x",
    lambda inner: f"(x ? 1 : {inner})",
    lambda inner: f"(x, {inner})",
    lambda inner: f"same({inner})",
    lambda inner: f"(x = {inner})",
)
"""Expressions around another one."""


def make_text(seed: int) -> tuple[str, int]:
    """Make a program, and say how many statements `put(number);` are in it."""
    draw = random.Random(seed)
    depth = draw.choice((3, 20, 60, 90, 130, 180, 240, 600, 1500))
    kinds = draw.sample(AROUND, draw.choice((1, 1, 2, 3)))
    operands = draw.sample(OPERANDS, draw.choice((1, 1, 2)))
    count = 0

    def put() -> str:
        nonlocal count
        count += 1
        return f"put({count - 1});"

    body = put()
    for level in range(depth):
        body = draw.choice(kinds)(body, level)
        if level % 10 == 0:
            body = "{ " + put() + " " + body + " " + put() + " }"
    value = "x"
    for _ in range(draw.choice((1, 30, 80, depth))):
        value = draw.choice(operands)(value)
    chain = " else ".join(
        f"if (x == {at + 1}) {put()}" for at in range(draw.choice((1, 60, depth)))
    )
    cases = " ".join(f"case {at}: {put()} break;" for at in range(draw.choice((1, 300))))
    return (
        "int x;\nint same(int a) { return a; }\nextern int rand(void);\n"
        f"int put(int);\nint main(void) {{ x = rand();\n{body}\nx = {value};\n"
        f"{put()}\n{chain}\n{put()}\nswitch (x) {{ {cases} }}\n{put()}\nreturn 0; }}\n",
        count,
    )
