"""Parse the text of a model, find the places of its syntax, and what its imports stand for."""

from __future__ import annotations

import ast
import builtins
import difflib
import operator
import re
import warnings
from collections.abc import Callable, Collection, Iterable

from mazurka.errors import MazurkaError, UnsupportedError
from mazurka.frontend.kit.arithmetic import fits
from mazurka.frontend.python.values.kinds import Imported
from mazurka.ir.program import Span

MOST_SHOWN = 40
LARGEST_EXPONENT = 128
"""Of literals that are computed before anybody asks whether the result fits in 64 bits."""
EXACT: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
}


def parse(source: str, file: str) -> ast.Module:
    """Parse a model; nothing of it is ever executed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            unfolded = _Unfolded().visit(ast.parse(source, filename=file))
            compile(unfolded, file, "exec", dont_inherit=True)  # finds a `break` outside a loop
            module = ast.parse(source, filename=file)
    except SyntaxError as error:
        message = f"not valid Python: {error.msg}"
        line, column = error.lineno or 1, error.offset or None
        raise MazurkaError(message, file=file, line=line, column=column) from None
    except ValueError as error:
        raise MazurkaError(f"not valid Python: {error}", file=file, line=1) from None
    except (RecursionError, MemoryError):
        raise MazurkaError("nested too deeply for Python's own parser", file=file) from None
    if not module.body:
        raise MazurkaError("the file is empty; a model needs threads", file=file, line=1)
    _count_characters(module, source)
    _LiteralArithmetic().visit(module)
    _check_numbers(module, file)
    return module


class _Unfolded(ast.NodeTransformer):
    """Makes a module that compiles without arithmetic on literals: of a long sum of strings, the
    compiler would keep all partial sums."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        parts = [self.visit(node.left), self.visit(node.right)]
        return ast.copy_location(ast.List(parts, ast.Load()), node)

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.MatchValue:
        return node


def _count_characters(module: ast.Module, source: str) -> None:
    """Let columns count characters: the parser counts bytes of UTF-8."""
    if source.isascii():
        return
    lines = [line.encode() for line in re.split(r"\r\n|[\r\n]", source)]
    for node in ast.walk(module):
        if isinstance(node, ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias):
            start, end = lines[node.lineno - 1], lines[(node.end_lineno or node.lineno) - 1]
            node.col_offset = len(start[: node.col_offset].decode(errors="replace"))
            if node.end_col_offset is not None:
                node.end_col_offset = len(end[: node.end_col_offset].decode(errors="replace"))


def span_of(node: ast.AST, file: str) -> Span:
    """Find the place of a piece of syntax, as far as it is known."""
    line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", -1) + 1
    end = 0
    if column and getattr(node, "end_lineno", None) == line:
        end = getattr(node, "end_col_offset", -1) + 1
    return Span(file, line, column, end)


