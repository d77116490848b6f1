"""What later versions of Python have added to the language is observed, or refused by name."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
from tests.unit.runtime.observed_programs import find

from mazurka.runtime.rewrite.source import nodes, statements

HEAD = """
import threading
def together(*functions):
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
rows, table, seen = [[1], [2]], [{1: 2}], []
def program():
    seen.clear()
    together(look, change)
    return str(seen[0])
"""
UNPACKED = {
    "a list": ("[*row for row in rows]", "rows[1].append(3)", {"[1, 2]", "[1, 2, 3]"}),
    "a set": ("{*row for row in rows}", "rows[1].append(3)", {"{1, 2}", "{1, 2, 3}"}),
    "a generator": ("list((*row for row in rows))", "rows[1].append(3)", {"[1, 2]", "[1, 2, 3]"}),
    "a dictionary": ("{**row for row in table}", "table[0][3] = 4", {"{1: 2}", "{1: 2, 3: 4}"}),
}
NOT_IN_MODULES = {
    *("AST", "AugLoad", "AugStore", "ExtSlice", "Index", "Param", "Suite", "FunctionType"),
    *("Expression", "Interactive", "TypeIgnore", "slice"),
    *("Num", "Str", "Bytes", "NameConstant", "Ellipsis"),
}
"""Nodes that no parser makes any more, or not for a module."""


@pytest.mark.skipif(sys.version_info < (3, 15), reason="comprehensions do not unpack")
@pytest.mark.parametrize("name", UNPACKED)
def test_what_a_comprehension_unpacks_is_read(tmp_path: Path, name: str) -> None:
    value, change, outcomes = UNPACKED[name]
    source = f"def look(): seen.append({value})\ndef change(): {change}\n"
    assert find(tmp_path, HEAD + source).outcomes == outcomes


@pytest.mark.skipif(sys.version_info < (3, 14), reason="there are no template strings")
def test_what_a_template_string_holds_is_read(tmp_path: Path) -> None:
    source = "def look(): seen.append(t'{rows[0][0]!r}'.values)\ndef change(): rows[0][0] = 5\n"
    assert find(tmp_path, HEAD + source).outcomes == {"(1,)", "(5,)"}


@pytest.mark.skipif(sys.version_info < (3, 15), reason="there are no lazy imports")
def test_a_module_that_is_imported_on_demand_is_observed(tmp_path: Path) -> None:
    (tmp_path / "imported_late.py").write_text("n = [0]\ndef add():\n    n[0] = n[0] + 1\n")
    source = (
        f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\nlazy import imported_late\n"
        "def program():\n    imported_late.n[0] = 0\n"
        "    together(lambda: imported_late.add(), lambda: imported_late.add())\n"
        "    return imported_late.n[0]\n"
    )
    assert find(tmp_path, HEAD + source).outcomes == {1, 2}


def test_all_that_a_source_may_consist_of_is_known() -> None:
    """A new version of Python fails here if it adds to the grammar."""
    kinds = {
        name: kind
        for name, kind in vars(ast).items()
        if isinstance(kind, type) and issubclass(kind, ast.AST) and name[0] != "_"
    }
    classes = {base.__name__ for kind in kinds.values() for base in kind.__bases__}
    assert kinds.keys() - classes - NOT_IN_MODULES - nodes.KNOWN == set()


def test_what_is_not_known_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "KNOWN", nodes.KNOWN - {"While"})
    with pytest.raises(SyntaxError, match="While is not known"):
        statements.compile_observed("while f(): pass", "new.py")
