"""Names that hold values of several numbers: frozen records and tuples.

In Python such a name stands for an object that never changes, so nobody can tell an object from its
copy (models do not compare their identity).  A model therefore gives each name cells of its own,
and assigning to the name copies: all parts are read before the first is written.  Whatever keeps
such a value under a name, in a list or as a result takes a copy, so the cells of a name can be
written again in the next round of a loop.

A parameter that its function does not assign stands for the caller's cells: these cannot change
during the call.  In a thread whose objects other threads reach, records are shared objects.
"""

from __future__ import annotations

import ast
from typing import TypeGuard

from mazurka.frontend.kit.builder import Temporary
from mazurka.frontend.kit.shapes import Blueprint, NumberShape, RecordShape, Reference, Shape
from mazurka.frontend.python.lowering import LocalParts, LocalVariable, Lowering
from mazurka.frontend.python.survey import is_frozen
from mazurka.frontend.python.values.kinds import Number, Sequence, Value, kind_of
from mazurka.ir.expressions import Const, Expr, Load, walk
from mazurka.ir.program import Assign, Kind, Role


def is_record_of_numbers(low: Lowering, shape: Shape) -> bool:
    """Whether objects of a shape are instances of a frozen dataclass of numbers."""
    if not isinstance(shape, RecordShape) or not shape.fields:
        return False
    plain = all(isinstance(field, NumberShape) for _, field in shape.fields)
    return plain and is_frozen(low.program.survey.classes[shape.name])


def is_record_value(low: Lowering, value: Value) -> bool:
    """Whether a value is a frozen record that names of this thread hold by value."""
    if not isinstance(value, Blueprint | Reference) or low.number in low.program.escaping:
        return False
    return is_record_of_numbers(low, value.shape)


def is_tuple_value(value: Value) -> TypeGuard[Sequence]:
    """Whether a value is a tuple of numbers."""
    if not isinstance(value, Sequence) or not value.is_tuple or not value.items:
        return False
    return all(isinstance(item, Number) for item in value.items)


def is_own_record(low: Lowering, value: Value) -> bool:
    """Whether a value is a frozen record in cells of this thread, which may be written again."""
    return isinstance(value, Reference) and not value.shared and is_record_value(low, value)


def read_parts(low: Lowering, value: Value, node: ast.AST) -> list[Number]:
    """Read the fields of a record or the items of a tuple; shared ones take a step each."""
    match value:
        case Sequence(items):
            return [item for item in items if isinstance(item, Number)]
        case Blueprint(RecordShape() as shape, initials):
            pairs = zip(initials, shape.fields, strict=True)
            return [Number(initial, _is_truth(field)) for initial, (_, field) in pairs]
        case Reference(RecordShape() as shape, _, shared, title):
            places = [
                Reference(field, value.cell(offset), shared, f"{title}.{name}")
                for name, offset, field in shape.placed()
            ]
            if shared:
                return [low.read(place, node) for place in places]
            return [Number(Load(place.address), _is_truth(place.shape)) for place in places]
        case _:
            raise low.refuse(node, f"this is {kind_of(value)}, not a record")


def _is_truth(shape: Shape) -> bool:
    return isinstance(shape, NumberShape) and shape.role is Role.BOOL


def join_parts(value: Value, parts: list[Number]) -> Value:
    """Make a value of other numbers of the same kind as one that there is."""
    if isinstance(value, Blueprint | Reference):
        return Blueprint(value.shape, tuple(part.expr for part in parts))
    return Sequence(list(parts), is_tuple=True)


def is_kept(value: Value) -> bool:
    """Whether all parts of a new record are constants and temporaries, which stay as they are."""
    return isinstance(value, Blueprint) and not any(
        isinstance(part, Load) and not _is_temporary(part.address)
        for initial in value.initials
        for part in walk(initial)
    )


def _is_temporary(address: Expr) -> bool:
    return isinstance(address, Const) and isinstance(address.value, Temporary)


def keep_parts(low: Lowering, value: Value, node: ast.AST) -> Value:
    """Keep a record's fields in temporaries, since the cells they are in may be written."""
    span, parts = low.span(node), read_parts(low, value, node)
    kept = [Number(low.keep(p.expr, span, _role(p)), p.boolean) for p in parts]
    return join_parts(value, kept)


def _role(part: Number) -> Role:
    return Role.BOOL if part.boolean else Role.INT


