"""Objects in memory: their cells, and what is known about the addresses of each kind of object.

Which cells hold objects of a type is known once the whole program has been elaborated, so checks
of pointers use what the round before has found (`KnownFacts.memory`).  A check is needed only where
a pointer has been converted or moved; `fold` drops it where the pointer's targets are known to
pass.

Behind each array, and behind each object where pointers are moved, lies one cell that belongs to
nobody.  A pointer to the end of the array points there, and not to the next object.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from mazurka.errors import UnsupportedError
from mazurka.frontend.c import tree
from mazurka.frontend.c.arithmetic import is_wide_unsigned, wrap_number
from mazurka.frontend.c.lowering import CLowering, CProgram, role_of
from mazurka.frontend.c.types import (
    HANDLES,
    ArrayType,
    CType,
    ElementRow,
    GapType,
    PointerType,
    ScalarPart,
    SyncType,
    bare,
    part_class,
)
from mazurka.frontend.c.values import (
    NOWHERE,
    MortalRow,
    ObjectPlace,
    Scalar,
    SizedRow,
    choose_by_row,
    compare_address,
    find_root,
)
from mazurka.frontend.kit.arithmetic import binary, both, conditional, either
from mazurka.frontend.kit.shapes import CellDraft
from mazurka.ir.expressions import ONE, ZERO, Binary, Const, Element, Expr, Load, negate
from mazurka.ir.program import Assign, Check, Fault, Kind, Role, Span
from mazurka.search.reading import REPORTED, UNWRITTEN


def allocate(
    machine: CProgram,
    name: str,
    type_: CType,
    owner: int | None,
    span: Span,
    initial: Iterable[int] | None = None,
    *,
    watched: bool = False,
) -> int:
    """Give an object its cells; returns the address of the first.

    A `watched` object has no first values: each cell has another beside it that says whether it has
    been written.  So has an object with unlike members of a union: of these, only what was written
    last has a value.
    """
    storage = machine.draft.storage
    parts = machine.layouts.parts(type_)
    values = list(initial) if initial is not None else [0] * len(parts)
    first = len(storage.cells)
    for part, value in zip(parts, values, strict=True):
        address = storage.add(draft_cell(machine, name, part, owner, span, value))
        machine.memory[address] = part_class(part)
    machine.objects.append((first, first + len(parts)))
    machine.shapes.append(type_)
    if isinstance(bare(type_), ArrayType) or machine.expected.moved or not parts:
        storage.add(CellDraft(f"{name} end", owner=owner, span=span))
    if watched or any(part.unlike for part in parts):
        flags = len(storage.cells)
        for part in parts:
            title = f"{name}{part.suffix} is written"
            value = 0 if watched else 1
            storage.add(
                CellDraft(title, initial=value, high=1, owner=owner, role=Role.SYNC, span=span)
            )
        machine.watched.append((first, first + len(parts), flags))
    return first


def end_values(machine: CProgram, first: int, cells: Iterable[int]) -> None:
    """Let cells of an object with first values have none."""
    for start, _, flags in machine.watched:
        if start == first:
            for cell in cells:
                machine.draft.storage.cells[flags + cell].initial = 0


def find_flags(low: CLowering, place: ObjectPlace) -> list[tuple[Expr, Expr]]:
    """The cells that say whether an object has been written: under each condition the address of
    such a cell.  Where no condition holds the object has a first value.
    """
    address = place.address
    if place.direct:
        root = place.root or find_root(address)
        for first, last, flags in low.machine.watched:
            if first <= root < last:
                return [(ONE, _shift(address, flags - first))]
        return []
    by_distance: dict[int, list[tuple[int, int]]] = {}
    for first, last, flags in low.machine.expected.watched:
        known = by_distance.setdefault(flags - first, [])
        if known and _holds_nothing(low.machine, known[-1][1] + 1, first):
            first = known.pop()[0]
        known.append((first, last - 1))
    return [
        (is_among(address, objects), binary("add", address, Const(distance)))
        for distance, objects in by_distance.items()
    ]


def _holds_nothing(machine: CProgram, first: int, last: int) -> bool:
    """Whether no pointer can be followed to the cells from the first up to the last."""
    return first <= last and all(each is None for each in machine.expected.memory[first:last])


def _shift(address: Expr, distance: int) -> Expr:
    """The address so many cells further on, of another object of the same form."""
    match address:
        case Const(value):
            return Const(value + distance)
        case Element(base, index, length, stride):
            return Element(_shift(base, distance), index, length, stride)
        case Binary("add", left, right):
            return binary("add", _shift(left, distance), right)
        case _:
            return binary("add", address, Const(distance))


def reset_flags(low: CLowering, address: Expr, span: Span) -> None:
    """An object begins its life: nothing in it has been written."""
    root = find_root(address)
    for start, last, flags in low.machine.watched:
        if start == root:
            operations = [
                Assign(_shift(address, flags - start + each), ZERO) for each in range(last - start)
            ]
            low.step(Kind.LOCAL, span, "", operations=operations, atomic=True)


def is_written(low: CLowering, place: ObjectPlace) -> Expr:
    """Whether an object has a value."""
    known: Expr = ONE
    for inside, flag in find_flags(low, place):
        known = conditional(inside, Load(flag), known)
    return known


def written_check(low: CLowering, place: ObjectPlace) -> list[Check]:
    """What is read must have been written."""
    return check_written(low, place, is_written(low, place))


def check_written(low: CLowering, place: ObjectPlace, known: Expr) -> list[Check]:
    """What is read must have been written, which is `known`.

    Another member of a union may have been written: then the value is a view of that one, which is
    not modelled."""
    if known == ONE:
        return []
    if place.unlike:
        message = f"`{place.title}` is read where another member of the union may have been written"
        return [Check(known, Fault.BOUND, message)]
    reported = low.machine.limits.unwritten == REPORTED
    fault = Fault.MEMORY if reported else Fault.BOUND
    return [Check(known, fault, f"`{place.title}` {UNWRITTEN}")]


def note_written(low: CLowering, place: ObjectPlace, written: Expr = ONE) -> list[Assign]:
    """Remember that an object has been written, and its rivals no longer have values."""
    done = []
    for address, value in ((place.address, written), *((each, ZERO) for each in place.rivals)):
        flags = find_flags(low, replace(place, address=address))
        target: Expr = Const(low.scratch)
        for inside, flag in flags:
            target = conditional(inside, flag, target)
        if flags:
            done.append(Assign(target, value))
    return done


def draft_cell(
    machine: CProgram, name: str, part: ScalarPart, owner: int | None, span: Span, value: int
) -> CellDraft:
    """One cell of an object; the ranges of data are inferred."""
    title, inner = name + part.suffix, bare(part.type)
    if isinstance(inner, GapType):
        return CellDraft(title, owner=owner, span=span)
    if isinstance(inner, SyncType) and inner.name not in HANDLES:
        return _draft_sync(machine, title, part, owner, span, value)
    cell = CellDraft(
        title, initial=value, owner=owner, role=role_of(part.type), inferred=True, span=span
    )
    cell.unsigned = is_wide_unsigned(part.type)
    return cell


def _draft_sync(
    machine: CProgram, title: str, part: ScalarPart, owner: int | None, span: Span, value: int
) -> CellDraft:
    """A cell of a synchronization object; its first cell may be an owner."""
    assert isinstance(part.type, SyncType)
    first = "." not in part.suffix.rpartition("]")[2] or not part.suffix[-1:].isdigit()
    threads, name = machine.draft.threads, part.type.name
    if name in ("pthread_mutex_t", "mtx_t", "pthread_rwlock_t", "pthread_spinlock_t") and first:
        return CellDraft(title, high=threads, owner=owner, role=Role.OWNER, span=span)
    if name in ("pthread_cond_t", "cnd_t", "pthread_rwlock_t"):
        most = machine.limits.max_depth if name == "pthread_rwlock_t" else 1
        return CellDraft(title, high=most, owner=owner, role=Role.SYNC, span=span)
    return CellDraft(title, initial=value, owner=owner, role=Role.SYNC, inferred=True, span=span)


def global_variable(machine: CProgram, variable: tree.Variable) -> ObjectPlace:
    """The object of a variable that all functions can use."""
    found = machine.globals.get(variable)
    if found is None and not machine.layouts.has_cells(variable.type):
        raise UnsupportedError.at(
            variable.span,
            f"`{variable.name}` has a union of a lock and something else; use a structure",
        )
    if found is None:
        raise UnsupportedError.at(
            variable.span,
            f"`{variable.name}` is declared and not defined; define it, also for what a library"
            " provides",
        )
    return found


def thread_variable(low: CLowering, variable: tree.Variable) -> ObjectPlace:
    """This thread's own object of a `_Thread_local` variable."""
    key = (variable, low.number)
    found = low.machine.per_thread.get(key)
    if found is None:
        address = allocate(
            low.machine,
            f"{variable.name} of {low.thread_title}",
            variable.type,
            None,
            variable.span,
            low.machine.initial_values(variable),
        )
        end_values(low.machine, address, low.machine.ended(variable))
        if variable in low.survey.exposed(low.machine.unit):
            _end_with_thread(low, variable, address)
        found = ObjectPlace(variable.type, Const(address), True, variable.name)
        low.machine.per_thread[key] = found
    return found


