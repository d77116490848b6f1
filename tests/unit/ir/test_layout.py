"""How states are packed: widths, words, codings, and that nothing is lost."""

from __future__ import annotations

from itertools import pairwise

import pytest
from tests.soundness.agreement import disagreement
from tests.unit.ir.programs import Body, Builder, equals, load, lost_update, plus, put

from mazurka.ir.expressions import Binary, Choice, Conditional, Const, Element, Load
from mazurka.ir.native.layout import Layout, Slot, find_resting_locations, make_layout
from mazurka.ir.passes.liveness import reset_dead_locals
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import FINISHED, WRONG, Assign, Cell, Check, Fault, Kind, Mode, Role
from mazurka.ir.values.footprints import Footprints
from mazurka.stateful.reference.full import explore

LARGEST = 2**63 - 1


def endless(builder: Builder) -> Body:
    """A thread that stays where it is: its counter takes no room in a state."""
    body = builder.thread()
    here = body.at()
    body.edge(here, here, kind=Kind.LOCAL)
    return body


def layout_of(*cells: Cell) -> Layout:
    builder = Builder()
    endless(builder)
    for cell in cells:
        builder.add(cell)
    return make_layout(builder.program())


@pytest.mark.parametrize(
    ("cell", "width"),
    [
        (Cell("constant", 5, 5, 5), 0),
        (Cell("bit", 0, 1), 1),
        (Cell("three values", 0, 2), 2),
        (Cell("far away", 1000, 1003, 1000), 2),
        (Cell("negative", -4, 3), 3),
        (Cell("whole word", -LARGEST - 1, LARGEST), 64),
        (Cell("sparse", 0, 1000, points=(0, 500, 1000)), 2),
        (Cell("dense", 0, 3, points=(0, 1, 2, 3)), 2),
        (Cell("initial elsewhere", 0, 1000, 7, points=(0, 1000)), 2),
    ],
)
def test_a_cell_takes_as_few_bits_as_its_values_need(cell: Cell, width: int) -> None:
    layout = layout_of(cell)
    slot = layout.slots[2]
    assert slot.width == width
    values = {cell.low, cell.high, cell.initial, *(cell.points or ())}
    for value in values:
        state = (0, 3, value)
        assert layout.unpack(layout.pack(state)) == state


def test_sparse_values_are_coded_by_position_dense_ones_are_not() -> None:
    assert layout_of(Cell("sparse", 0, 99, points=(0, 99))).slots[2].points == (0, 99)
    assert layout_of(Cell("dense", 0, 1, points=(0, 1))).slots[2].points is None
    many = tuple(range(0, 1700, 100))  # 17 values are more than decoding compares with
    assert layout_of(Cell("many", 0, 1600, points=many)).slots[2].points is None
    assert layout_of(Cell("many", 0, 1500, points=many[:16])).slots[2].points == many[:16]


def test_the_top_bit_of_the_first_word_stays_free() -> None:
    fits = layout_of(Cell("x", 0, 2**63 - 1))
    assert (fits.words, fits.slots[2].word, fits.slots[2].width) == (1, 0, 63)
    assert fits.pack((0, 3, 2**63 - 1))[0] >> 63 == 0
    wide = layout_of(Cell("x", -LARGEST - 1, LARGEST))
    assert (wide.words, wide.slots[2].word) == (2, 1)


def test_cells_do_not_cross_words_and_gaps_are_filled() -> None:
    forty, twenty = 2**40 - 1, 2**20 - 1
    layout = layout_of(Cell("a", 0, forty), Cell("b", 0, forty), Cell("c", 0, twenty))
    # Word 0 has 63 bits: a takes 40, b needs a word of its own, c fits behind a (40 + 20 <= 63).
    assert [(s.word, s.shift, s.width) for s in layout.slots[2:]] == [
        (0, 0, 40),
        (1, 0, 40),
        (0, 40, 20),
    ]
    assert (layout.words, layout.bits) == (2, 100)
    state = (0, 3, forty, 1, twenty)
    assert layout.unpack(layout.pack(state)) == state


def test_cells_that_one_address_chooses_between_are_coded_alike() -> None:
    def widths(index: int | None) -> list[int]:
        builder = Builder()
        builder.shared("a[0]", 0, 1)
        builder.shared("a[1]", 0, 7)
        chosen = builder.shared("i", 0, 1)
        body = builder.thread()
        at = load(chosen) if index is None else Const(index)
        body.edge(body.at(), FINISHED, Assign(Element(Const(1), at, 2, 1), Const(0)))
        return [slot.width for slot in make_layout(builder.program()).slots[1:3]]

    assert widths(None) == [3, 3]
    assert widths(0) == [1, 3]


def test_a_local_that_is_dead_at_every_rest_is_kept_in_a_register() -> None:
    builder = Builder()
    x = builder.shared("x", 0, 9)
    body = builder.thread()
    scratch, kept = body.local("scratch", 0, 9), body.local("kept", 0, 9)
    start, inside, after = body.at(), body.at(Mode.ATOMIC), body.at()
    body.edge(start, inside, put(scratch, load(x)), put(kept, load(x)), atomic=True)
    body.edge(inside, after, put(x, load(scratch)), atomic=True)
    body.edge(after, FINISHED, put(x, load(kept)))
    layout = make_layout(reset_dead_locals(builder.program()))
    assert (layout.slots[scratch].width, layout.slots[scratch].scratch) == (0, True)
    assert (layout.slots[kept].width, layout.slots[kept].scratch) == (4, False)


