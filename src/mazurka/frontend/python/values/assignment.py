"""Assign values to names, elements and fields.

A local that is assigned once, with something known while elaborating (a constant, an alias of an
object at a known address), needs no cell: the name stands for the thing itself.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from mazurka.frontend.kit.shapes import (
    ArrayShape,
    Blueprint,
    NumberShape,
    RecordShape,
    Reference,
    Shape,
)
from mazurka.frontend.python.lowering import Activation, LocalParts, LocalVariable, Lowering
from mazurka.frontend.python.survey import is_frozen, walk_own_nodes
from mazurka.frontend.python.values.containers import list_items, make_array
from mazurka.frontend.python.values.kinds import (
    Interval,
    Nothing,
    Number,
    Sequence,
    ThreadHandle,
    Value,
    kind_of,
)
from mazurka.frontend.python.values.owned import (
    is_kept,
    is_own_record,
    is_record_value,
    is_tuple_value,
    keep_parts,
    own_value,
    place_copy,
)
from mazurka.ir.expressions import Const, Expr, Load, walk
from mazurka.ir.program import Assign, Kind, Role


def assign(low: Lowering, target: ast.expr, value: Value, node: ast.AST) -> None:
    """Store a value that has been evaluated."""
    match target:
        case ast.Name(name):
            assign_name(low, name, value, node)
        case ast.Tuple(targets) | ast.List(targets):
            assign_items(low, targets, value, node)
        case ast.Subscript() | ast.Attribute():
            check_frozen(low, target)
            place = low.designate(target)
            if isinstance(target, ast.Subscript) and isinstance(place, Number):
                raise low.refuse(
                    target,
                    f"`{ast.unparse(target)}` cannot be assigned: `{ast.unparse(target.value)}` is"
                    " a tuple or a slice, which stays as it is in a model; use an Array",
                )
            if not (isinstance(place, Reference) and isinstance(place.shape, NumberShape)):
                raise low.refuse(
                    target,
                    f"`{ast.unparse(target)}` is {_describe(place)}, which cannot"
                    " be replaced; only numbers can be assigned",
                )
            if not isinstance(value, Number):
                raise low.refuse(
                    node, f"`{ast.unparse(target)}` holds a number, not {kind_of(value)}"
                )
            low.store(place, value.expr, low.span(node))
        case _:
            raise low.refuse(target, f"`{ast.unparse(target)}` cannot be assigned to in a model")


def check_frozen(low: Lowering, target: ast.expr) -> None:
    """Refuse to change an instance of a frozen dataclass."""
    if not isinstance(target, ast.Attribute):
        return
    classes = low.program.survey.classes.values()
    names = {part for each in classes if is_frozen(each) for part in _field_names(each)}
    if target.attr not in names:
        return
    owner = low.designate(target.value)
    if isinstance(owner, Reference) and isinstance(owner.shape, RecordShape):
        definition = low.program.survey.classes[owner.shape.name]
        if is_frozen(definition):
            raise low.refuse(
                target, f"`{definition.name}` is frozen: `{ast.unparse(target)}` cannot be assigned"
            )


def _field_names(definition: ast.ClassDef) -> set[str]:
    parts = (part.target for part in definition.body if isinstance(part, ast.AnnAssign))
    return {part.id for part in parts if isinstance(part, ast.Name)}


def _describe(place: Value) -> str:
    return "no field" if not isinstance(place, Reference) else kind_of(place)


def assign_items(low: Lowering, targets: list[ast.expr], value: Value, node: ast.AST) -> None:
    """Assign `a, b = x, y`: all right sides are evaluated before the first left side changes."""
    for target in targets:
        if isinstance(target, ast.Starred):
            text = ast.unparse(target)
            raise low.refuse(target, f"`{text}` is not supported on the left; name each item")
    if isinstance(value, Interval):
        value = Sequence(list_items(low, value, node) or [])
    if not isinstance(value, Sequence) or len(value.items) != len(targets):
        raise low.refuse(node, f"{kind_of(value)} cannot be unpacked into {len(targets)} names")
    items = [item if _is_settled(low, item) else settle(low, item, node) for item in value.items]
    for target, item in zip(targets, items, strict=True):
        assign(low, target, item, node)


def _is_settled(low: Lowering, item: Value) -> bool:
    if is_record_value(low, item):
        return is_kept(item) or (isinstance(item, Reference) and item.shared and is_fixed(item))
    match item:
        case Number(expr) | Reference(_, expr) | ThreadHandle(expr):
            return not any(isinstance(part, Load) for part in walk(expr))
        case Sequence(items):
            return all(_is_settled(low, inner) for inner in items)
        case _:
            return True


def settle(low: Lowering, item: Value, node: ast.AST) -> Value:
    """Keep a value in temporaries, since what it was computed from may change."""
    if is_own_record(low, item) or (isinstance(item, Blueprint) and is_record_value(low, item)):
        return item if is_kept(item) else keep_parts(low, item, node)
    match item:
        case Number(expr, boolean):
            return Number(low.keep(expr, low.span(node)), boolean)
        case Reference(shape, address, shared, title):
            return Reference(shape, low.keep(address, low.span(node), Role.POINTER), shared, title)
        case ThreadHandle(expr):
            return ThreadHandle(low.keep(expr, low.span(node), Role.HANDLE))
        case Sequence(items, growing, None):  # one that has a name has its own copies already
            settled = [settle(low, inner, node) for inner in items]
            return Sequence(settled, growing, is_tuple=item.is_tuple)
        case _:
            return item


def assign_name(low: Lowering, name: str, value: Value, node: ast.AST) -> None:
    frame = low.frame
    if isinstance(value, Reference) and isinstance(value.shape, NumberShape):
        value = low.read(value, node)  # an item of an Array: the variable gets a copy
    if not frame.facts.is_local(name) or (frame.is_module and name in low.program.globals):
        _assign_global(low, name, value, node)
        return
    if _owns(low, name, value):
        own_value(low, name, value, node)
        return
    if isinstance(value, Sequence):
        value = _list_value(low, name, value, node)
    if isinstance(value, Interval):
        value = _own_interval(low, name, value, node)
    if isinstance(value, Blueprint):
        value = create_object(low, name, value, node)
    known = frame.variables.get(name)
    if isinstance(known, LocalParts) and known.record is not None:
        raise low.refuse(node, f"`{name}` changes its type to {kind_of(value)}; use another name")
    if not isinstance(known, LocalVariable) and _needs_no_cell(low, name, value):
        if known is not None or frame.facts.stores[name] > 1:
            _check_static_rebinding(low, name, value, node)
        frame.variables[name] = value
        low.mark_bound(name)
        return
    bind_cell(low, name, value, node)


def _owns(low: Lowering, name: str, value: Value) -> bool:
    """Whether a name holds a record or a tuple in cells of its own.

    Otherwise it stands for a shared record, or for a tuple that no other assignment replaces.
    """
    frame = low.frame
    several = frame.facts.stores[name] > 1
    known = isinstance(frame.variables.get(name), LocalParts)
    if is_record_value(low, value):
        is_shared = isinstance(value, Reference) and value.shared
        return known or several or not is_shared or low.unrolled != frame.unrolled
    repeated = low.unrolled != frame.unrolled and not low.certain
    return is_tuple_value(value) and (
        known or repeated or (several and name in frame.facts.branched)
    )


def _assign_global(low: Lowering, name: str, value: Value, node: ast.AST) -> None:
    place = low.program.globals.get(name)
    if not (isinstance(place, Reference) and isinstance(place.shape, NumberShape)):
        what = "is not defined at module level" if place is None else f"is {kind_of(place)}"
        raise low.refuse(node, f"`{name}` {what}; only shared numbers can be assigned by functions")
    if not isinstance(value, Number):
        raise low.refuse(node, f"the shared variable `{name}` holds a number, not {kind_of(value)}")
    low.store(place, value.expr, low.span(node))


def _list_value(low: Lowering, name: str, value: Sequence, node: ast.AST) -> Value:
    """Make an array of a list of numbers; keep the items of other lists and tuples."""
    if value.growing and value.origin is not None:
        return value  # another name of the same list
    blueprint = make_array(value.items) if value.growing else None
    if blueprint is not None:
        return blueprint
    items = [copy_to_cell(low, f"{name}[{n}]", item, node) for n, item in enumerate(value.items)]
    origin = (low.frame, low.uncertain)
    return Sequence(items, growing=value.growing, origin=origin, is_tuple=value.is_tuple)


def copy_to_cell(low: Lowering, name: str, item: Value, node: ast.AST) -> Value:
    """Copy a value to a cell of its own, since what it was computed from may change."""
    if is_own_record(low, item) or (isinstance(item, Blueprint) and is_record_value(low, item)):
        return place_copy(low, name, item, node)
    if isinstance(item, Blueprint):
        return create_object(low, name, item, node)
    if isinstance(item, Sequence):
        copies = [copy_to_cell(low, name, inner, node) for inner in item.items]
        return Sequence(copies, is_tuple=item.is_tuple)
    return item if _is_settled(low, item) else _into_cell(low, name, item, node).fetch()


def _own_interval(low: Lowering, name: str, value: Interval, node: ast.AST) -> Interval:
    ends = [copy_to_cell(low, name, Number(end), node) for end in (value.start, value.stop)]
    start, stop = (end.expr for end in ends if isinstance(end, Number))
    return Interval(start, stop, value.step)


def _needs_no_cell(low: Lowering, name: str, value: Value) -> bool:
    if isinstance(value, Nothing) and low.frame.facts.stores[name] > 1:
        return False
    if not isinstance(value, Number | Reference | ThreadHandle):
        return True
    once = low.frame.facts.stores[name] == 1 and low.unrolled == low.frame.unrolled
    return once and is_fixed(value)


def is_fixed(value: Value) -> bool:
    """Whether the value is known while elaborating, address and all."""
    match value:
        case Number(expr) | Reference(_, expr) | ThreadHandle(expr):
            return isinstance(expr, Const)
        case Sequence(items):
            return all(is_fixed(item) for item in items)
        case _:
            return True


def bind_cell(low: Lowering, name: str, value: Value, node: ast.AST) -> None:
    """Store a value in the variable's cell, which its first assignment makes."""
    known = low.frame.variables.get(name)
    if not isinstance(known, LocalVariable):
        if isinstance(known, LocalParts):
            _check_static_rebinding(low, name, known.fetch(), node)
        elif known is not None and not isinstance(known, Number | Reference | ThreadHandle):
            _check_static_rebinding(low, name, known, node)
        low.frame.variables[name] = _into_cell(low, name, value, node)
    else:
        _store(low, known, value, node)
    low.mark_bound(name)