def _end_with_thread(low: CLowering, variable: tree.Variable, address: int) -> None:
    """A variable whose address is taken is no more when its thread has ended."""
    machine = low.machine
    machine.found.kept_by_threads = True
    title = f"life of {variable.name} of {low.thread_title}"
    cell = CellDraft(title, initial=1, high=1, role=Role.SYNC, span=variable.span)
    alive = machine.draft.storage.add(cell)
    machine.mortal.append(MortalRow(address, machine.layouts.cells(variable.type), alive))
    machine.thread_lives.setdefault(low.number, []).append(alive)


def place_text(machine: CProgram, node: tree.StringLiteral) -> int:
    """The address of a string literal; equal ones share it."""
    found = machine.literals.get(node.data)
    if found is None:
        type_ = node.type
        values = [wrap_number(each, 8, True) for each in node.data]
        element = type_.element if isinstance(type_, ArrayType) else type_
        array = ArrayType(element, len(values))
        found = allocate(machine, node.text[:20], array, None, node.span, values)
        machine.literals[node.data] = found
    return found


# --- checks ------------------------------------------------------------------------------------


def is_view(machine: CProgram, address: int, classes: tuple[object, ...]) -> bool:
    """Whether the cells at a known address can be read as a type with these classes."""
    return all(
        machine.memory.get(address + offset) == wanted for offset, wanted in enumerate(classes)
    )