def place_copy(low: Lowering, name: str, value: Value, node: ast.AST) -> Value:
    """Copy a record or a tuple to new cells; they are set whenever the code runs."""
    variable = _add_cells(low, name, value, node)
    _write(low, variable, value, node)
    return variable.fetch()


def own_value(
    low: Lowering, name: str, value: Value, node: ast.AST, *, same_kind: bool = False
) -> None:
    """Assign a frozen record or a tuple of numbers to a name, which has cells of its own.

    A name keeps to its class, and to its length where the assignment may not happen, or with
    `same_kind`.
    """
    known = low.frame.variables.get(name)
    if isinstance(known, LocalParts) and known.fits(value):
        _write(low, known, value, node)
    else:
        if known is not None:
            _check_new_kind(low, name, known, value, node, same_kind=same_kind)
        variable = _add_cells(low, name, value, node)
        _write(low, variable, value, node)
        low.frame.variables[name] = variable
    low.mark_bound(name)


def _check_new_kind(
    low: Lowering,
    name: str,
    known: LocalVariable | LocalParts | Value,
    value: Value,
    node: ast.AST,
    *,
    same_kind: bool,
) -> None:
    """Refuse a value of another kind than a name has held, unless it surely replaces that."""
    has_cell = isinstance(known, LocalVariable) or (
        isinstance(known, LocalParts) and known.record is not None
    )
    if same_kind or has_cell:
        raise low.refuse(node, f"`{name}` changes its type to {kind_of(value)}; use another name")
    if not low.certain:
        held = known.fetch() if isinstance(known, LocalParts) else known
        assert not isinstance(held, LocalVariable)
        both = kind_of(held)
        if isinstance(held, Sequence) and is_tuple_value(value):
            assert isinstance(value, Sequence)
            both = f"a tuple of {len(held.items)} and of {len(value.items)} items"
        raise low.refuse(
            node, f"`{name}` is {both} in one of several assignments; use another name for it"
        )


def _add_cells(low: Lowering, name: str, value: Value, node: ast.AST) -> LocalParts:
    span = low.span(node)
    low.require_automaton()
    if isinstance(value, Blueprint | Reference):
        shape = value.shape
        assert isinstance(shape, RecordShape)
        if isinstance(value, Reference):
            value = Blueprint(shape, tuple(Load(value.cell(k)) for k in range(shape.size)))
        base = low.program.storage.place(name, value, low.number, span)
        fields = [
            LocalVariable(f"{name}.{field}", base + offset, form.role)
            for field, offset, form in shape.placed()
            if isinstance(form, NumberShape)
        ]
        return LocalParts(name, tuple(fields), shape)
    parts = []
    for position, part in enumerate(read_parts(low, value, node)):
        title = f"{name}[{position}]"
        parts.append(LocalVariable(title, low.add_local(title, span, _role(part)), _role(part)))
    return LocalParts(name, tuple(parts))


def _write(low: Lowering, variable: LocalParts, value: Value, node: ast.AST) -> None:
    """Write all parts in one step; what depends on a part of the same name is computed before.

    The assignments of a step happen one after the other.  Leaving `keep` out would give `t = (t[1],
    t[0])` the same number twice.
    """
    cells = [part.cell for part in variable.parts]
    numbers = []
    for cell, number in zip(cells, read_parts(low, value, node), strict=True):
        expr = number.expr
        if expr != Load(Const(cell)) and _may_read(expr, cells):
            expr = low.keep(expr, low.span(node), _role(number))
        numbers.append(Number(expr, number.boolean))
    if variable.record is None:
        for part, number in zip(variable.parts, numbers, strict=True):
            draft = low.program.storage.cells[part.cell]
            if not number.boolean and draft.inferred:  # shown as a number from now on
                draft.role = part.role = Role.INT
    operations = tuple(
        Assign(Const(cell), number.expr) for cell, number in zip(cells, numbers, strict=True)
    )
    low.step(Kind.LOCAL, low.span(node), _describe(variable.name, node), operations=operations)


def _may_read(expr: Expr, cells: list[int]) -> bool:
    """Whether an expression reads one of the cells, as far as can be told."""
    return any(
        isinstance(part, Load)
        and (not isinstance(part.address, Const) or part.address.value in cells)
        for part in walk(expr)
    )


def _describe(name: str, node: ast.AST) -> str:
    match node:
        case ast.Assign(_, value) | ast.AnnAssign(_, _, ast.expr() as value):
            return f"{name} = {ast.unparse(value)[:60]}"
        case _:
            return f"make {name}"
