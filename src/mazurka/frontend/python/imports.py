"""Which modules a model may import, and what its names then stand for."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Collection, Iterable

from mazurka.errors import UnsupportedError
from mazurka.frontend.python.source import span_of
from mazurka.frontend.python.values import Imported

MODEL = "mazurka.model"

OPEN_MODULES = frozenset({"typing", "__future__", "dataclasses", "collections.abc"})
"""Modules whose names only appear in annotations and decorators."""

MODULES = frozenset({MODEL, "threading", "queue", "time"}) | OPEN_MODULES

_BUILTINS = frozenset(
    {
        "range",
        "len",
        "min",
        "max",
        "abs",
        "bool",
        "int",
        "print",
        "enumerate",
        "list",
        "tuple",
        "sum",
        "any",
        "all",
        "zip",
        "reversed",
        "sorted",
    }
)


def find_builtin(name: str) -> Imported | None:
    return Imported(f"builtins.{name}") if name in _BUILTINS else None


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