def _check_static_rebinding(low: Lowering, name: str, known: Value, node: ast.AST) -> None:
    if not low.certain:
        raise low.refuse(
            node,
            f"`{name}` is {kind_of(known)} in one of several assignments; use another name for it",
        )


def _into_cell(low: Lowering, name: str, value: Value, node: ast.AST) -> LocalVariable:
    target, shared = None, True
    match value:
        case Number(_, boolean):
            role = Role.BOOL if boolean else Role.INT
        case Reference(shape, _, is_shared):
            role, target, shared = Role.POINTER, shape, is_shared
        case ThreadHandle() | Nothing():
            role = Role.HANDLE
        case _:
            raise low.refuse(node, f"`{name}` cannot hold {kind_of(value)} here")
    cell = low.add_local(name, low.span(node), role)
    variable = LocalVariable(name, cell, role, target, shared)
    _store(low, variable, value, node)
    return variable


def _store(low: Lowering, variable: LocalVariable, value: Value, node: ast.AST) -> None:
    expr = _fitting(low, variable, value, node)
    low.set_cell(variable.cell, expr, low.span(node), f"{variable.name} = {_brief(node)}")


def _fitting(low: Lowering, variable: LocalVariable, value: Value, node: ast.AST) -> Expr:
    """Find what to store; refuse a value that the variable cannot hold."""
    match value:
        case Number(expr, boolean) if variable.role in (Role.INT, Role.BOOL):
            draft = low.program.storage.cells[variable.cell]
            if not boolean and draft.inferred:  # shown as a number from now on
                draft.role = variable.role = Role.INT
            return expr
        case Reference(shape, address, shared) if (
            variable.role is Role.POINTER and shape == variable.target
        ):
            if shared and not variable.shared:
                raise low.refuse(
                    node,
                    f"`{variable.name}` stands for an object of this thread before;"
                    " use another name for the shared one",
                )
            return address
        case ThreadHandle(expr) if variable.role is Role.HANDLE:
            return expr
        case Nothing() if variable.role is Role.HANDLE:
            return Const(0)
        case _:
            raise low.refuse(
                node, f"`{variable.name}` changes its type to {kind_of(value)}; use another name"
            )


