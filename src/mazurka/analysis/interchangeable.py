"""Find threads that run the same code and whose identity nobody compares.

**What is shown.**  For a class of threads, each permutation of its members is an *automorphism* of
the program: it acts on states (`mazurka.ir.symmetry`: it moves the values of columns, and renames
members in holders), leaves the initial state as it is, and for every thread t and every state s

    step(p(s), p(t), choice) = p(step(s, t, choice)),

with the same outcome, the same kind of fault and the same message.  So a state and its renamings
have the same futures up to renaming: p maps runs to runs, one to one.  Deadlocks, faults, data
races, bounds that are passed and runs that never end are properties that do not name a thread, so a
search that keeps one state of each set of renamings finds them all, and nothing else.

**How.**  Permutations act on the program's text, too: addresses of columns are replaced, and
constants that stand for numbers of threads.  If the text of thread t, changed by p, is that of
thread p(t), for *all* threads of the program, observers among them, the equation above follows by
induction on the edges of a step and on expressions.  It is enough to look at two permutations that
generate all others: the first two members change places, and all members go round by one.

1. *Holders.*  Values flow where they are assigned or compared for equality.  Cells that exchange
   values in this way form a *kin*.  Where the texts of two members differ in a constant, by their
   own numbers plus one, the kin of that place holds thread numbers.  No value of it may be used in
   any other way (arithmetic, order, index, address): its cells are `Flows.computed` otherwise.
2. *Columns.*  The k-th local cell of a member corresponds to the k-th of another one.  Where the
   texts of two members differ in an address, these cells correspond to each other.
3. *The image of an expression*: an address that is a constant is looked up in the columns.  One
   that is computed must only lead to cells that all move by the same distance, and if this is not
   0 it must surely lead to a cell, and contain the constant it starts from, which is moved by
   this distance.  In a kin of holders, constants that are numbers of members are renamed.
   Everything else must remain as it is.
4. *The comparison* is by form, edge by edge.  Only what cannot matter may be in another order: the
   tests of a conjunction or disjunction that cannot fail and read no cell that can race, and
   constants stored one after the other in different cells of this kind.  What a thread that waits
   has read depends on the order of its tests; where assumptions stop threads, this decides whether
   its wait is excused.  So in a program with assumptions tests may not be in another order, and
   the text that decides what is excused (`mazurka.analysis.unstopped`) is compared as well.

A local cell may hold a thread's number in the middle of a step; there it is renamed and moves, and
between steps it has its initial value.  A number that is kept in a column from step to step (a
thread remembers another one) would have to be renamed in the keys, too, which sorting cannot do;
such classes are given up.  Whatever is not proven to be interchangeable is in no class.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

from mazurka.analysis.unstopped import find_unstopped
from mazurka.ir.expressions import (
    ONE,
    ZERO,
    Binary,
    Choice,
    Conditional,
    Const,
    Element,
    Expr,
    Load,
    Unary,
    children,
    is_truth,
    rebuild,
)
from mazurka.ir.passes.liveness import find_stored_locals
from mazurka.ir.program import Assign, Check, Edge, Operation, Program, Span, Thread
from mazurka.ir.symmetry import Renaming, Symmetry, ThreadClass
from mazurka.ir.values.footprints import Footprints

KEY = "_symmetry"
NOWHERE = Span("", 0)
"""Where an edge stands in the source makes no difference."""
MOST_GROWN = 8
"""Up to this many threads, a class is built up thread by thread where not all fit together."""


def find_symmetry(program: Program) -> Symmetry | None:
    """Find all classes of interchangeable threads; None if there are none.  The answer is kept."""
    kept: dict[str, object] = program.__dict__
    if KEY not in kept:
        classes = tuple(sorted(_Search(program).classes(), key=lambda each: each.members))
        kept[KEY] = Symmetry(classes) if classes else None
    found = kept[KEY]
    return found if isinstance(found, Symmetry) else None


def find_kept_cells(program: Program) -> set[int]:
    """Find the cells that need not have their initial values between steps."""
    shared = {address for address, cell in enumerate(program.cells) if cell.owner is None}
    return shared | set(find_stored_locals(program))


class _NotSymmetricError(Exception):
    """Two texts differ in more than the identity of their threads."""


# --- which cells exchange values ------------------------------------------------------------------


@dataclass(frozen=True)
class Sources:
    """Where a value may come from: cells, constants, a computation."""

    cells: tuple[int, ...] = ()
    constants: tuple[int, ...] = ()
    computed: bool = False

    def __or__(self, other: Sources) -> Sources:
        return Sources(
            self.cells + other.cells,
            self.constants + other.constants,
            self.computed or other.computed,
        )


COMPUTED = Sources(computed=True)


class Flows:
    """The kins of a program's cells, and the constants that their values meet."""

    def __init__(self, footprints: Footprints) -> None:
        self.footprints = footprints
        program = footprints.program
        self.leader = list(range(len(program.cells)))
        self.computing: set[int] = set()
        """Cells whose values are used by computations; by their kin, it concerns others, too."""
        self.choices = 1
        self.meetings: list[list[Sources]] = []
        """For each thread, in the order of its text, what is compared or assigned."""
        for thread in program.threads:
            self.meetings.append([])
            for edge in thread.edges:
                self.visit(edge)
        self.computed = {self.kin(cell) for cell in self.computing}

    def kin(self, cell: int) -> int:
        """The cell that represents the kin of a cell."""
        while self.leader[cell] != cell:
            self.leader[cell] = self.leader[self.leader[cell]]
            cell = self.leader[cell]
        return cell

    def meet(self, sources: Sources) -> None:
        self.meetings[-1].append(sources)
        for cell in sources.cells[1:]:
            self.leader[self.kin(cell)] = self.kin(sources.cells[0])
        if sources.computed:
            self.computing.update(sources.cells)

    def visit(self, edge: Edge) -> None:
        self.choices = edge.choices
        if edge.guard is not None:
            self.value(edge.guard)
        for operation in edge.operations:
            if isinstance(operation, Check):
                self.value(operation.condition)
            else:
                stored = Sources(self.targets(operation.address))
                self.meet(stored | self.value(operation.value))

    def targets(self, address: Expr) -> tuple[int, ...]:
        """The cells that an address leads to; what it is made of takes part in a computation."""
        if not isinstance(address, Const):
            self.meet(self.value(address) | COMPUTED)
        return self.footprints.targets(address, self.choices)

    def value(self, expr: Expr) -> Sources:
        match expr:
            case Const(value):
                return Sources(constants=(value,))
            case Load(address):
                return Sources(self.targets(address))
            case Conditional(test, then, otherwise):
                self.value(test)
                return self.value(then) | self.value(otherwise)
            case Binary("eq" | "ne", left, right):
                self.meet(self.value(left) | self.value(right))
                return COMPUTED
            case Unary("not", operand):
                self.value(operand)
                return COMPUTED
            case _:
                for child in children(expr):
                    self.meet(self.value(child) | COMPUTED)
                return COMPUTED


