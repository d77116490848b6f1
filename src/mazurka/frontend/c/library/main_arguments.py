"""What `main` is given: how many arguments there are, and what they are.

Where `argv` is not used, `argc` is any number from 1 on.  Otherwise there are up to
`MOST_ARGUMENTS` with the program's name, each of up to `LONGEST` characters: memory that nobody has
written, so that a character is chosen when it is read, with a zero at the end.  Behind the last one
`argv` has a null pointer.
"""

from __future__ import annotations

from mazurka.errors import UnsupportedError
from mazurka.frontend.c import tree
from mazurka.frontend.c.access import set_any, write
from mazurka.frontend.c.calls import bind
from mazurka.frontend.c.lowering import CLowering
from mazurka.frontend.c.memory import allocate
from mazurka.frontend.c.places_of import declare
from mazurka.frontend.c.survey import walk
from mazurka.frontend.c.types import ArrayType, CType, IntegerType, PointerType, bare
from mazurka.frontend.c.values import Scalar
from mazurka.frontend.kit.arithmetic import binary, conditional
from mazurka.ir.expressions import ONE, ZERO, Choice, Const, Expr, Load
from mazurka.ir.program import Assign, Kind, Operation, Role, Span

MOST_ARGUMENTS = 3
LONGEST = 7


def bind_main(low: CLowering, function: tree.CFunction) -> None:
    """Give `main` its arguments; those that it does not use have any value."""
    body = function.read()
    used = {each.variable for each in walk(body) if isinstance(each, tree.Name)}
    count, texts, *others = (*function.parameters, None, None)[:4]
    for other in others:
        if other is not None and other in used:
            raise UnsupportedError.at(other.span, "the environment of `main` is not known")
        if other is not None:
            set_any(low, declare(low, other), other.span)
    if count is None or not isinstance(bare(count.type), IntegerType):
        return
    most = MOST_ARGUMENTS if texts in used else (1 << 31) - 1
    number = _choose_count(low, most, count.span)
    if texts is not None and texts in used:
        _place_texts(low, texts, number)
    elif texts is not None:
        set_any(low, declare(low, texts), texts.span)
    write(low, declare(low, count), Scalar(bare(count.type), number), count.span)


def _choose_count(low: CLowering, most: int, span: Span) -> Expr:
    cell = Const(low.take_temporary(Role.INT, span))
    chosen = (Assign(cell, binary("add", Choice(), ONE)),)
    low.step(Kind.CHOOSE, span, "argc has any value", operations=chosen, choices=most)
    return Load(cell)


def _place_texts(low: CLowering, parameter: tree.Variable, count: Expr) -> None:
    pointer = bare(parameter.type)
    letter = bare(pointer.target) if isinstance(pointer, PointerType) else None
    if not isinstance(pointer, PointerType) or not isinstance(letter, PointerType):
        raise UnsupportedError.at(
            parameter.span, f"`{parameter.name}` must be a pointer to pointers to char"
        )
    span = parameter.span
    array = allocate(low.machine, parameter.name, ArrayType(letter, MOST_ARGUMENTS + 1), None, span)
    operations: list[Operation] = []
    for number in range(MOST_ARGUMENTS):
        text = _place_text(low, f"argument {number}", letter.target, span)
        there = binary("gt", count, Const(number))
        operations.append(Assign(Const(array + number), conditional(there, Const(text), ZERO)))
    low.step(Kind.LOCAL, span, "", operations=operations, atomic=True)
    bind(low, parameter, Scalar(pointer, Const(array)), span)


def _place_text(low: CLowering, name: str, letter: CType, span: Span) -> int:
    """Memory without first values, apart from the zero at its end."""
    machine = low.machine
    text = allocate(machine, name, ArrayType(letter, LONGEST + 1), None, span, watched=True)
    *_, (_, last, flags) = machine.watched
    machine.draft.storage.cells[flags + last - text - 1].initial = 1
    return text
