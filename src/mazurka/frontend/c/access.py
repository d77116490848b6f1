"""Read and write objects: one shared access a step."""

from __future__ import annotations

from dataclasses import replace

from mazurka.errors import UnsupportedError
from mazurka.frontend.c.arithmetic import narrow
from mazurka.frontend.c.lowering import CLowering, role_of
from mazurka.frontend.c.memory import (
    check_written,
    constant_checks,
    find_flags,
    is_written,
    note_written,
    pointer_checks,
    written_check,
)
from mazurka.frontend.c.pointers import settle_bytes
from mazurka.frontend.c.types import (
    GAP,
    HANDLES,
    ArrayType,
    AtomicType,
    CType,
    FloatType,
    GapType,
    IntegerType,
    PointerType,
    RecordType,
    ScalarPart,
    SyncType,
    bare,
    is_scalar,
)
from mazurka.frontend.c.values import NOWHERE, ObjectPlace, Scalar, Whole
from mazurka.frontend.kit.arithmetic import binary, conditional
from mazurka.ir.expressions import ONE, ZERO, Choice, Const, Convert, Expr, Load, negate
from mazurka.ir.program import SETTLING, Assign, Check, Fault, Kind, Operation, Role, Span
from mazurka.search.reading import ANY


def cell_address(place: ObjectPlace, offset: int) -> Expr:
    return binary("add", place.address, Const(offset))


def refuse_sync(place: ObjectPlace, span: Span) -> None:
    inner = bare(place.type)
    if isinstance(inner, SyncType) and inner.name not in HANDLES:
        raise UnsupportedError.at(
            span,
            f"`{place.title}` is a {inner.name}: it can be used by its functions only; do"
            " not copy it, initialize it where it is",
        )


def read(low: CLowering, place: ObjectPlace, span: Span) -> Scalar | Whole:
    """The value of an object; a structure is read cell by cell."""
    refuse_sync(place, span)
    if isinstance(place.type, ArrayType):
        raise UnsupportedError.at(span, f"`{place.title}` is an array and has no value")
    if not is_scalar(place.type):
        return _read_whole(low, place, span)
    inner = bare(place.type)
    if place.variable and low.automaton is not None and low.reachable:
        _require_set(low, place, span)
    if isinstance(inner, FloatType) and not place.shared:
        return Scalar(inner, ZERO)
    if has_any_value(low, place):
        settle_value(low, place, span)
    if not place.shared and isinstance(place.address, Const):
        checks = read_checks(low, place)
        if checks:
            low.step(Kind.LOCAL, span, f"read {place.title}", operations=checks)
        return Scalar(inner, _load(low, place))
    checks = read_checks(low, place)
    cell = Const(low.take_temporary(role_of(inner), span))
    value = _load(low, place)
    kind = Kind.ACCESS if place.shared else Kind.LOCAL
    low.step(
        kind,
        span,
        f"read {place.title}",
        operations=(*checks, Assign(cell, value)),
        atomic=isinstance(place.type, AtomicType),
    )
    return Scalar(inner, Load(cell))


def _load(low: CLowering, place: ObjectPlace) -> Expr:
    """The number that a cell holds, as one of the place's type: it may be one of the other sign."""
    inner = bare(place.type)
    if isinstance(inner, IntegerType) and inner.bits < 64:
        expected = low.machine.expected
        if place.viewed or (low.automaton is not None and expected.has_two_signs(inner.bits)):
            return Convert(Load(place.address), inner.bits, inner.signed)
    return Load(place.address)


def read_checks(low: CLowering, place: ObjectPlace) -> list[Check]:
    """What must hold before an object is read."""
    if low.automaton is None:
        return []
    if has_any_value(low, place):
        return pointer_checks(low, place)
    return pointer_checks(low, place) + written_check(low, place)


def has_any_value(low: CLowering, place: ObjectPlace) -> bool:
    """Whether the object gets a value where it is read before it is written."""
    chosen = isinstance(bare(place.type), IntegerType | PointerType)
    return chosen and low.machine.limits.unwritten == ANY and not place.unlike