def _brief(node: ast.AST) -> str:
    match node:
        case ast.Assign(_, value) | ast.AnnAssign(_, _, ast.expr() as value):
            return ast.unparse(value)[:60]
        case _:
            return "..."


def create_object(low: Lowering, name: str, blueprint: Blueprint, node: ast.AST) -> Reference:
    """Place an object that a function makes; its cells are set whenever the code runs."""
    model = low.program
    low.require_automaton()
    if low.loop_depth:
        _check_single_use(low, name, blueprint.shape, node)
    escapes = low.number in model.escaping
    owner = None if escapes or not _is_plain(blueprint) else low.number
    address = model.storage.place(name, blueprint, owner, low.span(node))
    operations = tuple(
        Assign(Const(address + offset), initial)
        for offset, initial in enumerate(blueprint.initials)
    )
    kind = Kind.LOCAL if owner is not None else Kind.ACCESS
    low.step(kind, low.span(node), f"make {name}", operations=operations, atomic=owner is None)
    return Reference(blueprint.shape, Const(address), owner is None, name)


def _is_plain(blueprint: Blueprint) -> bool:
    return all(form.role in (Role.INT, Role.BOOL) for form in blueprint.shape.forms())


def _check_single_use(low: Lowering, name: str, shape: Shape, node: ast.AST) -> None:
    """Refuse a second name for an object made in a loop, or for a part of it that is an object:
    each round uses its cells again.

    The object may be an item of a list, `boxes[0]`.  What is read of it must be a number: a chain
    like `boxes[0].inner.count` is followed through the shapes.
    """
    if low.number in low.program.escaping:
        raise low.refuse(
            node,
            f"`{name}` is made in a loop and handed to a thread; make an Array of"
            " them before the loop",
        )
    root = re.split(r"[.\[]", name)[0]
    whole = shape if root == name else ArrayShape(shape, 1)
    nodes = list(walk_own_nodes(low.frame.facts.body))
    inner = {id(one.value) for one in nodes if isinstance(one, ast.Subscript | ast.Attribute)}
    passing: dict[int, int] = {}
    """By the identity of an expression: how many levels are taken apart where it stands."""
    for one in nodes:
        match one:
            case ast.Call(ast.Name("len"), [measured]):
                passing[id(measured)] = -1
            case ast.withitem(context):
                passing[id(context)] = -1
            case ast.For(_, iterated) | ast.comprehension(_, iterated):
                passing[id(iterated)] = 1
    for one in nodes:
        accessed = _accesses(one)
        if accessed is None or accessed[0] != root or id(one) in inner:
            continue
        if isinstance(getattr(one, "ctx", None), ast.Load) and passing.get(id(one)) != -1:
            steps = [*accessed[1], *[None] * passing.get(id(one), 0)]
            if _is_object(_follow(whole, steps)):
                raise low.refuse(
                    node,
                    f"`{name}` is made in a loop and used under another name; make it before"
                    " the loop",
                )