def find_views(machine: CProgram, classes: tuple[object, ...]) -> list[tuple[int, int]]:
    """The addresses, as intervals with both ends, at which such an object can begin."""
    memory, size = machine.expected.memory, len(classes)
    found: list[tuple[int, int]] = []
    for first, last in machine.expected.objects:
        for address in range(first, last - size + 1):
            if memory[address : address + size] == classes:
                if found and found[-1][1] == address - 1:
                    found[-1] = (found[-1][0], address)
                else:
                    found.append((address, address))
    return found


@dataclass(frozen=True, slots=True)
class _EqualIntervals:
    """Intervals of one size at equal distances, as the objects of a heap are."""

    first: int
    last: int
    """The last address of the last one."""
    size: int
    distance: int

    def has(self, address: Expr) -> Expr:
        """Whether an address is in one of them."""
        low, high = self.first, self.last
        if low == high:
            return compare_address("eq", address, low)
        inside = both(compare_address("ge", address, low), compare_address("le", address, high))
        if high - low < self.size:
            return inside
        offset = binary("mod", binary("sub", address, Const(low)), Const(self.distance))
        return both(inside, binary("lt", offset, Const(self.size)))


FEWEST_ALIKE = 8
"""Fewer intervals are compared one by one: a remainder takes longer than a few comparisons."""