def settle_value(low: CLowering, place: ObjectPlace, span: Span) -> None:
    """Give an object any value that is about to be read and was never written.

    Other threads may write a shared object while the value is chosen: then theirs is kept."""
    if low.automaton is None or not low.reachable:
        return
    for check in written_check(low, place):
        known, unknown, end = (low.label(span) for _ in range(3))
        low.split(check.condition, span, f"{place.title} is written", known, unknown)
        low.put(unknown, span)
        value = choose_any(low, place.type, span, f"{place.title} has any value")
        if place.shared:
            _write_first(low, place, value, span)
        else:
            write(low, place, value, span)
        if low.reachable:
            low.go(end, span)
        low.put(known, span)
        if low.reachable:
            low.go(end, span)
        low.put(end, span)


def _write_first(low: CLowering, place: ObjectPlace, value: Scalar, span: Span) -> None:
    """Store a value if the object still has none: the test and the store are one step.

    The step is atomic, since the program only reads here.  Threads that read the object never race
    with it: where one of them goes on to its read the object has been written."""
    written = is_written(low, place)
    operations: list[Operation] = [*pointer_checks(low, place)]
    operations += [Assign(place.address, _fit(place, value.expr)), *note_written(low, place)]
    ways = [(negate(written), operations), (written, [])]
    low.take_one_of(Kind.ACCESS, span, SETTLING, ways, atomic=True)
    if place.variable and low.reachable:
        low.mark_set(place.variable)


def _fit(place: ObjectPlace, value: Expr) -> Expr:
    """What is stored of a value: as many bits of it as the place has."""
    inner = bare(place.type)
    if place.bits is not None and isinstance(inner, IntegerType):
        return narrow(value, place.bits, inner.signed)
    return value


def _require_set(low: CLowering, place: ObjectPlace, span: Span) -> None:
    """Note a variable that may be read without having been written."""
    if place.variable not in low.require_automaton().bound:
        low.machine.found.unset.add(place.variable)


def _read_whole(low: CLowering, place: ObjectPlace, span: Span) -> Whole:
    parts = low.machine.layouts.parts(place.type)
    exprs: list[Expr] = []
    written: list[Expr] = []
    for position, part in enumerate(parts):
        if part.type == GAP:
            exprs.append(ZERO)
            written.append(ONE)
            continue
        inner = _part(place, part, position)
        known = ONE if low.automaton is None else is_written(low, inner)
        if known != ONE and not has_any_value(low, inner):
            value, flag = _read_unchecked(low, inner, known, span)
        else:
            found = read(low, inner, span)
            assert isinstance(found, Scalar)
            value, flag = low.hold(found.expr, span, part.type), ONE
        exprs.append(value)
        written.append(flag)
    whole = all(each == ONE for each in written)
    return Whole(place.type, tuple(exprs), () if whole else tuple(written))


def _part(place: ObjectPlace, part: ScalarPart, position: int) -> ObjectPlace:
    """One cell of an object."""
    address = cell_address(place, position)
    found = place.at(part.type, address, place.title + part.suffix, part.bits)
    return replace(found, unlike=place.unlike or part.unlike)


def _read_unchecked(
    low: CLowering, place: ObjectPlace, known: Expr, span: Span
) -> tuple[Expr, Expr]:
    """Read a cell of a structure that is copied, and whether it has a value."""
    refuse_sync(place, span)
    cell = Const(low.take_temporary(role_of(place.type), span))
    flag = Const(low.take_temporary(Role.BOOL, span))
    operations: list[Operation] = [*pointer_checks(low, place)]
    operations += [Assign(cell, _load(low, place)), Assign(flag, known)]
    kind = Kind.ACCESS if place.shared else Kind.LOCAL
    low.step(kind, span, f"read {place.title}", operations=operations)
    return Load(cell), Load(flag)


def copy_object(low: CLowering, source: ObjectPlace, target: ObjectPlace, span: Span) -> None:
    """Copy an object cell by cell; what was never written is copied as that.

    The temporaries are the same whatever is known of the memory, so that cells keep their places
    from one round of elaboration to the next."""
    for position, part in enumerate(low.machine.layouts.parts(source.type)):
        if part.type == GAP:
            continue
        mark = len(low.held)
        cell = _part(source, part, position)
        value, known = _read_unchecked(low, cell, is_written(low, cell), span)
        write(low, _part(target, part, position), Scalar(part.type, value), span, known)
        low.release(mark)


