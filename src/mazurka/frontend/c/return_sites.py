"""Functions that appear once in a thread's code, with a cell that says where to return.

Paper 004 (F-Soft, section 4.1) keeps each function once: a call stores its arguments and the number
of its *return site*, and the end of the function goes back to the site that the cell names.  Here
calls are inlined, which keeps callers apart in all analyses, until that becomes too large
(`MOST_INLINED`): each level of a recursion with two calls doubles what comes below it.  Then the
program is elaborated again with bodies that its call sites share.

A body is shared by calls between which elaboration sees no difference (`BodyKey`): the depth of
recursion, since each depth has cells of its own; parameters that are known constants (a lock's
address, say); atomic sections around the call.  So a recursive function appears once for each depth
up to `--max-depth`, and no body ever calls itself.  Cells are the same as those of inlined calls.

What is different inside a shared body:

* it may run often, so that it counts as a loop for the objects that it allocates and for the lives
  of its variables;
* its temporaries are its own, since callers hold different ones while it runs;
* which blocks of callers are running is not known, so a pointer into them is always checked.

Functions that create or end threads or keys are inlined always: how many there may be depends on
the place, and the end of a thread ends the lives of variables in all functions around it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from mazurka.frontend.c import tree
from mazurka.frontend.c.access import write
from mazurka.frontend.c.function_ends import end_without_value, forget_labels
from mazurka.frontend.c.lowering import CallFrame, CLowering, SharedBody
from mazurka.frontend.c.places_of import declare
from mazurka.frontend.c.types import PointerType, bare
from mazurka.frontend.c.values import Scalar, Whole
from mazurka.frontend.kit.arithmetic import binary
from mazurka.frontend.kit.shapes import CellDraft
from mazurka.ir.expressions import ZERO, Const, Load
from mazurka.ir.program import Assign, Kind, Role, Span

MOST_INLINED = 10_000
"""A program with more edges than these is elaborated with shared bodies: analysing one with four
times as many takes minutes."""
MOST_DOUBLED = 1_000
"""The same for a program in which a function calls itself at two places: with each depth the number
of its bodies doubles, and so do the places that allocate, to which pointers may lead."""
MOST_VARIANTS = 16
"""So many bodies of a function know the numbers that it is given; further calls share one."""
_INLINED = frozenset(
    {"pthread_create", "thrd_create", "pthread_exit", "thrd_exit", "pthread_key_create",
     "tss_create"}
)  # fmt: skip
"""A function that may call one of these is inlined."""


class InliningTooLarge(Exception):  # noqa: N818 - a signal, not an error that users see
    """The program has more edges than may come from inlined calls."""


@dataclass(frozen=True, slots=True)
class BodyKey:
    """What calls have in common that can share a body."""

    function: tree.CFunction
    nesting: frozenset[tuple[tree.CFunction, int]]
    """How often functions that it may call are running already."""
    known: tuple[Scalar | None, ...]
    """The parameters that are constants."""
    used: bool
    wanted: PointerType | None
    atomic_depth: int


def is_shareable(low: CLowering, function: tree.CFunction) -> bool:
    """Whether calls of a function may share a body."""
    if not low.machine.sharing:
        doubled = low.nesting(function) and low.survey.doubles(function, low.machine.unit)
        if low.program.edges > (MOST_DOUBLED if doubled else MOST_INLINED):
            raise InliningTooLarge
        return False
    if low.survey.facts(function).blocks.get(function):
        return False  # a parameter whose address is kept begins a life with each call
    called = low.survey.callees(function, low.machine.unit)
    return not any(each.name in _INLINED for each in called)


def run_shared(
    low: CLowering,
    frame: CallFrame,
    arguments: list[Scalar | Whole],
    span: Span,
) -> None:
    """Run a function in the body that this call shares with others, and go on behind the call.

    The `frame` is that of the body if this is the first call."""
    automaton = low.require_automaton()
    key = _find_key(low, frame, arguments)
    body = low.bodies.get(key)
    first = body is None
    if body is None:
        body = low.bodies[key] = _begin(low, frame, key, span)
    number, body.sites = body.sites, body.sites + 1
    body.site.high = number
    low.frames.append(body.frame)
    for parameter, value, known in zip(
        frame.function.parameters, arguments, key.known, strict=True
    ):
        if known is None:
            value = Scalar(value.type, value.expr) if isinstance(value, Scalar) else value
            write(low, declare(low, parameter), value, span)
    low.frames.pop()
    bound = automaton.bound
    low.set_cell(body.cell, Const(number), span)
    automaton.jump(body.entry, span)
    if first:
        _elaborate(low, body)
    if body.exit is None:
        return
    behind = low.label(span)
    automaton.current, automaton.bound = body.exit, bound
    automaton.atomic_depth = body.exit_depth
    back = binary("eq", Load(Const(body.cell)), Const(number))
    low.lead_to(behind, span)
    forget = Assign(Const(body.cell), ZERO)
    low.add_edge(Kind.LOCAL, span, "", behind, guard=back, operations=(forget,))
    automaton.current = None
    low.put(behind, span)


def _find_key(low: CLowering, frame: CallFrame, arguments: list[Scalar | Whole]) -> BodyKey:
    function = frame.function
    callees = low.survey.callees(function, low.machine.unit)
    nesting = frozenset((each, depth) for each in callees if (depth := low.nesting(each)))
    facts = low.survey.facts(function)
    known: list[Scalar | None] = []
    for parameter, value in zip(function.parameters, arguments, strict=True):
        constant = isinstance(value, Scalar) and isinstance(value.expr, Const)
        if constant and parameter not in facts.assigned | facts.exposed:
            assert isinstance(value, Scalar)
            known.append(Scalar(bare(parameter.type), value.expr, value.inside))
        else:
            known.append(None)
    depth = low.require_automaton().atomic_depth
    key = BodyKey(function, nesting, tuple(known), frame.used, frame.wanted, depth)
    if key in low.bodies or _count_variants(low, key) < MOST_VARIANTS:
        return key
    pointers = [
        each if each is not None and isinstance(each.type, PointerType) else None for each in known
    ]
    return replace(key, known=tuple(pointers))


def _count_variants(low: CLowering, key: BodyKey) -> int:
    """How many bodies differ from this one in the constants that they know."""
    return sum(
        isinstance(each, BodyKey) and replace(each, known=key.known) == key for each in low.bodies
    )


def _begin(low: CLowering, frame: CallFrame, key: BodyKey, span: Span) -> SharedBody:
    site = CellDraft(
        f"return site of {frame.function.name}", owner=low.number, role=Role.SYNC, span=span
    )
    for parameter, known in zip(frame.function.parameters, key.known, strict=True):
        if known is not None:
            frame.known[parameter] = known
    return SharedBody(frame, low.label(frame.function.span), site, low.program.storage.add(site))


def _elaborate(low: CLowering, body: SharedBody) -> None:
    """Add the code of a body, with nothing around it that only one of its calls has."""
    automaton, function = low.require_automaton(), body.frame.function
    with _apart(low, body.frame):
        low.put(body.entry, function.span)
        automaton.bound = frozenset(place.variable for place in body.frame.names.values())
        low.execute(function.read())
        end_without_value(low, function.span)
        low.put(body.frame.exit, function.span)
        body.exit, body.exit_depth = automaton.current, automaton.atomic_depth
        automaton.current = None
        forget_labels(low, body.frame)


@contextmanager
def _apart(low: CLowering, frame: CallFrame) -> Iterator[None]:
    """Let a frame be the only one around the code, apart from the thread's own function: that is
    around all calls, but in which of its blocks is not known."""
    root = low.frames[0]
    callees = low.survey.callees(frame.function, low.machine.unit)
    around = {each: low.nesting(each) - (each is root.function) for each in callees}
    loops = 1 + low.survey.facts(frame.function).loops_back
    kept = (low.frames, low.around, low.held, low.free)
    kept_loops = (low.loop_depth, low.trips, low.joining)
    low.frames, low.around = [replace(root, scopes=[]), frame], around
    low.held, low.free = [], {}
    low.loop_depth, low.trips, low.joining = loops, [None] * loops, []
    yield
    low.frames, low.around, low.held, low.free = kept
    low.loop_depth, low.trips, low.joining = kept_loops
