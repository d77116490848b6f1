"""Leaving out what nothing depends on changes neither faults nor deadlocks."""

from __future__ import annotations

from pathlib import Path

from mazurka.ir.passes.slicing import slice_program
from mazurka.ir.program import Kind
from mazurka.search.reading import Reading
from tests.soundness.slicing_agreement import find_difference, random_prepared


def test_random_programs_keep_their_violations() -> None:
    found = [find_difference(random_prepared(seed)) for seed in range(60)]
    assert [problem for problem, _ in found if problem is not None] == []
    assert sum(was_sliced for _, was_sliced in found) >= 15


def test_a_choice_that_nothing_depends_on_is_not_made(tmp_path: Path) -> None:
    from mazurka.checking import load_program

    path = tmp_path / "log.c"
    path.write_text(
        """#include <assert.h>
        extern int __VERIFIER_nondet_int(void);
        int log[4], count;
        int main(void) {
            for (int i = 0; i < 4; i++) { log[i] = __VERIFIER_nondet_int(); count++; }
            assert(count == 4);
            return 0;
        }"""
    )
    program = load_program(str(path), Reading(language="c"))
    assert any(edge.choices > 1 for edge in program.edges)
    sliced = slice_program(program)
    assert sliced is not None
    assert not any(edge.choices > 1 or edge.kind is Kind.CHOOSE for edge in sliced.program.edges)
