"""Steps that are called movers move: paper 000's properties, and the movers of each construct."""

from __future__ import annotations

from pathlib import Path

import pytest

from mazurka.analysis.discipline import Broken
from mazurka.analysis.laws import Mover
from mazurka.checking import load_program
from mazurka.ir.program import Fault
from mazurka.search.reading import Reading
from mazurka.stateful.reference.cpc import explore_transactions
from mazurka.stateful.reference.full import explore
from mazurka.stateful.variants import Completion
from tests.soundness.amounts import shares
from tests.soundness.mover_models import MARKS, MODELS, expected_movers, program_of
from tests.soundness.mover_properties import MoverTable, movers_by_line, table
from tests.soundness.reductions import Subject

CORPUS = Path(__file__).parent.parent / "corpus"
STATES = 400
"""Programs with more states are left out: all pairs of steps are looked at."""
PROGRAMS = shares(60)
PORTION = 30
SOUND = (Completion.CYCLES, Completion.COMMIT_POINTS, Completion.EVERY_STATE)


REPORTED = {str(fault) for fault in Fault if fault is not Fault.ASSERT}
"""What ends a search, violated or without a verdict, whatever it was asked for."""


@pytest.mark.parametrize("first", range(0, PROGRAMS, PORTION))
def test_random_programs_have_the_properties(first: int) -> None:
    """Also: a discipline that holds for the reduced system holds for the whole one (paper 002).

    Unless the reduced search has reported a fault: a step that is moved and fails there may hide
    what it leads to elsewhere, as the release of a lock that somebody else has taken meanwhile.
    """
    seen: set[Mover] = set()
    for seed in range(first, first + PORTION):
        program = Subject(seed).program()
        whole = explore(program, races=False, limit=STATES)
        if not whole.complete:
            continue
        for completion in SOUND:
            done, _ = explore_transactions(program, completion)
            try:
                movers = MoverTable(done.discipline, list(whole.states))
            except Broken:
                if not done.kinds & REPORTED:
                    pytest.fail(f"{Subject(seed)}, {completion}: the whole system breaks it")
                continue
            assert next(movers.violations(), None) is None, (Subject(seed), completion)
            seen.update(*movers_by_line(movers).values())
    assert seen == set(MARKS.values())


@pytest.mark.parametrize("name", MODELS)
def test_constructs_have_the_expected_movers(name: str) -> None:
    source = MODELS[name]
    found = movers_by_line(table(program_of(source)))
    assert found == expected_movers(source, found)


@pytest.mark.parametrize("name", MODELS)
def test_constructs_have_the_properties(name: str) -> None:
    assert list(table(program_of(MODELS[name])).violations()) == []


@pytest.mark.parametrize("folder", ["holds", "violated", "inconclusive"])
def test_corpus_has_the_properties(folder: str) -> None:
    """All constructs that the front end knows."""
    paths = sorted((CORPUS / folder).glob("*.py"))
    assert paths
    for path in paths:
        program = load_program(str(path), Reading())
        if explore(program, races=False, limit=STATES).complete:
            assert next(table(program).violations(), None) is None, path
