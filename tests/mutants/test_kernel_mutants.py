"""Deliberately broken kernels: one place of the source changed, compiled, and put in place.

They take long to compile, so they are few; `test_transaction_mutants` has the same ones, and more,
for the search as written.
"""

from __future__ import annotations

import pytest

from mazurka.compiled.cache import Kernel
from mazurka.stateful.searches import kernel_search
from tests.mutants.mutant_kernels import KernelMutant, compile_mutants
from tests.mutants.transaction_searches import Search

# name, text of the kernel, what takes its place, search
KERNEL_MUTANTS: list[tuple[str, str, str, Search]] = [
    ("L18 skipped in the kernel", "return flags & (CPC | RM) == 0", "return False",
     Search("fig1")),
    ("left movers make no commit point in the kernel", "RM if mover & RIGHT else 0",
     "RM if mover & BOTH else 0", Search("fig3")),
]  # fmt: skip


def mutant_of(text: str, replacement: str) -> KernelMutant:
    return KernelMutant("transactions", "transactions", text, replacement)


@pytest.fixture(scope="module")
def compiled(
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[KernelMutant, Kernel]:
    mutants = [mutant_of(*mutant[1:3]) for mutant in KERNEL_MUTANTS]
    return compile_mutants(tmp_path_factory.mktemp("kernels"), mutants)


@pytest.mark.parametrize(
    ("text", "replacement", "search"),
    [mutant[1:] for mutant in KERNEL_MUTANTS],
    ids=[mutant[0] for mutant in KERNEL_MUTANTS],
)
def test_kernel_mutant_loses_a_violation(
    compiled: dict[KernelMutant, Kernel],
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    replacement: str,
    search: Search,
) -> None:
    assert search.finds_natively()
    run = compiled[mutant_of(text, replacement)]
    monkeypatch.setattr(kernel_search, "early_kernel", lambda name, observer: run)
    assert not search.finds_natively()
