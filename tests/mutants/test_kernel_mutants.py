"""Deliberately broken kernels: one place of the source changed, compiled, and put in place.

They take long to compile, so they are few; `test_transaction_mutants` has the same ones, and more,
for the search as written.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mazurka.compiled import cache as kernel_cache
from mazurka.compiled import compiler
from mazurka.stateful.searches import kernel_search
from tests.mutants.transaction_searches import Search

KERNEL = kernel_cache.SOURCES / "stateful" / "kernels" / "transactions.py"


@pytest.fixture
def put_in_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str, str], None]:
    """Compiles the kernel with one place of its text replaced, and lets the searches use it."""

    def compile_kernel(text: str, replacement: str) -> None:
        source = KERNEL.read_text(encoding="utf-8")
        assert source.count(text) == 1
        path = tmp_path / "mutant.py"
        path.write_text(source.replace(text, replacement), encoding="utf-8")
        name = "mazurka.stateful.kernels.mutant"
        specification = importlib.util.spec_from_file_location(name, path)
        assert specification is not None
        assert specification.loader is not None
        module = importlib.util.module_from_spec(specification)
        monkeypatch.setitem(sys.modules, name, module)
        specification.loader.exec_module(module)
        module_name = "mazurka.stateful.kernels.mutant"
        code = compiler.compile_kernel(module_name, kernel_cache._machine())
        loaded = kernel_cache._load(*code)
        monkeypatch.setattr(kernel_search, "kernel", lambda name, observer: loaded[1])

    return compile_kernel


# name, text of the kernel, what takes its place, search
KERNEL_MUTANTS: list[tuple[str, str, str, Search]] = [
    ("L18 skipped in the kernel", "return flags & (CPC | RM) == 0", "return False",
     Search("fig1")),
    ("left movers make no commit point in the kernel", "RM if mover & RIGHT else 0",
     "RM if mover & BOTH else 0", Search("fig3")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "replacement", "search"),
    [mutant[1:] for mutant in KERNEL_MUTANTS],
    ids=[mutant[0] for mutant in KERNEL_MUTANTS],
)
def test_kernel_mutant_loses_a_violation(
    put_in_place: Callable[[str, str], None], text: str, replacement: str, search: Search
) -> None:
    assert search.finds_natively()
    put_in_place(text, replacement)
    assert not search.finds_natively()