def is_among(address: Expr, intervals: list[tuple[int, int]]) -> Expr:
    """Whether an address is in one of the intervals, by bisection."""
    return _is_among(address, _divide(intervals))


def _divide(intervals: list[tuple[int, int]]) -> list[_EqualIntervals]:
    """Put many intervals of one size at equal distances together."""
    found: list[_EqualIntervals] = []
    at = 0
    while at < len(intervals):
        first, last = intervals[at]
        size, end, distance = last - first + 1, at + 1, 0
        if end < len(intervals):
            distance = intervals[end][0] - first
        while end < len(intervals) and intervals[end] == (
            first + (end - at) * distance,
            last + (end - at) * distance,
        ):
            end += 1
        if end - at < FEWEST_ALIKE:
            end = at + 1
        found.append(_EqualIntervals(first, intervals[end - 1][1], size, distance))
        at = end
    return found


def _is_among(address: Expr, rows: list[_EqualIntervals]) -> Expr:
    if not rows:
        return ZERO
    if len(rows) == 1:
        return rows[0].has(address)
    middle = len(rows) // 2
    return conditional(
        compare_address("lt", address, rows[middle].first),
        _is_among(address, rows[:middle]),
        _is_among(address, rows[middle:]),
    )


def require_view(low: CLowering, pointer: Scalar, target: CType, span: Span, text: str) -> None:
    """Make sure that a converted pointer leads to an object of the type it now claims.

    Reading memory as another type than it was written is not modelled: a run that would do it is
    left undecided.
    """
    machine = low.machine
    classes = machine.layouts.classes(target)
    if not classes or low.automaton is None:
        return
    machine.found.voided.add(("", *classes))
    address = pointer.expr
    if isinstance(address, Const):
        if 0 < address.value < len(machine.draft.storage.cells) and not is_view(
            machine, address.value, classes
        ):
            fail_view(low, target, span, text)
        return
    origins = [each for each in machine.expected.voided if not (each and each[0] == "")]
    if all(each[: len(classes)] == classes for each in origins):
        return
    fine = either(
        either(binary("le", address, ZERO), binary("gt", address, Const(1 << 30))),
        is_among(address, find_views(machine, classes)),
    )
    message = f"`{text}` makes a pointer to {target} of one to another type"
    check = Check(fine, Fault.BOUND, message)
    low.step(Kind.LOCAL, span, text, operations=(check,))


def fail_view(low: CLowering, target: CType, span: Span, text: str) -> None:
    message = f"`{text}` makes a pointer to {target} of one to another type"
    low.step(Kind.LOCAL, span, text, operations=(Check(ZERO, Fault.BOUND, message),))


def note_origin(low: CLowering, target: CType) -> None:
    """Note that pointers to a type are converted to pointers to something else."""
    classes = low.machine.layouts.classes(target)
    if classes:
        low.machine.found.voided.add(classes)


def find_runs(machine: CProgram, classes: tuple[object, ...]) -> list[ElementRow]:
    """Rows of objects of a type inside one object, by their addresses."""
    found = machine.runs.get(classes)
    if found is None:
        expected = machine.expected
        found = machine.runs[classes] = [
            row.moved(first)
            for (first, _), type_ in zip(expected.objects, expected.shapes, strict=True)
            for row in machine.layouts.rows(type_, classes)
        ]
    return found


def find_row(machine: CProgram, address: int, type_: CType) -> ElementRow | None:
    """The row of elements of a type to which a known address belongs: that of the element which
    begins there, or else the one that ends there."""
    classes = machine.layouts.classes(type_)
    ended: ElementRow | None = None
    for (first, last), shape in zip(machine.objects, machine.shapes, strict=True):
        if not first <= address <= last:
            continue
        for row in machine.layouts.rows(shape, classes):
            row = row.moved(first)
            if row.start <= address < row.end:
                return row
            if address == row.end:
                ended = row
    return ended


