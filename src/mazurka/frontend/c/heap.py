"""The heap: each place that allocates has a finite number of objects (`--heap`).

What an allocated object looks like follows from the pointer that receives it, or from the `sizeof`
that measures it; otherwise it is bytes.  Objects are used again after `free` only where all others
are in use, and never so that a use of a freed object would go unnoticed in all runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from mazurka.frontend.c import tree
from mazurka.frontend.c.access import copy_object
from mazurka.frontend.c.addresses import (
    NONE,
    begin_address,
    end_address,
    find_number,
    number_objects,
)
from mazurka.frontend.c.arithmetic import compute
from mazurka.frontend.c.conversions import convert
from mazurka.frontend.c.lowering import CLowering
from mazurka.frontend.c.memory import add_length, allocate, require_room
from mazurka.frontend.c.memory_orders import NO_FAILING_ALLOCATION
from mazurka.frontend.c.pointers import settle_bytes
from mazurka.frontend.c.survey import walk
from mazurka.frontend.c.types import (
    GAP,
    VOID,
    ArrayType,
    CType,
    ExtendedType,
    IntegerType,
    MemberField,
    PointerType,
    RecordType,
    SyncType,
    VoidType,
    bare,
    extend,
    find_open_array,
    size_of,
)
from mazurka.frontend.c.values import MortalRow, ObjectPlace, Scalar, SizedRow, choose_by_row
from mazurka.frontend.kit.arithmetic import binary, both, conditional, either
from mazurka.frontend.kit.shapes import CellDraft
from mazurka.ir.expressions import ONE, ZERO, Choice, Const, Expr, Load, negate
from mazurka.ir.program import Assign, Check, Fault, Kind, Operation, Role

CHAR = IntegerType("char", 8, True)
SIZE = IntegerType("unsigned long", 64, False)
ALLOCATORS = frozenset(
    {"malloc", "calloc", "realloc", "aligned_alloc", "memalign", "valloc", "alloca"}
)


def is_allocation(node: tree.Expression) -> bool:
    """Whether the expression allocates memory."""
    return (
        isinstance(node, tree.Call)
        and isinstance(node.callee, tree.FunctionName)
        and node.callee.function.name in ALLOCATORS
        and not node.callee.function.defined
    )


def allocate_for(low: CLowering, node: tree.Expression, pointer: PointerType) -> Scalar:
    """Allocate an object for a pointer of a type."""
    assert isinstance(node, tree.Call)
    assert isinstance(node.callee, tree.FunctionName)
    if not low.reachable:
        return Scalar(pointer, Const(0))
    name = node.callee.function.name
    if name == "realloc":
        return _reallocate(low, node, pointer)
    kinds = _find_elements(low, node, pointer)
    sizes = node.arguments
    if name in ("aligned_alloc", "memalign"):
        low.effect(sizes[0])
        sizes = sizes[1:]
    open_array, first = find_open_array(kinds[0]), bare(kinds[0])
    if open_array is not None and isinstance(first, RecordType):
        taken = _take_extended(low, node, first, open_array, sizes, zeroed=name == "calloc")
        return Scalar(pointer, taken)
    count, element = _count_elements(low, node, sizes, kinds)
    return Scalar(pointer, _take(low, node, element, count, zeroed=name == "calloc"))


def _find_elements(low: CLowering, node: tree.Call, pointer: PointerType) -> list[CType]:
    """What the allocated memory may hold, the most likely first: the pointer that receives it
    tells, or a `sizeof`; the caller of the function that allocates it may tell, and otherwise it
    is bytes."""
    for each in (pointer.target, _measured(node)):
        if each is not None and not isinstance(each, VoidType):
            return [each]
    wanted = low.frame.wanted.target if low.frame.wanted is not None else VOID
    return [wanted, CHAR] if low.machine.layouts.cells(wanted) else [CHAR]


def _count_elements(
    low: CLowering, node: tree.Call, sizes: tuple[tree.Expression, ...], kinds: list[CType]
) -> tuple[int | Expr, CType]:
    """How many elements so many bytes are, and of what: the first kind that they may be."""
    known, unknown = 1, []
    for factor in (each for size in sizes for each in _find_factors(size)):
        value = low.scalar(factor)
        if value.constant is not None:
            known *= value.constant & ((1 << 64) - 1)
        else:
            unknown.append(low.hold(convert(low, value, SIZE, factor).expr, node.span, SIZE))
    measured = [(size_of(kind), kind) for kind in kinds if size_of(kind)]
    if not measured:
        raise low.refuse(node, f"`{node.text}`: what {kinds[0]} looks like is not known")
    whole = [found for found in measured if known % found[0] == 0]
    each, element = (whole or measured)[0]
    if not unknown:
        if not whole:
            raise low.refuse(
                node, f"`{node.text}` allocates {known} bytes, which are no {element} (of {each})"
            )
        return known // each, element
    product: Expr = Const(known // each if whole else known)
    for number in unknown:
        product = number if product == ONE else compute("*", product, number, SIZE)
    product = low.hold(product, node.span, SIZE)
    if whole:
        return product, element
    message = f"`{node.text}` may allocate a part of {element} (of {each} bytes)"
    rest = compute("%", product, Const(each), SIZE)
    check = Check(binary("eq", rest, ZERO), Fault.BOUND, message)
    low.step(Kind.LOCAL, node.span, node.text, operations=(check,))
    return low.hold(compute("/", product, Const(each), SIZE), node.span, SIZE), element


def _find_factors(node: tree.Expression) -> Iterator[tree.Expression]:
    """The factors of a size: `n` and `sizeof(T)` of `n * sizeof(T)`."""
    inner = node
    while isinstance(inner, tree.Conversion) and _keeps_value(inner):
        inner = inner.operand
    if isinstance(inner, tree.BinaryOperation) and inner.operator == "*":
        yield from _find_factors(inner.left)
        yield from _find_factors(inner.right)
    else:
        yield node


def _keeps_value(node: tree.Conversion) -> bool:
    """Whether a conversion between integers keeps every number that is no negative one."""
    new, old = bare(node.type), bare(node.operand.type)
    if not (isinstance(new, IntegerType) and isinstance(old, IntegerType)):
        return False
    return new.bits >= old.bits and not new.boolean


def _take(
    low: CLowering, node: tree.Call, element: CType, count: int | Expr, *, zeroed: bool
) -> Expr:
    """Take an object with so many elements; where their number is found at run time, it has room
    for `--heap` of them."""
    most = low.machine.limits.heap
    type_ = ArrayType(element, count if isinstance(count, int) else most)
    if count == 0:
        raise low.refuse(node, f"`{node.text}` allocates 0 bytes")
    if not low.machine.layouts.has_cells(type_):
        raise low.refuse(node, f"`{node.text}`: a lock shares memory with something else")
    if isinstance(count, int):
        return _take_slot(low, node, type_, None, zeroed)
    require_room(low, count, most, node.span, node.text)
    return _take_slot(low, node, type_, count, zeroed)


def _take_extended(
    low: CLowering,
    node: tree.Call,
    type_: RecordType,
    member: MemberField,
    sizes: tuple[tree.Expression, ...],
    *,
    zeroed: bool,
) -> Expr:
    """Take a structure with as many elements of its last member as so many bytes have room for."""
    span, array = node.span, bare(member.type)
    assert isinstance(array, ArrayType)
    before, each = Const(member.offset // 8), Const(size_of(array.element))
    total: Expr = ONE
    for size in sizes:
        value = convert(low, low.scalar(size), SIZE, size)
        total = value.expr if total == ONE else compute("*", total, value.expr, SIZE)
    if isinstance(total, Const):
        if total.value < max(before.value, 1):
            raise low.refuse(node, f"`{node.text}` allocates {total.value} bytes, too few")
        count = (total.value - before.value) // each.value
        return _take_slot(low, node, ArrayType(extend(type_, member, count), 1), None, zeroed)
    total = low.hold(total, span, SIZE)
    message = f"`{node.text}` may allocate a part of {type_}"
    check = Check(negate(binary("ult", total, before)), Fault.BOUND, message)
    low.step(Kind.LOCAL, span, node.text, operations=(check,))
    room = compute("-", total, before, SIZE)
    length = low.hold(compute("/", room, each, SIZE), span, SIZE)
    most = low.machine.limits.heap
    require_room(low, length, most, span, node.text)
    return _take_slot(low, node, ArrayType(extend(type_, member, most), 1), length, zeroed)


def _measured(node: tree.Call) -> CType | None:
    """The type that a `sizeof` among the arguments measures."""
    for argument in node.arguments:
        for each in walk(argument):
            if isinstance(each, tree.SizeOf):
                return each.measured
    return None


# --- free and realloc --------------------------------------------------------------------------


def release(low: CLowering, node: tree.Call, address: Expr, moved: Expr | None = None) -> None:
    """Free an object of the heap, which may have `moved`; the object must be alive."""
    low.machine.found.frees = True
    if not low.machine.expected.frees:
        return  # this round has no cells that say what is alive
    alive, flag = _find_life(low, address)
    numbers = [
        NONE if each is None or low.machine.addresses is None
        else low.keep(find_number(low.machine.expected.heap, each), node.span)
        for each in (address, moved)
    ]  # fmt: skip
    message = f"`{node.text}` frees what is not allocated, or freed already"
    null = binary("eq", address, ZERO)
    if not low.machine.expected.heap:
        check = Check(null, Fault.MEMORY, message)
        low.step(Kind.LOCAL, node.span, node.text, operations=(check,), atomic=True)
        return
    end = (
        Check(alive, Fault.MEMORY, message),
        Assign(flag, ZERO),
        *end_address(low, numbers[0], stack=False, moved=numbers[1]),
    )
    ways: list[tuple[Expr, tuple[Operation, ...]]] = [(null, ()), (negate(null), end)]
    low.take_one_of(Kind.LOCAL, node.span, node.text, ways, atomic=True)


def _find_life(low: CLowering, address: Expr) -> tuple[Expr, Expr]:
    """Whether an object of the heap that begins at the address is alive, and the cell for that."""

    def life(row: MortalRow) -> Expr:
        return conditional(row.begins(address), row.life(row.position(address)), ZERO)

    def alive(row: MortalRow) -> Expr:
        return conditional(row.begins(address), Load(row.life(row.position(address))), ZERO)

    rows = low.machine.expected.heap
    return (
        choose_by_row(rows, address, alive, ZERO),
        choose_by_row(rows, address, life, ZERO),
    )


def _reallocate(low: CLowering, node: tree.Call, pointer: PointerType) -> Scalar:
    """`realloc`: always another object, which gets what is in the old one; the old one is freed.

    C leaves open whether the object moves: the new one may have the address of the old one.  With a
    size of 0 the object is freed, and the result is null, as glibc has it.
    """
    span = node.span
    low.machine.found.frees = True
    before = node.arguments[0]
    while isinstance(before, tree.Conversion) and isinstance(
        bare(before.operand.type), PointerType
    ):
        before = before.operand
    value = settle_bytes(low, low.scalar(before), span, node.text)
    old = low.hold(value.expr, span, pointer)
    kind = bare(before.type)
    kinds = _find_elements(low, node, pointer)
    if isinstance(kind, PointerType) and not isinstance(kind.target, VoidType):
        kinds = [*kinds[:-1], kind.target] if kinds[-1] == CHAR else kinds
    count, element = _count_elements(low, node, node.arguments[1:], kinds)
    if value.constant == 0 and count != 0:
        return Scalar(pointer, _take(low, node, element, count, zeroed=False))
    if count == 0:
        release(low, node, old)
        return Scalar(pointer, ZERO)
    result = Const(low.take_temporary(Role.POINTER, span))
    some, none, end = (low.label(span) for _ in range(3))
    low.split(count if not isinstance(count, int) else ONE, span, node.text, some, none)
    low.put(some, span)
    _require_old(low, node, old, element)
    new = _take(low, node, element, count, zeroed=False)
    low.set_cell(result.value, new, span)
    _copy_elements(low, node, element, old, Load(result), count)
    release(low, node, old, Load(result))
    low.go(end, span)
    low.put(none, span)
    if low.reachable:
        release(low, node, old)
        low.set_cell(result.value, ZERO, span)
        low.go(end, span)
    low.put(end, span)
    return Scalar(pointer, Load(result))


def _require_old(low: CLowering, node: tree.Call, old: Expr, element: CType) -> None:
    """What `realloc` is given is null, or an object of the heap that holds such elements."""
    if not low.machine.expected.heap:
        return
    alive, _ = _find_life(low, old)
    null = binary("eq", old, ZERO)
    message = f"`{node.text}` is given what is not allocated, or freed already"
    checks = [Check(either(null, alive), Fault.MEMORY, message)]
    fine: Expr = ONE
    same = _find_rows(low, element)
    for row in low.machine.expected.heap:
        if row not in same:
            fine = conditional(row.includes(old), ZERO, fine)
    if fine != ONE:
        message = f"`{node.text}` is given memory that holds no {element}"
        checks.append(Check(fine, Fault.BOUND, message))
    low.step(Kind.LOCAL, node.span, node.text, operations=checks, atomic=True)


def _find_rows(low: CLowering, element: CType) -> dict[MortalRow, Expr]:
    """The objects of the heap that hold such elements; each row with how many cells are used, by
    the address of the object."""
    expected, layouts = low.machine.expected, low.machine.layouts
    shapes = {first: s for (first, _), s in zip(expected.objects, expected.shapes, strict=True)}
    found: dict[MortalRow, Expr] = {}
    for row in expected.heap:
        shape = bare(shapes[row.first])
        if isinstance(shape, ArrayType) and layouts.classes(shape.element) == layouts.classes(
            element
        ):
            found[row] = Const(row.size)
    return found


def _copy_elements(
    low: CLowering, node: tree.Call, element: CType, old: Expr, new: Expr, count: int | Expr
) -> None:
    """Copy as many elements as both objects have, one after the other."""
    expected, cells = low.machine.expected, low.machine.layouts.cells(element)
    length: Expr = ZERO
    most = 0
    for row, size in _find_rows(low, element).items():
        most = max(most, row.size // cells)
        for sized in expected.sized:
            if sized.first == row.first:
                size = sized.used(sized.position(old))
        length = conditional(row.includes(old), size, length)
    limit = count if isinstance(count, int) else low.machine.limits.heap
    cell = low.take_temporary(Role.INT, node.span)
    low.set_cell(cell, length, node.span)
    length = Load(Const(cell))
    end, title = low.label(node.span), node.arguments[0].text
    for number in range(max(min(most, limit), 1)):
        inside = low.label(node.span)
        more = binary("gt", length, Const(number * cells))
        if not isinstance(count, int):
            more = both(more, binary("gt", count, Const(number)))
        low.split(more, node.span, node.text, inside, end)
        low.put(inside, node.span)
        source, target = (
            ObjectPlace(element, binary("add", start, Const(number * cells)), True,
                        f"{title}[{number}]", direct=False, viewed=True)
            for start in (old, new)
        )  # fmt: skip
        copy_object(low, source, target, node.span)
    low.go(end, node.span)
    low.put(end, node.span)


# --- objects -----------------------------------------------------------------------------------


MOST_AT_ONCE = 16
"""So many objects at one place of a program that frees some, at least; more only by `--heap`."""


def _take_slot(
    low: CLowering, node: tree.Call, type_: ArrayType, length: Expr | None, zeroed: bool
) -> Expr:
    """Take an object of this place; returns its address.

    Objects that have never been used come first.  When there are none left, one that has been freed
    is used again: the first or the second such one, a choice.  So any freed object can be left as
    it is, and in some run a pointer to it still leads to freed memory; where only one is left, the
    bound is reached."""
    if "alloca" not in node.callee.text:
        low.machine.assumed.add(NO_FAILING_ALLOCATION)
    span, machine = node.span, low.machine
    count, frees = 1, machine.expected.frees
    if low.loop_depth:
        count = low.repetitions(machine.limits.heap)
        if frees:
            count = min(count, max(machine.limits.heap, MOST_AT_ONCE))
    row = _make_row(low, node, type_, count, zeroed, sized=length is not None)
    if count == 1:
        operations = _begin_life(low, row, ZERO, length)
        if operations:
            low.step(Kind.LOCAL, span, node.text, operations=operations, atomic=True)
        return Const(row.first)
    title = f"allocated at line {span.line}"
    cell = CellDraft(title, high=count, owner=low.number, role=Role.SYNC, span=span)
    counter = Const(low.program.storage.add(cell))
    result = Const(low.take_temporary(Role.POINTER, span))
    made = Load(counter)
    fresh = (Assign(result, row.at(made)), *_begin_life(low, row, made, length))
    fresh += (Assign(counter, binary("add", made, ONE)),)
    message = f"more than {count} objects are allocated by `{node.text}` (--heap)"
    behind = low.label(span)
    room, full = binary("lt", made, Const(count)), binary("ge", made, Const(count))
    low.add_edge(Kind.LOCAL, span, node.text, behind, guard=room, operations=fresh, atomic=True)
    again: tuple[Operation, ...] = (Check(ZERO, Fault.BOUND, message),)
    if frees:
        again = _take_again(low, node, row, type_, length, zeroed, result, message)
    low.add_edge(
        Kind.LOCAL, span, node.text, behind, guard=full, operations=again, choices=1 + frees,
        atomic=True,
    )  # fmt: skip
    low.require_automaton().current = None
    low.put(behind, span)
    return Load(result)


def _begin_life(
    low: CLowering, row: MortalRow, position: Expr, length: Expr | None
) -> tuple[Operation, ...]:
    """Let one of the objects be alive, with so many elements."""
    done: tuple[Operation, ...] = ()
    if row.beside:
        done = (Assign(row.life(position), ONE),)
    if length is not None:
        sized = next(each for each in low.machine.sized if each.first in row)
        done += (Assign(sized.length(position), length),)
    return done


def _take_again(
    low: CLowering,
    node: tree.Call,
    row: MortalRow,
    type_: CType,
    length: Expr | None,
    zeroed: bool,
    result: Const,
    message: str,
) -> tuple[Operation, ...]:
    """Use one of the first two freed objects again, as if it were new."""
    first, second = (Const(low.take_temporary(Role.INT, node.span)) for _ in range(2))
    operations: list[Operation] = [
        Assign(first, Const(row.count)),
        Assign(second, Const(row.count)),
    ]
    for position in reversed(range(row.count)):
        alive = Load(row.life(Const(position)))
        operations += [
            Assign(second, conditional(alive, Load(second), Load(first))),
            Assign(first, conditional(alive, Load(first), Const(position))),
        ]
    operations.append(Check(binary("lt", Load(second), Const(row.count)), Fault.BOUND, message))
    operations.append(Assign(first, conditional(Choice(), Load(second), Load(first))))
    taken = Load(first)
    operations += [Assign(result, row.at(taken)), *_begin_life(low, row, taken, length)]
    flags = next((f - a for a, _, f in low.machine.watched if a == row.first), 0)
    for offset, part in enumerate(low.machine.layouts.parts(type_)):
        if part.type != GAP and (zeroed or isinstance(bare(part.type), SyncType)):
            operations.append(Assign(row.at(taken, offset), ZERO))
        if flags:
            written = ONE if zeroed else ZERO
            operations.append(Assign(row.at(taken, flags + offset), written))
    if row.number >= 0:
        number = binary("add", taken, Const(row.number))
        operations += begin_address(low, number, node.span)
    return tuple(operations)


def _make_row(
    low: CLowering, node: tree.Call, type_: ArrayType, count: int, zeroed: bool, *, sized: bool
) -> MortalRow:
    """Make the objects of a place, each with the cells that say whether it is alive, and how long
    it is where that is not known."""
    made = [_make(low, node, type_, zeroed, sized) for _ in range(count)]
    first, alive, length = made[0]
    stride = made[1][0] - first if count > 1 else 1
    machine = low.machine
    size = machine.layouts.cells(type_)
    row = MortalRow(first, size, alive, stride, count)
    if machine.expected.frees:
        number = number_objects(machine, type_, count, stack=False)
        row = replace(row, number=number)
        machine.heap.append(row)
    if sized:
        array, start = _find_sized_part(low, type_)
        first, size = first + start, machine.layouts.cells(array)
        element = machine.layouts.cells(array.element)
        machine.sized.append(SizedRow(first, size, length, stride, count, element=element))
    return row


def _find_sized_part(low: CLowering, type_: ArrayType) -> tuple[ArrayType, int]:
    """The array whose length is found at run time, the object itself or the last member of a
    structure, and how many cells are before it."""
    if not isinstance(type_.element, ExtendedType):
        return type_, 0
    member = type_.element.body.fields[-1]
    assert isinstance(member.type, ArrayType)
    return member.type, low.machine.layouts.field_cell(type_.element, member)


def _name_object(low: CLowering, node: tree.Call, element: CType) -> str:
    """What an object is called in traces: `node@12` is a `struct node` of line 12, `node@12#2`
    another one."""
    short = re.sub(r"\W+", "_", str(element).removeprefix("struct "))
    thread = "" if low.plan.active else f"{low.thread_title}."
    name = f"{thread}{short}@{node.span.line}"
    number = low.machine.named[name] = low.machine.named.get(name, 0) + 1
    return name if number == 1 else f"{name}#{number}"


def _make(
    low: CLowering, node: tree.Call, type_: ArrayType, zeroed: bool, sized: bool
) -> tuple[int, int, int]:
    """Make an object; returns its first cell and those beside it: for its life and its length."""
    machine = low.machine
    name = _name_object(low, node, type_.element)
    first = allocate(machine, name, type_, None, node.span, watched=not zeroed)
    if type_.length == 1:
        for cell in machine.draft.storage.cells[first:]:
            cell.name = cell.name.replace(f"{name}[0]", name)  # no array in the source
    alive = length = 0
    if machine.expected.frees:
        cell = CellDraft(f"life of {name}", high=1, role=Role.SYNC, span=node.span)
        alive = machine.draft.storage.add(cell)
    if sized:
        room, _ = _find_sized_part(low, type_)
        length = add_length(machine, name, room.length or 0, node.span)
    return first, alive, length
