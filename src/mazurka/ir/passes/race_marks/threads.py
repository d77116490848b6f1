"""A thread's automaton with marks: steps that declare, and accesses that check.

`mazurka.ir.passes.race_marks.program` says what is built here, and why that is right.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

from mazurka.deadline import check_time
from mazurka.errors import UnsupportedError
from mazurka.ir.evaluated import Attempt, Path, Touch, follow, follow_all, under
from mazurka.ir.expressions import (
    DIVISIONS,
    ONE,
    SHIFTS,
    ZERO,
    Binary,
    Choice,
    Conditional,
    Const,
    Element,
    Expr,
    Load,
    negate,
    walk,
)
from mazurka.ir.passes.race_marks.marks import Marks, is_one_of, shift
from mazurka.ir.passes.race_marks.steps import StaticStep, guards_up_to
from mazurka.ir.program import (
    Assign,
    Cell,
    Check,
    Edge,
    Fault,
    Kind,
    Location,
    Mode,
    Operation,
    Program,
    Thread,
)
from mazurka.ir.values.evaluation import cannot_fault, evaluate

RACE = (Fault.RACE, "two accesses race")


@dataclass(frozen=True, slots=True)
class RefusedStore:
    """A store that fails where all of `path` holds: the cell cannot have that value.

    No expression stands for it: the program may contain any."""

    path: Path


Doubt: TypeAlias = Attempt | RefusedStore
"""What may fail."""


class MarkedThread:
    """One thread's automaton with marks."""

    def __init__(self, marks: Marks, number: int, thread: Thread) -> None:
        self.marks = marks
        self.footprints = marks.footprints
        self.program = marks.program
        self.number = number
        self.thread = thread
        self.declared = {step.position for step in marks.declared[number]}
        self.locations = list(thread.locations)
        self.edges: list[Edge] = []
        most = (1 << len(self.program.threads)) - 1
        self.probe = self.hit = self.spare = 0
        if self.declared:
            self.probe = marks.probes[number]
            self.spare = marks.add(Cell("no mark", 0, most, owner=number))
        if not thread.observer and self.may_meet_late():
            self.hit = marks.add(Cell("has met a mark", 0, 1, owner=number))
        self.private = self.find_private()
        self.copies: dict[int, int] = {}
        """Copies of locations inside atomic sections, in which steps are declared."""
        self.behind: dict[int, int] = {}
        """By location at which steps are declared: the one behind the choice."""
        self.postponed: dict[int, int] = {}
        """By thread whose marks a step of this one makes void when it is through: the cell that
        remembers it until then."""

    def build(self) -> Thread:
        thread = self.thread
        end = self.add_location(Location(resets=tuple(sorted(self.private | {self.spare} - {0}))))
        for step in self.marks.declared[self.number]:
            self.declare(step, end)
        voiding = []
        for position, edge in enumerate(thread.edges):
            check_time("marks accesses")
            checked = edge if thread.observer else self.check(position, edge)
            voiding.append(self.make_void(checked, edge))
        self.edges += [self.redirect(self.make_void_at_last(edge)) for edge in voiding]
        return replace(thread, locations=tuple(self.locations), edges=tuple(self.edges))

    def add_location(self, location: Location) -> int:
        self.locations.append(location)
        return len(self.locations) - 1

    def find_private(self) -> frozenset[int]:
        """Its own cells that nobody else touches, and that mean nothing once it has stopped."""
        if self.number in self.marks.restartable or not self.declared:
            return frozenset()
        own = {a for a, cell in enumerate(self.program.cells) if cell.owner == self.number}
        own.discard(self.thread.counter)
        for number, thread in enumerate(self.program.threads):
            for edge in thread.edges if number != self.number else ():
                touched = self.footprints.of_edge(edge)
                own -= touched.reads | touched.writes
        return frozenset(own)

    def redirect(self, edge: Edge) -> Edge:
        """Let an edge of a location at which steps are declared begin behind the choice."""
        if edge.source not in self.behind:
            return edge
        taken = Binary("eq", Load(Const(self.probe)), ZERO)
        guard = taken if edge.guard is None else Conditional(taken, edge.guard, ZERO)
        return replace(edge, source=self.behind[edge.source], guard=guard)

    # --- checking -----------------------------------------------------------------------------

    def check(self, position: int, edge: Edge) -> Edge:
        """An edge that fails, or remembers, where it meets a mark."""
        late = self.may_wait_behind(edge.target)
        inside = self.thread.locations[edge.source].mode is Mode.ATOMIC
        remembers = bool(self.hit) and (late or inside)
        how = _Checking(self, edge.choices, late=late, remembers=remembers)
        operations = [*how.check(follow_all(guards_up_to(self.thread, position)))]
        for operation in edge.operations:
            operations += how.check(self.events_of(operation, edge))
            if isinstance(operation, Check) and remembers:
                operations.append(self.require_no_mark(operation.condition))
            operations.append(operation)
        if remembers and not late:
            operations.append(self.require_no_mark(ZERO))
        return replace(edge, operations=tuple(operations))

    def require_no_mark(self, unless: Expr) -> Check:
        """Fail if the step has met a mark by now, unless a condition holds."""
        free = Binary("eq", Load(Const(self.hit)), ZERO)
        return Check(free if unless == ZERO else Conditional(unless, ONE, free), *RACE)

    def may_meet_late(self) -> bool:
        """Whether a step that is not through yet, and may have to wait, can meet a mark."""
        late = (p for p, edge in enumerate(self.thread.edges) if self.may_wait_behind(edge.target))
        return any(
            self.marks.collision(self.number, event, self.thread.edges[position].choices)
            for position in late
            for event in self.events_of_edge(position)
            if isinstance(event, Touch)
        )

    def events_of_edge(self, position: int) -> Iterator[Touch | Doubt]:
        edge = self.thread.edges[position]
        yield from follow_all(guards_up_to(self.thread, position))
        for operation in edge.operations:
            yield from self.events_of(operation, edge)

    def may_wait_behind(self, location: int) -> bool:
        """Whether a step that passes a location may still turn out to be impossible."""
        atomic = {n for n, place in enumerate(self.thread.locations) if place.mode is Mode.ATOMIC}
        if location not in atomic:
            return False
        inside = self.thread.reachable(location, atomic)
        return not all(self.thread.is_exhaustive(each) for each in inside)

    def events_of(self, operation: Operation, edge: Edge) -> Iterator[Touch | Doubt]:
        """What an operation does, in order; a store only if what it stores fits."""
        if isinstance(operation, Check):
            yield from follow(operation.condition)
            return
        yield from follow(operation.address)
        yield from follow(operation.value)
        yield from self.fit(operation, edge.choices)
        yield Touch((), operation.address, write=True)

    def fit(self, operation: Assign, choices: int) -> Iterator[Doubt]:
        """What fails where a store would fail; nothing where it cannot."""
        value, lookup = operation.value, self.footprints.lookup
        stored = evaluate(value, lookup, choices)
        targets = self.footprints.targets(operation.address, choices)
        ranges: dict[tuple[int, int], set[int]] = {}
        for target in targets:
            cell = self.program.cells[target]
            if not cell.low <= stored.low <= stored.high <= cell.high:
                ranges.setdefault((cell.low, cell.high), set()).add(target)
        if not self.footprints.is_surely_cell(operation.address, choices):
            yield Attempt((), Load(operation.address))
        for (low, high), cells in sorted(ranges.items()):
            among = is_one_of(operation.address, frozenset(cells), frozenset(targets))
            above = Binary("le", Const(low), value)
            outside = Conditional(above, Binary("lt", Const(high), value), ONE)
            path = tuple(each for each in (among, outside) if each != ONE)
            yield RefusedStore(path)

    def attempt(self, event: Doubt, choices: int) -> Iterator[Operation]:
        """Evaluate what may fail, so that it fails here if it does."""
        lookup = self.footprints.lookup
        if isinstance(event, RefusedStore):
            yield Check(under(event.path, ZERO, ONE), Fault.RANGE, "a value is outside its range")
        elif not cannot_fault(event.expr, lookup, choices):
            same = Binary("eq", event.expr, event.expr)
            yield Check(under(event.path, same, ONE), Fault.EXCEPTION, "an evaluation fails")

    def make_void(self, checked: Edge, edge: Edge) -> Edge:
        """An edge before whose stores marks of other threads become void.

        What is left of the step must still meet them: it races with the step that was declared."""
        goes_on = self.thread.locations[edge.target].mode is Mode.ATOMIC
        last = len(checked.operations) - 1
        operations: list[Operation] = []
        for position, operation in enumerate(checked.operations):
            if isinstance(operation, Assign) and operation in edge.operations:
                touch = Touch((), operation.address, write=True)
                at_once = position == last and not goes_on
                void = self.marks.void.__getitem__ if at_once else self.postpone
                operations += self.marks.voiding(self.number, touch, edge.choices, void)
            operations.append(operation)
        return replace(checked, operations=tuple(operations))

    def postpone(self, thread: int) -> int:
        """The cell that remembers to make a thread's marks void."""
        if thread not in self.postponed:
            cell = Cell("makes marks void", 0, 1, owner=self.number)
            self.postponed[thread] = self.marks.add(cell)
        return self.postponed[thread]

    def make_void_at_last(self, edge: Edge) -> Edge:
        """An edge that makes void what its step has postponed, if the step ends with it."""
        if self.thread.locations[edge.target].mode is Mode.ATOMIC:
            return edge
        inside = self.thread.locations[edge.source].mode is Mode.ATOMIC
        stored = {each.address for each in edge.operations if isinstance(each, Assign)}
        operations = list(edge.operations)
        for thread, cell in sorted(self.postponed.items()):
            if inside or Const(cell) in stored:
                void, remembered = Const(self.marks.void[thread]), Const(cell)
                operations.append(Assign(void, Conditional(Load(remembered), ONE, Load(void))))
                operations.append(Assign(remembered, ZERO))
        return replace(edge, operations=tuple(operations))

    # --- declaring ----------------------------------------------------------------------------

    def declare(self, step: StaticStep, end: int) -> None:
        """Add the edges that declare a step."""
        if step.location not in self.behind:
            self.add_choice(step)
        new = sorted(step.inside - self.copies.keys())
        for location in new:
            self.copies[location] = self.add_location(Location(Mode.ATOMIC))
        first = step.first
        guard = chosen(self.probe)
        if first.guard is not None:
            guard = Conditional(guard, first.guard, ZERO)
        here = replace(first, source=self.behind[step.location], guard=guard)
        self.add_declaring(here, step.guards, end, set())
        for location in new:
            for position in self.thread.outgoing[location]:
                edge = replace(self.thread.edges[position], source=self.copies[location])
                guards = guards_up_to(self.thread, position)
                self.add_declaring(edge, guards, end, self.changed.get(location, set()))

    def add_choice(self, step: StaticStep) -> None:
        """Let the thread choose between taking and declaring the steps of a location."""
        behind = self.add_location(Location(Mode.ATOMIC))
        self.behind[step.location] = behind
        choose = (Assign(Const(self.probe), Choice()),)
        self.edges.append(
            Edge(
                step.location,
                behind,
                Kind.CHOOSE,
                step.first.span,
                operations=choose,
                choices=2,
                atomic=True,
            )
        )

    @cached_property
    def changed(self) -> dict[int, set[int]]:
        """By location inside declared steps: the cells that such a step may have written by then,
        and that a copy of it has left alone."""
        changed: dict[int, set[int]] = {}
        work = [step.first for step in self.marks.declared[self.number]]
        while work:
            edge = work.pop()
            if self.thread.locations[edge.target].mode is not Mode.ATOMIC:
                continue
            written = set(self.footprints.of_edge(edge).writes - self.private)
            if self.thread.locations[edge.source].mode is Mode.ATOMIC:
                written |= changed[edge.source]
            known = changed.get(edge.target)
            if known is None or not written <= known:
                changed[edge.target] = written | (known or set())
                work += self.thread.edges_at(edge.target)
        return changed

    def add_declaring(
        self, edge: Edge, guards: Sequence[Expr], end: int, changed: Iterable[int]
    ) -> None:
        """Add an edge that marks what an edge would touch, and changes nothing that anybody sees.

        `changed` are the cells that the step has written by then."""
        changed = set(changed)
        operations: list[Operation] = []
        self.require_unchanged(edge, guards, changed)
        operations += self.mark_events(follow_all(guards), edge.choices)
        for operation in edge.operations:
            operations += self.mark_events(self.events_of(operation, edge), edge.choices)
            if isinstance(operation, Check):
                self.require_unchanged(edge, [operation.condition], changed)
                operations.append(operation)
                continue
            self.require_unchanged(edge, self.find_deciding(operation, edge), changed)
            targets = set(self.footprints.targets(operation.address, edge.choices))
            if not targets - self.private:
                operations.append(operation)
            elif targets & self.private:
                raise self.unsupported(edge, "may write one of its own cells instead")
            changed |= targets - self.private
        self.edges.append(
            replace(
                edge,
                target=self.copies.get(edge.target, end),
                kind=Kind.ATOMIC,
                atomic=True,
                operations=tuple(operations),
            )
        )

    def find_deciding(self, operation: Assign, edge: Edge) -> Iterator[Expr]:
        """The parts of an assignment whose values a copy of it must know."""
        yield operation.address
        targets = set(self.footprints.targets(operation.address, edge.choices))
        if targets & self.private or any(self.fit(operation, edge.choices)):
            yield operation.value
        for part in walk(operation.value):
            if isinstance(part, Load):
                yield part.address
            elif isinstance(part, Conditional):
                yield part.test

    def require_unchanged(self, edge: Edge, exprs: Iterable[Expr], changed: set[int]) -> None:
        """Refuse a step that reads what it has written: its copy would not see that."""
        for expr in exprs:
            if changed.intersection(self.footprints.loads(expr, edge.choices)):
                raise self.unsupported(edge, "reads what it has written")

    def unsupported(self, edge: Edge, why: str) -> UnsupportedError:
        return UnsupportedError.at(
            edge.span,
            f"a step of thread {self.thread.name} touches shared data and {why}; its races are"
            " looked for by the strategies `full`, `cpc`, `stubborn` and `lock-patterns`",
        )

    def mark_events(self, events: Iterable[Touch | Doubt], choices: int) -> Iterator[Operation]:
        waiting: list[Operation] = []
        for event in events:
            if not isinstance(event, Touch):
                waiting += self.attempt(event, choices)
            else:
                declared = list(self.mark(event, choices))
                if declared:
                    yield from waiting
                    waiting.clear()
                yield from declared
        yield from waiting

    def mark(self, touch: Touch, choices: int) -> Iterator[Operation]:
        """Declare an access."""
        marks = self.marks
        marked = marks.writers if touch.write else marks.readers
        path, found = marks.restrict(self.number, touch, marked, choices)
        if not found:
            return
        distance = marks.write_shift if touch.write else marks.read_shift
        place = under(path, shift(touch.address, distance), Const(self.spare))
        value: Expr = Const(self.number + 1)
        if not touch.write:
            value = Binary("or", Load(place), Const(1 << self.number))
        yield Assign(place, value)


