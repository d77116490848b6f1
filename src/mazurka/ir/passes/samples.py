"""Let a search try a few of the outcomes of a choice that has too many to try them all.

A search that enumerates the outcomes of a step cannot go through 2**32 of them.  `take_samples`
makes a program in which such a *wide* choice is among a few of its numbers, for searches of
explicit states and schedules; a circuit takes wide choices as they are.

**Where the samples are enough.**  Often the number is compared with a few constants and forgotten.
Let S be the largest set of cells such that each load of a cell of S is

- an operand of a comparison whose other operand is a constant, or a truth (a guard, a test, the
  operand of `not`, a check): a comparison with 0; or
- the whole value of a store to cells of S, perhaps with conversions that change no value of the
  cell: a *copy*.

The *thresholds* of a cell are the constants that it is compared with, those of the cells to which
it is copied, 0, and the ends of the ranges to which it is stored.  Two numbers are *alike* for a
cell if no threshold is equal to one of them only, or between them.  Relate two states if they
differ in cells of S only, and there by numbers that are alike for the cell.  Steps of related
states lead to related states: whatever is computed from S is a comparison, which is the same for
numbers that are alike, also without signs, since 0 is a threshold; copies of numbers that are alike
for one cell are alike for the other; guards, faults and footprints are the same.  So one number of
each class is enough (a bisimulation) if the wide choice is only stored to cells of S, as it is,
converted, or plus a constant, or compared with constants.  Between two neighbouring thresholds all
numbers are alike: the numbers next to each threshold and both ends are a sample of every class.

*Temporaries.*  A thread's own cell may hold other numbers at other times.  So where a wide choice
is stored to an own cell that no other thread touches, the number is followed from there
(`_Followed`): at each location some own cells may hold it, until something else is stored to them.
The rule for loads need only hold for these cells at these locations; in the relation above, states
differ in these cells there, too.

**Elsewhere** the samples are the same, as far as thresholds are known, and one more outcome stands
for all others: it is the fault `bound`, so that a search without a violation is inconclusive.
A choice inside a loop of an atomic section has no bound for its outcomes: it is `bound` at once.

Not so for hangs: whether a shared cell of S *changes* depends on more than its class.

What a search finds in the sampled program is translated by `Translation`: its states are states of
the program, only the numbers of choices differ.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from mazurka.ir.arithmetic import wrap
from mazurka.ir.expressions import (
    COMPARISONS,
    ZERO,
    Binary,
    Choice,
    Conditional,
    Const,
    Convert,
    Expr,
    Load,
    Unary,
    children,
    rebuild,
    walk,
)
from mazurka.ir.interpreter import Interpreter, State, StepRun
from mazurka.ir.program import FINISHED, Assign, Check, Edge, Fault, Mode, Operation, Program, Role
from mazurka.ir.values.footprints import Footprints
from mazurka.ir.values.rounds import strip_conversions

MOST_OUTCOMES = 65_535
"""The most outcomes of one choice that are tried one by one."""


@dataclass(frozen=True)
class Sample:
    """The numbers that are tried of a wide choice."""

    numbers: tuple[int, ...]
    exact: bool
    """Whether no other number can make a difference."""


NOTHING = Sample((), False)


@dataclass(frozen=True)
class SampledProgram:
    """A program that tries a few outcomes of wide choices, and the one that it is made of."""

    origin: Program
    program: Program
    samples: Mapping[int, Sample]
    """By the numbers of edges."""

    @property
    def is_exact(self) -> bool:
        """Whether a search of it says all about the program."""
        return all(sample.exact for sample in self.samples.values())

    @property
    def untried(self) -> frozenset[str]:
        """What a step says that would take an outcome which is not among the samples."""
        return frozenset(
            _bound(self.origin.edges[number], len(sample.numbers)).message
            for number, sample in self.samples.items()
            if not sample.exact
        )


def take_samples(program: Program) -> SampledProgram | None:
    """Return the program with wide choices sampled; None if it has none."""
    key = "_sampled"
    kept: dict[str, object] = program.__dict__
    if key not in kept:
        kept[key] = _take_samples(program)
    found = kept[key]
    assert found is None or isinstance(found, SampledProgram)
    return found


def _take_samples(program: Program) -> SampledProgram | None:
    looping = {number for number, edge in enumerate(program.edges) if edge.choices > 1}
    looping = {number for number in looping if _is_repeated(program, number)}
    wide = {number for number, edge in enumerate(program.edges) if edge.choices > MOST_OUTCOMES}
    if not wide | looping:
        return None
    uses = _Uses(program)
    if any(edge.guard is not None and _chooses(edge.guard) for edge in program.edges):
        looping |= wide  # a guard can see the number of the choice before it
    samples: dict[int, Sample] = {}
    for number in sorted(wide | looping):
        samples[number] = NOTHING if number in looping else uses.sample(number)
    threads = []
    for thread, first in zip(program.threads, program.first_edge, strict=True):
        edges = [
            _sampled_edge(edge, samples[number]) if number in samples else edge
            for number, edge in enumerate(thread.edges, first)
        ]
        threads.append(replace(thread, edges=tuple(edges)))
    text = program.text or program if program.has_assumptions else None
    return SampledProgram(program, replace(program, threads=tuple(threads), text=text), samples)


def _is_repeated(program: Program, number: int) -> bool:
    """Whether a step may take an edge more than once."""
    edge = program.edges[number]
    thread = next(
        each
        for each, first in zip(reversed(program.threads), reversed(program.first_edge), strict=True)
        if first <= number
    )
    inner = {at for at, place in enumerate(thread.locations) if place.mode is Mode.ATOMIC}
    return {edge.source, edge.target} <= inner and edge.source in thread.reachable(
        edge.target, inner
    )


def _sampled_edge(edge: Edge, sample: Sample) -> Edge:
    """An edge that chooses among the samples, and `bound` if they are not all."""
    count = len(sample.numbers)
    rest = () if sample.exact else (_bound(edge, count),)
    if not count:
        return replace(edge, choices=1, operations=rest)
    chosen: Expr = Const(wrap(sample.numbers[-1]))
    for position in reversed(range(count - 1)):
        this = Binary("eq", Choice(), Const(position))
        chosen = Conditional(this, Const(wrap(sample.numbers[position])), chosen)

    def change(expr: Expr) -> Expr:
        return chosen if isinstance(expr, Choice) else rebuild(expr, change)

    operations: list[Operation] = list(rest)
    for operation in edge.operations:
        if isinstance(operation, Assign):
            operations.append(Assign(change(operation.address), change(operation.value)))
        else:
            operations.append(replace(operation, condition=change(operation.condition)))
    return replace(edge, choices=count + len(rest), operations=tuple(operations))


def _bound(edge: Edge, tried: int) -> Check:
    if not tried:
        message = f"an atomic section chooses in a loop at {edge.span}"
    else:
        message = f"{tried} of the {edge.choices:,} outcomes at {edge.span} were tried"
    advice = "--engine symbolic takes all of them"
    condition = Binary("ne", Choice(), Const(tried)) if tried else ZERO
    return Check(condition, Fault.BOUND, f"{message}: {advice}")


@dataclass(frozen=True)
class _Copy:
    source: int
    targets: tuple[int, ...]


class _Uses:
    """What becomes of the numbers in a program's cells."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.footprints = Footprints(program)
        self.spoilt: set[int] = {
            address for address, cell in enumerate(program.cells) if cell.role is Role.COUNTER
        }
        """Cells outside of S."""
        self.thresholds: dict[int, set[int]] = defaultdict(set)
        self.copies: list[_Copy] = []
        for edge in program.edges:
            self._enter(edge)
        self._spread()
        self.private = self._find_private()
        """By thread: its own cells that no other thread touches."""

    def _find_private(self) -> list[set[int]]:
        found = [
            {address for address, cell in enumerate(self.program.cells) if cell.owner == number}
            - {thread.counter}
            for number, thread in enumerate(self.program.threads)
        ]
        for number, thread in enumerate(self.program.threads):
            for edge in thread.edges:
                touched = self.footprints.of_edge(edge)
                for other, cells in enumerate(found):
                    if other != number:
                        cells -= touched.reads | touched.writes
        return found

    def _enter(self, edge: Edge) -> None:
        if edge.guard is not None:
            self._test(edge.guard, edge.choices)
        if edge.subject is not None:
            self._spoil(edge.subject, edge.choices)
        for operation in edge.operations:
            if isinstance(operation, Check):
                self._test(operation.condition, edge.choices)
                continue
            targets = self.footprints.targets(operation.address, edge.choices)
            self._address(operation.address, edge.choices)
            source = self.copied(operation.value)
            if source is None:
                self._value(operation.value, edge.choices)
            else:
                self.copies.append(_Copy(source, targets))

    def copied(self, value: Expr) -> int | None:
        """The cell whose value this is, as it is or converted without a change; None if it is
        something else."""
        inner, (low, high) = strip_conversions(value)
        if not (isinstance(inner, Load) and isinstance(inner.address, Const)):
            return None
        values = self.footprints.lookup(inner.address.value)
        return inner.address.value if low <= values.low and values.high <= high else None

    def _test(self, expr: Expr, choices: int) -> None:
        """Note the uses in an expression of which only the truth counts."""
        cell = self.copied(expr)
        if cell is not None:
            self.thresholds[cell].add(0)
            return
        match expr:
            case Unary("not", operand):
                self._test(operand, choices)
            case Conditional(test, then, otherwise):
                for part in (test, then, otherwise):
                    self._test(part, choices)
            case _:
                self._value(expr, choices)

    def _value(self, expr: Expr, choices: int) -> None:
        """Note the uses in an expression whose value counts."""
        match expr:
            case Binary(operator, left, right) if operator in COMPARISONS:
                self._compare(left, right, choices)
            case Conditional(test, then, otherwise):
                self._test(test, choices)
                self._value(then, choices)
                self._value(otherwise, choices)
            case Unary("not", operand):
                self._test(operand, choices)
            case Load(address):
                self.spoilt.update(self.footprints.targets(address, choices))
                self._address(address, choices)
            case _:
                for child in children(expr):
                    self._value(child, choices)

    def _compare(self, left: Expr, right: Expr, choices: int) -> None:
        for one, other in ((left, right), (right, left)):
            cell = self.copied(one)
            if isinstance(other, Const) and cell is not None:
                self.thresholds[cell].add(other.value)
                return
        self._value(left, choices)
        self._value(right, choices)

    def _address(self, address: Expr, choices: int) -> None:
        if not isinstance(address, Const):
            self._value(address, choices)

    def _spoil(self, expr: Expr, choices: int) -> None:
        self.spoilt.update(self.footprints.loads(expr, choices))

    def _spread(self) -> None:
        """Take over the thresholds of copies, and leave out what is copied elsewhere."""
        changed = True
        while changed:
            changed = False
            for copy in self.copies:
                if copy.source not in self.spoilt and not self.spoilt.isdisjoint(copy.targets):
                    self.spoilt.add(copy.source)
                    changed = True
                wanted = {0}.union(*(self._thresholds_of(target) for target in copy.targets))
                if not wanted <= self.thresholds[copy.source]:
                    self.thresholds[copy.source] |= wanted
                    changed = True

    def _thresholds_of(self, address: int) -> set[int]:
        cell = self.program.cells[address]
        return self.thresholds[address] | {0, cell.low, cell.high}

    def sample(self, number: int) -> Sample:
        """Choose the outcomes to try of an edge."""
        edge = self.program.edges[number]
        found, exact = {0, edge.choices - 1}, True
        thread = bisect_right(self.program.first_edge, number) - 1
        for use in self._choice_uses(edge, thread):
            places = _find_places(use.expr, use.thresholds, edge.choices)
            exact &= use.known and places is not None
            found |= places or set()
        near = {place + step for place in found for step in (-1, 0, 1)}
        return Sample(tuple(sorted(p for p in near if 0 <= p < edge.choices)), exact)

    def _choice_uses(self, edge: Edge, thread: int) -> Iterator[_Use]:
        """Iterate over what is made of the choice."""
        for operation in edge.operations:
            if isinstance(operation, Check):
                yield from _find_comparisons(operation.condition)
                continue
            yield from _find_comparisons(operation.address)
            if not _chooses(operation.value):
                continue
            if _find_places(operation.value, set(), edge.choices) is None:
                yield from _find_comparisons(operation.value)
                continue
            targets = self.footprints.targets(operation.address, edge.choices)
            thresholds = {0}.union(*map(self._thresholds_of, targets))
            known = self.spoilt.isdisjoint(targets)
            if not known and isinstance(operation.address, Const):
                followed = _Followed(self, thread, operation.address.value)
                if followed.follow(edge, operation):
                    thresholds, known = followed.thresholds, True
            yield _Use(operation.value, thresholds, known)


