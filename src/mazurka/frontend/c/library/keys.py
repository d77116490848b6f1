"""Keys: values of each thread's own, with destructors that run when the thread ends.

A key is a number from 1 on, one for each call of `pthread_key_create` in the text; a call that may
run more than once is refused, unless `pthread_once` sees to it.
"""

from __future__ import annotations

from mazurka.frontend.c import tree
from mazurka.frontend.c.access import write
from mazurka.frontend.c.conversions import convert
from mazurka.frontend.c.library.arguments import SUCCESS, required_target
from mazurka.frontend.c.library.threads import DESTRUCTORS, POINTER
from mazurka.frontend.c.lowering import CLowering, library
from mazurka.frontend.c.pointers import settle_bytes
from mazurka.frontend.c.types import VOID
from mazurka.frontend.c.values import MOST_KEYS, Scalar
from mazurka.frontend.kit.arithmetic import binary
from mazurka.frontend.kit.shapes import CellDraft
from mazurka.ir.expressions import ZERO, Const, Element, Expr, Load
from mazurka.ir.program import Assign, Check, Fault, Kind, Role, Span


@library("pthread_key_create", "tss_create")
def _create(low: CLowering, node: tree.Call) -> Scalar:
    machine = low.machine
    if (low.loop_depth or low.plan.lineage) and not low.once:
        raise low.refuse(
            node, "a key must be created once: in no loop and by the main thread, or in a function"
            " that `pthread_once` runs",
        )  # fmt: skip
    destructor = low.scalar(node.arguments[1])
    number = destructor.constant
    if number is None or (number and low.machine.function_at(number) is None):
        raise low.refuse(node, "the destructor of a key must be named here")
    number = machine.keys_made.get(node.callee, 0) if low.once else 0
    if not number:
        machine.destructors.append(destructor.constant or 0)
        number = machine.keys_made[node.callee] = len(machine.destructors)
    if number > MOST_KEYS:
        raise low.refuse(node, f"there are more than {MOST_KEYS} keys")
    target = required_target(low, node.arguments[0])
    if target is not None:
        write(low, target, Scalar(target.type, Const(number)), node.span)
    return SUCCESS


@library("pthread_key_delete", "tss_delete", unread=(0,))
def _delete(low: CLowering, node: tree.Call) -> Scalar:
    return SUCCESS


def _cell(low: CLowering, node: tree.Call) -> Expr:
    """The cell that holds this thread's value of a key."""
    key = low.scalar(node.arguments[0])
    index = binary("sub", low.hold(key.expr, node.span, key.type), Const(1))
    return Element(Const(_values(low, node.span)), index, MOST_KEYS, 1)


def _values(low: CLowering, span: Span) -> int:
    found = low.frame_cells.get(("keys",))
    if found is None:
        storage = low.program.storage
        found = len(storage.cells)
        for number in range(MOST_KEYS):
            title = f"key#{number + 1}"  # a name as the source might have one: traces show it
            storage.add(
                CellDraft(title, owner=low.number, role=Role.POINTER, inferred=True, span=span)
            )
        low.frame_cells[("keys",)] = found
    return found


@library("pthread_getspecific", "tss_get")
def _get(low: CLowering, node: tree.Call) -> Scalar:
    cell = Const(low.take_temporary(Role.POINTER, node.span))
    operations = (Assign(cell, Load(_cell(low, node))),)
    low.step(Kind.LOCAL, node.span, node.text, operations=operations)
    return Scalar(POINTER, Load(cell))


@library("pthread_setspecific", "tss_set")
def _set(low: CLowering, node: tree.Call) -> Scalar:
    value = convert(low, low.scalar(node.arguments[1]), POINTER, node)
    value = settle_bytes(low, value, node.span, node.text)
    held = low.hold(value.expr, node.span, POINTER)
    low.step(Kind.LOCAL, node.span, node.text, operations=(Assign(_cell(low, node), held),))
    return SUCCESS


def _destroy(low: CLowering, span: Span) -> None:
    """Call the destructor of each key that has a value, once."""
    if ("keys",) not in low.frame_cells:
        return
    base = low.frame_cells[("keys",)]
    for position, number in enumerate(low.machine.expected.destructors):
        function = low.machine.function_at(number)
        if function is None:
            continue
        cell = Const(base + position)
        run, end = low.label(span), low.label(span)
        held = low.keep(Load(cell), span, Role.POINTER)
        low.split(binary("ne", held, ZERO), span, f"key {position + 1} has a value", run, end)
        low.put(run, span)
        low.step(Kind.LOCAL, span, "", operations=(Assign(cell, ZERO),))
        value = tree.Variable("value", POINTER, span)
        low.machine.constants[value] = Scalar(POINTER, held)
        name = tree.FunctionName(span, function.type, function.name, function)
        given = tree.Name(span, POINTER, f"key {position + 1}", value)
        low.effect(tree.Call(span, VOID, f"{function.name}(key {position + 1})", name, (given,)))
        del low.machine.constants[value]
        if low.reachable:
            low.go(end, span)
        low.put(end, span)
    _require_no_value(low, base, span)


def _require_no_value(low: CLowering, base: int, span: Span) -> None:
    """Leave runs undecided in which a destructor gives a key a value: it would run once more."""
    checks = [
        Check(
            binary("eq", Load(Const(base + position)), ZERO), Fault.BOUND,
            f"a destructor gives key {position + 1} a value again",
        )
        for position, number in enumerate(low.machine.expected.destructors)
        if number
    ]  # fmt: skip
    if checks and low.reachable:
        low.step(Kind.LOCAL, span, "", operations=checks)


DESTRUCTORS.append(_destroy)
