"""Shared by all tests: the engine is there before anything is measured or compared."""

from __future__ import annotations

import pytest

from mazurka.stateful.engine import kernel
from mazurka.stateful.strategy import Silent


@pytest.fixture(scope="session", autouse=True)
def prepared_engine() -> None:
    """Compile the kernels first, so that no test sees the message about it on stderr."""
    for name in ("depth_first", "breadth_first", "store"):
        kernel(name, Silent())