class _Followed:
    """Where a thread keeps a number that it has chosen, and what it is compared with."""

    def __init__(self, uses: _Uses, thread: int, cell: int) -> None:
        self.uses, self.number, self.cell = uses, thread, cell
        self.program, self.footprints = uses.program, uses.footprints
        self.thread = self.program.threads[thread]
        self.own = uses.private[thread]
        self.holding: dict[int, set[int]] = defaultdict(set)
        """For each location the cells that may hold the number."""
        self.thresholds: set[int] = {0}
        self.waiting: list[int] = []
        self.most_choices = max(edge.choices for edge in self.thread.edges)

    def follow(self, edge: Edge, chosen: Assign) -> bool:
        """Follow the number from the edge on; whether it is only copied and compared."""
        if self.cell not in self.own:
            return False
        if not self._pass(edge, set(), chosen):
            return False
        while self.waiting:
            location = self.waiting.pop()
            for each in self.thread.edges_at(location):
                if not self._pass(each, set(self.holding[location])):
                    return False
        return True

    def _pass(self, edge: Edge, holding: set[int], chosen: Assign | None = None) -> bool:
        """Take an edge with some cells that may hold the number."""
        if edge.guard is not None and not self._only_compares(edge.guard, holding, truth=True):
            return False
        if edge.subject is not None and not self._only_compares(edge.subject, holding):
            return False
        for operation in edge.operations:
            if isinstance(operation, Check):
                if not self._only_compares(operation.condition, holding, truth=True):
                    return False
            elif not self._store(operation, holding, edge.choices, is_chosen=operation is chosen):
                return False
        targets = {edge.target}
        if edge.target == FINISHED and not self.thread.active:
            targets.add(self.thread.entry)  # it may be started again
        for target in targets:
            if not holding <= self.holding[target]:
                self.holding[target] |= holding
                self.waiting.append(target)
        return True

    def _store(
        self, operation: Assign, holding: set[int], choices: int, *, is_chosen: bool
    ) -> bool:
        if not self._only_compares(operation.address, holding):
            return False
        named = operation.address.value if isinstance(operation.address, Const) else None
        if not is_chosen and self.uses.copied(operation.value) not in holding:
            if not self._only_compares(operation.value, holding):
                return False
            if named is not None:
                holding.discard(named)
            return True
        targets = self.footprints.targets(operation.address, choices)
        for target in targets:
            cell = self.program.cells[target]
            self.thresholds |= {cell.low, cell.high}
            if target == named and target in self.own:
                holding.add(target)
            elif target in self.uses.spoilt:
                return False
            else:
                self.thresholds |= self.uses.thresholds[target]
        return True

    def _reached(self, address: Expr) -> tuple[int, ...]:
        return self.footprints.targets(address, self.most_choices)

    def _only_compares(self, expr: Expr, holding: set[int], *, truth: bool = False) -> bool:
        """Whether cells that hold the number are compared with constants at most."""
        cell = self.uses.copied(expr)
        if cell is not None:
            return cell not in holding or truth
        match expr:
            case Binary(operator, left, right) if operator in COMPARISONS:
                for one, other in ((left, right), (right, left)):
                    if isinstance(other, Const) and self.uses.copied(one) in holding:
                        self.thresholds.add(other.value)
                        return True
            case Unary("not", operand):
                return self._only_compares(operand, holding, truth=True)
            case Conditional(test, then, otherwise):
                return self._only_compares(test, holding, truth=True) and all(
                    self._only_compares(part, holding, truth=truth) for part in (then, otherwise)
                )
            case Load(address):
                if not holding.isdisjoint(self._reached(address)):
                    return False
        return all(self._only_compares(part, holding) for part in children(expr))


