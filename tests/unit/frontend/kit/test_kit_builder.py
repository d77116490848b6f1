"""Threads built by hand: edges, labels, temporaries, limits, and the whole program."""

from __future__ import annotations

import pytest

from mazurka.errors import FrontendError, InternalError, MazurkaError, UnsupportedError
from mazurka.frontend.kit import builder
from mazurka.frontend.kit.arithmetic import binary, element
from mazurka.frontend.kit.builder import NotStatic, ThreadBuilder
from mazurka.frontend.kit.locks import LockShape
from mazurka.frontend.kit.program import (
    Automaton,
    Expected,
    ProgramDraft,
    ThreadPlan,
    settle_threads,
)
from mazurka.frontend.kit.shapes import (
    INTEGER,
    ArrayShape,
    Blueprint,
    NumberShape,
    RecordShape,
    Reference,
)
from mazurka.frontend.kit.signals import SemaphoreShape
from mazurka.frontend.kit.threads import finish
from mazurka.ir.expressions import ONE, ZERO, Const, Load
from mazurka.ir.program import FIRST_LOCATION, Assign, Check, Fault, Kind, Mode, Program, Role, Span

HERE = Span("hand.txt", 3, 5, 9)
SMALL = NumberShape(0, 3, inferred=False)


@pytest.fixture
def program() -> ProgramDraft:
    draft = ProgramDraft("hand.txt", "one\ntwo\nthree\n", threads=1)
    draft.reserve()
    return draft


@pytest.fixture
def build(program: ProgramDraft) -> ThreadBuilder:
    made = ThreadBuilder(program, 0, Automaton())
    made.require_automaton().begin(HERE)
    return made


def assembled(build: ThreadBuilder) -> Program:
    plan = ThreadPlan(0, "t", HERE)
    if build.reachable:
        finish(build, plan, HERE)
    return build.program.assemble([plan], [build.require_automaton()])


def test_the_first_cells_are_null_counters_and_status() -> None:
    draft = ProgramDraft("hand.txt", "", threads=2)
    draft.reserve(observers=1, joined=True)
    assert [cell.role for cell in draft.storage.cells] == [
        Role.INT, Role.COUNTER, Role.COUNTER, Role.COUNTER, Role.SYNC, Role.SYNC,
    ]  # fmt: skip
    assert draft.status == 4


def test_a_thread_that_reads_and_writes(program: ProgramDraft, build: ThreadBuilder) -> None:
    x = program.share("x", Blueprint(SMALL, (ONE,)), HERE)
    build.store(x, build.load(x, HERE), HERE)
    made = assembled(build)
    assert [(edge.kind, edge.text) for edge in made.edges] == [
        (Kind.ACCESS, "read x"),
        (Kind.ACCESS, "write x"),
    ]
    assert made.cells[2].initial == 1
    assert made.threads[0].entry == FIRST_LOCATION
    assert made.sources == {"hand.txt": "one\ntwo\nthree\n"}


def test_an_object_of_one_thread_is_accessed_locally(build: ThreadBuilder) -> None:
    own = Reference(INTEGER, Const(build.add_local("own", HERE)), shared=False, title="own")
    build.store(own, ONE, HERE)
    assert [edge.kind for edge in assembled(build).edges] == [Kind.LOCAL]


def test_threads_of_one_name_are_told_apart(program: ProgramDraft) -> None:
    two = ProgramDraft("hand.txt", "", threads=2)
    two.reserve()
    automata = [Automaton(), Automaton()]
    plans = [ThreadPlan(number, "worker", HERE) for number in range(2)]
    for plan, automaton in zip(plans, automata, strict=True):
        automaton.begin(HERE)
        finish(ThreadBuilder(two, plan.number, automaton), plan, HERE)
    made = two.assemble(plans, automata)
    assert [thread.name for thread in made.threads] == ["worker", "worker#2"]


def test_code_of_another_thread_is_refused(program: ProgramDraft) -> None:
    two = ProgramDraft("hand.txt", "", threads=2)
    two.reserve()
    automata = [Automaton(), Automaton()]
    plans = [ThreadPlan(number, "worker", HERE) for number in range(2)]
    for plan, automaton in zip(plans, automata, strict=True):
        automaton.begin(HERE)
        finish(ThreadBuilder(two, 0, automaton), plan, HERE)
    with pytest.raises(InternalError, match="has number 1, and was built as number 0: give"):
        two.assemble(plans, automata)


