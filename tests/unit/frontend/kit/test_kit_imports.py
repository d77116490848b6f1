"""The kit stands alone: it knows no syntax tree, no front end and no registry."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import mazurka.frontend.kit as kit

MODULES = sorted(Path(kit.__file__).parent.glob("*.py"))


def imported(tree: ast.Module) -> Iterator[str]:
    """Everything that is imported anywhere in a module, also late and for types only."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module, names):
                yield str(module)
                yield from (f"{module}.{alias.name}" for alias in names)


@pytest.mark.parametrize("path", MODULES, ids=[path.stem for path in MODULES])
def test_a_module_imports_the_kit_and_what_is_below_it(path: Path) -> None:
    names = set(imported(ast.parse(path.read_text(encoding="utf-8"))))
    assert not names & {"ast", "tokenize", "symtable"}
    own = {name for name in names if name.startswith("mazurka")}
    allowed = ("mazurka.frontend.kit", "mazurka.ir", "mazurka.errors", "mazurka.deadline")
    assert [name for name in sorted(own) if not name.startswith(allowed)] == []