@dataclass(frozen=True)
class _Use:
    """What is made of a choice, and the numbers with which the result is compared."""

    expr: Expr
    thresholds: set[int]
    known: bool = True
    """Whether nothing else is done with it."""


def _find_comparisons(expr: Expr) -> Iterator[_Use]:
    """Iterate over comparisons of the choice with constants, and what else is done with it."""
    if not _chooses(expr):
        return
    match expr:
        case Binary(operator, left, Const(value)) if operator in COMPARISONS:
            yield _Use(left, {0, value})
        case Binary(operator, Const(value), right) if operator in COMPARISONS:
            yield _Use(right, {0, value})
        case Conditional() | Unary("not", _):
            for child in children(expr):
                yield from _find_comparisons(child)
        case _:
            yield _Use(expr, {0}, known=False)


def _chooses(expr: Expr) -> bool:
    return any(isinstance(part, Choice) for part in walk(expr))


def _find_places(expr: Expr, thresholds: set[int], choices: int) -> set[int] | None:
    """Return the choices for which an expression is one of the thresholds, or jumps; None if its
    form is not known.

    Between two of them its values rise, and none of them is a threshold.
    """
    match expr:
        case Choice():
            places = {value % 2**64 for value in thresholds} | {2**63}
        case Convert(Choice(), width, _) if choices <= 2**width:
            places = {value % 2**width for value in thresholds} | {2 ** (width - 1)}
        case Binary("add", Choice(), Const(offset)) if choices <= 2**62:
            if not -(2**62) < offset < 2**62:
                return None
            places = {value - offset for value in thresholds}
        case _:
            return None
    return {place for place in places if 0 <= place < choices}


