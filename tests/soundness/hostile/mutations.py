"""Damage to a file: to its bytes, lines, words, numbers, syntax tree or JSON values.

A mutation takes a random number generator, a text, and another text of the same kind, and returns
the damaged text.  None of them knows what the text means, but for `change_program`: most damage to
an exported program is refused, and what it makes is often accepted.
"""

from __future__ import annotations

import ast
import copy
import json
import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

Mutation = Callable[[Random, str, str], str]

NUMBERS = (
    *("0", "1", "-1", "2", "255", "256", "65536", "1000000", "-2147483649"),
    *("2147483647", "2147483648", "4294967295", "4294967296", "9223372036854775807"),
    *(
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775809",
    ),
    *("1" + "0" * 30, "9" * 5000, "0x7fffffffffffffff", "1e308", "1e999", "-0.0", "0.5", "nan"),
    *("inf", "0b1", "0o7", "007", "1_000", "\u0663", "1j"),
)
"""Numbers at the ends of types, and what only looks like a number."""
PIECES = (
    *("\0", "\ufeff", "\r\n", "\r", "\t", "\x1b[31m", "\x0c", "\u2028", "\x85", "\ud800"),
    *("\U0001f600", "\u00e9", "e\u0301", "\u202e", "\\", "\\\n", '"', "'", "'''", "`", "\x7f"),
    *("%s", "%n", "{", "}", "{}", "[[", "]]", "((", "))", "/*", "*/", "//", "#", "$", "..", "/"),
    *("None", "True", "null", "true", "self", "__class__", "lambda: 0", "*", "**", ";", ",", ":"),
)
DEPTHS = (3, 30, 120, 1000, 20_000)
WORD = re.compile(r"\w+|\s+|[^\w\s]")
NUMBER = re.compile(r"(?<![\w.])-?\d[\d_]*(?:\.\d+)?")
STATEMENT = re.compile(r"[^;{}\n]*[;{}\n]|[^;{}\n]+")
LARGEST = 200_000
"""Characters of a damaged text: what is longer is not hostile, only long."""


# --- any text -------------------------------------------------------------------------------------


def change_parts(rng: Random, parts: list[str], others: Sequence[str]) -> str:
    """Delete, repeat, exchange or move some neighbouring parts of a text, or take some from
    another text."""
    if not parts:
        return "".join(others[:20])
    start = rng.randrange(len(parts))
    end = min(len(parts), start + rng.choice((1, 1, 1, 2, 3, 8)))
    other = rng.randrange(len(parts))
    match rng.randrange(6):
        case 0:
            del parts[start:end]
        case 1:
            parts[start:start] = parts[start:end] * rng.choice((1, 1, 2, 5))
        case 2:
            parts[start], parts[other] = parts[other], parts[start]
        case 3:
            moved = parts[start:end]
            del parts[start:end]
            parts[other:other] = moved
        case 4 if others:
            begin = rng.randrange(len(others))
            parts[start:end] = others[begin : begin + rng.choice((1, 2, 5))]
        case _:
            parts.insert(start, rng.choice(PIECES))
    return "".join(parts)


def change_lines(rng: Random, text: str, other: str) -> str:
    return change_parts(rng, text.splitlines(keepends=True), other.splitlines(keepends=True))


def change_words(rng: Random, text: str, other: str) -> str:
    return change_parts(rng, WORD.findall(text), WORD.findall(other))


def change_statements(rng: Random, text: str, other: str) -> str:
    """The same with what ends with a semicolon or a brace."""
    return change_parts(rng, STATEMENT.findall(text), STATEMENT.findall(other))


def change_number(rng: Random, text: str, other: str) -> str:
    """Put another number in the place of one."""
    places = list(NUMBER.finditer(text))
    if not places:
        return text + rng.choice(NUMBERS)
    place = rng.choice(places)
    return text[: place.start()] + rng.choice(NUMBERS) + text[place.end() :]


