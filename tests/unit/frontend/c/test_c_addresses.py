"""Addresses that are used again: all answers to comparisons that an allocator can give, and no
others."""

from __future__ import annotations

from itertools import count, islice
from pathlib import Path
from random import Random

import pytest
from tests.soundness.amounts import shares
from tests.unit.frontend.c.address_code import (
    explore_answers,
    find_answers,
    make_statements,
    show_program,
)

MOST = shares(4)


def test_answers_are_those_of_all_allocators(tmp_path: Path) -> None:
    pytest.importorskip("clang")
    programs = (make_statements(Random(seed)) for seed in count())
    for statements in islice((each for each in programs if len(find_answers(each)) > 2), MOST):
        source = show_program(statements)
        assert explore_answers(source, tmp_path) == find_answers(statements), source
