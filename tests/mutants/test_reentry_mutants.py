"""Deliberately broken rules for C code that enters Python code, and for objects of C code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import mazurka
from mazurka.runtime.core.moment import Now
from mazurka.runtime.python import functions, opaque, reentry, variables
from mazurka.runtime.python.reentry import SplitOperation
from tests.unit.runtime.python import c_callbacks


def nothing_after(self: SplitOperation, value: object = None) -> None:
    """What C code does after Python code belongs to no operation."""


NEVER = Now()
"""A moment at which no operations are seen inside of one that needs no scheduling point."""


def nothing_asked(function: Any, values: Any) -> list[Any]:
    """Built-in functions touch no objects of C code."""
    return []


def only_static(kind: type) -> bool:
    """Classes in Python are no classes of C code, whatever their bases are."""
    return kind.__flags__ >> 8 & 1 == 1


def no_field(kind: type, name: str) -> bool:
    """Each attribute is a location of its own."""
    return False


MUTANTS: dict[str, tuple[Any, str, Any, Callable[[], None]]] = {
    "nothing after Python code": (
        *(SplitOperation, "go_on_after_return", nothing_after),
        c_callbacks.text_reader,
    ),
    "nothing noticed": (
        *(reentry, "now", NEVER),
        c_callbacks.thread_of_a_source,
    ),
    "nothing asked": (functions, "asked_parts", nothing_asked, c_callbacks.length_of_an_element),
    "no fields": (variables, "is_field", no_field, c_callbacks.number_of_rows),
    "only static types": (opaque, "hides_state", only_static, c_callbacks.length_of_an_element),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_the_mutant_of_reentry_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, function, broken, program = MUTANTS[name]
    monkeypatch.setattr(owner, function, broken)
    assert mazurka.explore(program, preemptions=2).verdict != "violated"