def rename(rng: Random, text: str, other: str) -> str:
    """Give everything of one name the name of something else."""
    names = sorted(set(re.findall(r"[A-Za-z_]\w*", text)))
    if not names:
        return text
    known = names + sorted(set(re.findall(r"[A-Za-z_]\w*", other)))
    old, new = rng.choice(names), rng.choice(known)
    return re.sub(rf"\b{re.escape(old)}\b", lambda _: new, text)


def damage_bytes(rng: Random, text: str, other: str) -> str:
    """Change some bytes; what is no text any more is kept as surrogates."""
    data = bytearray(as_bytes(text))
    for _ in range(rng.choice((1, 1, 2, 8))):
        place = rng.randrange(len(data) + 1)
        match rng.randrange(4):
            case 0 if place < len(data):
                data[place] = rng.randrange(256)
            case 1 if place < len(data):
                data[place] ^= 1 << rng.randrange(8)
            case 2:
                data[place:place] = rng.randbytes(rng.choice((1, 2, 9)))
            case _:
                del data[place : place + rng.choice((1, 2, 30))]
    return bytes(data).decode("utf-8", "surrogateescape")


def cut(rng: Random, text: str, other: str) -> str:
    """Keep the beginning, or the end, or join it to the end of another text."""
    place = rng.randrange(len(text) + 1)
    match rng.randrange(3):
        case 0:
            return text[:place]
        case 1:
            return text[place:]
        case _:
            return text[:place] + other[rng.randrange(len(other) + 1) :]


def insert_piece(rng: Random, text: str, other: str) -> str:
    place = rng.randrange(len(text) + 1)
    piece = rng.choice(PIECES) * rng.choice((1, 1, 1, 1000))
    return text[:place] + piece + text[place:]


def nest(rng: Random, text: str, other: str) -> str:
    """Put brackets around a word, many times."""
    words = WORD.findall(text)
    if not words:
        return text
    place, depth = rng.randrange(len(words)), rng.choice(DEPTHS)
    before, after = rng.choice(
        (
            ("(", ")"),
            ("[", "]"),
            ("{", "}"),
            ("-", ""),
            ("!", ""),
            ("not ", ""),
            ("*", ""),
            ("f(", ")"),
        )
    )
    words[place] = before * depth + words[place] + after * depth
    return "".join(words)


def repeat_long(rng: Random, text: str, other: str) -> str:
    """Repeat a line or a word until the text is long."""
    parts = (WORD.findall if rng.random() < 0.5 else str.splitlines)(text) or [" "]
    place = rng.randrange(len(parts))
    joint = rng.choice(("", " ", "\n", "+", ","))
    parts[place] = joint.join([parts[place]] * rng.choice((50, 500, 5000)))
    return ("\n" if "\n" not in "".join(parts) else "").join(parts)


def change_spaces(rng: Random, text: str, other: str) -> str:
    """Write all lines with other ends, or other indentation."""
    match rng.randrange(5):
        case 0:
            return text.replace("\n", "\r\n")
        case 1:
            return text.replace("\n", "\r")
        case 2:
            return text.replace("    ", "\t")
        case 3:
            return "\ufeff" + text
        case _:
            return text.rstrip("\n")


def empty(rng: Random, text: str, other: str) -> str:
    return rng.choice(("", "\n", "\0", " " * 100_000, other, "\ufeff"))


GENERAL: tuple[Mutation, ...] = (
    *(change_lines, change_words, change_number, change_lines, change_words, change_number),
    *(rename, damage_bytes, cut, insert_piece, nest, repeat_long, change_spaces),
)


# --- Python ---------------------------------------------------------------------------------------

CONSTANTS: tuple[object, ...] = (
    *(0, 1, -1, 2**31, 2**63 - 1, 2**63, 2**64, -(2**63) - 1, 10**400, 0.5, float("inf")),
    *(True, None, ..., "", "text", b"bytes", "\ud800", 1j),
)
OPERATORS: tuple[ast.operator, ...] = (
    *(ast.Add(), ast.Sub(), ast.Mult(), ast.FloorDiv(), ast.Mod(), ast.Pow(), ast.LShift()),
    *(ast.RShift(), ast.BitXor(), ast.MatMult(), ast.Div()),
)


