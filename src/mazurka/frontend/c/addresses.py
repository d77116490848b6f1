"""Addresses that are used again: what a program sees that compares pointers, or threads' numbers.

A pointer leads to one object and to no other: so to follow a pointer behind the end of its object's
life is a fault, whatever has the address then.  But `==` compares *addresses*, and an object may
get the address of one whose life has ended.  The same is true of threads: the `pthread_t` of one
that has been joined may be that of another one.

Whether two objects have the same address is chosen when they are first compared, and kept.  Each
object has two sets of others, as bits of a cell: `same`, those that are known to have its address
(and itself), and `apart`, those that are known to have another one.  Where a life ends, all objects
that are alive at this moment join `apart`.  If two objects are compared that are not in one `same`,
their addresses differ if an object with the address of the one and an object with the address of
the other are apart or both alive; else both answers are possible.  If the answer is that they are
the same, their sets `same` become one.

*All answers can be real.*  At each moment, no two objects in one `same` have ever been alive at the
same time: a set grows only where that is so, and where two of its objects are not known to be
apart.  So one address for each such set, all of them different, is what an allocator may have
chosen, and it explains all answers: `apart` never contains two objects of one set.

*All that is real can be answered.*  Let an execution give each object an address, with different
addresses for objects that live at the same time.  If each choice is made as these addresses say,
objects in one `same` have the same address and those in `apart` another one; so no other answer is
ever forced.

Only objects are considered whose addresses somebody compares; of others there are no such cells.
Memory of the heap is not used for variables, nor the other way round.  A variable of one thread
gets the address of a variable of another one only if that thread had ended, and been joined or
detached, before this one was created: then they have the same stack.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mazurka.frontend.c.lowering import CLowering, CProgram
from mazurka.frontend.c.memory import is_among
from mazurka.frontend.c.types import CType, FunctionType, PointerType, SyncType, bare
from mazurka.frontend.c.values import (
    AddressTable,
    MortalRow,
    Scalar,
    choose_by_row,
    compare_address,
)
from mazurka.frontend.kit.arithmetic import binary, both, conditional, either
from mazurka.frontend.kit.program import NEW
from mazurka.frontend.kit.shapes import CellDraft
from mazurka.ir.expressions import ONE, ZERO, Choice, Const, Expr, Load, Unary, negate
from mazurka.ir.program import Assign, Check, Fault, Kind, Operation, Role, Span

MOST_OBJECTS = 60
"""Sets of so many objects are bits of one cell."""
SAME = "same address"
"""How traces call the answer that is chosen."""
NONE = Const(-1)
"""The number of an object that is in no table."""


def place_tables(machine: CProgram) -> None:
    """Add the cells, as many as the round before has found objects."""
    expected = machine.expected
    count = sum(expected.reusable)
    if 0 < count <= MOST_OBJECTS:
        machine.addresses = _place_table(machine, "object", count)
    threads = machine.draft.threads
    if expected.compares_threads and threads <= MOST_OBJECTS:
        table = _place_table(machine, "thread", threads)
        lives = len(machine.draft.storage.cells)
        for number in range(threads):
            name = f"thread {number} exists"
            cell = CellDraft(name, initial=int(number == 0), high=1, role=Role.SYNC)
            machine.draft.storage.add(cell)
        machine.thread_ids = AddressTable(table.same, table.apart, threads, lives)


def _place_table(machine: CProgram, kind: str, count: int) -> AddressTable:
    cells, most = machine.draft.storage, (1 << count) - 1
    firsts = []
    for title, initial in (("same address as", True), ("other address than", False)):
        firsts.append(len(cells.cells))
        for number in range(count):
            name = f"{title} {kind} {number}"
            value = 1 << number if initial else 0
            cells.add(CellDraft(name, initial=value, high=most, role=Role.SYNC))
    return AddressTable(firsts[0], firsts[1], count)


def number_objects(machine: CProgram, type_: CType, count: int, *, stack: bool) -> int:
    """The number in the table of the first of so many objects; below 0 if they have none."""
    if not _is_compared(machine, type_):
        return -1
    found, expected = machine.reusable, machine.expected.reusable
    number = (expected[0] if stack else 0) + found[stack]
    found[stack] += count
    if stack:
        machine.found.compares_threads = machine.found.joins = True  # who has which stack
    many = stack and machine.draft.threads > MOST_OBJECTS
    return -1 if many or sum(expected) > MOST_OBJECTS else number


def _is_compared(machine: CProgram, type_: CType) -> bool:
    """Whether a pointer into such an object may be compared with another one."""
    classes = machine.layouts.classes(type_)
    return any(
        classes[start : start + len(wanted)] == wanted
        for wanted in machine.expected.compared
        for start in range(len(classes) - len(wanted) + 1)
    )


# --- lives -------------------------------------------------------------------------------------


def begin_address(low: CLowering, number: Expr, span: Span) -> list[Operation]:
    """An object is used for another instance: nothing is known of its address."""
    table = low.machine.addresses
    if table is None:
        return []
    bit = Load(Const(low.take_temporary(Role.INT, span)))
    done: list[Operation] = [Assign(bit.address, _bit(number))]
    for cell in (
        first + each for first in (table.same, table.apart) for each in range(table.count)
    ):
        rest = binary("and", Load(Const(cell)), Unary("invert", bit))
        done.append(Assign(Const(cell), rest))
    return [*done, Assign(table.of(table.same, number), bit)]


def end_address(
    low: CLowering, number: Expr, *, stack: bool, moved: Expr = NONE
) -> list[Operation]:
    """The life of an object has ended: those that are alive have other addresses, but for the one
    to which `realloc` has moved it."""
    table = low.machine.addresses
    if table is None or number == NONE:
        return []
    expected = low.machine.expected
    beside = _find_alive(expected.mortal if stack else expected.heap)
    if moved != NONE:
        one = conditional(binary("ge", moved, ZERO), _bit(moved), ZERO)
        beside = binary("and", beside, Unary("invert", one))
    if isinstance(number, Const):
        return [_add_to(table.of(table.apart, number), beside)]
    known = binary("ge", number, ZERO)  # otherwise it is in no table
    target = conditional(known, table.of(table.apart, number), Const(low.scratch))
    return [Assign(target, conditional(known, binary("or", Load(target), beside), ZERO))]


def _add_to(cell: Expr, others: Expr) -> Assign:
    return Assign(cell, binary("or", Load(cell), others))


def find_number(rows: Sequence[MortalRow], address: Expr) -> Expr:
    """The number of the object in which an address is."""

    def number(row: MortalRow) -> Expr:
        position = row.position(address) if row.count > 1 else ZERO
        return NONE if row.number < 0 else binary("add", position, Const(row.number))

    return choose_by_row(rows, address, number, NONE)


def _find_offset(rows: Sequence[MortalRow], address: Expr) -> Expr:
    """How far an address is behind the beginning of its object."""
    return choose_by_row(rows, address, lambda row: row.offset(address), ZERO)


def _find_life(rows: Sequence[MortalRow], address: Expr) -> Expr:
    """Whether the object in which an address is is alive; any other one is."""
    return choose_by_row(rows, address, lambda row: Load(row.life(row.position(address))), ONE)


def _find_alive(rows: Sequence[MortalRow]) -> Expr:
    """The objects that are alive, as a set."""
    found: Expr = ZERO
    for row in rows:
        for position in range(row.count if row.number >= 0 else 0):
            alive = Load(row.life(Const(position)))
            found = _join(found, binary("shl", alive, Const(row.number + position)))
    return found


def _join(left: Expr, right: Expr) -> Expr:
    return right if left == ZERO else binary("or", left, right)


def _bit(number: Expr) -> Expr:
    return binary("shl", ONE, number)


def _contains(members: Expr, number: Expr) -> Expr:
    return binary("and", binary("lshr", members, number), ONE)


def _meet(left: Expr, right: Expr) -> Expr:
    """Whether two sets have a member in common."""
    return binary("ne", binary("and", left, right), ZERO)


# --- threads -----------------------------------------------------------------------------------


def is_thread(type_: CType) -> bool:
    """Whether a type is that of numbers of threads."""
    inner = bare(type_)
    return isinstance(inner, SyncType) and inner.name in ("pthread_t", "thrd_t")


def begin_thread(machine: CProgram, number: int) -> tuple[Operation, ...]:
    """A thread is created."""
    table = machine.thread_ids
    return () if table is None else (Assign(Const(table.lives + number), ONE),)


def end_thread_number(low: CLowering, number: Expr, over: Expr = ONE) -> list[Operation]:
    """A thread is over, and its number may be that of another one: it has been joined, or was
    detached and has ended."""
    table = low.machine.thread_ids
    if table is None:
        return []
    life, apart = table.of(table.lives, number), table.of(table.apart, number)
    ends = both(over, Load(life))
    others = conditional(ends, _find_threads_alive(table), ZERO)
    rest = conditional(over, ZERO, Load(life))
    own = binary("and", binary("or", Load(apart), others), Unary("invert", _bit(number)))
    return [Assign(apart, own), Assign(life, rest)]


def _find_threads_alive(table: AddressTable) -> Expr:
    found: Expr = ZERO
    for number in range(table.count):
        found = _join(found, binary("shl", Load(Const(table.lives + number)), Const(number)))
    return found


def compare_threads(low: CLowering, left: Expr, right: Expr, span: Span, text: str) -> Expr:
    """Whether two numbers of threads are equal."""
    plain = binary("eq", left, right)
    if low.automaton is None or not low.reachable or ZERO in (left, right):
        return plain
    found = low.machine.found
    found.compares_threads = found.joins = True
    table, threads = low.machine.thread_ids, low.program.threads
    if not low.machine.expected.compares_threads or plain == ONE:
        return plain
    numbers = []
    for each in (left, right):
        held = low.keep(each, span)
        numbers.append(binary("sub", held, ONE))
    one, other = numbers
    if table is None:
        message = f"`{text}` compares numbers of more than {MOST_OBJECTS} threads"
        check = Check(binary("eq", one, other), Fault.BOUND, message)
        low.step(Kind.LOCAL, span, text, operations=(check,))
        return plain
    known = [binary("ult", each, Const(threads)) for each in numbers]
    possible = both(both(*known), binary("ne", one, other))
    alive = _find_threads_alive(table)
    return _decide(low, table, (one, other), alive, possible, ZERO, plain, span, text)


def require_own_number(low: CLowering, handle: Scalar, span: Span, text: str) -> None:
    """Leave runs undecided that make an integer of a thread's number, where that may be the number
    of another thread: such integers are different for all threads."""
    kind = bare(handle.type)
    if not is_thread(kind) or low.automaton is None or not low.reachable:
        return
    machine = low.machine
    machine.found.compares_threads = machine.found.joins = True
    table, threads = machine.thread_ids, low.program.threads
    if not machine.expected.compares_threads or threads < 3:  # `main` ends after all others
        return
    fine: Expr = ZERO
    if table is not None:
        fine, number = ONE, binary("sub", low.hold(handle.expr, span, kind), ONE)
        known = binary("ult", number, Const(threads))
        life, apart = (Load(table.of(first, number)) for first in (table.lives, table.apart))
        for other in range(threads):
            differ = either(
                both(life, Load(Const(table.lives + other))),
                either(
                    _contains(apart, Const(other)),
                    _contains(Load(Const(table.apart + other)), number),
                ),
            )
            unused = binary("eq", Load(Const(low.program.status + other)), Const(NEW))
            itself = binary("eq", number, Const(other))
            fine = both(either(either(itself, unused), differ), fine)
        fine = either(negate(known), fine)
    message = (
        f"`{text}` makes an integer of a thread's number, which an earlier thread may have had"
    )
    low.step(
        Kind.LOCAL, span, text, operations=(Check(fine, Fault.BOUND, message),), atomic=True
    )  # fmt: skip


# --- comparisons of pointers -------------------------------------------------------------------


def compare_pointers(
    low: CLowering, operator: str, left: Scalar, right: Scalar, plain: Expr, span: Span, text: str
) -> Expr:
    """The result of comparing two pointers, which is `plain` if no address is ever used again."""
    sides = (left, right)
    if low.automaton is None or not low.reachable or left.expr == right.expr:
        return plain
    if operator in ("==", "!=") and ZERO not in (left.expr, right.expr):
        _require_no_neighbour(low, left, right, span, text)
    if any(_never_ends(low, each) for each in sides):
        return plain
    machine = low.machine
    for each in sides:
        kind = bare(each.type)
        target = kind.target if isinstance(kind, PointerType) else each.type
        if isinstance(bare(target), FunctionType):
            return plain
        machine.found.compared.add(machine.layouts.classes(target))
    expected = machine.expected
    if not any(expected.reusable) and not expected.kept_by_threads:
        return plain
    held = [low.hold(each.expr, span, each.type) for each in sides]
    rows = _with_ends((*expected.heap, *expected.mortal))
    _require_table(low, held, rows, span, text)
    table = machine.addresses
    if table is None:
        return plain
    numbers = [low.keep(find_number(rows, each), span) for each in held]
    one, other = numbers
    offsets = [_find_offset(rows, each) for each in held]
    on_heap = [binary("lt", each, Const(expected.reusable[0])) for each in numbers]
    possible: Expr = both(
        both(binary("ge", one, ZERO), binary("ge", other, ZERO)),
        both(
            both(binary("ne", one, other), binary("eq", *on_heap)),
            binary("eq", *offsets),
        ),
    )
    stacks = _find_stacks(low, _with_ends(expected.mortal), held)
    alive = _find_alive(rows)
    equal = _decide(
        low, table, (one, other), alive, possible, stacks, binary("eq", *held), span, text
    )
    match operator:
        case "==":
            return equal
        case "!=":
            return negate(equal)
        case "<" | ">":
            return both(negate(equal), plain)
        case _:
            return either(equal, plain)


def _with_ends(rows: Sequence[MortalRow]) -> list[MortalRow]:
    """The objects with the cell behind each, to which a pointer may lead as well."""
    return [replace(row, size=row.size + 1) for row in rows]


def _never_ends(low: CLowering, pointer: Scalar) -> bool:
    """Whether a pointer is null, or leads to an object that lives as long as the process."""
    address = pointer.constant
    rows = _with_ends((*low.machine.heap, *low.machine.mortal))
    return address is not None and not any(address in row for row in rows)


def _require_no_neighbour(
    low: CLowering, left: Scalar, right: Scalar, span: Span, text: str
) -> None:
    """Leave runs undecided that compare the end of an object with the beginning of another one.

    The other one may lie there, or not."""
    expected = low.machine.expected
    objects, sized = expected.objects, expected.sized
    firsts, lasts = {first for first, _ in objects}, {last for _, last in objects}
    ends, starts = [], []
    for known in (left.constant, right.constant):
        ends.append(known is None or known in lasts or any(known in row for row in sized))
        starts.append(known is None or known in firsts)
    if not expected.moved or not ((ends[0] and starts[1]) or (ends[1] and starts[0])):
        return
    held = [low.hold(each.expr, span, each.type) for each in (left, right)]
    checks = []
    for one, other in (held, held[::-1]):
        begin = _find_begin(objects, one)
        for row in sized:
            first, end = (row.at(row.position(one)), row.used(row.position(one)))
            ended = both(row.includes(one), binary("eq", one, binary("add", first, end)))
            begin = conditional(ended, first, begin)
        among = is_among(other, [(first, first) for first, _ in objects])
        fine = either(either(binary("eq", begin, ZERO), binary("eq", begin, other)), negate(among))
        message = f"`{text}` compares the end of an object with the beginning of another one"
        checks.append(Check(fine, Fault.BOUND, message))
    low.step(Kind.LOCAL, span, text, operations=checks, atomic=True)


def _find_begin(objects: Sequence[tuple[int, int]], address: Expr) -> Expr:
    """Return where the object begins that ends at an address; 0 if none does."""
    if not objects:
        return ZERO
    if len(objects) == 1:
        first, end = objects[0]
        return conditional(compare_address("eq", address, end), Const(first), ZERO)
    middle = len(objects) // 2
    return conditional(
        compare_address("lt", address, objects[middle][0]),
        _find_begin(objects[:middle], address),
        _find_begin(objects[middle:], address),
    )


def _require_table(
    low: CLowering, held: Sequence[Expr], rows: Sequence[MortalRow], span: Span, text: str
) -> None:
    """Leave runs undecided in which an object is compared that is no more and is in no table."""
    loose = [row for row in rows if row.number < 0]
    if not loose or not low.machine.expected.compared:
        return
    checks = []
    for each in held:
        fine = _find_life(loose, each)
        message = f"`{text}` compares the address of an object that is no more"
        checks.append(Check(either(binary("eq", *held), fine), Fault.BOUND, message))
    low.step(Kind.LOCAL, span, text, operations=checks, atomic=True)


def _find_stacks(low: CLowering, rows: Sequence[MortalRow], held: Sequence[Expr]) -> Expr:
    """Whether two variables are surely on different stacks."""
    table = low.machine.thread_ids
    rows = [row for row in rows if row.number >= 0]
    if table is None:
        return ZERO

    def thread(row: MortalRow) -> Expr:
        return Const(row.thread)

    one, other = (choose_by_row(rows, each, thread, ZERO) for each in held)
    lives = [Load(table.of(table.lives, each)) for each in (one, other)]
    known = either(
        _contains(Load(table.of(table.apart, one)), other),
        _contains(Load(table.of(table.apart, other)), one),
    )
    return both(binary("ne", one, other), either(both(*lives), known))


def _decide(
    low: CLowering,
    table: AddressTable,
    numbers: tuple[Expr, Expr],
    alive: Expr,
    possible: Expr,
    excluded: Expr,
    plain: Expr,
    span: Span,
    text: str,
) -> Expr:
    """Whether two objects have the same address, where it is `possible` that both answers are."""
    result, one_same, other_same = (
        Load(Const(low.take_temporary(Role.INT, span))) for _ in range(3)
    )
    one, other = numbers
    far, near, new, end = (low.label(span) for _ in range(4))
    low.split(possible, span, text, near, far)
    low.put(far, span)
    low.step(Kind.LOCAL, span, text, operations=(Assign(result.address, plain),))
    low.go(end, span)
    low.put(near, span)
    low.begin_atomic(span)
    low.step(Kind.LOCAL, span, text, operations=(
        Assign(one_same.address, Load(table.of(table.same, one))),
        Assign(other_same.address, Load(table.of(table.same, other))),
        Assign(result.address, _contains(one_same, other)),
    ))  # fmt: skip
    both_alive = both(_meet(alive, one_same), _meet(alive, other_same))
    known_apart = either(
        _meet(_find_apart(table, one_same), other_same),
        _meet(_find_apart(table, other_same), one_same),
    )
    decided = either(either(result, both_alive), either(known_apart, excluded))
    known = low.label(span)
    low.split(decided, span, text, known, new)
    low.put(new, span)
    low.step(
        Kind.INSPECT, span, SAME,
        operations=_note_answer(table, numbers, result, one_same, other_same), choices=2,
    )  # fmt: skip
    low.go(known, span)
    low.put(known, span)
    low.end_atomic(span)
    low.go(end, span)
    low.put(end, span)
    return result


def _find_apart(table: AddressTable, members: Expr) -> Expr:
    """The objects that are known to be apart from one of the members of a set."""
    found: Expr = ZERO
    for number in range(table.count):
        others = Load(Const(table.apart + number))
        found = _join(found, conditional(_contains(members, Const(number)), others, ZERO))
    return found


def _note_answer(
    table: AddressTable, numbers: tuple[Expr, Expr], result: Load, one_same: Load, other_same: Load
) -> list[Operation]:
    """Choose whether the addresses are the same, and keep the answer."""
    one, other = numbers
    done: list[Operation] = [Assign(result.address, Choice())]
    for each, than in ((one, other), (other, one)):
        others = conditional(result, ZERO, _bit(than))
        done.append(_add_to(table.of(table.apart, each), others))
    union = binary("or", one_same, other_same)
    for number in range(table.count):
        cell = Const(table.same + number)
        joins = both(result, _contains(union, Const(number)))
        done.append(Assign(cell, conditional(joins, union, Load(cell))))
    return done