def _accesses(node: ast.AST) -> tuple[str, list[str | None]] | None:
    """The variable and the steps of `boxes[0].inner`: the names of fields, None for an index."""
    match node:
        case ast.Name(variable):
            return variable, []
        case ast.Subscript(value, ast.Slice()):
            return _accesses(value)
        case ast.Subscript(value):
            step: str | None = None
        case ast.Attribute(value, field):
            step = field
        case _:
            return None
    found = _accesses(value)
    return None if found is None else (found[0], [*found[1], step])


def _follow(shape: Shape | None, steps: Iterable[str | None]) -> Shape | None:
    """The shape of a part; None for what is no part: a method."""
    for step in steps:
        match shape:
            case ArrayShape(element) if step is None:
                shape = element
            case RecordShape(_, fields) if step is not None:
                shape = dict(fields).get(step)
            case _:
                return None
    return shape


def _is_object(shape: Shape | None) -> bool:
    return shape is not None and not isinstance(shape, NumberShape)


def bind_parameter(
    low: Lowering, frame: Activation, name: str, value: Value, node: ast.AST
) -> None:
    """Bind a parameter; the caller's variables cannot change during the call and need no copy."""
    if is_record_value(low, value) or is_tuple_value(value):
        if name in frame.facts.stores:
            low.frames.append(frame)
            own_value(low, name, value, node)
            low.frames.pop()
            return
        if isinstance(value, Blueprint):
            value = place_copy(low, name, value, node)
    if isinstance(value, Blueprint):
        low.frames.append(frame)  # what the function calls by another name, it may return
        value = create_object(low, name, value, node)
        low.frames.pop()
    if name not in frame.facts.stores and _is_simple_value(value):
        frame.variables[name] = value
        return
    low.frames.append(frame)
    bind_cell(low, name, value, node)
    low.frames.pop()


def point_to_parameter(
    low: Lowering, frame: Activation, name: str, function: ast.FunctionDef
) -> None:
    """Note of a parameter's cell, if it has one, that it is declared in the function's head."""
    variable = frame.variables.get(name)
    arguments = function.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if argument.arg == name and isinstance(variable, LocalVariable):
            low.program.storage.cells[variable.cell].span = low.span(argument)


def _is_simple_value(value: Value) -> bool:
    match value:
        case Number(expr) | Reference(_, expr) | ThreadHandle(expr):
            return _is_atom(expr)
        case _:
            return True


def _is_atom(expr: Expr) -> bool:
    return isinstance(expr, Const) or (isinstance(expr, Load) and isinstance(expr.address, Const))
