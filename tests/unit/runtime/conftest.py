"""Puts this folder on the path, so that the tests of all rooms can share its programs; lets them be
about the same threads on every interpreter."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture(autouse=True)
def with_global_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Explore as with a global lock, unless a test says otherwise, also where there is none."""
    if hasattr(sys, "_is_gil_enabled"):
        monkeypatch.setattr(sys, "_is_gil_enabled", lambda: True)
