"""Initializers: what an object holds at first."""

from __future__ import annotations

from mazurka.errors import UnsupportedError
from mazurka.frontend.c import tree
from mazurka.frontend.c.access import cell_address, read, write
from mazurka.frontend.c.arithmetic import wrap_number
from mazurka.frontend.c.conversions import convert
from mazurka.frontend.c.lowering import CLowering, CProgram, denotes, expression
from mazurka.frontend.c.memory import note_written, pointer_checks, reset_flags, size_object
from mazurka.frontend.c.places_of import declare
from mazurka.frontend.c.types import (
    GAP,
    HANDLES,
    ArrayType,
    CType,
    IntegerType,
    RecordType,
    ScalarPart,
    SyncType,
    bare,
    is_scalar,
)
from mazurka.frontend.c.values import ObjectPlace, Scalar, Whole
from mazurka.frontend.kit.builder import NotStatic
from mazurka.frontend.kit.locks import LockShape
from mazurka.frontend.kit.shapes import Reference
from mazurka.ir.expressions import ZERO, Const, Expr
from mazurka.ir.program import Assign as Store
from mazurka.ir.program import Kind, Span


class _Filling:
    """Distributes the items of a braced list over the parts of an object (C11, 6.7.9)."""

    def __init__(self, machine: CProgram) -> None:
        self.layouts = machine.layouts
        self.found: dict[int, tuple[CType, tree.Expression | int]] = {}

    def fill(self, type_: CType, node: tree.Expression, cell: int) -> None:
        """Initialize the part at a cell by an expression or a list of its own."""
        inner = bare(type_)
        while isinstance(node, tree.Conversion) and isinstance(node.operand, tree.InitialList):
            node = node.operand
        if isinstance(inner, SyncType) and inner.name not in HANDLES:
            self._fill_sync(node, cell)
        elif isinstance(inner, ArrayType) and (text := _text_of(node)) is not None:
            for position in range(inner.length or 0):
                byte = text.data[position] if position < len(text.data) else 0
                element = bare(inner.element)
                signed = isinstance(element, IntegerType) and element.signed
                self.found[cell + position] = (inner.element, wrap_number(byte, 8, signed))
        elif isinstance(node, tree.InitialList) and not is_scalar(inner):
            self.spread(inner, list(node.items), cell, braces=True)
        elif isinstance(node, tree.InitialList):
            if node.items:
                self.fill(inner, node.items[0][1], cell)
        else:
            self.found[cell] = (type_, node)

    def _fill_sync(self, node: tree.Expression, cell: int) -> None:
        """Of a mutex only its kind matters, the one number in it that is not 0."""
        from mazurka.frontend.c.survey import walk

        for each in walk(node):
            if isinstance(each, tree.IntegerConstant) and each.value and each.value < 4:
                self.found[cell + 2] = (IntegerType("int", 32, True), each.value)

    def spread(
        self,
        type_: CType,
        items: list[tuple[tuple[str | int, ...], tree.Expression]],
        cell: int,
        braces: bool,
    ) -> None:
        """Give items to the parts of a structure or array, in order; takes them off the list."""
        position, parts = 0, self._parts(type_)
        while items:
            designators, node = items[0]
            if designators:
                if not braces:
                    return
                position, rest = self._designate(type_, designators)
                items[0] = (rest, node)
                if rest:
                    offset, inner = parts[position]
                    items.pop(0)
                    self.spread(inner, [(rest, node)], cell + offset, braces=True)
                    position += 1
                    continue
            if position >= len(parts):
                if braces:
                    items.pop(0)
                    continue
                return
            offset, inner = parts[position]
            if self._takes_whole(inner, node):
                items.pop(0)
                self.fill(inner, node, cell + offset)
            else:  # braces are left out: the part takes as many items as it needs
                self.spread(inner, items, cell + offset, braces=False)
            position += 1
            if isinstance(type_, RecordType) and type_.union and not braces:
                return

    def _takes_whole(self, inner: CType, node: tree.Expression) -> bool:
        kind = bare(inner)
        if is_scalar(kind) or isinstance(node, tree.InitialList) or isinstance(kind, SyncType):
            return True
        if isinstance(kind, ArrayType):
            return _text_of(node) is not None
        return bare(node.type) == kind

    def _parts(self, type_: CType) -> list[tuple[int, CType]]:
        if isinstance(type_, ArrayType):
            size = self.layouts.cells(type_.element)
            return [(size * position, type_.element) for position in range(type_.length or 0)]
        assert isinstance(type_, RecordType)
        return [(self.layouts.field_cell(type_, each), each.type) for each in type_.body.fields]

    def _designate(
        self, type_: CType, designators: tuple[str | int, ...]
    ) -> tuple[int, tuple[str | int, ...]]:
        first, *rest = designators
        if isinstance(first, int):
            return first, tuple(rest)
        assert isinstance(type_, RecordType)
        for position, each in enumerate(type_.body.fields):
            if each.name == first:
                return position, tuple(rest)
            if not each.name and isinstance(each.type, RecordType) and each.type.find(first):
                return position, designators
        raise UnsupportedError(f"there is no member {first}")


