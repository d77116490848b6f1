"""Check a temporal formula with a back end of the symbolic engine.

What a back end with a solver is asked is a question of safety (`mazurka.symbolic.temporal.loops`),
so bounded search finds lassos, the shortest ones first, and induction and invariants prove that
there are none.  Decision diagrams look for fair cycles among all states of the product.  A lasso is
judged from the definitions (`mazurka.ltl.lassos`) before anybody hears of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from mazurka.errors import InternalError
from mazurka.ir.program import Program
from mazurka.ltl.formulas import Formula
from mazurka.ltl.lassos import refute_lasso
from mazurka.search import Move, Observer, SearchOptions, SearchResult, Violation
from mazurka.search.result import LASSO
from mazurka.symbolic.bdd import DiagramSearch
from mazurka.symbolic.bmc import CircuitSearch, SearchSubject
from mazurka.symbolic.circuit import Circuit, Rest
from mazurka.symbolic.induction import InductionSearch
from mazurka.symbolic.options import UNROLLED
from mazurka.symbolic.partition import Partition
from mazurka.symbolic.pdr import InvariantSearch
from mazurka.symbolic.portfolio import PortfolioSearch
from mazurka.symbolic.schedules import ScheduleReader
from mazurka.symbolic.solving.diagrams import AllStates
from mazurka.symbolic.temporal.loops import LoopCircuit, close_loops
from mazurka.symbolic.temporal.options import require_able
from mazurka.symbolic.temporal.runs import FairRuns, encode_runs


class RunsOfFormula(SearchSubject):
    """Whether a run violates a formula."""

    plain_steps = True
    concerns_faults = False
    """What is not known, and what fails, is a matter of the usual check: nothing lies behind it."""

    def __init__(self, formula: Formula, *, fair: bool) -> None:
        self.formula, self.fair = formula, fair
        self.program: Program | None = None

    def encode_runs(self, search: CircuitSearch) -> FairRuns:
        """The runs that violate the formula."""
        self.program = search.program
        return encode_runs(
            search.program,
            self.formula,
            fair=self.fair,
            counters=search.counters,
            unrolling=search.options.value(UNROLLED),
            observer=search.observer,
        )

    def encode(self, search: CircuitSearch) -> LoopCircuit:
        return close_loops(self.encode_runs(search))

    def judge(
        self, circuit: Circuit, frames: Sequence[Sequence[int]], kind: str, path: tuple[Move, ...]
    ) -> Violation:
        """The lasso that closes after all frames but the last one."""
        assert isinstance(circuit, LoopCircuit)
        reader = ScheduleReader(circuit)
        start = None
        for inputs in frames[:-1]:
            before = len(reader.path)
            reader.follow([inputs])
            if start is None and reader.extra[circuit.saved]:
                start = count_moves(reader.path[:before], circuit.claim)
        if start is None:
            raise InternalError("a loop of the circuit has no beginning")
        return self.confirm([move for move in path if move.thread != circuit.claim], start)

    def find_rest(self, circuit: Circuit) -> Rest:
        assert isinstance(circuit, LoopCircuit)
        return circuit.rest

    def describe_bound(self, many: str) -> str:
        return f"some run goes on for more than {many}"

    def confirm(self, moves: Sequence[Move], start: int) -> Violation:
        """The violation by a lasso whose loop begins behind so many moves, if it is one."""
        assert self.program is not None
        wrong = refute_lasso(self.program, self.formula, tuple(moves), start, fair=self.fair)
        if wrong is not None:
            raise InternalError(f"the interpreter does not confirm a counterexample: {wrong}")
        return Violation(LASSO, tuple(moves), loop_start=start)


class FairDiagramSearch(DiagramSearch):
    """A search for a run that violates a formula, by decision diagrams: a fair cycle
    (`mazurka.symbolic.solving.fair_cycles`) of the circuit of runs, as it is."""

    runs: FairRuns

    def __init__(
        self, program: Program, options: SearchOptions, observer: Observer, subject: RunsOfFormula
    ) -> None:
        super().__init__(program, options, observer, subject)
        self.of_formula = subject

    def encode(self) -> Circuit:
        began = time.perf_counter()
        self.runs = self.of_formula.encode_runs(self)
        self.encoding_seconds += time.perf_counter() - began
        return self.runs.circuit

    def divide(self, circuit: Circuit) -> Partition:
        threads = enumerate(self.program.threads)
        movers = [number for number, thread in threads if not thread.observer]
        return Partition(circuit, movers, self.runs.justice)

    def conclude(self, circuit: Circuit, partition: Partition, found: AllStates) -> None:
        if found.lasso is None:
            many = f"{found.states:,} state{'' if found.states == 1 else 's'}"
            self.proof = f"a decision diagram of all {many} of the product"
            return
        frames = [partition.choose(part, inputs) for part, inputs in found.lasso.frames]
        reader = ScheduleReader(circuit)
        reader.follow(frames[: found.lasso.loop])
        start = count_moves(reader.path, self.runs.claim)
        reader.follow(frames[found.lasso.loop :])
        moves = [move for move in reader.path if move.thread != self.runs.claim]
        self.violation, self.depth = self.of_formula.confirm(moves, start), len(frames)


def count_moves(path: Sequence[Move], claim: int) -> int:
    """How many moves are the program's."""
    return sum(move.thread != claim for move in path)


FormulaSearch = Callable[[Program, SearchOptions, Observer, RunsOfFormula], SearchResult]

SEARCHES: dict[str, FormulaSearch] = {
    "bdd": lambda *given: FairDiagramSearch(*given).run(),
    "bmc": lambda *given: CircuitSearch(*given).run(),
    "k-induction": lambda *given: InductionSearch(*given).run(),
    "pdr": lambda *given: InvariantSearch(*given).run(),
    "portfolio": lambda *given: PortfolioSearch(*given).run(),
}
"""By strategy how it checks a formula."""


def search_formula(
    strategy: str,
    program: Program,
    formula: Formula,
    options: SearchOptions,
    observer: Observer,
    *,
    fair: bool = False,
) -> SearchResult:
    """Look for a run that violates a formula, or prove that there is none."""
    require_able(strategy)
    return SEARCHES[strategy](program, options, observer, RunsOfFormula(formula, fair=fair))