def change_tree(rng: Random, text: str, other: str) -> str:
    """Change a node of the syntax tree of a Python program."""
    try:
        tree, donor = ast.parse(text), ast.parse(other)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return change_words(rng, text, other)
    node = _choose_statement if rng.random() < 0.5 else _change_expression
    try:
        node(rng, tree, donor)
        return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    except (ValueError, TypeError, AttributeError, RecursionError, KeyError, IndexError):
        return change_lines(rng, text, other)


def _bodies(tree: ast.AST) -> list[list[ast.stmt]]:
    return [
        value
        for node in ast.walk(tree)
        for name in ("body", "orelse", "finalbody")
        if isinstance(value := getattr(node, name, None), list) and value
    ]


def _choose_statement(rng: Random, tree: ast.Module, donor: ast.Module) -> None:
    """Delete, repeat, move, wrap or replace a statement."""
    bodies, donors = _bodies(tree), _bodies(donor)
    body = rng.choice(bodies)
    place = rng.randrange(len(body))
    statement = body[place]
    target = rng.choice(bodies)
    match rng.randrange(7):
        case 0 if len(body) > 1:
            del body[place]
        case 1:
            target.insert(rng.randrange(len(target) + 1), copy.deepcopy(statement))
        case 2 if donors:
            body[place] = copy.deepcopy(rng.choice(rng.choice(donors)))
        case 3:
            wrapped = f"{rng.choice(WRAPPERS)}\n    pass"
            for _ in range(rng.choice((1, 1, 2, 18, 90))):
                outer = ast.parse(wrapped).body[0]
                outer.body[:] = [body[place]]  # type: ignore[attr-defined]
                body[place] = outer
        case 4:
            body.insert(place, ast.parse(rng.choice(STATEMENTS)).body[0])
        case 5:
            rng.shuffle(body)
        case _ if donors:
            target.insert(
                rng.randrange(len(target) + 1), copy.deepcopy(rng.choice(rng.choice(donors)))
            )


WRAPPERS = (
    *("if True:", "while True:", "for i in range(3):", "with m:", "with atomic():", "def f(x):"),
    *("class C:", "async def f():", "for x in x:", "while x < 2:", "if x:"),
)
STATEMENTS = (
    *("return", "return x", "break", "continue", "pass", "global x", "nonlocal x", "del x"),
    *("x: int = 0", "x = y = 1", "x, *y = 1, 2", "assert x, 'm'", "assert (x := 1)", "x += 1"),
    *("raise ValueError", "import os", "from mazurka.model import *", "threads = []", "x = 2**62"),
    *("threads = threads * 3", "yield x", "await x", "lambda: x", "[x for x in range(9)]", "f()"),
    *("match x:\n    case 1:\n        pass", "try:\n    pass\nexcept E as e:\n    raise", "x @= y"),
    *("x: Int[0, 2**63] = 0", "x: Int[5, 1] = 0", "x = Array(Int[0, 1], -1)"),
    *("x = Array(Int[0, 1], 10**9)", "x = Array(Int[0, 1], 0)", "x = 2 ** 10**9"),
    *("choose(range(10**18))", "await_(False)", "assume(False)", "assert choose(range(2**40)) < 5"),
    *("x = [0] * 10**9", "x = [[0] * 9] * 9", "x = range(-1, 10**20)", "x = 1 // 0", "x = 1 << 99"),
)  # fmt: skip


