"""What the tests over random programs share."""

from __future__ import annotations

import pytest


@pytest.fixture
def quick_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave native code as it is: optimizing it takes longer than searching a small program."""
    monkeypatch.setattr("mazurka.ir.native.step.HUGE_PROGRAM", 0)
