"""Programs made of C mean the same to the compiler, to the native code and to the interpreter."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from tests.soundness.agreement import disagreement
from tests.unit.frontend.c.against_gcc import (
    compile_and_run,
    fails,
    find_fault,
    run_sanitized,
)
from tests.unit.frontend.c.overflow_code import NAMES, random_overflow
from tests.unit.frontend.c.random_code import random_program

from mazurka.checking import load_program
from mazurka.search.reading import ANY, UNDECIDED, Reading

pytest.importorskip("clang")

CORPUS = Path(__file__).parents[3] / "corpus" / "c"


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("model", ["lp64", "ilp32"])
def test_random_programs_agree_with_gcc(seed: int, model: str, tmp_path: Path) -> None:
    source = random_program(Random(seed))
    value = compile_and_run(source, model, tmp_path)
    if value is None:
        pytest.skip(f"gcc cannot compile for {model}")
    assert not fails(source, model, value, tmp_path)
    assert fails(source, model, value ^ 1, tmp_path)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")
def test_overflows_are_those_that_the_sanitizer_finds(tmp_path: Path) -> None:
    sources = [random_overflow(Random(seed)) for seed in range(40, 80)]
    sanitizers = "signed-integer-overflow,shift,integer-divide-by-zero"
    expected = run_sanitized(sources, tmp_path, sanitizers, NAMES)
    if expected is None:
        pytest.skip("gcc has no such sanitizer")
    found = [find_fault(each, tmp_path, overflow=True) is not None for each in sources]
    assert found == expected
    assert any(expected)


@pytest.mark.parametrize(
    "name",
    [
        "treiber_push", "results", "condition", "reference_count", "unions",
        "threads_started_again", "unwritten_peek", "realloc_stale",
    ],
)  # fmt: skip
def test_native_code_agrees(name: str) -> None:
    """Pointers, handles, waiting and the heap reach cells that are chosen at run time."""
    unwritten = ANY if name.startswith("unwritten") else UNDECIDED
    program = load_program(str(CORPUS / f"{name}.c"), Reading(unwritten=unwritten))
    assert disagreement(program, 300, Counter()) is None