def _text_of(node: tree.Expression) -> tree.StringLiteral | None:
    while isinstance(node, tree.Conversion) or (
        isinstance(node, tree.InitialList) and len(node.items) == 1 and not node.items[0][0]
    ):
        node = node.operand if isinstance(node, tree.Conversion) else node.items[0][1]
    return node if isinstance(node, tree.StringLiteral) else None


def distribute(
    machine: CProgram, type_: CType, node: tree.Expression
) -> dict[int, tuple[CType, tree.Expression | int]]:
    """By cell what an initializer says; cells that are missing are 0."""
    filling = _Filling(machine)
    filling.fill(type_, node, 0)
    return filling.found


def find_ended(machine: CProgram, variable: tree.Variable) -> set[int]:
    """The cells of unions without a value, since an initializer is for another member."""
    rivals = machine.layouts.rival_cells(variable.type)
    if variable.initial is None or not rivals:
        return set()
    covered: set[int] = set()
    for cell, (type_, _) in distribute(machine, variable.type, variable.initial).items():
        covered |= set(range(cell, cell + machine.layouts.cells(type_)))
    return {each for cell in covered for each in rivals.get(cell, ())} - covered


def find_initial_values(low: CLowering, variable: tree.Variable) -> list[int]:
    """The first values of a variable with static storage, which must be constants."""
    machine = low.machine
    values = [0] * machine.layouts.cells(variable.type)
    if variable.initial is None:
        return values
    found = distribute(machine, variable.type, variable.initial)
    for cell, (type_, node) in found.items():
        if isinstance(node, int):
            if cell < len(values):
                values[cell] = node
            if isinstance(type_, IntegerType) and type_.bits == 32 and cell >= len(values):
                machine.found.mutex_kinds = True
            continue
        try:
            value = low.value(node)
            if isinstance(value, Scalar):
                value = convert(low, value, type_, node)
        except NotStatic:
            raise UnsupportedError.at(
                node.span, f"`{node.text}` is not known before the program runs"
            ) from None
        if not isinstance(value, Scalar) or not isinstance(value.expr, Const):
            raise UnsupportedError.at(
                node.span, f"`{node.text}` is not known before the program runs"
            )
        values[cell] = value.expr.value
    return values


def initialize(low: CLowering, place: ObjectPlace, variable: tree.Variable) -> None:
    """Give a local variable its first value."""
    node, span = variable.initial, variable.span
    if variable.length is not None:
        _set_length(low, place, variable, variable.length)
    if node is None:
        _leave_unset(low, place, span)
        return
    if is_scalar(variable.type) and not isinstance(node, tree.InitialList):
        value = low.value(node)
        if isinstance(value, Scalar):
            value = convert(low, value, variable.type, node)
            if isinstance(value.expr, Const) and low.is_unchanging(variable):
                low.frame.known[variable] = value
                return
        write(low, place, value, node.span)
        return
    if isinstance(node, tree.CompoundLiteral) and has_locks(low, variable.type):
        assign_literal(low, place, node)
        return
    if not isinstance(node, tree.InitialList) and isinstance(bare(variable.type), RecordType):
        write(low, place, low.value(node), node.span)
        return
    found = distribute(low.machine, variable.type, node)
    ended = find_ended(low.machine, variable)
    filled = 0
    for cell, part in enumerate(low.machine.layouts.parts(variable.type)):
        if cell < filled or part.type == GAP:
            continue
        address, inner = cell_address(place, cell), bare(part.type)
        if cell in ended:
            operations = note_written(low, place.at(part.type, address, place.title), ZERO)
            low.step(Kind.LOCAL, span, "", operations=operations, atomic=True)
            continue
        type_, item = found.get(cell, (inner, 0))
        if isinstance(inner, SyncType) and inner.name not in HANDLES:
            _set_sync(low, address, item, span)
        elif isinstance(item, int):
            _write_part(low, place, part, address, Scalar(inner, Const(item)), span)
        else:
            value = low.value(item)
            if isinstance(value, Whole):
                whole = place.at(type_, address, place.title + part.suffix)
                write(low, whole, value, item.span)
                filled = cell + len(value.exprs)
            else:
                value = convert(low, value, inner, item)
                _write_part(low, place, part, address, value, span)


