"""Versions of classes: whatever changes a class takes its version away."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from types import ModuleType

import pytest

from mazurka.runtime.core.class_versions import FIXED, UNKNOWN, is_same, version_of


class Base:
    value = 1


class Other:
    pass


class Kind(Base):
    more = 0


def _present(kind: type) -> int:
    kind().value = 1  # the lookup gives it a version
    return version_of(kind)


def _set_past_the_class() -> None:
    """Change the dictionary as C code may, and say so as it has to."""
    modified = ctypes.pythonapi.PyType_Modified
    modified.argtypes, modified.restype = [ctypes.py_object], None
    modified(Base)


def _delete() -> None:
    del Kind.more
    Kind.more = 0


def _change_bases() -> None:
    Kind.__bases__ = (Other,)
    Kind.__bases__ = (Base,)


CHANGES: dict[str, Callable[[], object]] = {
    "an attribute": lambda: setattr(Kind, "more", 1),
    "an attribute of a base": lambda: setattr(Base, "value", 2),
    "a deleted attribute": _delete,
    "other bases": _change_bases,
    "C code": _set_past_the_class,
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_class_that_has_changed_is_another_version(change: str) -> None:
    before = _present(Kind)
    assert before not in (UNKNOWN, FIXED)
    assert is_same(Kind, before)
    CHANGES[change]()
    assert not is_same(Kind, before)
    assert _present(Kind) not in (before, UNKNOWN)


def test_a_class_that_nobody_can_change_has_one_version() -> None:
    assert version_of(int) == FIXED
    assert is_same(int, FIXED)


def test_what_is_not_known_may_have_changed() -> None:
    assert not is_same(Kind, UNKNOWN)


def test_a_class_is_to_be_there_without_us(monkeypatch: pytest.MonkeyPatch) -> None:
    class Local(Base):
        pass

    assert not is_same(Local, _present(Local))
    version = _present(Kind)
    assert is_same(Kind, version)
    monkeypatch.setitem(sys.modules, __name__, ModuleType(__name__))
    assert not is_same(Kind, version)
    monkeypatch.delitem(sys.modules, __name__)
    assert not is_same(Kind, version)