def settle(low: CLowering, value: Scalar | Whole, span: Span, text: str) -> None:
    """Make sure that all of a structure has been written."""
    for known in value.written if isinstance(value, Whole) else ():
        if known != ONE:
            message = f"a part of `{text}` is read before it is written, and may be anything"
            low.step(Kind.LOCAL, span, text, operations=(Check(known, Fault.BOUND, message),))


def write(
    low: CLowering, place: ObjectPlace, value: Scalar | Whole, span: Span, known: Expr = ONE
) -> None:
    """Store a value, which has the type of the place; it may be `known` only then."""
    refuse_sync(place, span)
    if low.automaton is not None and not low.reachable:
        return
    if isinstance(value, Whole):
        parts = low.machine.layouts.parts(place.type)
        for position, (part, expr) in enumerate(zip(parts, value.exprs, strict=True)):
            if part.type == GAP:
                continue
            flag = value.written[position] if value.written else ONE
            write(low, _part(place, part, position), Scalar(part.type, expr), span, flag)
        return
    value = settle_bytes(low, value, span, place.title)
    stored = ZERO if isinstance(bare(place.type), FloatType) else _fit(place, value.expr)
    beside = _read_neighbours(low, place, span)
    checks = pointer_checks(low, place) + constant_checks(low, place)
    written = note_written(low, place, known)
    if known != ONE and not find_flags(low, place):
        checks += check_written(low, place, known)
    operations: tuple[Operation, ...] = (*checks, Assign(place.address, stored), *written)
    low.step(
        Kind.ACCESS if place.shared else Kind.LOCAL,
        span,
        f"write {place.title}",
        operations=operations,
        atomic=isinstance(place.type, AtomicType),
    )
    if place.variable and low.reachable:
        low.mark_set(place.variable)
    for cell, old, flag in beside:
        write(low, cell, Scalar(cell.type, old), span, flag)


def _read_neighbours(
    low: CLowering, place: ObjectPlace, span: Span
) -> list[tuple[ObjectPlace, Expr, Expr]]:
    """Read the bit-fields that share the location of one that is about to be written, each with
    whether it has a value.

    They are written again with it: so a write of another thread that comes between is lost, and
    races with this one.  Where no other thread accesses the location meanwhile, nothing changes."""
    found: list[tuple[ObjectPlace, Expr, Expr]] = []
    if not place.shared or not place.neighbours or low.automaton is None:
        return found
    stem = place.title.rpartition("->" if "->" in place.title.rpartition(".")[2] else ".")
    for each in place.neighbours:
        title = f"{stem[0]}{stem[1]}{each.name}"
        cell = place.at(each.type, cell_address(place, each.distance), title, each.bits)
        found.append((cell, *_read_unchecked(low, cell, is_written(low, cell), span)))
    return found


def choose_any(low: CLowering, type_: CType, span: Span, text: str) -> Scalar:
    """Any value of a type."""
    inner = bare(type_)
    cell = Const(low.take_temporary(role_of(inner), span))
    if isinstance(inner, PointerType):
        value: Expr = conditional(Choice(), Const(NOWHERE), ZERO)
        choices = 2
    elif isinstance(inner, IntegerType) and inner.boolean:
        value, choices = Choice(), 2
    elif isinstance(inner, IntegerType):
        choices = 1 << inner.bits
        value = Convert(Choice(), inner.bits, inner.signed) if inner.signed else Choice()
    elif isinstance(inner, FloatType):
        return Scalar(inner, ZERO)
    else:
        raise UnsupportedError.at(span, f"there is no way to choose a {type_}")
    low.step(Kind.CHOOSE, span, text, operations=(Assign(cell, value),), choices=choices)
    return Scalar(inner, Load(cell))


def set_any(low: CLowering, place: ObjectPlace, span: Span) -> None:
    """Give an object without a value any value: what is in it is not known."""
    inner = bare(place.type)
    if isinstance(inner, RecordType | ArrayType):
        for position, part in enumerate(low.machine.layouts.parts(inner)):
            each = bare(part.type)
            if isinstance(each, SyncType | GapType) or part.unlike:
                continue
            address = cell_address(place, position)
            set_any(low, place.at(part.type, address, place.title + part.suffix, part.bits), span)
        return
    if isinstance(inner, SyncType):
        if inner.name in HANDLES:
            write(low, place, Scalar(inner, ZERO), span)  # of no thread, and no key
        return
    value = choose_any(low, inner, span, f"{place.title} has any value")
    write(low, place, value, span)