def behind_last(machine: CProgram, first: int, last: int) -> Expr:
    """The address behind the last element of a row, which may be found only at run time."""
    for row in machine.expected.sized:
        if first in row and row.offset(Const(first)) == ZERO:
            return binary("add", Const(first), row.used(row.position(Const(first))))
    return Const(last)


def bound_to_runs(low: CLowering, base: Expr, moved: Expr, target: CType) -> Expr:
    """An address that has passed `require_same_run`, in a form whose values are known to be few."""
    if not low.machine.expected.memory:
        return moved
    runs = find_runs(low.machine, low.machine.layouts.classes(target))
    result: Expr = Const(NOWHERE)
    for row in reversed(runs):
        first, last = Const(row.start), Const(row.end)
        inside = both(binary("ge", base, first), binary("le", base, last))
        there = both(binary("ge", moved, first), binary("le", moved, last))
        offset = binary("sub", moved, first)
        address = Element(first, offset, row.end - row.start + 1, 1)
        result = conditional(both(inside, there), address, result)
    return result


def require_same_run(
    low: CLowering, pointers: tuple[Expr, Expr], target: CType, span: Span, text: str
) -> None:
    """Make sure that two addresses belong to one array, or to its end."""
    low.machine.found.moved = True
    if not low.machine.expected.memory:
        return
    fine: Expr = ZERO
    classes = low.machine.layouts.classes(target)
    for row in reversed(find_runs(low.machine, classes)):
        first, end = Const(row.start), behind_last(low.machine, row.start, row.end)
        inside: Expr = ONE
        for position, pointer in enumerate(pointers):
            # Where a member ends that is no array, a pointer is to the next member.
            below = "lt" if row.single and position == 0 else "le"
            inside = both(both(binary("ge", pointer, first), binary(below, pointer, end)), inside)
        fine = either(inside, fine)
    checks: list[Check] = []
    others = find_others(low.machine, classes)
    if others:
        among = either(is_among(pointers[0], others), is_among(pointers[1], others))
        message = f"`{text}` moves in memory that holds something else than {target}"
        checks.append(Check(either(fine, negate(among)), Fault.BOUND, message))
    message = f"`{text}` leaves the array that it points into"
    checks.append(Check(fine, Fault.MEMORY, message))
    low.step(Kind.LOCAL, span, text, operations=checks)


def find_others(machine: CProgram, classes: tuple[object, ...]) -> list[tuple[int, int]]:
    """The cells of objects, as intervals with both ends, to which C may allow a pointer to such
    elements to lead, or to move, though no such elements are there: bytes of other objects.

    The elements of an array of characters are among these where a pointer to more than the array
    is converted: it may move through all of that."""
    known = machine.others.get(classes)
    if known is not None:
        return known
    origins = [each for each in machine.expected.voided if each and each[0] != ""]
    found: list[tuple[int, int]] = []
    for (first, last), type_ in zip(machine.expected.objects, machine.expected.shapes, strict=True):
        own = machine.layouts.classes(type_)
        at = first
        for row in sorted(machine.layouts.rows(type_, classes), key=lambda row: row.start):
            if classes == (8,) and any(_covers(each, own, row) for each in origins):
                continue
            if at < first + row.start:
                found.append((at, first + row.start - 1))
            at = max(at, first + row.end + (not row.single))
        if at <= last:
            found.append((at, last))
    machine.others[classes] = found = _join(found)
    return found


def _covers(origin: tuple[object, ...], own: tuple[object, ...], row: ElementRow) -> bool:
    """Whether a pointer to these cells may lead to more than the row."""
    size = len(origin)
    starts = range(max(row.end - size, 0), row.start + 1)
    return size > row.end - row.start and any(own[at : at + size] == origin for at in starts)