# --- the classes ----------------------------------------------------------------------------------


class _Search:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.footprints = Footprints(program)
        self.locals: dict[int, list[int]] = defaultdict(list)
        for address, cell in enumerate(program.cells):
            if cell.owner is not None:
                self.locals[cell.owner].append(address)

    @cached_property
    def flows(self) -> Flows:
        return Flows(self.footprints)

    @cached_property
    def texts(self) -> list[Footprints]:
        """The program, and where assumptions may stop threads, the text by which it is decided
        which waits are excused."""
        judged = [find_unstopped(self.program)] if self.program.has_assumptions else []
        return [self.footprints, *map(Footprints, judged)]

    @cached_property
    def kept(self) -> set[int]:
        return find_kept_cells(self.program)

    def classes(self) -> Iterator[ThreadClass]:
        for group in self.groups():
            rest = group
            while len(rest) > 1:
                found = self.largest_class(rest)
                taken = set(found.members if found is not None else rest[:1])
                rest = [number for number in rest if number not in taken]
                if found is not None:
                    yield found

    def groups(self) -> list[list[int]]:
        """Threads of the same outer shape."""
        shapes: dict[object, list[int]] = defaultdict(list)
        for number, thread in enumerate(self.program.threads):
            if not thread.observer:
                edges = tuple(
                    (e.source, e.target, e.kind, len(e.operations))
                    for text in self.texts
                    for e in text.program.threads[number].edges
                )
                places = tuple((place.mode, len(place.resets)) for place in thread.locations)
                own = len(self.locals[number])
                shapes[(thread.entry, thread.active, own, places, edges)].append(number)
        return [group for group in shapes.values() if len(group) > 1]

    def largest_class(self, group: Sequence[int]) -> ThreadClass | None:
        """The class of the first thread of a group, as large as can be shown."""
        first, *others = group
        fitting = [other for other in others if self.correspondence(first, other) is not None]
        found = self.prove([first, *fitting])
        if found is not None or not 1 < len(fitting) < MOST_GROWN:
            return found
        members = [first]
        for other in fitting:
            larger = self.prove([*members, other])
            if larger is not None:
                members, found = [*members, other], larger
        return found

    def correspondence(self, one: int, other: int) -> dict[int, int] | None:
        """The cells of one thread with those that take their places in the other one's text."""
        pairs = dict(zip(self.locals[one], self.locals[other], strict=True))
        numbers = {one + 1: other + 1, other + 1: one + 1}
        try:
            for text in self.texts:
                walk, threads = _Correspondence(text, numbers, pairs), text.program.threads
                for edge, twin in zip(threads[one].edges, threads[other].edges, strict=True):
                    walk.match_edges(edge, twin)
        except _NotSymmetricError:
            return None
        return pairs

    def prove(self, members: list[int]) -> ThreadClass | None:
        """The class of these threads, if all their permutations are automorphisms."""
        if len(members) < 2:
            return None
        columns = self.columns(members)
        holders = self.holders(members)
        if columns is None or holders is None:
            return None
        moved = {cell for column in columns for cell in column}
        if self.kept.intersection(moved, holders) or not self.are_alike(members, columns, holders):
            return None
        resting = tuple(holder for holder in holders if holder not in moved)
        found = ThreadClass(tuple(members), columns, resting)
        swap = [1, 0, *range(2, len(members))]
        around = [*range(1, len(members)), 0]
        permutations = [swap] if len(members) == 2 else [swap, around]
        if all(self.is_automorphism(found, holders, each) for each in permutations):
            return found
        return None

    def columns(self, members: list[int]) -> tuple[tuple[int, ...], ...] | None:
        first, *others = members
        matches = [self.correspondence(first, other) for other in others]
        cells = sorted({cell for match in matches if match for cell in match}, reverse=True)
        taken: set[int] = set()
        columns: list[tuple[int, ...]] = []
        for cell in cells:
            column = (cell, *(match.get(cell, cell) for match in matches if match is not None))
            if len(members) == 2 and column[::-1] in columns:
                continue  # each of two threads uses the other one's cell
            if len(set(column)) < len(members) or taken.intersection(column):
                return None
            taken.update(column)
            columns.append(column)
        return tuple(columns)

    def holders(self, members: list[int]) -> tuple[int, ...] | None:
        """The cells that hold thread numbers; None if these are used in other ways."""
        flows, first = self.flows, members[0]
        kins: set[int] = set()
        for other in members[1:]:
            for mine, yours in zip(flows.meetings[first], flows.meetings[other], strict=False):
                if mine.cells and mine.constants != yours.constants:
                    kins.add(flows.kin(mine.cells[0]))
        if kins & flows.computed:
            return None
        cells = range(1, len(self.program.cells))
        return tuple(cell for cell in cells if flows.kin(cell) in kins) if kins else ()

    def are_alike(
        self,
        members: list[int],
        columns: Iterable[tuple[int, ...]],
        holders: Iterable[int],
    ) -> bool:
        """Whether corresponding cells are of one kind, and the initial state names no member."""
        cells = self.program.cells
        for column in columns:
            kinds = {replace(cells[cell], name="", owner=None, span=None) for cell in column}
            owners = [cells[cell].owner for cell in column]
            if len(kinds) > 1 or owners not in ([None] * len(members), members):
                return False
        numbers = {member + 1 for member in members}
        for holder in holders:
            cell = cells[holder]
            known = numbers if cell.points is None else numbers.intersection(cell.points)
            inside = all(cell.low <= number <= cell.high for number in numbers)
            if cell.initial in numbers or not inside or known not in (numbers, set()):
                return False
        return True

    def is_automorphism(
        self, found: ThreadClass, holders: Iterable[int], permutation: Sequence[int]
    ) -> bool:
        members = found.members
        numbers = {old: members[new] for old, new in zip(members, permutation, strict=True)}
        addresses = {
            column[old]: column[new]
            for column in found.columns
            for old, new in enumerate(permutation)
        }
        ordered, known = self.program.has_assumptions, frozenset(holders)
        try:
            return all(
                _Image(text, numbers, addresses, known, ordered).is_image(
                    thread, text.program.threads[numbers.get(number, number)]
                )
                for text in self.texts
                for number, thread in enumerate(text.program.threads)
            )
        except _NotSymmetricError:
            return False


