"""The names of the standard library that the runtime relies on are there in the running version.

A new version of Python fails here, and the failure names what has changed.
"""

from __future__ import annotations

import ast
import concurrent.futures._base
import concurrent.futures.thread
import importlib
import queue
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import mazurka.runtime
from mazurka.runtime.rewrite import library

RUNTIME = Path(mazurka.runtime.__file__).parent
MODULES: dict[str, ModuleType] = {
    "threading": threading,
    "queue": queue,
    "warnings": warnings,
    "pool": concurrent.futures.thread,
    "_base": concurrent.futures._base,
}
"""By the names that they have in the runtime."""
SINCE = {
    "dataclasses._replace": (3, 13),
    "typing._proto_hook": (3, 12),
    "unittest.mock._mock_set_magics": (3, 16),  # a method, found by the name of its code
    **dict.fromkeys(
        (
            *("_py_warnings.catch_warnings", "_py_warnings.simplefilter"),
            *("_py_warnings.filterwarnings", "_py_warnings.resetwarnings"),
            *("_py_warnings._add_filter", "_py_warnings._Context", "_py_warnings._GlobalContext"),
            *("_py_warnings._get_context", "_py_warnings._set_context"),
            *("_py_warnings._new_context", "_py_warnings._get_filters"),
            *("warnings._get_context", "warnings._set_context", "warnings._new_context"),
            "warnings._get_filters",
        ),
        (3, 14),
    ),
    **dict.fromkeys(("warnings._Context", "warnings._GlobalContext"), (3, 16)),
}
"""By name: the first version that has it, or a later one than all that are known."""
UNTIL = {"copy._copy_immutable": (3, 14), "typing.ForwardRef": (3, 14)}
"""By name: the first version that has it no more."""


def missing(name: str, parts: Iterator[str] | frozenset[str]) -> Iterator[str]:
    try:
        module = importlib.import_module(name)
    except ImportError:
        yield from (f"{name}.{part}" for part in parts)
        return
    for part in parts:
        found: object = module
        for one in part.split("."):
            found = vars(found).get(one)
            if found is None:
                yield f"{name}.{part}"
                break


def test_parts_of_the_library_that_are_rewritten_are_there() -> None:
    tables = (library.PARTS, library.APART, library.PRIVATE)
    gone = {one for table in tables for name in table for one in missing(name, table[name])}
    running = sys.version_info[:2]
    expected = {name for name, first in SINCE.items() if running < first}
    expected |= {name for name, last in UNTIL.items() if running >= last}
    assert gone == expected


def private_names() -> Iterator[tuple[str, str]]:
    """What the runtime uses of those modules beside their public names."""
    for file in RUNTIME.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_bytes())):
            match node:
                case ast.Attribute(value=ast.Name(id=module), attr=name) if module in MODULES:
                    if name.startswith("_") and not name.startswith("__"):
                        yield module, name


def test_private_names_that_the_runtime_uses_are_there() -> None:
    used = set(private_names())
    assert ("pool", "_worker") in used
    assert sorted(one for one in used if not hasattr(MODULES[one[0]], one[1])) == []


@pytest.mark.skipif(sys.version_info < (3, 14), reason="warnings have no lock and no contexts")
def test_the_lock_of_warnings_is_behind_these_functions() -> None:
    c_code = importlib.import_module("_warnings")
    for name in ("_acquire_lock", "_release_lock", "_filters_mutated_lock_held"):
        assert callable(getattr(c_code, name))
    assert hasattr(warnings, "_lock")
    assert warnings._filters_mutated_lock_held is c_code._filters_mutated_lock_held  # type: ignore[attr-defined]
    context = warnings._get_context()  # type: ignore[attr-defined]
    assert context._filters is warnings.filters or sys.flags.context_aware_warnings
    assert hasattr(context, "log")
