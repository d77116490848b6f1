"""Parts of the standard library that reach into what they are given, in Python: they are rewritten
like the program, as far as the program uses them.

Only these parts, and not the modules that they are in: Mazurka itself uses those modules, in the
threads that it watches.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import CodeType, ModuleType
from typing import Final

from mazurka.runtime.insides import is_module, names_in
from mazurka.runtime.rewriting import compile_tree

PARTS: Final[dict[str, frozenset[str]]] = {
    "collections": frozenset({"Counter", "UserDict", "UserList", "UserString", "ChainMap"}),
    "copy": frozenset(
        {
            *("copy", "deepcopy", "_reconstruct", "_keep_alive", "_deepcopy_list"),
            *("_deepcopy_tuple", "_deepcopy_dict", "_deepcopy_method", "_copy_immutable"),
        }
    ),
    "dataclasses": frozenset(
        {"asdict", "_asdict_inner", "astuple", "_astuple_inner", "replace", "_replace"}
    ),
    "functools": frozenset({"cached_property"}),
    "heapq": frozenset({"nlargest", "nsmallest", "merge"}),
}
"""By module: classes and functions that are rewritten; those that use others come first."""

_compiled: dict[str, CodeType | None] = {}


def used_parts(names: Iterable[str]) -> Iterator[tuple[ModuleType, CodeType]]:
    """The modules of which a program with these names uses such parts, each with their code."""
    used = set(names)
    for name, parts in PARTS.items():
        module = sys.modules.get(name)
        if module is None or not is_module(module) or not used & parts:
            continue
        if name not in _compiled:
            _compiled[name] = _rewritten(module, parts)
        code = _compiled[name]
        if code is not None:
            used.update(names_used(code))
            yield module, code


def names_used(code: CodeType) -> Iterator[str]:
    """The names of variables and attributes in some code, and more."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_used(constant)
        elif isinstance(constant, str):
            yield constant
        elif isinstance(constant, tuple):  # of `from ... import`
            yield from (name for name in constant if isinstance(name, str))


def _rewritten(module: ModuleType, parts: frozenset[str]) -> CodeType | None:
    file = names_in(module).get("__file__")
    if type(file) is not str or not file.endswith(".py"):
        return None
    try:
        tree = ast.parse(Path(file).read_bytes(), file)
    except (OSError, SyntaxError):
        return None
    tree.body = [statement for statement in tree.body if getattr(statement, "name", "") in parts]
    return compile_tree(tree, file)