class _Correspondence:
    """Goes through two texts side by side, and collects addresses in which they differ."""

    def __init__(
        self, footprints: Footprints, numbers: dict[int, int], pairs: dict[int, int]
    ) -> None:
        self.footprints = footprints
        self.numbers = numbers
        self.pairs = pairs

    def match_edges(self, edge: Edge, twin: Edge) -> None:
        choices = edge.choices
        if (edge.guard is None) != (twin.guard is None):
            raise _NotSymmetricError
        if edge.guard is not None and twin.guard is not None:
            self.match(edge.guard, twin.guard, choices)
        for mine, yours in zip(edge.operations, twin.operations, strict=True):
            match mine, yours:
                case Assign(), Assign():
                    self.match_addresses(mine.address, yours.address, choices)
                    self.match(mine.value, yours.value, choices)
                case Check(), Check():
                    self.match(mine.condition, yours.condition, choices)
                case _:
                    raise _NotSymmetricError

    def match(self, mine: Expr, yours: Expr, choices: int) -> None:
        match mine, yours:
            case Const(one), Const(other):
                if one != other and self.numbers.get(one) != other:
                    raise _NotSymmetricError
            case Load(one), Load(other):
                self.match_addresses(one, other, choices)
            case _:
                self.match_parts(mine, yours, choices)

    def match_parts(self, mine: Expr, yours: Expr, choices: int) -> None:
        below, beside = children(mine), children(yours)
        if type(mine) is not type(yours) or len(below) != len(beside):
            raise _NotSymmetricError
        for one, other in zip(below, beside, strict=True):
            self.match(one, other, choices)

    def match_addresses(self, mine: Expr, yours: Expr, choices: int) -> None:
        start, beginning = find_base(mine), find_base(yours)
        if start is None or beginning is None:
            self.match(mine, yours, choices)
            return
        distance = beginning - start
        self.match(with_base(mine, 0), with_base(yours, 0), choices)
        for cell in self.footprints.targets(mine, choices) if distance else ():
            if self.pairs.setdefault(cell, cell + distance) != cell + distance:
                raise _NotSymmetricError


