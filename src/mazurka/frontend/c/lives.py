"""The lives of local variables that pointers may outlive.

A *mortal* variable is one whose address may be kept beyond the block that declares it
(`scopes.find_mortal`).  A cell beside it says whether it is alive; pointers that lead to it are
checked when they are followed.  Its life ends wherever control leaves the block, and with the
thread.  What `main` declares outside of inner blocks lives until the process ends, or until `main`
calls `pthread_exit`.

Code that runs once needs no more: nobody can have the address before the block is entered, so the
variable may be alive from the beginning.  Where a block may be entered again, by a loop, the next
instance of the variable must not revive pointers to the one before.  Such a variable has two
places.  It lives in the first, until at some entry it *moves* to the second, for good: a choice.
So for each instance there is a run in which the variable moves right after it, and in that run all
pointers to this instance lead to the first place, which is dead for ever.  Pointers to earlier
instances lead there as well, and are as dead.  In no run is a pointer to a living instance
refused.  One move is enough, since one such pointer is enough for a violation.
"""

from __future__ import annotations

from collections.abc import Sequence

from mazurka.frontend.c import tree
from mazurka.frontend.c.addresses import begin_address, end_address, number_objects
from mazurka.frontend.c.lowering import BlockScope, CallFrame, CLowering, VariableLife
from mazurka.frontend.c.memory import allocate
from mazurka.frontend.c.survey import walk
from mazurka.frontend.c.types import CType
from mazurka.frontend.c.values import MOST_KEYS, MortalRow, find_root
from mazurka.frontend.kit.arithmetic import binary, conditional
from mazurka.frontend.kit.shapes import CellDraft
from mazurka.ir.expressions import ONE, ZERO, Choice, Const, Expr, Load, negate
from mazurka.ir.program import Assign, Kind, Operation, Role, Span

MOST_ALONE = 3
"""So many calls of a function have variables of their own; further ones are as rounds of a loop."""
FIRST, SECOND = 1, 2
"""Where a variable lives whose block may be entered again; 0 before the first entry."""


def give_life(
    low: CLowering, name: str, type_: CType, span: Span, *, watched: bool, again: bool
) -> VariableLife:
    """Allocate a mortal variable; `again` if its block may be entered more than once."""
    number = number_objects(low.machine, type_, 1 + again, stack=True)
    numbered = {"number": number, "thread": low.number}
    initial = 0 if again or number >= 0 else 1
    first, alive = _allocate(low, name, type_, span, watched, initial=initial)
    size = low.machine.layouts.cells(type_)
    row = MortalRow(first, size, alive, **numbered)
    place = 0
    moved: Expr = ZERO
    if again:
        second, _ = _allocate(low, f"{name}, again", type_, span, watched, initial=0)
        row = MortalRow(first, size, alive, second - first, 2, **numbered)
        title = f"place of {name}"
        cell = CellDraft(title, high=SECOND, owner=low.number, role=Role.SYNC, span=span)
        place = low.program.storage.add(cell)
        moved = binary("eq", Load(Const(place)), Const(SECOND))
    low.machine.mortal.append(row)
    return VariableLife(row.at(moved), row.life(moved), place, number)


def _allocate(
    low: CLowering, name: str, type_: CType, span: Span, watched: bool, *, initial: int
) -> tuple[int, int]:
    """Allocate one place of a variable, and the cell that says whether it is alive there."""
    first = allocate(low.machine, name, type_, None, span, watched=watched)
    title = f"life of {name}"
    cell = CellDraft(title, initial=initial, high=1, role=Role.SYNC, span=span)
    return first, low.program.storage.add(cell)


# --- blocks ------------------------------------------------------------------------------------


def leave(low: CLowering, node: object, span: Span) -> None:
    """Leave the block at its end."""
    frame = low.frame
    if frame.scopes and frame.scopes[-1].node is node:
        if not (_is_main(low, frame) and node in (frame.function, frame.function.body)):
            end_lives(low, frame.scopes[-1:], span)
        frame.scopes.pop()


def _is_main(low: CLowering, frame: CallFrame) -> bool:
    """Whether everything ends when the function returns."""
    return low.plan.active and frame is low.frames[0]


def begin_lives(low: CLowering, scope: BlockScope, span: Span) -> None:
    """Begin the lives of variables whose block may have been entered before."""
    for life in scope.lives:
        if not life.place:
            if life.number >= 0:  # elsewhere it may be alive from the beginning
                begin = (Assign(life.alive, ONE),)
                low.step(Kind.LOCAL, span, "", operations=begin, atomic=True)
            continue
        place = Load(Const(life.place))
        automaton = low.require_automaton()
        behind = low.label(span)
        once = binary("eq", place, Const(FIRST))
        begun: list[Operation] = [Assign(life.alive, ONE)]
        if life.number >= 0:
            begun += begin_address(low, _number_of(life), span)
        moved: tuple[Operation, ...] = (
            Assign(Const(life.place), conditional(Choice(), Const(SECOND), Const(FIRST))),
            *begun,
        )
        first: tuple[Operation, ...] = (
            Assign(Const(life.place), conditional(place, place, Const(FIRST))),
            *begun,
        )
        low.add_edge(
            Kind.LOCAL, span, "", behind, guard=once, operations=moved, choices=2, atomic=True
        )
        low.add_edge(
            Kind.LOCAL, span, "", behind, guard=negate(once), operations=first, atomic=True
        )
        automaton.current = None
        low.put(behind, span)