def test_every_reachable_state_survives_packing_and_no_two_are_packed_alike() -> None:
    program = reset_dead_locals(lost_update())
    layout = make_layout(program)
    states = list(explore(program).states)
    packed = [layout.pack(state) for state in states]
    assert [layout.unpack(words) for words in packed] == states
    assert len(set(packed)) == len(states)


def test_a_thread_rests_at_wrong_only_if_something_can_fail() -> None:
    def rests(*operations: Assign | Check) -> tuple[int, ...]:
        builder = Builder()
        builder.shared("x", 0, 5)
        builder.shared("y", 0, 4)
        body = builder.thread()
        body.edge(body.at(), FINISHED, *operations)
        return find_resting_locations(Footprints(builder.program()), 0)

    assert rests(put(1, 5)) == (FINISHED, 3)
    assert rests(put(1, load(2))) == (FINISHED, 3)
    assert rests(put(2, load(1))) == (FINISHED, WRONG, 3)  # 5 is too much for y
    assert rests(put(1, plus(2, 2))) == (FINISHED, WRONG, 3)
    assert rests(put(1, Binary("mod", load(1), Const(3)))) == (FINISHED, 3)
    assert rests(put(1, Binary("mod", load(1), load(2)))) == (FINISHED, WRONG, 3)
    assert rests(Check(load(1), Fault.ASSERT, "")) == (FINISHED, WRONG, 3)


def test_a_thread_rests_at_a_merged_location_only_if_no_guard_may_hold() -> None:
    builder = Builder()
    body = builder.thread()
    local = body.local("local", 0, 1)
    start, partial, total = body.at(), body.at(Mode.MERGED), body.at(Mode.MERGED)
    body.edge(start, partial, kind=Kind.LOCAL)
    body.edge(partial, total, kind=Kind.ASSUME, guard=equals(local, 1))
    body.edge(total, FINISHED, kind=Kind.LOCAL, guard=equals(local, 1))
    unequal = Binary("ne", load(local), Const(1))
    body.edge(total, FINISHED, kind=Kind.LOCAL, guard=unequal)
    program = builder.program()
    thread = program.threads[0]
    assert [thread.is_exhaustive(location) for location in (start, partial, total)] == [
        True,
        False,
        True,
    ]
    assert find_resting_locations(Footprints(program), 0) == (FINISHED, start, partial)


def test_a_created_thread_rests_at_idle_and_at_its_entry() -> None:
    builder = Builder()
    builder.thread(active=False).line(put(1, 0))
    assert 2 in make_layout(builder.program()).starts[0]
    assert 3 in make_layout(builder.program()).starts[0]


def test_a_slot_refuses_values_outside_its_domain() -> None:
    slot = Slot(0, 0, 2, 5)
    assert slot.encode(8) == 3
    with pytest.raises(AssertionError):
        slot.encode(9)
    with pytest.raises(AssertionError):
        slot.encode(4)


def test_owners_of_a_lock_are_coded_where_they_are_known() -> None:
    lock = Cell("lock", 0, 40, role=Role.OWNER, points=(0, 1, 40))
    assert layout_of(lock).slots[2].width == 2


def test_a_read_only_array_takes_no_bits() -> None:
    """Nor does it if its index varies, and if another read may find something else."""
    builder = Builder()
    body = builder.thread()
    x = builder.shared("x", 0, 7)
    table = [builder.add(Cell(f"table[{n}]", 0, 99, n * n)) for n in range(8)]
    index, result = body.local("index", 0, 7), builder.shared("result", 0, 49)
    here, there = body.at(), body.at()
    place = Element(Const(table[0]), load(index), 8, 1)
    other = Conditional(load(x), place, Const(x))
    body.edge(here, there, put(index, Choice()), put(x, 1), kind=Kind.CHOOSE, choices=8)
    body.edge(there, here, put(result, Load(place)), put(x, Binary("and", Load(other), Const(7))))
    layout = make_layout(prepare(builder.program()))
    assert [layout.slots[address].width for address in table] == [0] * 8
    assert layout.slots[x].width == 3


def test_an_array_that_is_written_takes_bits() -> None:
    builder = Builder()
    body = builder.thread()
    array = [builder.add(Cell(f"a[{n}]", 0, 0, n, inferred=True)) for n in range(4)]
    index, result = body.local("index", 0, 3), builder.shared("result", 0, 9)
    here, there = body.at(), body.at()
    place = Element(Const(array[0]), load(index), 4, 1)
    body.edge(here, there, put(index, Choice()), kind=Kind.CHOOSE, choices=4)
    body.edge(there, here, Assign(place, Const(9)), put(result, Load(place)))
    layout = make_layout(prepare(builder.program()))
    assert all(layout.slots[address].width for address in array)


def test_a_counter_and_data_that_one_load_may_choose_are_coded_alike() -> None:
    """Counters are coded however many places they have; what shares a load with one is not."""
    builder = Builder()
    body = builder.thread()
    places = [body.at() for _ in range(20)]
    data = builder.add(Cell("data", 0, 600, 600, points=(0, 600)))
    index = builder.add(Cell("index", 0, 1))
    seen = builder.add(Cell("seen", 0, 600))
    either = Load(Element(Const(data - 1), Load(Const(index)), 2, 1))
    for here, there in pairwise(places):
        body.edge(here, there, Assign(Const(seen), either), kind=Kind.ACCESS)
    program = builder.program()
    assert program.threads[0].counter == data - 1
    counter, other = make_layout(program).slots[data - 1 : data + 1]
    assert (counter.points, counter.base, counter.width) == (other.points, other.base, other.width)
    assert disagreement(program, 50) is None