def find_base(address: Expr) -> int | None:
    """The constant that an address starts from, if it has one."""
    match address:
        case Const(value):
            return value
        case Element(base) | Binary("add", base):
            return find_base(base)
        case _:
            return None


def with_base(address: Expr, value: int) -> Expr:
    """The same address, starting from another constant."""
    match address:
        case Element(base, index, length, stride):
            return Element(with_base(base, value), index, length, stride)
        case Binary("add", base, offset):
            return Binary("add", with_base(base, value), offset)
        case _:
            return Const(value)


# --- the image of a text under a permutation ------------------------------------------------------


@dataclass(frozen=True)
class _Image:
    """What a permutation of threads makes of a thread's text."""

    footprints: Footprints
    numbers: Renaming
    addresses: dict[int, int]
    holders: frozenset[int]
    has_assumptions: bool
    """Whether the order of tests matters."""

    def is_image(self, thread: Thread, twin: Thread) -> bool:
        """Whether the text of `thread`, renamed, is that of `twin`."""
        if self.addresses.get(thread.counter, thread.counter) != twin.counter:
            return False
        for place, other in zip(thread.locations, twin.locations, strict=True):
            resets = {self.addresses.get(cell, cell) for cell in place.resets}
            if place.mode is not other.mode or resets != set(other.resets):
                return False
        return all(
            self.normalize(self.edge(edge)) == self.normalize(replace(other, span=NOWHERE, text=""))
            for edge, other in zip(thread.edges, twin.edges, strict=True)
        )

    def edge(self, edge: Edge) -> Edge:
        choices = edge.choices
        return replace(
            edge,
            guard=None if edge.guard is None else self.value(edge.guard, choices),
            operations=tuple(self.operation(each, choices) for each in edge.operations),
            subject=None if edge.subject is None else self.address(edge.subject, choices),
            span=NOWHERE,
            text="",
        )

    def operation(self, operation: Operation, choices: int) -> Operation:
        if isinstance(operation, Check):
            return replace(operation, condition=self.value(operation.condition, choices))
        targets = self.footprints.targets(operation.address, choices)
        names = not self.holders.isdisjoint(targets)
        return Assign(
            self.address(operation.address, choices), self.value(operation.value, choices, names)
        )

    def value(self, expr: Expr, choices: int, names: bool = False) -> Expr:
        """The image of a value; with `names`, it is the number of a thread plus one."""
        match expr:
            case Const(value):
                member = value - 1
                return Const(self.numbers[member] + 1) if names and member in self.numbers else expr
            case Load(address):
                return Load(self.address(address, choices))
            case Conditional(test, then, otherwise):
                return Conditional(
                    self.value(test, choices),
                    self.value(then, choices, names),
                    self.value(otherwise, choices, names),
                )
            case Binary("eq" | "ne", left, right):
                compares = self.is_name(left, choices) or self.is_name(right, choices)
                return rebuild(expr, lambda part: self.value(part, choices, compares))
            case Choice():
                return expr
            case _:
                return rebuild(expr, lambda part: self.value(part, choices))

    def is_name(self, expr: Expr, choices: int) -> bool:
        """Whether the value is a thread's number plus one."""
        match expr:
            case Load(address):
                return not self.holders.isdisjoint(self.footprints.targets(address, choices))
            case Conditional(_, then, otherwise):
                return self.is_name(then, choices) or self.is_name(otherwise, choices)
            case _:
                return False

    def address(self, address: Expr, choices: int) -> Expr:
        if isinstance(address, Const):
            return Const(self.addresses.get(address.value, address.value))
        targets = self.footprints.targets(address, choices)
        distances = {self.addresses.get(cell, cell) - cell for cell in targets}
        if distances <= {0}:
            return self.value(address, choices)
        base = find_base(address)
        sure = self.footprints.is_surely_cell(address, choices)
        if len(distances) > 1 or base is None or not sure:
            raise _NotSymmetricError
        return with_base(self.value(address, choices), base + distances.pop())

    # --- what may stand in another order ----------------------------------------------------------

    def normalize(self, edge: Edge) -> Edge:
        """The edge in an order of its tests and stores that does not depend on numbers."""
        return replace(
            edge,
            guard=None if edge.guard is None else self.sort_tests(edge.guard),
            operations=tuple(self.sort_stores(edge.operations)),
        )

    def sort_tests(self, expr: Expr) -> Expr:
        """Conjunctions and disjunctions of harmless tests, sorted."""
        if self.has_assumptions:
            return expr
        inner = rebuild(expr, self.sort_tests)
        for is_and in (True, False):
            tests = self.chain(inner, is_and)
            if len(tests) > 1:
                *before, last = sorted(tests, key=repr)
                for test in reversed(before):
                    last = Conditional(test, last, ZERO) if is_and else Conditional(test, ONE, last)
                return last
        return inner

    def chain(self, expr: Expr, is_and: bool) -> list[Expr]:
        """The tests of a conjunction or disjunction; none if one of them is not harmless."""
        tests: list[Expr] = []
        while True:
            match expr:
                case Conditional(test, rest, Const(0)) if is_and:
                    pass
                case Conditional(test, Const(1), rest) if not is_and:
                    pass
                case _:
                    tests.append(expr)
                    return tests if all(map(self.is_harmless, tests)) else []
            tests.append(test)
            expr = rest

    def is_harmless(self, test: Expr) -> bool:
        """Whether a test is true or false, cannot fail, and reads no cell that can race."""
        match test:
            case Binary("eq" | "ne", left, right):
                return self.is_quiet(left) and self.is_quiet(right)
            case _:
                return isinstance(test, Const) and is_truth(test)

    def is_quiet(self, expr: Expr) -> bool:
        match expr:
            case Const():
                return True
            case Load(Const(address)):
                is_cell = self.footprints.is_cell(address)
                return is_cell and not self.footprints.program.cells[address].can_race
            case _:
                return False

    def sort_stores(self, operations: Sequence[Operation]) -> Iterator[Operation]:
        """Constants that are stored one after the other in different cells, by address."""
        for plain, run in groupby(operations, self.is_plain_store):
            stores = list(run)
            if plain and len({each.address for each in stores if isinstance(each, Assign)}) == len(
                stores
            ):
                stores.sort(key=repr)
            yield from stores

    def is_plain_store(self, operation: Operation) -> bool:
        match operation:
            case Assign(Const(address), Const(value)):
                if not self.footprints.is_cell(address):
                    return False
                cell = self.footprints.program.cells[address]
                return cell.low <= value <= cell.high and not cell.can_race
            case _:
                return False
