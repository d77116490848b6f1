"""Build one thread's automaton, edge by edge.

A front end walks through a thread's code and tells the builder what each piece does, with the
place in the source that it comes from.  Values that a later step needs are kept in *temporaries*:
cells of the thread that are used again once the statement has ended.

Without an automaton the same front-end code evaluates what must be constant (first values, lengths
of arrays).  A step would then be needed only where the value is not constant, which `NotStatic`
reports.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Unpack

from mazurka.errors import FrontendError, UnsupportedError
from mazurka.frontend.kit.program import Automaton, EdgeParts, Label, ProgramDraft
from mazurka.frontend.kit.shapes import CellDraft, NumberShape, Reference
from mazurka.ir.expressions import Const, Element, Expr, Load, negate, walk
from mazurka.ir.program import TEMPORARY, Assign, Check, Fault, Kind, Operation, Role, Span

MOST_EDGES = 200_000


class Temporary(int):
    """The address of a temporary; each use of a cell has an object of its own."""

    released = False


class NotStatic(Exception):  # noqa: N818 - a signal, not an error that users see
    """A value that must be constant needs the program to run."""


@dataclass(eq=False, slots=True)
class ThreadBuilder:
    """One thread's code on its way to an automaton."""

    program: ProgramDraft
    number: int
    """The number of the acting thread."""
    automaton: Automaton | None
    loop_depth: int = 0
    """Loops around the code, in every function on the way: what is inside may run often."""
    held: list[tuple[Role, Temporary]] = field(default_factory=list)
    """The temporaries in use."""
    free: dict[Role, list[int]] = field(default_factory=dict)
    """Temporaries that can be used again."""

    def __post_init__(self) -> None:
        if self.automaton is not None:
            self.automaton.thread = self.number

    def require_automaton(self) -> Automaton:
        """Return the automaton; raise `NotStatic` where there is none."""
        if self.automaton is None:
            raise NotStatic
        return self.automaton

    @property
    def reachable(self) -> bool:
        """Whether control can get to the code that comes next."""
        return self.automaton is None or self.automaton.current is not None

    @property
    def is_provisional(self) -> bool:
        """Whether this code is built with addresses that have changed, and will be built again."""
        return False

    @property
    def me(self) -> Const:
        """How the acting thread is written into the owner cells of locks."""
        return Const(self.number + 1)

    # --- edges -----------------------------------------------------------------------------

    def add_edge(
        self,
        kind: Kind,
        span: Span,
        text: str,
        target: Label,
        *,
        operations: Sequence[Operation] = (),
        **parts: Unpack[EdgeParts],
    ) -> None:
        """Add an edge from here to the label; more edges may leave from here."""
        self.program.edges += 1
        if self.program.edges > MOST_EDGES:
            raise UnsupportedError.at(
                span,
                f"the model becomes larger than {MOST_EDGES:,} edges once its calls are inlined;"
                " use fewer threads, less recursion (--max-depth) or loops instead of repeated"
                " calls",
            )
        automaton = self.require_automaton()
        atomic = parts.get("atomic", False) or automaton.atomic_depth > 0 or kind is Kind.UNTIL
        guarding, accesses = _find_reads(parts.get("guard")), _find_accesses(operations)
        wrong = f"`{text}` uses a temporary after its release: call release() after the statement"
        FrontendError.unless(not any(map(_is_released, (*guarding, *accesses))), span, wrong)
        wrong = f"`{text}` accesses shared data twice in one step"  # which hides interleavings
        touched = sum(map(self._is_shared_data, (*set(guarding), *accesses)))
        once = atomic or touched < 2 or self.is_provisional
        FrontendError.unless(once, span, f"{wrong}: use load() and store(), or make it atomic")
        automaton.add_edge(kind, span, target, operations=operations, text=text, **parts)

    def _is_shared_data(self, address: Expr) -> bool:
        """Whether shared data is at an address; it must be constant, or in a constant array."""
        base = address.base if isinstance(address, Element) else address
        if not isinstance(base, Const) or not 0 < base.value < len(self.program.storage.cells):
            return False
        cell = self.program.storage.cells[base.value]
        return cell.owner is None and cell.role not in (Role.OWNER, Role.SYNC, Role.COUNTER)

    def step(
        self,
        kind: Kind,
        span: Span,
        text: str,
        *,
        operations: Sequence[Operation] = (),
        **parts: Unpack[EdgeParts],
    ) -> None:
        """Add one edge and go on behind it."""
        ways = [(parts.get("guard"), operations)]
        self.take_one_of(kind, span, text, ways, **parts)

    def take_one_of(
        self,
        kind: Kind,
        span: Span,
        text: str,
        ways: Iterable[tuple[Expr | None, Sequence[Operation]]],
        **parts: Unpack[EdgeParts],
    ) -> None:
        """Add edges with exclusive guards to one location and go on there."""
        automaton = self.require_automaton()
        target = automaton.new_label(span)
        for guard, operations in ways:
            parts["guard"] = guard
            self.add_edge(kind, span, text, target, operations=operations, **parts)
        automaton.current = None
        automaton.place(target, span)

    def enter_section(
        self,
        kind: Kind,
        span: Span,
        text: str,
        *,
        operations: Sequence[Operation] = (),
        **parts: Unpack[EdgeParts],
    ) -> None:
        """Begin a section that is one step and waits as a whole, by a plain edge: reads in it can
        race unless an atomic section is around it."""
        automaton = self.require_automaton()
        depth, automaton.atomic_depth = automaton.atomic_depth, automaton.atomic_depth + 1
        inside = automaton.new_label(span)
        automaton.atomic_depth = depth
        self.add_edge(kind, span, text, inside, operations=operations, **parts)
        automaton.current = None
        automaton.place(inside, span)

    def act(
        self,
        kind: Kind,
        span: Span,
        text: str,
        owner: Reference,
        *operations: Operation,
        guard: Expr | None = None,
    ) -> None:
        """Operate on a synchronization object, in one indivisible step."""
        subject = owner.address
        self.step(
            kind, span, text, guard=guard, operations=operations, atomic=True, subject=subject
        )

    def attempt(
        self,
        kind: Kind,
        span: Span,
        text: str,
        owner: Reference,
        *operations: Operation,
        success: Expr,
        failure: Expr,
        otherwise: Sequence[Operation] = (),
    ) -> Expr:
        """Operate on an object if that is possible now: 1 where it was done, 0 where it was not."""
        answer = Const(self.take_temporary(Role.BOOL, span))
        ways = [
            (success, (*operations, Assign(answer, Const(1)))),
            (failure, (*otherwise, Assign(answer, Const(0)))),
        ]
        self.take_one_of(kind, span, text, ways, atomic=True, subject=owner.address)
        return Load(answer)

    def inspect(
        self, span: Span, text: str, owner: Reference, value: Expr, role: Role = Role.BOOL
    ) -> Expr:
        """Look at an object in one step; the answer may be out of date in the next."""
        cell = Const(self.take_temporary(role, span))
        self.act(Kind.INSPECT, span, text, owner, Assign(cell, value))
        return Load(cell)

    def branch(self, test: Expr, span: Span, text: str, true: Label, false: Label) -> None:
        """Go to one of two labels; a constant leaves one way only."""
        automaton = self.require_automaton()
        if isinstance(test, Const):
            automaton.jump(true if test.value else false, span)
            return
        self.add_edge(Kind.LOCAL, span, text, true, guard=test)
        self.add_edge(Kind.LOCAL, span, f"not ({text})", false, guard=negate(test))
        automaton.current = None

    def check(self, test: Expr, message: str, span: Span, text: str = "") -> None:
        """Add an assertion; reports append the values that it looked at to the message."""
        check = Check(test, Fault.ASSERT, message)
        self.step(Kind.ASSERT, span, text or message, operations=(check,))

    def fail(self, fault: Fault, message: str, span: Span) -> None:
        """Add a step that goes wrong; control does not go on behind it."""
        self.step(Kind.LOCAL, span, message, operations=(Check(Const(0), fault, message),))
        self.require_automaton().current = None

    # --- data ------------------------------------------------------------------------------

    def load(self, place: Reference, span: Span) -> Expr:
        """Read a number, in a step of its own where it is shared; returns the temporary with it."""
        boolean = _number_at(place, span).role is Role.BOOL
        cell = Const(self.take_temporary(Role.BOOL if boolean else Role.INT, span))
        read = Assign(cell, Load(place.address))
        kind = Kind.ACCESS if place.shared else Kind.LOCAL
        self.step(kind, span, f"read {place.title}", operations=(read,))
        return Load(cell)

    def store(self, place: Reference, value: Expr, span: Span) -> None:
        """Write a number, in a step of its own where it is shared."""
        _number_at(place, span)
        write = Assign(place.address, value)
        kind = Kind.ACCESS if place.shared else Kind.LOCAL
        self.step(kind, span, f"write {place.title}", operations=(write,))

    def add_local(self, name: str, span: Span, role: Role = Role.INT) -> int:
        """Add a cell of this thread, whose range is inferred; returns its address."""
        self.require_automaton()
        cell = CellDraft(name, owner=self.number, role=role, inferred=True, span=span)
        return self.program.storage.add(cell)

    def take_temporary(self, role: Role, span: Span) -> Temporary:
        """Take a cell of this thread until the statement ends; returns its address."""
        spare = self.free.setdefault(role, [])
        cell = Temporary(spare.pop() if spare else self.add_local(TEMPORARY, span, role))
        self.held.append((role, cell))
        return cell

    def release(self, mark: int) -> None:
        """Let go of the temporaries taken since `mark = len(self.held)`, when a statement ends."""
        while len(self.held) > mark:
            role, cell = self.held.pop()
            cell.released = True
            self.free[role].append(cell)

    def set_cell(self, cell: int, value: Expr, span: Span, text: str = "") -> None:
        """Store a value in a cell of this thread."""
        self.step(Kind.LOCAL, span, text, operations=(Assign(Const(cell), value),))

    def keep(self, expr: Expr, span: Span, role: Role = Role.INT) -> Expr:
        """Keep a value safe from later assignments to variables it mentions."""
        if isinstance(expr, Const):
            return expr
        cell = self.take_temporary(role, span)
        self.set_cell(cell, expr, span)
        return Load(Const(cell))

    def pin(self, owner: Reference, span: Span) -> Reference:
        """Keep the address of an object safe from later assignments to variables it mentions."""
        address = self.keep(owner.address, span, Role.POINTER)
        return Reference(owner.shape, address, owner.shared, owner.title)


def _find_reads(expr: Expr | None) -> list[Expr]:
    """List the addresses that an expression reads.

    One that is written once may be found several times: `0 <= x < 3` asks twice about one value."""
    parts = walk(expr) if expr is not None else ()
    return [part.address for part in parts if isinstance(part, Load)]


def _find_accesses(operations: Sequence[Operation]) -> list[Expr]:
    """List the addresses that operations read and write."""
    writes = [each for each in operations if isinstance(each, Assign)]
    read = [each.condition for each in operations if isinstance(each, Check)]
    read += (expr for each in writes for expr in (each.address, each.value))
    return [*(each.address for each in writes), *(part for e in read for part in _find_reads(e))]


def _is_released(address: Expr) -> bool:
    return isinstance(address, Const) and getattr(address.value, "released", False)


def _number_at(place: Reference, span: Span) -> NumberShape:
    if isinstance(place.shape, NumberShape):
        return place.shape
    wrong = f"load() and store() are for numbers, `{place.title}` is {place.shape.title}"
    raise FrontendError.at(span, f"{wrong}: use the methods of its shape, or a number in it")
