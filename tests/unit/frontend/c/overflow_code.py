"""Random C programs of one operation whose operands are at the ends of their types."""

from __future__ import annotations

from random import Random

NAMES = ("main", "a", "b", "r")
"""What each program defines."""
_TYPES = {"signed char": 8, "short": 16, "int": 32, "long": 64, "unsigned": 32}
_OPERATORS = ("+", "-", "*", "/", "%", "<<")


def random_overflow(random: Random) -> str:
    """A program that may overflow: operands are globals that nobody writes, or local variables."""
    left, right = random.choice(list(_TYPES)), random.choice(list(_TYPES))
    operator = random.choice(_OPERATORS)
    first = _number(random, left)
    second = f"{random.randrange(34)}" if operator == "<<" else _number(random, right)
    given = f"static {left} a = {first}; static {right} b = {second};"
    inside = ""
    if random.random() < 0.5:
        given, inside = "", f"{left} a = {first}; {right} b = {second};"
    update = f"a {operator}= b;"
    if _TYPES[left] < _TYPES[right]:  # gcc computes this in the narrower type, without a check
        update = f"r {operator}= b;"
    body = random.choice(
        [
            f"long r = a {operator} b;",
            f"r = a {operator} b;",
            update,
            f"int r = a > 5 && a {operator} b > 7;",
            random.choice(["a++;", "++a;", "a--;", "--a;", "long r = -a;"]),
        ]
    )
    return f"static long r = 1; {given}\nint main(void) {{ {inside} {body} return 0; }}\n"


def _number(random: Random, type_: str) -> str:
    bits = _TYPES[type_]
    lowest, highest = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    if type_.startswith("unsigned"):
        lowest, highest = 0, (1 << bits) - 1
    near = random.choice([lowest, highest, 0, -1, highest >> bits // 2, lowest >> bits // 2])
    value = min(max(near + random.randrange(-2, 3), lowest), highest)
    if value == -(1 << 63):
        return "(-9223372036854775807L - 1)"
    return f"({value}{'L' if bits == 64 else ''})"