def test_nothing_is_shared_before_the_first_cells_are_reserved() -> None:
    draft = ProgramDraft("hand.txt", "", threads=1)
    with pytest.raises(InternalError, match=r"call reserve\(\) of the draft before"):
        draft.share("x", Blueprint(INTEGER, (ONE,)), HERE)


def test_an_empty_range_is_refused(program: ProgramDraft) -> None:
    shape = NumberShape(5, 2, inferred=False)
    with pytest.raises(MazurkaError, match=r"the range 5\.\.2 of `x` is empty: give the lower"):
        program.share("x", Blueprint(shape, (ONE,)), HERE)


def test_a_range_beyond_64_bits_is_refused_with_the_place(program: ProgramDraft) -> None:
    for low, high in ((0, 2**63), (-(2**63) - 1, 0)):
        shape = NumberShape(low, high, inferred=False)
        with pytest.raises(MazurkaError, match="of `x` needs more than 64 bits") as caught:
            program.share("x", Blueprint.default(shape), HERE)
        assert (caught.value.file, caught.value.line) == ("hand.txt", 3)


def test_a_name_is_shared_once(program: ProgramDraft) -> None:
    program.share("x", Blueprint.default(SMALL), HERE)
    with pytest.raises(FrontendError, match="`x` is shared twice: keep its first Reference"):
        program.share("x", Blueprint.default(SMALL), HERE)


def test_the_first_cells_are_reserved_once(program: ProgramDraft) -> None:
    with pytest.raises(FrontendError, match="comes first, and once"):
        program.reserve()


def test_a_label_that_is_never_placed_is_refused_where_code_jumps(build: ThreadBuilder) -> None:
    automaton = build.require_automaton()
    automaton.jump(automaton.new_label(), HERE)
    with pytest.raises(FrontendError) as caught:
        assembled(build)
    assert str(caught.value) == (
        "hand.txt:3:5: thread t jumps to a label that was never placed: call place() for it"
        " (a mistake of the front end, not of this program)"
    )


def test_a_label_is_placed_once(build: ThreadBuilder) -> None:
    automaton = build.require_automaton()
    label = automaton.new_label(HERE)
    automaton.place(label, HERE)
    build.check(ZERO, "never", HERE)
    with pytest.raises(FrontendError, match=r"hand\.txt:3:5: a label is placed once"):
        automaton.place(label, HERE)


def test_a_label_belongs_to_one_thread(build: ThreadBuilder) -> None:
    label = Automaton().new_label(HERE)
    with pytest.raises(FrontendError, match="a label of another thread"):
        build.require_automaton().jump(label, HERE)
    with pytest.raises(FrontendError, match="in the code it was made for"):
        build.require_automaton().place(label, HERE)


def test_only_numbers_are_loaded_and_stored(program: ProgramDraft, build: ThreadBuilder) -> None:
    pair = RecordShape("Pair", (("left", SMALL), ("right", SMALL)))
    for name, shape in (("m", LockShape(1)), ("s", SemaphoreShape(1, 3)), ("p", pair)):
        place = program.share(name, Blueprint.default(shape), HERE)
        with pytest.raises(FrontendError, match=f"are for numbers, `{name}` is {shape.title}"):
            build.load(place, HERE)
        with pytest.raises(FrontendError, match=r"hand\.txt:3:5: .*use the methods of its shape"):
            build.store(place, ONE, HERE)


def test_a_temporary_is_not_used_after_its_release(
    program: ProgramDraft, build: ThreadBuilder
) -> None:
    x, y = (program.share(name, Blueprint.default(SMALL), HERE) for name in "xy")
    first = build.load(x, HERE)
    build.release(0)
    with pytest.raises(FrontendError, match="`write y` uses a temporary after its release"):
        build.store(y, first, HERE)
    second = build.load(y, HERE)
    assert second == first, "the cell is used again"
    with pytest.raises(FrontendError, match="after its release"):
        build.check(binary("eq", first, second), "same", HERE)
    with pytest.raises(FrontendError, match="after its release"):
        build.step(Kind.ATOMIC, HERE, "guarded", guard=first, atomic=True)
    build.check(second, "there", HERE)


def test_temporaries_are_used_again_by_role(build: ThreadBuilder) -> None:
    first = build.take_temporary(Role.INT, HERE)
    flag = build.take_temporary(Role.BOOL, HERE)
    build.release(0)
    assert build.take_temporary(Role.INT, HERE) == first
    assert build.take_temporary(Role.INT, HERE) not in (first, flag)


def test_constants_and_fixed_addresses_need_no_temporary(build: ThreadBuilder) -> None:
    assert build.keep(ONE, HERE) == ONE
    assert build.pin(Reference(INTEGER, Const(5)), HERE).address == Const(5)
    assert build.held == []
    assert build.keep(Load(Const(5)), HERE) == Load(Const(build.held[0][1]))


