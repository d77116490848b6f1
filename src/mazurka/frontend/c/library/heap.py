"""`malloc` and its like, and functions that work on memory."""

from __future__ import annotations

from dataclasses import replace

from mazurka.frontend.c import tree
from mazurka.frontend.c.access import cell_address, read, write
from mazurka.frontend.c.arithmetic import convert_number, turn_bytes
from mazurka.frontend.c.calls import call_named
from mazurka.frontend.c.conversions import convert
from mazurka.frontend.c.heap import allocate_for, release
from mazurka.frontend.c.library.arguments import SUCCESS, strip, target_of
from mazurka.frontend.c.library.elements import (
    copy_elements,
    element_at,
    fill_elements,
    is_constant,
)
from mazurka.frontend.c.lowering import CLowering, library
from mazurka.frontend.c.memory import require_elements
from mazurka.frontend.c.pointers import settle_bytes
from mazurka.frontend.c.types import (
    GAP,
    VOID,
    ArrayType,
    IntegerType,
    PointerType,
    SyncType,
    bare,
    cell_class,
    size_of,
)
from mazurka.frontend.c.values import ObjectPlace, Scalar, Whole
from mazurka.frontend.kit.arithmetic import binary, conditional, either
from mazurka.ir.expressions import ONE, ZERO, Const, Expr
from mazurka.ir.program import Check, Fault, Kind

NOTHING = Scalar(VOID, ZERO)


@library("malloc", "calloc", "realloc", "aligned_alloc", "memalign", "valloc", "alloca")
def _allocate(low: CLowering, node: tree.Call) -> Scalar:
    return allocate_for(low, node, PointerType(VOID, 64))


@library("posix_memalign")
def _posix_memalign(low: CLowering, node: tree.Call) -> Scalar:
    result, alignment, size = node.arguments
    low.effect(alignment)
    place = target_of(low, result)
    if place is None or not isinstance(kind := bare(place.type), PointerType):
        raise low.refuse(node, f"`{node.text}`: the result goes to no pointer")
    made = tree.Call(node.span, kind, node.text, node.callee, (size,))
    write(low, place, allocate_for(low, made, kind), node.span)
    return SUCCESS


@library("free")
def _free(low: CLowering, node: tree.Call) -> Scalar:
    pointer = low.scalar(strip(node.arguments[0]))
    pointer = settle_bytes(low, pointer, node.span, node.text)
    release(low, node, low.hold(pointer.expr, node.span, pointer.type))
    return NOTHING


def _whole_object(low: CLowering, node: tree.Call, position: int) -> ObjectPlace:
    place = target_of(low, node.arguments[position])
    if place is None:
        raise low.refuse(node, f"`{node.text}` works on a null pointer")
    return place