class _LiteralArithmetic(ast.NodeTransformer):
    """Computes what is written in literals, where the result fits in 64 bits and a part of it does
    not: `-2 ** 63` and `2 ** 63 - 1` are the ends of the range of 64-bit numbers."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        return self._compute(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        return self._compute(node)

    def _compute(self, node: ast.BinOp | ast.UnaryOp) -> ast.expr:
        parts: list[int] = []
        value = _evaluate_literals(node, parts)
        if value is None or not fits(value) or all(fits(part) for part in parts):
            self.generic_visit(node)
            return node
        return ast.copy_location(ast.Constant(value), node)


def _evaluate_literals(node: ast.expr, parts: list[int]) -> int | None:
    """The exact value of an expression of literals, which joins `parts` with those of its operands;
    None for other expressions, and for numbers that nobody wants to see."""
    value = None
    match node:
        case ast.Constant(int(number)) if not isinstance(number, bool):
            value = number
        case ast.UnaryOp(ast.USub(), operand):
            negated = _evaluate_literals(operand, parts)
            value = None if negated is None else -negated
        case ast.BinOp(left, operation, right) if type(operation) in EXACT:
            x, y = _evaluate_literals(left, parts), _evaluate_literals(right, parts)
            raises = isinstance(operation, ast.Pow | ast.LShift)
            if x is not None and y is not None and (not raises or 0 <= y <= LARGEST_EXPONENT):
                value = EXACT[type(operation)](x, y)
    if value is None or value.bit_length() > LARGEST_EXPONENT:
        return None
    parts.append(value)
    return value


def _check_numbers(module: ast.Module, file: str) -> None:
    """Refuse numbers beyond 64 bits; Python itself cannot print very long ones."""
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, int) and not fits(node.value):
            shown = shorten(hex(node.value) if node.value >= 10**30 else str(node.value))
            raise UnsupportedError.at(
                span_of(node, file), f"the number {shown} does not fit in 64 bits"
            )


def shorten(text: str) -> str:
    """Shorten a text that is too long to be read to its beginning."""
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."


MODEL = "mazurka.model"

OPEN_MODULES = frozenset({"typing", "__future__", "dataclasses", "collections.abc"})
"""Modules whose names only appear in annotations and decorators."""

MODULES = frozenset({MODEL, "threading", "queue", "time"}) | OPEN_MODULES


def import_names(
    node: ast.Import | ast.ImportFrom, known: Collection[str], file: str
) -> dict[str, Imported]:
    """Find the names an import statement defines; `known` are the full names there are."""
    if isinstance(node, ast.Import):
        return dict(_module_import(alias, node, file) for alias in node.names)
    module = node.module or ""
    if module == "mazurka" and not node.level:
        return {
            alias.asname or alias.name: check_path(f"mazurka.{alias.name}", known, node, file)
            for alias in node.names
        }
    if node.level or module not in MODULES:
        raise _refuse("." * node.level + module, node, file)
    names: dict[str, Imported] = {}
    for alias in node.names:
        if alias.name == "*":
            prefix = module + "."
            names |= {
                path.removeprefix(prefix): Imported(path)
                for path in known
                if path.startswith(prefix)
            }
        else:
            path = check_path(f"{module}.{alias.name}", known, node, file)
            names[alias.asname or alias.name] = path
    return names


def _module_import(alias: ast.alias, node: ast.Import, file: str) -> tuple[str, Imported]:
    if alias.name not in MODULES:
        raise _refuse(alias.name, node, file)
    if alias.asname:
        return alias.asname, Imported(alias.name)
    top = alias.name.split(".")[0]
    return top, Imported(top)


BUILTIN_ADVICE = {
    "dict": "use an Array",
    "divmod": "use `//` and `%`",
    "filter": "use a list comprehension",
    "float": "models have integers only",
    "frozenset": "use an Array of Bool",
    "input": "use `choose(...)` of `mazurka.model`, which tries every value",
    "map": "use a list comprehension",
    "pow": "use `**` with constants, or multiply",
    "round": "models have integers only",
    "set": "use an Array of Bool",
    "str": "models have numbers only",
}


def describe_unknown_name(name: str, candidates: Iterable[str], known: Collection[str]) -> str:
    """What is wrong with a name that nothing in the model stands for."""
    if f"{MODEL}.{name}" not in known and hasattr(builtins, name):
        advice = f"; {BUILTIN_ADVICE[name]}" if name in BUILTIN_ADVICE else ""
        return f"Python's `{name}` is not part of the model language{advice}"
    return f"the name `{name}` is not defined{advise_on_name(name, candidates, known)}"


def advise_on_name(name: str, candidates: Iterable[str], known: Collection[str]) -> str:
    """Advise on a name that is not defined, for the end of a message."""
    for module in (MODEL, "threading", "queue"):
        if f"{module}.{name}" in known:
            return f"; add `from {module} import {name}`"
    close = difflib.get_close_matches(name, sorted(candidates), n=1)
    return f"; did you mean `{close[0]}`?" if close else ""


def _refuse(module: str, node: ast.stmt, file: str) -> UnsupportedError:
    if module == "random":
        advice = "use `choose(...)` of `mazurka.model`, which tries every value"
        return UnsupportedError.at(span_of(node, file), f"a model cannot import `random`; {advice}")
    return UnsupportedError.at(
        span_of(node, file),
        f"a model cannot import `{module}`; it may import `mazurka.model`, `threading`, `queue`,"
        " `time`, `dataclasses` and `typing`",
    )


def check_path(path: str, known: Collection[str], node: ast.AST, file: str) -> Imported:
    """Find what a full name stands for; refuse what models cannot use."""
    module, _, name = path.rpartition(".")
    if path in known or path in MODULES or module in OPEN_MODULES or path == "mazurka":
        return Imported(path)
    if module in known:
        raise UnsupportedError.at(
            span_of(node, file),
            f"`{path}` is not part of the model language; did you forget the parentheses of"
            f" `{module.rpartition('.')[2]}()`?",
        )
    candidates = {known_path.rpartition(".")[2]: known_path for known_path in known}
    close = difflib.get_close_matches(name, candidates, n=1)
    if name in candidates:
        advice = f"; use `{candidates[name]}`"
    elif close:
        advice = f"; did you mean `{candidates[close[0]]}`?"
    else:
        advice = "; docs/models.md lists what there is"
    raise UnsupportedError.at(
        span_of(node, file), f"`{path}` is not part of the model language{advice}"
    )