class RecordedChoices(StepRun):
    """A step that remembers which choices it makes."""

    def __init__(self, program: Program, state: State, thread: int, choice: int) -> None:
        super().__init__(program, state, thread, choice)
        self.made: list[tuple[int, int]] = []

    def take(self, edge: Edge) -> None:
        number = self.edge
        try:
            super().take(edge)
        finally:
            if edge.choices > 1 or number in self.wide:
                self.made.append((number, self.choice))

    wide: frozenset[int] = frozenset()


class Translation:
    """Follows a schedule of a sampled program, and says which choices the program itself has to
    make for it."""

    def __init__(self, sampled: SampledProgram, state: State | None = None) -> None:
        """`state`: where the schedule begins, if not in the first state."""
        self.sampled = sampled
        self.interpreter = Interpreter(sampled.program)
        self.state = sampled.program.initial_state() if state is None else state

    def choice(self, thread: int, choice: int) -> int:
        """Return the choice of the program's own step, from where the schedule is now."""
        return self._run(thread, choice)[0]

    def follow(self, thread: int, choice: int) -> int:
        """Take a step of the schedule; return the choice of the program's own step."""
        number, self.state = self._run(thread, choice)
        return number

    def _run(self, thread: int, choice: int) -> tuple[int, State]:
        run = RecordedChoices(self.sampled.program, self.state, thread, choice)
        run.wide = frozenset(self.sampled.samples)
        step = self.interpreter.finish(run, self.state)
        number, scale = 0, 1
        for edge, digit in run.made:
            sample = self.sampled.samples.get(edge)
            number += scale * (digit if sample is None else sample.numbers[digit])
            scale *= self.sampled.origin.edges[edge].choices
        return number, step.state
