"""Checking and printing without native code."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from reference_strategy import REFERENCE

from mazurka.checking import check_program
from mazurka.ir.program import Program
from mazurka.report.terminal import make_console
from mazurka.report.verdict import Verdict
from mazurka.search import Silent, Strategy
from mazurka.search.request import CheckOptions


@pytest.fixture
def judge() -> Callable[..., Verdict]:
    """Check a program with the reference search, as the commands would."""

    def run(program: Program, *properties: str, strategy: Strategy = REFERENCE) -> Verdict:
        options = CheckOptions(
            properties=properties or ("assert", "deadlock"), counterexample="found"
        )
        return check_program("small.py", program, strategy, options, Silent())

    return run


@pytest.fixture
def printed() -> Callable[..., str]:
    """What a function that takes a console prints at a width."""

    def run(show: Callable[..., object], width: int = 80, encoding: str = "utf-8") -> str:
        raw = io.BytesIO()
        stream = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
        show(make_console(stream, width=width))
        stream.flush()
        return raw.getvalue().decode(encoding)

    return run