def _join(intervals: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The intervals, those without a gap between them as one."""
    found: list[tuple[int, int]] = []
    for first, last in intervals:
        if found and found[-1][1] + 1 >= first:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    return found


def require_elements(
    low: CLowering, place: ObjectPlace, type_: CType, count: int, text: str, span: Span
) -> None:
    """Make sure that so many elements of a type lie at a place, in one array."""
    machine, address = low.machine, place.address
    stride = machine.layouts.cells(type_)
    if not isinstance(address, Const):
        base = low.hold(address, span, PointerType(type_, 64))
        end = binary("add", base, Const(count * stride))
        require_same_run(low, (base, end), type_, span, text)
        return
    row = find_row(machine, address.value, type_)
    if row is not None and address.value + count * stride <= row.end:
        return
    if is_among(address, find_others(machine, machine.layouts.classes(type_))) != ZERO:
        fail_view(low, type_, span, text)
        return
    low.fail(Fault.MEMORY, f"`{text}` leaves the array that it points into", span)


def require_no_next_member(
    low: CLowering, base: Expr, moved: Expr, target: CType, span: Span, text: str
) -> None:
    """Leave runs undecided in which a pointer moves from a member that is no array to its end.

    There the next member begins; that the pointer must not be followed to it is not modelled."""
    if not low.machine.expected.memory:
        return
    fine: Expr = ONE
    for row in find_runs(low.machine, low.machine.layouts.classes(target)):
        if row.single:
            leaves = both(binary("eq", base, Const(row.start)), binary("eq", moved, Const(row.end)))
            fine = conditional(leaves, ZERO, fine)
    if fine != ONE:
        message = f"`{text}` points behind a member that is no array"
        low.step(Kind.LOCAL, span, text, operations=(Check(fine, Fault.BOUND, message),))


def pointer_checks(low: CLowering, place: ObjectPlace) -> list[Check]:
    """What must hold of an object before it is accessed, perhaps through a pointer."""
    machine, address, text = low.machine, place.address, place.title
    classes = _classes_of(machine, place)
    checks: list[Check] = []
    root = place.root or find_root(address)
    if isinstance(address, Const) and not place.direct and not is_view(machine, root, classes):
        message = f"`{text}` reads or writes memory as {place.type}, which is something else"
        behind = is_among(Const(root), find_others(machine, classes)) == ZERO
        checks.append(Check(ZERO, Fault.MEMORY if behind else Fault.BOUND, message))
    if isinstance(address, Const) or (place.direct and root):
        checks += _known_life_checks(low, root, text)
        if isinstance(address, Const) and not place.variable:
            rows = [row for row in machine.sized if root in row]
            checks += _length_checks(rows, address, f"`{text}` is behind the end of its array")
        return checks
    if not place.direct and machine.expected.memory and classes:
        checks += _view_checks(machine, address, place)
    if machine.expected.frees and machine.expected.heap:
        checks.append(_alive_check(machine.expected.heap, address, _FREED.format(text=text)))
    ended = [
        each
        for each in _outlivable(low, machine.expected.mortal)
        if not classes or classes[0] in machine.expected.memory[each.first : each.last + 1]
    ]
    if ended:
        checks.append(_alive_check(ended, address, _ENDED.format(text=text)))
    return checks


def _classes_of(machine: CProgram, place: ObjectPlace) -> tuple[object, ...]:
    classes = machine.layouts.classes(place.type)
    return tuple(("unlike", each) for each in classes) if place.unlike else classes


_FREED = "`{text}` uses memory that is not allocated, or freed"
_ENDED = "`{text}` uses a variable whose life has ended: its block or its thread"


def find_texts(machine: CProgram) -> list[tuple[int, int]]:
    """The first and the last cell of each string literal."""
    return sorted((first, first + len(data) - 1) for data, first in machine.literals.items())


def constant_checks(low: CLowering, place: ObjectPlace) -> list[Check]:
    """What is written is no string literal."""
    machine, address = low.machine, place.address
    if place.direct and not isinstance(address, Const):
        return []
    if machine.layouts.classes(place.type) != (8,):
        return []
    texts = find_texts(machine) if isinstance(address, Const) else list(machine.expected.texts)
    among = is_among(address, texts)
    if among == ZERO:
        return []
    message = f"`{place.title}` writes to a string literal, which must not change"
    return [Check(negate(among), Fault.MEMORY, message)]


def _view_checks(machine: CProgram, address: Expr, place: ObjectPlace) -> list[Check]:
    """A pointer that has been moved, or points to bytes, leads to an object of its type."""
    classes = _classes_of(machine, place)
    message = f"`{place.title}` follows a pointer that leads to no {place.type}"
    # Bytes of another object may be read in C, which is not modelled.
    fine = is_among(address, find_views(machine, classes))
    among = is_among(address, find_others(machine, classes))
    checks = [Check(either(fine, negate(among)), Fault.BOUND, message)] if among != ZERO else []
    if machine.expected.moved:
        checks.append(Check(fine, Fault.MEMORY, message))
        checks += _length_checks(machine.expected.sized, address, message)
    return checks


def _known_life_checks(low: CLowering, root: int, text: str) -> list[Check]:
    """The object that is known to be accessed is alive."""
    checks = []
    for message, rows in (
        (_FREED, low.machine.heap),
        (_ENDED, _outlivable(low, low.machine.mortal, named=True)),
    ):
        for row in rows:
            if root in row:
                alive = row.life(row.position(Const(root)))
                checks.append(Check(Load(alive), Fault.MEMORY, message.format(text=text)))
    return checks


def _outlivable(
    low: CLowering, mortal: Sequence[MortalRow], *, named: bool = False
) -> list[MortalRow]:
    """The mortal variables but those whose block surely runs: this thread is in it.

    Of a variable with two places a pointer may lead to the one that is dead, its name does not."""
    here = {
        find_root(life.address)
        for frame in low.frames
        for scope in frame.scopes
        for life in scope.lives
        if named or not life.place
    }
    return [each for each in mortal if each.first not in here]


def _length_checks(rows: Sequence[SizedRow], address: Expr, message: str) -> list[Check]:
    """An object whose length is found at run time ends there."""
    checks = []
    for row in rows:
        beyond = binary("ge", row.offset(address), row.used(row.position(address)))
        if row.count > 1:  # between two arrays something else may lie
            beyond = both(binary("lt", row.offset(address), Const(row.size)), beyond)
        fine = conditional(both(row.includes(address), beyond), ZERO, ONE)
        checks.append(Check(fine, Fault.MEMORY, message))
    return checks


def size_object(
    low: CLowering, place: Expr, element: CType, length: Expr, most: int, span: Span, text: str
) -> None:
    """Give an object a length at run time, up to what it has room for.

    A variable with two places (`lives.py`) has one length: it lives in one of them."""
    machine = low.machine
    firsts = [find_root(place)]
    if isinstance(place, Element):
        firsts.append(firsts[0] + place.stride)
    known = [row.beside for row in machine.sized if row.first == firsts[0]]
    if not known:
        known = [add_length(machine, text, most, span)]
        cells = machine.layouts.cells(element)
        machine.sized += [
            SizedRow(first, most * cells, known[0], element=cells) for first in firsts
        ]
    require_room(low, length, most, span, text)
    assign = Assign(Const(known[0]), length)
    low.step(Kind.LOCAL, span, text, operations=(assign,), atomic=True)


def add_length(machine: CProgram, title: str, most: int, span: Span) -> int:
    """Add the cell for the length of an array."""
    cell = CellDraft(f"length of {title}", high=most, role=Role.SYNC, span=span)
    return machine.draft.storage.add(cell)


def require_room(low: CLowering, length: Expr, most: int, span: Span, text: str) -> None:
    """Leave runs undecided in which an array has more elements than there is room for."""
    low.machine.found.moved = True
    message = f"`{text}` has more than {most} elements (--heap)"
    check = Check(binary("ult", length, Const(most + 1)), Fault.BOUND, message)
    low.step(Kind.LOCAL, span, text, operations=(check,))


def _alive_check(rows: Sequence[MortalRow], address: Expr, message: str) -> Check:
    """The object at the address, if it is one of these, is alive."""

    def alive(row: MortalRow) -> Expr:
        return Load(row.life(row.position(address)))

    return Check(choose_by_row(rows, address, alive, ONE), Fault.MEMORY, message)