def _change_expression(rng: Random, tree: ast.Module, donor: ast.Module) -> None:
    """Replace an expression, or change an operator or a constant."""
    places = [
        (node, name, value)
        for node in ast.walk(tree)
        for name, value in ast.iter_fields(node)
        if isinstance(value, ast.expr)
        or (isinstance(value, list) and value and isinstance(value[0], ast.expr))
    ]
    node, name, value = rng.choice(places)
    number = rng.randrange(len(value)) if isinstance(value, list) else None
    old = value if number is None else value[number]
    donors = [
        each
        for each in ast.walk(donor if rng.random() < 0.5 else tree)
        if isinstance(each, ast.expr)
    ]
    new: ast.expr
    match rng.randrange(5):
        case 0:
            new = ast.Constant(rng.choice(CONSTANTS))
        case 1:
            new = ast.BinOp(old, rng.choice(OPERATORS), ast.Constant(rng.choice(CONSTANTS)))
        case 2:
            new = copy.deepcopy(old)
            for _ in range(rng.choice((1, 2, 50, 400))):
                new = rng.choice(
                    (
                        lambda inner: ast.UnaryOp(ast.Not(), inner),
                        lambda inner: ast.UnaryOp(ast.USub(), inner),
                        lambda inner: ast.BinOp(inner, ast.Add(), ast.Constant(1)),
                        lambda inner: ast.Subscript(inner, ast.Constant(0), ast.Load()),
                        lambda inner: ast.Call(inner, [], []),
                        lambda inner: ast.Attribute(inner, "x", ast.Load()),
                        lambda inner: ast.List([inner], ast.Load()),
                    )
                )(new)
        case _ if donors:
            new = copy.deepcopy(rng.choice(donors))
        case _:
            new = ast.Name("x", ast.Load())
    if number is None:
        setattr(node, name, new)
    else:
        value[number] = new


# --- JSON -----------------------------------------------------------------------------------------

VALUES: tuple[object, ...] = (
    *(None, True, False, 0, 1, -1, 2, 10**6, 2**31, 2**32, 2**63 - 1, 2**63, 2**64, -(2**63) - 1),
    *(10**400, 0.5, -0.0, 1e308, float("nan"), float("inf"), "", "x", "\0", "\ud800", "a" * 70_000),
    *([], {}, [[]], [0, 0], {"": 0}, "../../etc/passwd", "/dev/stdin", "0.1", "1e9"),
)


def change_json(rng: Random, text: str, other: str) -> str:
    """Change a value in a JSON text: another value, one of elsewhere, deleted, repeated, nested."""
    try:
        return _change_value(rng, json.loads(text), json.loads(other))
    except (ValueError, RecursionError):  # no JSON, or too deep to be copied
        return change_words(rng, text, other)


def _change_value(rng: Random, tree: object, donor: object) -> str:
    places = _places(tree)
    if not places:
        return json.dumps(rng.choice(VALUES))
    holder, key = rng.choice(places)
    match rng.randrange(8):
        case 0 | 1:
            holder[key] = rng.choice(VALUES)
        case 2:
            del holder[key]
        case 3:
            owner, name = rng.choice(_places(donor) or places)
            holder[key] = copy.deepcopy(owner[name])
        case 4:
            owner, name = rng.choice(places)
            holder[key], owner[name] = copy.deepcopy(owner[name]), copy.deepcopy(holder[key])
        case 5 if isinstance(holder, list):
            holder[key:key] = [copy.deepcopy(holder[key])] * rng.choice((1, 2, 300))
        case 6 if isinstance(holder[key], int):
            holder[key] += rng.choice((-1, 1, -2, 7, 256))
        case 6 if isinstance(holder, dict):
            holder[rng.choice(("x", "", *map(str, holder)))] = holder.pop(key)
        case _:
            mark = "@nested@"
            inner, holder[key] = holder[key], mark
            depth = rng.choice(DEPTHS)
            before, after = rng.choice(
                (("[", "]"), ('{"a":', "}"), ('["not",', "]"), ('["-",', "]"))
            )
            nested = before * depth + json.dumps(inner) + after * depth
            return json.dumps(tree).replace(f'"{mark}"', nested)
    return json.dumps(tree)


