"""The process: what runs before `main` and behind it, and what ends everything.

`__attribute__((constructor))` functions run before `main`, `destructor` ones when it returns or
somebody calls `exit`, behind the functions that `atexit` was given.  They go by priority, those
without one are the innermost; equal ones are constructed in the order of the text, and destroyed in
the reverse one, as gcc has it.
"""

from __future__ import annotations

from mazurka.errors import UnsupportedError, read_number
from mazurka.frontend.c import tree
from mazurka.frontend.c.calls import call
from mazurka.frontend.c.lowering import CLowering, CProgram, library
from mazurka.frontend.c.types import VOID
from mazurka.frontend.c.values import Scalar
from mazurka.frontend.kit.shapes import CellDraft
from mazurka.ir.expressions import ONE, ZERO, Const, Load
from mazurka.ir.program import Assign, Kind, Role

_LOWEST = 65_536
"""The priority of functions that have none."""


def constructors(unit: tree.TranslationUnit) -> list[tree.CFunction]:
    """The functions that run before `main`, in their order."""
    return _find_marked(unit, "constructor")


def destructors(unit: tree.TranslationUnit) -> list[tree.CFunction]:
    """The functions that run at the end of the process, in their order."""
    return _find_marked(unit, "destructor")[::-1]


def _find_marked(unit: tree.TranslationUnit, attribute: str) -> list[tree.CFunction]:
    found = []
    for function in unit.functions.values():
        if attribute not in function.attributes or not function.defined:
            continue
        function.read()
        priority = function.attributes[attribute] or str(_LOWEST)
        if function.parameters or not priority.isdecimal():
            raise UnsupportedError.at(
                function.span,
                f"a {attribute} needs a number as its priority, and a function without parameters",
            )
        found.append((read_number(priority), function.span.line, function.span.column, function))
    return [function for *_, function in sorted(found, key=lambda each: each[:3])]


def place_exit_flags(machine: CProgram) -> None:
    """Cells that say which functions `atexit` has been given."""
    machine.exit_flags = len(machine.draft.storage.cells)
    for number in range(len(machine.expected.exits)):
        cell = CellDraft(f"atexit {number + 1}", high=1, role=Role.SYNC)
        machine.draft.storage.add(cell)


@library("atexit")
def _atexit(low: CLowering, node: tree.Call) -> Scalar:
    """Let a function run at the end; the one that is given last runs first."""
    machine, function = low.machine, low.scalar(node.arguments[0])
    named = None if function.constant is None else machine.function_at(function.constant)
    if low.loop_depth or low.plan.lineage or named is None:
        raise low.refuse(
            node, "`atexit` must be called by the main thread and in no loop, with the name of a"
            " function",
        )  # fmt: skip
    number = len(machine.exits)
    machine.exits.append(machine.number_of(named))
    if number < len(machine.expected.exits):
        flag = Assign(Const(machine.exit_flags + number), ONE)
        low.step(Kind.LOCAL, node.span, node.text, operations=(flag,), atomic=True)
    return Scalar(node.type, ZERO)


def run_exit_functions(low: CLowering) -> None:
    """Run what is to be run at the end of the process."""
    machine = low.machine
    for number in reversed(range(len(machine.expected.exits))):
        function = machine.function_at(machine.expected.exits[number])
        if not low.reachable or function is None or not function.defined:
            continue
        if low.nesting(function):
            raise UnsupportedError.at(
                function.span, f"`{function.name}` runs at the end, and calls `exit` itself"
            )
        flag = Load(Const(machine.exit_flags + number))
        run, end = low.label(function.span), low.label(function.span)
        low.split(flag, function.span, f"{function.name} runs at the end", run, end)
        low.put(run, function.span)
        call(low, function, [], function.span, used=False)
        if low.reachable:
            low.go(end, function.span)
        low.put(end, function.span)
    for each in destructors(low.machine.unit):
        call(low, each, [], each.span, used=False)


@library("exit")
def _exit(low: CLowering, node: tree.Call) -> Scalar:
    low.effect(node.arguments[0])
    for each in destructors(low.machine.unit):
        if low.nesting(each):
            raise low.refuse(node, f"`{each.name}` runs at the end, and calls `exit` itself")
    run_exit_functions(low)
    return _stop(low, node)


@library("abort", "_Exit", "_exit", "quick_exit")
def _end(low: CLowering, node: tree.Call) -> Scalar:
    for argument in node.arguments:
        low.effect(argument)
    return _stop(low, node)


def _stop(low: CLowering, node: tree.Call) -> Scalar:
    if low.reachable:
        low.stop(Kind.END, node.span, node.text)
    return Scalar(VOID, ZERO)
