"""Code that a run leaves behind does after the exploration what it would do without one."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType

import pytest
from tests.unit.runtime.observed_programs import module_of
from tests.unit.runtime.rewrite import outliving

from mazurka import explore
from mazurka.runtime.core.sites import MARK, is_observed

SOURCE = Path(outliving.__file__).read_text()


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ModuleType, ModuleType]]:
    """The program after one ordinary run, and after an exploration."""
    folder = tmp_path_factory.mktemp("outliving")
    plain, explored = module_of(folder, SOURCE), module_of(folder, SOURCE)
    plain.make_everything()
    explore(explored.make_everything, preemptions=0)
    for module in (plain, explored):
        module.recall()
        module.STORE.close()
    yield plain, explored
    for module in (plain, explored):
        module.KEPT["executor"].shutdown()


@pytest.mark.parametrize("name", outliving.USES)
def test_what_is_left_does_the_same(name: str, left: tuple[ModuleType, ModuleType]) -> None:
    plain, explored = left
    assert explored.USES[name]() == plain.USES[name]()


def test_functions_have_the_code_of_their_source(left: tuple[ModuleType, ModuleType]) -> None:
    _, explored = left
    rewritten = [
        thing
        for thing in gc.get_objects()
        if type(thing) is FunctionType and thing.__globals__ is vars(explored)
        if is_observed(thing.__code__)
    ]
    assert rewritten == []
    assert MARK not in vars(explored)
