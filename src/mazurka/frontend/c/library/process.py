"""The process: what runs before `main` and behind it, and what ends everything.

`__attribute__((constructor))` functions run before `main`, `destructor` ones when it returns or
somebody calls `exit`.  They go by priority, those without one are the innermost; equal ones are
constructed in the order of the text, and destroyed in the reverse one, as gcc has it.
"""

from __future__ import annotations

from mazurka.errors import UnsupportedError
from mazurka.frontend.c import tree
from mazurka.frontend.c.calls import call
from mazurka.frontend.c.lowering import CLowering, library
from mazurka.frontend.c.types import VOID
from mazurka.frontend.c.values import Scalar
from mazurka.ir.expressions import ZERO

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
        if function.parameters or not priority.isdigit():
            raise UnsupportedError.at(
                function.span,
                f"a {attribute} needs a number as its priority, and a function without parameters",
            )
        found.append((int(priority), function.span.line, function.span.column, function))
    return [function for *_, function in sorted(found, key=lambda each: each[:3])]


def run_exit_functions(low: CLowering) -> None:
    """Run what is to be run at the end of the process."""
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
        low.stop_everything(node.span, node.text)
    return Scalar(VOID, ZERO)