def _cells(low: CLowering, node: tree.Call, place: ObjectPlace) -> list[tuple[int, ObjectPlace]]:
    """The cells of so many bytes, each with where it is in them (in bits)."""
    size = low.scalar(node.arguments[2]).constant
    if size is None:
        raise low.refuse(node, f"`{node.text}`: the number of bytes must be a constant")
    type_ = place.type
    if isinstance(bare(type_), ArrayType):
        type_ = bare(type_).element  # type: ignore[attr-defined]
    each = size_of(type_)
    if each == 0 or not low.machine.layouts.cells(type_):
        raise low.refuse(node, f"`{node.text}`: what {type_} looks like is not known")
    count = -(-size // each)
    if count > 1 and low.reachable:
        require_elements(low, place, type_, count, node.text, node.span)
    found: list[tuple[int, ObjectPlace]] = []
    for offset, part in enumerate(low.machine.layouts.parts(ArrayType(type_, count))):
        if part.type == GAP or part.offset >= size * 8:
            continue
        if part.offset + (part.bits or size_of(part.type) * 8) > size * 8:
            raise low.refuse(node, f"`{node.text}`: {size} bytes are no whole number of {type_}")
        address = cell_address(place, offset)
        cell = place.at(part.type, address, place.title + part.suffix, part.bits)
        found.append((part.offset, replace(cell, unlike=place.unlike or part.unlike)))
    return found


@library("memset")
def _memset(low: CLowering, node: tree.Call) -> Scalar:
    if not is_constant(low, node.arguments[2]):
        return fill_elements(low, node)
    place = _whole_object(low, node, 0)
    value = low.scalar(node.arguments[1]).constant
    if value is None:
        raise low.refuse(node, f"`{node.text}`: the value must be a constant")
    for _, cell in _cells(low, node, place):
        inner = bare(cell.type)
        if cell.unlike and value & 255:
            raise low.refuse(node, f"`{node.text}` sets a union whose members look different")
        if isinstance(inner, SyncType):
            continue
        if value & 255 == 0 or isinstance(inner, IntegerType):
            number = 0
            if isinstance(inner, IntegerType):
                number = int.from_bytes(bytes([value & 255]) * (inner.bits // 8), "little")
            whole = IntegerType("unsigned long long", 64, False)
            held = number - (1 << 64) if number >= 1 << 63 else number
            given = Scalar(whole, Const(held))
            given = convert(low, given, inner, node) if number else Scalar(inner, ZERO)
            write(low, cell, given, node.span)
        else:
            raise low.refuse(node, f"`{node.text}` makes pointers of bytes")
    return Scalar(node.type, place.address)


@library("memcpy", "memmove")
def _memcpy(low: CLowering, node: tree.Call) -> Scalar:
    if not is_constant(low, node.arguments[2]):
        return copy_elements(low, node)
    target, source = _whole_object(low, node, 0), _whole_object(low, node, 1)
    size = low.scalar(node.arguments[2]).constant
    kind = bare(target.type)
    if kind == bare(source.type) and size == size_of(kind) and not isinstance(kind, ArrayType):
        write(low, target, read(low, source, node.span), node.span)
        return Scalar(node.type, target.address)
    first, second = _cells(low, node, target), _cells(low, node, source)
    layout = [[(at, cell_class(cell.type)) for at, cell in each] for each in (first, second)]
    if layout[0] != layout[1] or any(cell.unlike for _, cell in (*first, *second)):
        raise low.refuse(node, f"`{node.text}` copies between different types")
    if node.callee.text.endswith("memcpy") and first:
        _require_apart(low, node, *(
            (cells[0][1].address, cells[-1][1].address) for cells in (first, second)
        ))  # fmt: skip
    values = []
    for _, cell in second:
        value = read(low, cell, node.span)
        assert isinstance(value, Scalar)
        values.append(low.hold_value(value, node.span))
    for (_, cell), value in zip(first, values, strict=True):
        write(low, cell, convert(low, value, cell.type, node), node.span)
    return Scalar(node.type, target.address)


def _require_apart(
    low: CLowering, node: tree.Call, target: tuple[Expr, Expr], source: tuple[Expr, Expr]
) -> None:
    """Make sure that two objects, by the addresses of their first and last cells, share none."""
    above = binary("gt", target[0], source[1])
    apart = either(above, binary("gt", source[0], target[1]))
    message = f"`{node.text}` copies between objects that overlap; memmove may"
    if apart != ONE and low.reachable:
        check = Check(apart, Fault.MEMORY, message)
        low.step(Kind.LOCAL, node.span, node.text, operations=(check,))


@library("memcmp")
def _memcmp(low: CLowering, node: tree.Call) -> Scalar:
    """Compare byte by byte: of the first cells that differ, the bytes are compared from the lowest
    address on, which is the lowest byte of a number."""
    if not is_constant(low, node.arguments[2]):
        if any(size_of(element_at(low, node, each)) > 1 for each in node.arguments[:2]):
            raise low.refuse(node, f"`{node.text}`: the number of bytes must be a constant here")
        function = low.machine.unit.functions.get("__mazurka_memcmp")  # of string.h
        if function is None:
            raise low.refuse(node, f"`{node.text}` is not supported in a preprocessed file")
        given = (strip(node.arguments[0]), strip(node.arguments[1]), node.arguments[2])
        call = tree.Call(node.span, node.type, node.text, node.callee, given)
        found = call_named(low, call, function)
        assert isinstance(found, Scalar)
        return found
    first, second = (_cells(low, node, _whole_object(low, node, each)) for each in (0, 1))
    layout = [[(at, cell_class(cell.type)) for at, cell in each] for each in (first, second)]
    whole = sum(size_of(cell.type) for _, cell in first) * 8 if first else 0
    size = low.scalar(node.arguments[2]).constant or 0
    simple = all(isinstance(bare(cell.type), IntegerType) for _, cell in (*first, *second))
    if layout[0] != layout[1] or not simple or whole != size * 8:
        raise low.refuse(
            node, f"`{node.text}` compares bytes that are no numbers, or between members; compare"
            " the members",
        )  # fmt: skip
    values = []
    for (_, left), (_, right) in zip(first, second, strict=True):
        pair = [read(low, cell, node.span) for cell in (left, right)]
        kind = bare(left.type)
        assert isinstance(kind, IntegerType)
        values.append([_turn(low, node, each, kind) for each in pair])
    result: Expr = ZERO
    for one, other in reversed(values):
        order = conditional(binary("ult", one, other), Const(-1), Const(1))
        result = conditional(binary("eq", one, other), result, order)
    return Scalar(bare(node.type), result)


def _turn(low: CLowering, node: tree.Call, value: Scalar | Whole, kind: IntegerType) -> Expr:
    """The number whose highest byte is the lowest one of a value."""
    assert isinstance(value, Scalar)
    unsigned = IntegerType(kind.name, kind.bits, False)
    given = low.hold(convert_number(value.expr, kind, unsigned), node.span, unsigned)
    return low.hold(turn_bytes(given, unsigned), node.span, unsigned)


@library("strcpy")
def _strcpy(low: CLowering, node: tree.Call) -> Scalar:
    source = node.arguments[1]
    while isinstance(source, tree.Conversion):
        source = source.operand
    if not isinstance(source, tree.StringLiteral):
        function = low.machine.unit.functions.get("__mazurka_strcpy")  # of string.h
        if function is None:
            raise low.refuse(node, f"`{node.text}`: the source must be a string literal")
        found = call_named(low, node, function)
        assert isinstance(found, Scalar)
        return found
    from mazurka.frontend.c.places_of import follow
    from mazurka.frontend.c.pointers import move_pointer

    target = low.scalar(node.arguments[0])
    target = low.hold_value(target, node.span)
    kind = bare(target.type)
    assert isinstance(kind, PointerType)
    for offset, byte in enumerate(source.data):
        moved = move_pointer(low, target, Scalar(IntegerType("int", 32, True), Const(offset)), node)
        name = f"{node.arguments[0].text}[{offset}]"
        place = follow(low, moved, kind.target, name, node.span)
        write(low, place, Scalar(kind.target, Const(byte)), node.span)
    return target
