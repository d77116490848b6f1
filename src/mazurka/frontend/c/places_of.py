"""Which object an expression denotes."""

from __future__ import annotations

from dataclasses import replace

from mazurka.errors import UnsupportedError
from mazurka.frontend.c import tree
from mazurka.frontend.c.lives import MOST_ALONE, begin_lives, give_life, runs_again, scope_of
from mazurka.frontend.c.lowering import PLACES, BlockScope, CLowering, denotes
from mazurka.frontend.c.memory import allocate, global_variable, place_text, thread_variable
from mazurka.frontend.c.pointers import move_pointer, settle_bytes
from mazurka.frontend.c.types import (
    ArrayType,
    AtomicType,
    CType,
    PointerType,
    RecordType,
    bare,
    is_scalar,
)
from mazurka.frontend.c.values import BitNeighbour, ObjectPlace, Scalar
from mazurka.frontend.kit.arithmetic import binary, element
from mazurka.ir.expressions import ZERO, Const, Element, Expr
from mazurka.ir.program import Check, Fault, Kind, Span


def place_of(low: CLowering, node: tree.Expression) -> ObjectPlace:
    """The object that an expression denotes."""
    handler = PLACES.get(type(node))
    if isinstance(node, tree.RefusedExpression):
        raise low.refuse(node, node.reason)
    if handler is None:
        raise low.refuse(node, f"`{node.text}` denotes no object that Mazurka can follow")
    return handler(low, node)


def follow(low: CLowering, pointer: Scalar, type_: CType, title: str, span: Span) -> ObjectPlace:
    """The object that a pointer leads to.

    A null pointer to a structure is refused here: a member behind the first has another address,
    which might be that of a cell.  The form of the address keeps analyses that do not see the check
    away from cells that are no memory.
    """
    address = settle_bytes(low, pointer, span, title).expr
    shared = True
    message = f"`{title}` follows a pointer that is null or leads nowhere"
    if isinstance(address, Const):
        if address.value not in low.machine.memory and low.automaton is not None and low.reachable:
            low.fail(Fault.MEMORY, message, span)
    elif low.automaton is not None and not is_scalar(type_):
        address = low.hold(address, span, pointer.type)
        check = Check(binary("gt", address, ZERO), Fault.MEMORY, message)
        low.step(Kind.LOCAL, span, title, operations=(check,))
        address = low.in_memory(address)
    if isinstance(address, Const) and 0 < address.value < len(low.program.storage.cells):
        owner = low.program.storage.cells[address.value].owner
        shared = owner is None or owner != low.number
    known = _is_known(low, address, type_)
    return ObjectPlace(type_, address, shared, title, direct=known, viewed=True)


def _is_known(low: CLowering, address: Expr, type_: CType) -> bool:
    """Whether an address is surely that of an object of the type."""
    from mazurka.frontend.c.memory import is_view

    if not isinstance(address, Const):
        return False
    return is_view(low.machine, address.value, low.machine.layouts.classes(type_))


def declare(low: CLowering, variable: tree.Variable) -> ObjectPlace:
    """The object of a local variable, in this activation of its function."""
    frame, machine = low.frame, low.machine
    found = frame.names.get(variable)
    if found is not None:
        return found
    exposed = variable in low.survey.facts(frame.function).exposed
    owner = None if exposed else low.number
    key = (frame.function, variable, frame.depth)
    known = low.frame_cells.get(key)
    if not machine.layouts.has_cells(variable.type):
        raise UnsupportedError.at(
            variable.span,
            f"`{variable.name}` has a union of a lock and something else; use a structure",
        )
    inner = type_ = bare(variable.type)
    if isinstance(inner, ArrayType) and variable.length is not None:
        type_ = ArrayType(inner.element, machine.limits.heap)
        exposed, owner = True, None
    elif isinstance(inner, ArrayType) and inner.length is None:
        raise UnsupportedError.at(
            variable.span, f"the length of `{variable.name}` is not constant; give it a constant"
        )
    unset = ""
    if is_scalar(variable.type) and not exposed:
        unset = f"{frame.function.name}.{variable.name}.{variable.span.line}.{variable.span.column}"
        unset += f".{frame.depth}.{low.number}"
    scope = scope_of(low, variable)
    address: Expr
    if known is not None and scope is None:
        address = Const(known)
    else:
        name = variable.name if frame.depth == 0 else f"{variable.name}#{frame.depth + 1}"
        if exposed:
            name = f"{name} of {low.thread_title}"
        watched = variable.initial is None
        if variable.parameter:
            watched = isinstance(inner, RecordType)
        watched = watched and (not unset or unset in machine.expected.unset)
        if scope is not None:
            again = runs_again(low, scope)
            lives = low.lives.setdefault(key, [])
            if not lives or not lives[-1].place:
                again = again or len(lives) == MOST_ALONE
                lives.append(
                    give_life(low, name, type_, variable.span, watched=watched, again=again)
                )
            life = lives[-1]
            scope.lives.append(life)
            address = life.address
        else:
            first = allocate(machine, name, type_, owner, variable.span, watched=watched)
            low.frame_cells[key] = first
            address = Const(first)
    if unset in machine.expected.unset:
        unset = ""  # it is watched, as memory is
    place = ObjectPlace(variable.type, address, exposed, variable.name, variable=unset)
    frame.names[variable] = place
    return place


