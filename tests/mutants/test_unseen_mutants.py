"""Mutants of the observation lose accesses; what is looked for after a search finds them again."""

from __future__ import annotations

import pytest

from tests.mutants import test_element_mutants as of_elements
from tests.mutants import test_special_method_mutants as of_special_methods

pytestmark = pytest.mark.unseen


@pytest.mark.parametrize("name", of_elements.MUTANTS)
def test_an_unseen_access_to_elements_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, function, broken, ask = of_elements.MUTANTS[name]
    monkeypatch.setattr(owner, function, broken)
    assert of_elements.sees(ask)


@pytest.mark.parametrize("name", of_special_methods.MUTANTS)
def test_an_unseen_access_by_a_special_method_is_found(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, function, broken, program = of_special_methods.MUTANTS[name]
    monkeypatch.setattr(owner, function, broken)
    assert of_special_methods.sees(program)