def test_a_constant_branch_leaves_one_way(build: ThreadBuilder) -> None:
    automaton = build.require_automaton()
    true, false = automaton.new_label(), automaton.new_label()
    build.branch(ONE, HERE, "1", true, false)
    automaton.place(false, HERE)
    assert not build.reachable
    automaton.place(true, HERE)
    assert build.reachable


def test_a_branch_has_two_exclusive_edges(build: ThreadBuilder) -> None:
    automaton = build.require_automaton()
    true, false = automaton.new_label(), automaton.new_label()
    build.branch(Load(Const(1)), HERE, "x", true, false)
    assert [edge.text for edge in automaton.edges] == ["x", "not (x)"]


def test_a_failure_ends_the_thread(build: ThreadBuilder) -> None:
    build.fail(Fault.BOUND, "too deep", HERE)
    assert not build.reachable
    build.require_automaton().jump(build.require_automaton().new_label(), HERE)
    assert [edge.text for edge in assembled(build).edges] == ["too deep"]


def test_a_label_keeps_what_is_bound_on_every_path(build: ThreadBuilder) -> None:
    automaton = build.require_automaton()
    true, false, end = (automaton.new_label() for _ in range(3))
    build.branch(Load(Const(1)), HERE, "x", true, false)
    automaton.place(true, HERE)
    automaton.bound |= {"a", "b"}
    automaton.jump(end, HERE)
    automaton.place(false, HERE)
    automaton.bound |= {"b"}
    automaton.place(end, HERE)
    assert automaton.bound == {"b"}


def test_an_atomic_section_is_one_step(program: ProgramDraft, build: ThreadBuilder) -> None:
    x = program.share("x", Blueprint.default(SMALL), HERE)
    automaton = build.require_automaton()
    automaton.atomic_depth = 1
    build.store(x, ONE, HERE)
    build.store(x, ZERO, HERE)
    automaton.atomic_depth = 0
    made = assembled(build)
    assert [edge.kind for edge in made.edges[:2]] == [Kind.ATOMIC, Kind.ATOMIC]
    inside = made.edges[0].target
    assert made.threads[0].locations[inside].mode is Mode.ATOMIC


def test_without_an_automaton_only_constants_can_be_evaluated(program: ProgramDraft) -> None:
    static = ThreadBuilder(program, 0, None)
    assert static.reachable
    assert static.keep(ONE, HERE) == ONE
    with pytest.raises(NotStatic):
        static.load(Reference(INTEGER, Const(1)), HERE)


def test_too_many_edges_are_refused_with_the_place(
    build: ThreadBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builder, "MOST_EDGES", 2)
    for _ in range(2):
        build.step(Kind.YIELD, HERE, "yield")
    with pytest.raises(UnsupportedError, match="larger than 2 edges") as caught:
        build.step(Kind.YIELD, HERE, "yield")
    assert (caught.value.line, caught.value.column, caught.value.end_column) == (3, 5, 9)


def test_a_first_value_outside_the_range_is_refused_with_the_place(program: ProgramDraft) -> None:
    with pytest.raises(MazurkaError, match=r"`x` starts at 7, outside its range 0\.\.3") as caught:
        program.share("x", Blueprint(SMALL, (Const(7),)), HERE)
    assert (caught.value.file, caught.value.line, caught.value.column) == ("hand.txt", 3, 5)


def test_objects_are_runs_of_cells(program: ProgramDraft) -> None:
    pair = RecordShape("Pair", (("left", SMALL), ("lock", LockShape(1))))
    made = program.share("p", Blueprint.default(ArrayShape(pair, 2)), HERE)
    names = [cell.name for cell in program.storage.cells[2:]]
    assert names == ["p[0].left", "p[0].lock", "p[1].left", "p[1].lock"]
    assert made.cell(3) == Const(5)
    assert [(name, offset) for name, offset, _ in pair.placed()] == [("left", 0), ("lock", 1)]


def test_an_automaton_that_was_never_begun_is_refused(program: ProgramDraft) -> None:
    build = ThreadBuilder(program, 0, Automaton())
    build.fail(Fault.ASSERT, "dropped", HERE)
    with pytest.raises(InternalError, match=r"never begun: call begin\(\) before the first step"):
        assembled(build)


def test_an_automaton_begins_once_and_before_its_labels(build: ThreadBuilder) -> None:
    with pytest.raises(InternalError, match="before labels and steps, and once"):
        build.require_automaton().begin(HERE)
    late = Automaton()
    late.new_label()
    with pytest.raises(InternalError, match="before labels and steps, and once"):
        late.begin(HERE)


