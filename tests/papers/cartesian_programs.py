"""The programs of Table 1 of paper 003, each of them made once for all tests."""

from __future__ import annotations

from functools import cache

from mazurka.bench.cartesian import CASES
from mazurka.ir.program import Program

_CASES = {case.name: case for case in CASES}


@cache
def load_case(name: str) -> Program:
    return _CASES[name].load(_CASES[name].constants)