def chosen(probe: int) -> Expr:
    """Whether the thread has chosen to declare its step."""
    return Binary("ne", Load(Const(probe)), ZERO)


@dataclass(frozen=True)
class _Checking:
    """How the accesses of an edge are checked."""

    thread: MarkedThread
    choices: int
    late: bool
    """The step may still turn out to be impossible: a mark is only remembered."""
    remembers: bool
    """The step may have met a mark by now, which it has to tell before it fails."""

    def check(self, events: Iterable[Touch | Doubt]) -> Iterator[Operation]:
        waiting: list[Operation] = []
        for event in events:
            if not isinstance(event, Touch):
                waiting += self.attempt(event)
                continue
            meets = self.thread.marks.collision(self.thread.number, event, self.choices)
            if meets is None:
                continue
            yield from waiting
            waiting.clear()
            if self.late:
                hit = Const(self.thread.hit)
                yield Assign(hit, Conditional(meets, ONE, Load(hit)))
            else:
                yield Check(negate(meets), *RACE)
        if self.remembers:
            yield from waiting

    def attempt(self, event: Doubt) -> Iterator[Operation]:
        evaluated = list(self.thread.attempt(event, self.choices))
        if evaluated and self.remembers:
            fails = find_failure(event, self.thread.program)
            yield self.thread.require_no_mark(negate(under(event.path, fails, ZERO)))
        yield from evaluated


def find_failure(event: Doubt, program: Program) -> Expr:
    """Whether it fails where its path holds; no operand of an expression does."""
    if isinstance(event, RefusedStore):
        return ONE
    match event.expr:
        case Load(address):
            inside = Binary("lt", address, Const(len(program.cells)))
            return Conditional(Binary("gt", address, ZERO), negate(inside), ONE)
        case Element(_, index, length):
            return negate(Binary("ult", index, Const(length)))
        case Binary(operator, _, right) if operator in SHIFTS:
            return negate(Binary("ult", right, Const(64)))
        case Binary(operator, _, right) if operator in DIVISIONS:
            return Binary("eq", right, ZERO)
        case _:
            return ZERO