def _write_part(
    low: CLowering, place: ObjectPlace, part: ScalarPart, address: Expr, value: Scalar, span: Span
) -> None:
    target = place
    if not is_scalar(place.type):
        target = place.at(part.type, address, place.title + part.suffix, part.bits)
    write(low, target, value, span)


def _set_sync(low: CLowering, address: Expr, item: tree.Expression | int, span: Span) -> None:
    value = item if isinstance(item, int) else 0
    if value:
        low.machine.found.mutex_kinds = True
    operations = (Store(address, Const(value)),)
    low.step(Kind.LOCAL, span, "initialize", operations=operations, atomic=True)


def _set_length(
    low: CLowering, place: ObjectPlace, variable: tree.Variable, node: tree.Expression
) -> None:
    """An array whose length is found now; it has room for `--heap` elements."""
    inner = bare(variable.type)
    assert isinstance(inner, ArrayType)
    length = low.hold(low.scalar(node).expr, node.span, node.type)
    most = low.machine.limits.heap
    name = variable.name
    size_object(low, place.address, inner.element, length, most, node.span, name)


def _leave_unset(low: CLowering, place: ObjectPlace, span: Span) -> None:
    """A variable without an initializer has any value."""
    if place.variable:
        low.mark_unset(place.variable)
        return
    reset_flags(low, place.address, span)


def has_locks(low: CLowering, type_: CType) -> bool:
    """Whether an object of a type holds a lock, or another object that has no value."""
    parts = low.machine.layouts.parts(type_)
    return any(_is_lock(bare(part.type)) for part in parts)


def _is_lock(type_: CType) -> bool:
    return isinstance(type_, SyncType) and type_.name not in HANDLES


def assign_literal(low: CLowering, place: ObjectPlace, node: tree.CompoundLiteral) -> None:
    """Give an object the value of a literal with locks: `*p = (struct s){ .lock = ... }`.

    Locks are initialized as the literal says; everything else is copied from it, after all of it
    has been computed."""
    literal, span, initial = _literal(low, node), node.span, node.variable.initial
    assert initial is not None
    found = distribute(low.machine, node.variable.type, initial)
    for cell, part in enumerate(low.machine.layouts.parts(node.variable.type)):
        if part.type == GAP:
            continue
        target, source = (
            each.at(part.type, cell_address(each, cell), each.title + part.suffix, part.bits)
            for each in (place, literal)
        )
        if _is_lock(bare(part.type)):
            _, item = found.get(cell, (part.type, 0))
            if isinstance(item, int) and item:
                low.machine.found.mutex_kinds = True
            if checks := pointer_checks(low, target):
                low.step(Kind.LOCAL, span, target.title, operations=checks)
            owner = Reference(LockShape(low.program.threads), target.address, True, target.title)
            value = Const(item if isinstance(item, int) else 0)
            text = f"initialize {target.title}"
            low.act(Kind.CLEAR, span, text, owner, Store(target.address, value))
        else:
            write(low, target, read(low, source, span), span)


@denotes(tree.CompoundLiteral)
def _literal(low: CLowering, node: tree.CompoundLiteral) -> ObjectPlace:
    if not low.frames:
        raise low.refuse(node, "a compound literal outside of a function is not supported")
    place = declare(low, node.variable)
    initialize(low, place, node.variable)
    return place


@expression(tree.CompoundLiteral)
def _literal_value(low: CLowering, node: tree.CompoundLiteral) -> Scalar | Whole:
    place = _literal(low, node)
    if isinstance(place.type, ArrayType):
        return Scalar(node.type, place.address)
    return read(low, place, node.span)
