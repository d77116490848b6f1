"""Bodies of C functions that know more than all of their calls: the corpus must notice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

import mazurka
from mazurka.frontend.c import return_sites
from mazurka.frontend.c.lowering import CallFrame, CLowering
from tests.unit.frontend.c.test_return_sites import ALWAYS, check, expected_verdict

pytest.importorskip("clang")

APART = return_sites._apart


@contextmanager
def _with_temporaries_of_callers(low: CLowering, frame: CallFrame) -> Iterator[None]:
    held, free = low.held, low.free
    with APART(low, frame):
        low.held, low.free = held, free
        yield


@contextmanager
def _as_if_it_ran_once(low: CLowering, frame: CallFrame) -> Iterator[None]:
    with APART(low, frame):
        low.loop_depth, low.trips = 0, []
        yield


def _all_calls_alike(
    low: CLowering, frame: CallFrame, arguments: list[object]
) -> return_sites.BodyKey:
    none = (None,) * len(arguments)
    return return_sites.BodyKey(frame.function, frozenset(), none, True, None, 0)


# name, attribute, replacement
MUTANTS: list[tuple[str, str, Callable[..., object]]] = [
    ("bodies use the temporaries of their callers", "_apart", _with_temporaries_of_callers),
    ("shared bodies run once", "_apart", _as_if_it_ran_once),
    ("all depths of a recursion share a body", "_find_key", _all_calls_alike),
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant[0] for mutant in MUTANTS])
def test_mutant_is_caught(
    mutant: tuple[str, str, Callable[..., object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, attribute, replacement = mutant
    monkeypatch.setattr(return_sites, "MOST_INLINED", ALWAYS)
    monkeypatch.setattr(return_sites, attribute, replacement)
    try:
        found = check("calls_in_expressions")
    except (mazurka.MazurkaError, AssertionError):
        return
    assert found != expected_verdict("calls_in_expressions")
