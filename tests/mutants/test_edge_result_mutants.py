"""Deliberately wrong ways to remember what edges do; a random program must show each."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mazurka.ir.values.edge_results import EdgeResult, WatchedFacts
from mazurka.ir.values.facts import Facts
from tests.unit.ir.edge_result_cases import find_programs, is_different

MUTANTS: list[tuple[str, type, str, Callable[..., object]]] = [
    ("edges always find the same", EdgeResult, "fits", lambda *given: True),
    ("only the facts count", WatchedFacts, "lookup",
     lambda self, address: Facts.lookup(self, address) if address not in self.known
     else self.result.seen.setdefault(address, (self.known[address], True))[0]),
    ("only the summary counts", WatchedFacts, "lookup",
     lambda self, address: Facts.lookup(self, address) if address in self.known
     else self.result.seen.setdefault(address, (self.elsewhere(address), False))[0]),
    ("stores are not repeated", EdgeResult, "repeat", lambda *given: None),
]  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant[0] for mutant in MUTANTS])
def test_mutant_is_caught(
    mutant: tuple[str, type, str, Callable[..., object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, owner, attribute, replacement = mutant
    monkeypatch.setattr(owner, attribute, replacement)
    assert any(map(is_different, find_programs(200)))
