"""A program of many modules: all those of the tests, which hold what programs can hold.

Other tests explore with their own module alone (`tests/conftest.py`).
"""

from __future__ import annotations

from types import FunctionType, ModuleType

import pytest
from tests.unit.runtime.concurrent_programs import kept_update, lost_update

import mazurka
from mazurka.runtime.rewrite.observed_code import ObservedCode


@pytest.fixture
def collected(every_test_module: dict[str, ModuleType]) -> dict[str, ModuleType]:
    assert __name__ in every_test_module
    return every_test_module


def test_all_of_them_are_rewritten_and_put_back(collected: dict[str, ModuleType]) -> None:
    files = {module.__file__ for module in collected.values()}
    codes = {
        (name, key): value.__code__
        for name, module in collected.items()
        for key, value in vars(module).items()
        if type(value) is FunctionType
    }

    def changed() -> set[str]:
        return {
            name
            for (name, key), code in codes.items()
            if vars(collected[name])[key].__code__ is not code
        }

    with ObservedCode(lambda name, file: file in files) as code:
        assert code.modules.keys() >= collected.keys()
        assert not code.skipped
        assert not code.sourceless
        assert __name__ in changed()
    assert not changed()


def test_what_holds_and_what_fails_is_the_same(collected: dict[str, ModuleType]) -> None:
    assert mazurka.explore(kept_update, preemptions=2).verdict == "holds"
    found = mazurka.explore(lost_update, preemptions=2).violation
    assert found is not None
    assert found.kind == "assert"