def _number_of(life: VariableLife) -> Expr:
    """Return the number of the instance that is alive, in the table of addresses."""
    moved = binary("eq", Load(Const(life.place)), Const(SECOND)) if life.place else ZERO
    return Const(-1) if life.number < 0 else binary("add", Const(life.number), moved)


def arrive(low: CLowering, span: Span) -> None:
    """A label: control may have jumped into the blocks around it."""
    if not low.frames or not low.reachable:
        return
    for scope in low.frame.scopes:
        for life in scope.lives:
            if life.place or life.number >= 0:
                inside, outside, behind = (low.label(span) for _ in range(3))
                low.split(Load(life.alive), span, "", inside, outside)
                low.put(outside, span)
                begin_lives(low, BlockScope(scope.node, [life]), span)
                low.go(behind, span)
                low.put(inside, span)
                low.put(behind, span)


def leave_blocks(low: CLowering, scopes: Sequence[BlockScope], span: Span) -> None:
    """Leave these blocks, the last one first: clean up, and end the lives of their variables."""
    inner: list[BlockScope] = []
    for scope in reversed(scopes):
        if scope.cleanup is not None and low.reachable:
            end_lives(low, inner, span)
            inner = []
            clean_up(low, scope.cleanup)
        inner.append(scope)
    end_lives(low, inner, span)


def clean_up(low: CLowering, call: tree.Expression) -> None:
    """Call what a variable's attribute `cleanup` asks for."""
    if low.reachable:
        mark = len(low.held)
        low.effect(call)
        low.release(mark)


def end_lives(low: CLowering, scopes: Sequence[BlockScope], span: Span) -> None:
    """End the lives of the variables of these blocks, in one step."""
    lives = [life for scope in scopes for life in scope.lives]
    if lives and low.reachable:
        operations: list[Operation] = []
        for life in lives:
            operations.append(Assign(life.alive, ZERO))
            operations += end_address(low, _number_of(life), stack=True)
        low.step(Kind.LOCAL, span, "", operations=operations, atomic=True)


def leave_to(low: CLowering, level: int, span: Span) -> None:
    """Jump out of all blocks of the function but so many."""
    leave_blocks(low, low.frame.scopes[level:], span)


def leave_for_label(low: CLowering, name: str, span: Span) -> None:
    """Jump out of the blocks that are not around a label."""
    around = low.survey.facts(low.frame.function).around.get(name, frozenset())
    left = [
        each
        for each in low.frame.scopes
        if not (_holds_label(each.node, name) if each.cleanup else each.node in around)
    ]
    leave_blocks(low, left, span)


def _holds_label(node: object, name: str) -> bool:
    return any(isinstance(each, tree.Labelled) and each.name == name for each in walk(node))


def leave_function(low: CLowering, frame: CallFrame, span: Span) -> None:
    """Return from a function; when `main` returns, everything ends."""
    if not _is_main(low, frame):
        leave_blocks(low, frame.scopes, span)
        return
    for scope in reversed(frame.scopes):
        if scope.cleanup is not None:
            clean_up(low, scope.cleanup)


def leave_thread(low: CLowering, span: Span) -> None:
    """`pthread_exit`: leave all functions.  Nothing is cleaned up, as gcc has it for C."""
    end_lives(low, [scope for frame in low.frames for scope in frame.scopes], span)


def end_thread_variables(low: CLowering, span: Span) -> None:
    """A thread has ended, and with it its `_Thread_local` variables.

    If it may be started again, they have their first values then."""
    cells = low.machine.thread_lives.get(low.number, ())
    operations = [Assign(Const(cell), ZERO) for cell in cells]
    if low.plan.again:
        storage = low.program.storage
        for (variable, number), place in low.machine.per_thread.items():
            first = find_root(place.address)
            if number == low.number:
                for cell in range(first, first + low.machine.layouts.cells(variable.type)):
                    operations.append(Assign(Const(cell), Const(storage.cells[cell].initial)))
        keys = low.frame_cells.get(("keys",), 0)
        operations += [Assign(Const(keys + each), ZERO) for each in range(MOST_KEYS) if keys]
    if operations and low.reachable:
        low.step(Kind.LOCAL, span, "", operations=operations, atomic=True)


def scope_of(low: CLowering, variable: tree.Variable) -> BlockScope | None:
    """The block around the code that declares a mortal variable."""
    blocks = low.survey.facts(low.frame.function).blocks
    for scope in reversed(low.frame.scopes):
        if variable in blocks.get(scope.node, ()):
            return scope
    return None


def runs_again(low: CLowering, scope: BlockScope) -> bool:
    """Whether a block may be entered more than once: a loop is around it."""
    function, loops = low.frame.function, low.loop_depth
    if scope.node is function.body:  # the function's own jumps back do not leave it
        loops -= low.survey.facts(function).loops_back
    return loops > 0