def _places(tree: object) -> list[tuple[object, object]]:
    """All places of a JSON value that hold another one: the container, and the key in it."""
    found: list[tuple[object, object]] = []
    waiting = [tree]
    while waiting:
        holder = waiting.pop()
        keys = (
            holder
            if isinstance(holder, dict)
            else range(len(holder))
            if isinstance(holder, list)
            else ()
        )
        for key in keys:
            found.append((holder, key))
            waiting.append(holder[key])  # type: ignore[index]
    return found


def change_program(rng: Random, text: str, other: str) -> str:
    """Change what an exported program does, so that it is still one, or nearly."""
    try:
        program = json.loads(text)
        thread, cell = rng.choice(program["threads"]), rng.choice(program["cells"])
        edge, place = rng.choice(thread["edges"]), rng.choice(thread["locations"])
        nodes = [each for each in _lists(edge) if len(each) > 1]
        addresses = [each for each in nodes if each[0] in ("assign", "load")]
        constants = [each for each in nodes if each[0] == "const"]
        match rng.randrange(11):
            case 0 | 1 | 2:
                rng.choice(addresses)[1] = ["const", _address(rng, len(program["cells"]))]
            case 3:
                edge["guard"] = rng.choice((None, ["const", 0], ["const", 1]))
            case 4:
                edge["target"] = rng.choice((0, 1, 2, rng.randrange(len(thread["locations"]))))
            case 5:
                edge["kind"] = rng.choice(
                    ("local", "access", "create", "acquire", "choose", "wait")
                )
            case 6:
                edge["atomic"] = not edge["atomic"]
            case 7:
                place["mode"] = rng.choice(("visible", "atomic", "merged"))
            case 8:
                cell["owner"] = rng.choice((None, *range(len(program["threads"]))))
                cell["role"] = rng.choice(("int", "bool", "owner", "sync", "pointer", "handle"))
            case 9:
                del edge["operations"][rng.randrange(len(edge["operations"]))]
            case _:
                rng.choice(constants)[1] = rng.choice((0, 1, -1, 2, 7, 2**63 - 1, -(2**63)))
        return json.dumps(program)
    except (ValueError, RecursionError, LookupError, TypeError):  # no program, or nothing there
        return change_json(rng, text, other)


def _address(rng: Random, cells: int) -> int:
    """A cell, or a number near those of the cells."""
    return rng.choice((-1, 0, cells, cells + 1, -cells, *(rng.randrange(cells) for _ in range(3))))


def _lists(value: object) -> list[list[Any]]:
    found = [holder[key] for holder, key in _places(value)]  # type: ignore[index]
    return [each for each in found if isinstance(each, list)]


PYTHON: tuple[Mutation, ...] = (*GENERAL, *(change_tree,) * 12)
C: tuple[Mutation, ...] = (*GENERAL, *(change_statements,) * 8)
JSON: tuple[Mutation, ...] = (*GENERAL[6:], *(change_json,) * 14)
PROGRAM: tuple[Mutation, ...] = (*JSON, *(change_program,) * 40)


def mutate(rng: Random, mutations: Sequence[Mutation], texts: Sequence[str]) -> str:
    """Damage one of the texts, once or a few times."""
    text = rng.choice(texts)
    if rng.random() < 0.01:
        return empty(rng, text, rng.choice(texts))
    for _ in range(rng.choice((1, 1, 1, 2, 2, 4))):
        text = rng.choice(mutations)(rng, text, rng.choice(texts))[:LARGEST]
    return text


def as_bytes(text: str) -> bytes:
    """The bytes of a damaged text: escaped bytes as they were, other surrogates as if allowed."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return b"".join(map(_as_bytes, text))


def _as_bytes(sign: str) -> bytes:
    if "\udc80" <= sign <= "\udcff":
        return bytes([ord(sign) - 0xDC00])
    return sign.encode("utf-8", "surrogatepass")