def enter(low: CLowering, node: object, span: Span) -> None:
    """Enter a block that declares mortal variables."""
    variables = low.survey.facts(low.frame.function).blocks.get(node, ())
    if not variables:
        return
    scope = BlockScope(node)
    low.frame.scopes.append(scope)
    for variable in variables:
        declare(low, variable)
    if low.reachable:
        begin_lives(low, scope, span)


@denotes(tree.Name)
def _name(low: CLowering, node: tree.Name) -> ObjectPlace:
    variable = node.variable
    if variable.local:
        return declare(low, variable)
    if variable.per_thread:
        return thread_variable(low, variable)
    return global_variable(low.machine, variable)


@denotes(tree.Dereference)
def _dereference(low: CLowering, node: tree.Dereference) -> ObjectPlace:
    pointer = low.scalar(node.operand)
    return follow(low, pointer, node.type, node.text, node.span)


@denotes(tree.Member)
def _member(low: CLowering, node: tree.Member) -> ObjectPlace:
    if node.arrow:
        base = follow(low, low.scalar(node.base), node.record, node.text, node.span)
    else:
        base = place_of(low, node.base)
    way = node.record.find(node.name)
    if way is None:
        raise low.refuse(node, f"`{node.text}`: there is no member `{node.name}`")
    record, address, bits, viewed = node.record, base.address, None, base.viewed
    layouts, rivals = low.machine.layouts, base.rivals
    beside: tuple[BitNeighbour, ...] = ()
    for member in way:
        viewed = viewed or record.union
        if member.bits and not record.union:
            here = layouts.field_cell(record, member)
            beside = tuple(
                BitNeighbour(
                    layouts.field_cell(record, each) - here, each.type, each.bits or 0, each.name
                )
                for each in layouts.bit_neighbours(record, member)
            )
        if record.union:
            rivals += tuple(
                binary("add", address, Const(each)) for each in layouts.rivals(record, member)
            )
        address = binary("add", address, Const(low.machine.layouts.field_cell(record, member)))
        bits = member.bits
        if isinstance(member.type, RecordType):
            record = member.type
    if not low.machine.layouts.has_cells(node.record):
        raise low.refuse(node, f"`{node.text}`: a lock shares memory with something else")
    if isinstance(base.type, AtomicType):
        raise low.refuse(node, "members of an atomic structure cannot be accessed")
    found = base.at(way[-1].type, address, node.text, bits)
    unlike = base.unlike or len(rivals) > len(base.rivals)
    return replace(found, viewed=viewed, unlike=unlike, rivals=rivals, neighbours=beside)


@denotes(tree.Subscript)
def _subscript(low: CLowering, node: tree.Subscript) -> ObjectPlace:
    base = node.base
    if isinstance(base, tree.Conversion) and isinstance(base.operand.type, ArrayType):
        array = place_of(low, base.operand)
        index = low.scalar(node.index)
        return locate(low, node, array, base.operand.type, index.expr)
    pointer, index = low.scalar(base), low.scalar(node.index)
    moved = move_pointer(low, pointer, index, node)
    return follow(low, moved, node.type, node.text, node.span)


def locate(
    low: CLowering, node: tree.Expression, array: ObjectPlace, type_: ArrayType, index: Expr
) -> ObjectPlace:
    """An element of an array whose place is known."""
    if not type_.length:
        pointer = Scalar(PointerType(type_.element, 64), array.address)
        moved = move_pointer(low, pointer, Scalar(node.type, index), node)
        return follow(low, moved, node.type, node.text, node.span)
    stride = low.machine.layouts.cells(type_.element)
    if isinstance(index, Const) and isinstance(array.address, Const):
        if not 0 <= index.value < type_.length:
            address: Expr = Element(array.address, index, type_.length, stride)
        else:
            address = element(array.address, index, type_.length, stride)
    else:
        address = Element(array.address, low.keep(index, node.span), type_.length, stride)
    return array.at(node.type, address, node.text)


@denotes(tree.StringLiteral)
def _text(low: CLowering, node: tree.StringLiteral) -> ObjectPlace:
    return ObjectPlace(node.type, Const(place_text(low.machine, node)), True, node.text)


@denotes(tree.Conversion)
def _convert(low: CLowering, node: tree.Conversion) -> ObjectPlace:
    """A conversion that changes nothing about the object: `const`, or an equal type."""
    inner = place_of(low, node.operand)
    if bare(node.type) != bare(inner.type):
        raise low.refuse(node, f"`{node.text}` denotes no object")
    return inner


@denotes(tree.StatementExpression)
def _statement_expression(low: CLowering, node: tree.StatementExpression) -> ObjectPlace:
    value = low.value(node)
    return _keep(low, node, value)


@denotes(tree.Call)
def _call(low: CLowering, node: tree.Call) -> ObjectPlace:
    """A structure that a function returns: `f().member`."""
    return _keep(low, node, low.value(node))


def _keep(low: CLowering, node: tree.Expression, value: object) -> ObjectPlace:
    """Put a structure into cells of this thread, so that its members can be read."""
    from mazurka.frontend.c.access import write
    from mazurka.frontend.c.values import Whole

    if not isinstance(value, Whole):
        raise low.refuse(node, f"`{node.text}` denotes no object")
    key = ("kept", node, low.frame.depth)
    address = low.frame_cells.get(key)
    if address is None:
        address = allocate(low.machine, "kept", value.type, low.number, node.span)
        low.frame_cells[key] = address
    place = ObjectPlace(value.type, Const(address), False, node.text)
    write(low, place, value, node.span)
    return place
