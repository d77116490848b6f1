"""Objects of C that live too long, or get wrong values: the corpus must notice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import mazurka
from mazurka.errors import FrontendError
from mazurka.frontend.c import access, addresses, conversions, heap, lives, memory, program
from mazurka.frontend.c.library import locks, threads
from mazurka.frontend.c.lowering import CLowering
from mazurka.frontend.c.survey.scopes import Scopes
from mazurka.frontend.c.types import Layouts
from mazurka.frontend.kit.program import JOINED
from mazurka.ir.expressions import ONE, ZERO, Choice, Const, Load
from mazurka.ir.passes import joined
from mazurka.ir.program import Assign, Program
from tests.corpus.test_c_corpus import EXPECTED, options_of

pytest.importorskip("clang")

CORPUS = Path(__file__).parents[1] / "corpus" / "c"

# name, object, attribute, replacement, a program of the corpus
MUTANTS: list[tuple[str, Any, str, Any, str]] = [
    ("no life ends", lives, "end_lives", lambda *a: None, "local_returned"),
    ("the next instance is the same", lives, "Choice", lambda: ZERO,
     "local_next_instance"),
    ("every block is entered once", lives, "runs_again", lambda *a: False,
     "local_next_instance"),
    ("jumps do not leave blocks", lives, "leave_for_label", lambda *a: None,
     "local_jumped_out"),
    ("pointers live as long as variables", Scopes, "contains", lambda *a: True,
     "local_jumped_out"),
    ("the first freed object is always used again", heap, "Choice", lambda: ZERO,
     "heap_used_again_dangling"),
    ("`realloc` leaves the old object alive", heap, "release", lambda *a: None,
     "realloc_stale"),
    ("`realloc` keeps nothing of the old object", heap, "_copy_elements", lambda *a: None,
     "realloc_kept"),
    ("arrays end where their room ends", memory, "_length_checks", lambda *a: [],
     "array_without_elements"),
    ("the end of an array is the next member", Layouts, "_gap_behind", lambda *a: False,
     "member_array_end"),
    ("the next thread finds the variables of the one before", program,
     "end_thread_variables", lambda *a: None, "threads_started_again"),
    ("a thread is not started again after a join", threads, "_note_joined",
     lambda low, handle, address: Assign(address, Const(JOINED)), "threads_started_again"),
    ("every join is the first of its thread", joined._Marks, "is_first", lambda *a: True,
     "joined_twice"),
    ("the process goes on when it has ended", Program, "has_ended", lambda *a: False,
     "exit_of_a_thread"),
    ("all members of a union keep their values", Layouts, "rivals", lambda *a: (),
     "union_other_member"),
    ("code that later jumps lead to is dropped", CLowering, "expect", lambda *a: None,
     "goto_loops"),
    ("main never ends alone", lives, "leave_thread", lambda *a: None,
     "local_of_main_exited"),
    ("a value that is chosen replaces one that is written", access, "_write_first",
     access.write, "unwritten_peek"),
    ("a value that is chosen replaces another", access, "_write_first", access.write,
     "unwritten_read_twice"),
    ("memory that nobody has written is 0", access, "_write_first", lambda *a: None,
     "unwritten_peek_any"),
    ("bit-fields are locations of their own", Layouts, "bit_neighbours", lambda *a: [],
     "bit_fields_of_one_location"),
    ("nothing is cleaned up where a block is left", lives, "clean_up", lambda *a: None,
     "cleanup"),
    ("a wait with a limit of time may last for ever", locks, "_late", lambda *a: None,
     "timed_wait_alone"),
    ("the time is never over before a signal", locks, "Choice", lambda: ZERO,
     "timed_wait_lost_signal"),
    ("an address is never used again", addresses, "Choice", lambda: ZERO, "address_used_again"),
    ("a free address is always used again", addresses, "Choice", lambda: ONE,
     "address_not_used_again"),
    ("answers about addresses are not kept", addresses, "_note_answer",
     lambda table, numbers, result, *a: [Assign(result.address, Choice())],
     "address_answers_agree"),
    ("objects that lived together may have one address", addresses, "_add_to",
     lambda cell, others: Assign(cell, Load(cell)), "address_answers_agree"),
    ("`realloc` always moves", heap, "end_address",
     lambda low, number, **given: addresses.end_address(low, number, stack=False),
     "address_kept_by_realloc"),
    ("no object lies behind another one", addresses, "_require_no_neighbour", lambda *a: None,
     "address_behind_object"),
    ("all threads have one stack", addresses, "_find_stacks", lambda *a: ZERO,
     "address_on_two_stacks"),
    ("the numbers of joined threads stay theirs", threads, "end_thread_number", lambda *a: [],
     "thread_number_used_again"),
    ("characters end where a member of their structure ends", conversions, "note_origin",
     lambda *a: None, "characters_of_structure"),
]  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant[0] for mutant in MUTANTS])
def test_mutant_is_caught(
    mutant: tuple[str, Any, str, Any, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, owner, attribute, replacement, name = mutant
    monkeypatch.setattr(owner, attribute, replacement)
    for module in ("statements", "library.threads", "places_of"):
        path = f"mazurka.frontend.c.{module}.{attribute}"
        if owner is lives:
            monkeypatch.setattr(path, replacement, raising=False)
    path = CORPUS / f"{name}.c"
    text = path.read_text()
    expected = EXPECTED.match(text)
    options = {"properties": ["assert"], **options_of(text)}
    assert expected
    try:
        found = mazurka.check(path, strategy="full", **options)  # type: ignore[arg-type]
    except FrontendError:
        return
    assert found.verdict != expected[1]