def test_two_accesses_to_shared_data_in_one_step_are_refused(
    program: ProgramDraft, build: ThreadBuilder
) -> None:
    x = program.share("x", Blueprint.default(SMALL), HERE)
    array = program.share("a", Blueprint.default(ArrayShape(SMALL, 2)), HERE)
    own = Load(Const(build.add_local("own", HERE)))
    increment = binary("add", Load(x.address), ONE)
    with pytest.raises(InternalError, match="`write x` accesses shared data twice in one step"):
        build.store(x, increment, HERE)
    with pytest.raises(InternalError, match="twice"):
        build.store(x, Load(element(array.address, own, 2, 1)), HERE)
    twice = binary("add", Load(x.address), Load(x.address))
    with pytest.raises(InternalError, match="twice"):
        build.step(Kind.ASSERT, HERE, "assert", operations=(Check(twice, Fault.ASSERT, ""),))
    build.step(Kind.ASSERT, HERE, "once", guard=Load(x.address))
    build.step(Kind.ASSUME, HERE, "one value", guard=twice)
    for guard in (binary("add", twice, Load(array.address)), Load(array.address)):
        with pytest.raises(InternalError, match="twice"):
            build.step(Kind.ASSUME, HERE, "", guard=guard, operations=(Assign(x.address, ONE),))
    with pytest.raises(InternalError, match="twice"):
        build.step(Kind.ASSUME, HERE, "", guard=twice, operations=(Assign(x.address, ONE),))
    build.step(Kind.ATOMIC, HERE, "add", operations=(Assign(x.address, increment),), atomic=True)
    build.require_automaton().atomic_depth = 1
    build.store(x, increment, HERE)


def test_a_first_value_that_is_no_constant_is_refused(program: ProgramDraft) -> None:
    with pytest.raises(InternalError, match="the first value of `x` is no constant"):
        program.share("x", Blueprint(SMALL, (Load(ONE),)), HERE)
    with pytest.raises(InternalError, match="no constant"):
        program.share("x", Blueprint(SMALL, (3,)), HERE)  # type: ignore[arg-type]


def test_an_object_made_for_another_number_of_threads_is_refused(program: ProgramDraft) -> None:
    pair = RecordShape("Pair", (("left", SMALL), ("lock", LockShape(2))))
    for shape in (LockShape(2), pair, ArrayShape(pair, 2)):
        with pytest.raises(InternalError) as caught:
            program.share("m", Blueprint.default(shape), HERE)
        assert caught.value.message == "`m` was made for 2 threads, the draft for 1"


def test_a_draft_for_another_number_of_threads_is_refused(program: ProgramDraft) -> None:
    plans = [ThreadPlan(number, "t", HERE) for number in range(3)]
    with pytest.raises(InternalError) as caught:
        program.assemble(plans, [Automaton() for _ in plans])
    assert caught.value.message == "the draft was made for 1 threads, 3 were built"


def test_a_thread_that_does_not_end_is_refused(build: ThreadBuilder) -> None:
    with pytest.raises(InternalError, match="thread t does not end: call finish"):
        build.program.assemble([ThreadPlan(0, "t", HERE)], [build.require_automaton()])


def test_an_assertion_is_one_step(build: ThreadBuilder) -> None:
    build.check(ZERO, "never", HERE)
    build.check(ONE, "always", HERE, "assert 1")
    edges = assembled(build).edges
    assert [(edge.kind, edge.text) for edge in edges] == [
        (Kind.ASSERT, "never"),
        (Kind.ASSERT, "assert 1"),
    ]
    assert edges[0].operations == (Check(ZERO, Fault.ASSERT, "never"),)


def test_a_program_is_built_until_its_number_of_threads_is_right() -> None:
    asked: list[int] = []

    def build_for(expected: Expected) -> tuple[Expected, object]:
        asked.append(expected.threads)
        found = Expected(min(expected.threads + 1, 3))
        return found, lambda: f"{found.threads} threads"

    assert settle_threads(build_for, "hand.txt") == "3 threads"  # type: ignore[arg-type]
    assert asked == [1, 2, 3]


def test_a_number_of_threads_that_never_settles_is_refused() -> None:
    def grow(expected: Expected) -> tuple[Expected, object]:
        return Expected(expected.threads + 1), lambda: None

    with pytest.raises(MazurkaError, match="does not settle"):
        settle_threads(grow, "hand.txt")  # type: ignore[arg-type]
