"""Dead locals are reset where a thread rests, live ones never."""

from __future__ import annotations

from tests.unit.ir.programs import Builder, equals, load, put

from mazurka.ir.expressions import Choice, Const, Element
from mazurka.ir.passes.liveness import find_stored_locals, reset_dead_locals
from mazurka.ir.program import FINISHED, WRONG, Assign, Check, Fault, Kind, Mode, Program
from mazurka.stateful.reference.full import explore


def resets(program: Program, thread: int = 0) -> list[tuple[int, ...]]:
    return [place.resets for place in reset_dead_locals(program).threads[thread].locations]


def test_a_local_is_reset_behind_its_last_use() -> None:
    builder = Builder()
    x = builder.shared("x", 0, 9)
    body = builder.thread()
    local = body.local("local", 0, 9)
    body.line(put(local, load(x)), put(x, load(local)), put(x, 0))
    found = resets(builder.program())
    # 3: still initial.  4: about to be read.  5: dead and dirty.  At the end: reset before.
    assert found[3:] == [(), (), (local,)]
    assert found[FINISHED] == ()
    assert find_stored_locals(reset_dead_locals(builder.program())) == {local}


def test_a_local_that_is_written_again_before_it_is_read_is_dead() -> None:
    builder = Builder()
    x = builder.shared("x", 0, 9)
    body = builder.thread()
    local = body.local("local", 0, 9)
    body.line(put(local, load(x)), put(local, load(x)), put(x, load(local)))
    assert resets(builder.program())[3:] == [(), (local,), ()]


def test_a_local_that_one_branch_reads_is_live_before_the_branch() -> None:
    builder = Builder()
    x = builder.shared("x", 0, 9)
    body = builder.thread()
    local = body.local("local", 0, 9)
    start, branch, reading, other = (body.at() for _ in range(4))
    body.edge(start, branch, put(local, load(x)))
    body.edge(branch, reading, guard=equals(x, 1))
    body.edge(branch, other, guard=equals(x, 0))
    body.edge(reading, FINISHED, put(x, load(local)))
    body.edge(other, FINISHED, put(x, 0))
    found = resets(builder.program())
    assert (found[branch], found[reading], found[other]) == ((), (), (local,))


def test_a_guard_and_a_check_are_uses() -> None:
    for use in ("guard", "check"):
        builder = Builder()
        body = builder.thread()
        local = body.local("local", 0, 9)
        start, following = body.at(), body.at()
        body.edge(start, following, put(local, 1), kind=Kind.LOCAL)
        if use == "guard":
            body.edge(following, FINISHED, kind=Kind.ASSUME, guard=equals(local, 1))
        else:
            check = Check(equals(local, 1), Fault.ASSERT, "")
            body.edge(following, FINISHED, check, kind=Kind.ASSERT)
        assert resets(builder.program())[following] == ()


def test_a_write_to_an_element_that_is_not_known_kills_nothing() -> None:
    builder = Builder()
    x = builder.shared("x", 0, 1)
    body = builder.thread()
    array = body.local("b[0]", 0, 9)
    body.local("b[1]", 0, 9)
    written = Element(Const(array), load(x), 2, 1)
    body.line(put(array, 5), Assign(written, Const(1)), put(x, load(array)))
    found = resets(builder.program())
    assert array not in found[4]  # the write at 4 may go to the other element
    # with a known index it does kill
    known = Builder()
    x = known.shared("x", 0, 1)
    body = known.thread()
    array = body.local("b[0]", 0, 9)
    body.line(put(array, 5), put(array, 1), put(x, load(array)))
    assert array in resets(known.program())[4]


def test_a_thread_that_failed_keeps_nothing() -> None:
    builder = Builder()
    body = builder.thread()
    local = body.local("local", 0, 9)
    failing = Check(Const(0), Fault.ASSERT, "")
    body.edge(body.at(), FINISHED, put(local, 7), failing, kind=Kind.ASSERT)
    assert resets(builder.program())[WRONG] == (local,)
    (_, failed) = explore(reset_dead_locals(builder.program())).states
    assert failed == (0, WRONG, 0)


def test_nothing_is_reset_inside_an_atomic_section() -> None:
    builder = Builder()
    x = builder.shared("x", 0, 9)
    body = builder.thread()
    local = body.local("local", 0, 9)
    start, inside = body.at(), body.at(Mode.ATOMIC)
    body.edge(start, inside, put(local, load(x)), put(x, load(local)), atomic=True)
    body.edge(inside, FINISHED, put(x, 3), atomic=True)
    found = resets(builder.program())
    assert (found[inside], found[FINISHED]) == ((), (local,))


def test_parameters_that_a_creator_writes_are_dirty_at_the_entry() -> None:
    builder = Builder()
    x = builder.shared("x", 0, 9)
    creator, created = builder.thread(), builder.thread(active=False)
    used, unused = created.local("used", 0, 9), created.local("unused", 0, 9)
    creator.line(put(used, 5), put(unused, 6), put(created.counter, 3), kind=Kind.CREATE)
    created.line(put(x, load(used)), put(x, 0))
    program = reset_dead_locals(builder.program())
    found = [place.resets for place in program.threads[1].locations]
    assert used not in found[3]
    assert used in found[4]
    assert {used, unused} <= find_stored_locals(program)
    assert any(state[x] == 5 for state in explore(program).states)


def test_dead_values_do_not_multiply_states() -> None:
    """A local takes one of 3 values and is never read: raw 1 + 3 + 3, with resets 1 + 1 + 1."""
    builder = Builder()
    body = builder.thread()
    local = body.local("local", 0, 2)
    start, middle = body.at(), body.at()
    body.edge(start, middle, put(local, Choice()), kind=Kind.CHOOSE, choices=3)
    body.edge(middle, FINISHED, kind=Kind.YIELD)
    raw = builder.program()
    assert len(explore(raw).states) == 7
    assert len(explore(reset_dead_locals(raw)).states) == 3
