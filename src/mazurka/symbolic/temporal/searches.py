"""Check a temporal formula with a back end of the symbolic engine.

What a back end is asked is a question of safety (`mazurka.symbolic.temporal.loops`), so bounded
search finds lassos, the shortest ones first, and induction and invariants prove that there are
none.  A lasso is judged from the definitions (`mazurka.ltl.lassos`) before anybody hears of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mazurka.errors import InternalError
from mazurka.ir.program import Program
from mazurka.ltl.formulas import Formula
from mazurka.ltl.lassos import refute_lasso
from mazurka.search import Move, Observer, SearchOptions, SearchResult, Violation
from mazurka.search.result import LASSO
from mazurka.symbolic.bmc import CircuitSearch, SearchSubject
from mazurka.symbolic.circuit import Circuit
from mazurka.symbolic.induction import InductionSearch
from mazurka.symbolic.options import UNROLLED
from mazurka.symbolic.pdr import InvariantSearch
from mazurka.symbolic.portfolio import PortfolioSearch
from mazurka.symbolic.schedules import ScheduleReader
from mazurka.symbolic.temporal.loops import LoopCircuit, close_loops
from mazurka.symbolic.temporal.options import require_able
from mazurka.symbolic.temporal.runs import encode_runs


class RunsOfFormula(SearchSubject):
    """Whether a run violates a formula."""

    plain_steps = True

    def __init__(self, formula: Formula, *, fair: bool) -> None:
        self.formula, self.fair = formula, fair
        self.program: Program | None = None

    def encode(self, search: CircuitSearch) -> LoopCircuit:
        self.program = search.program
        runs = encode_runs(
            search.program,
            self.formula,
            fair=self.fair,
            counters=search.counters,
            unrolling=search.options.value(UNROLLED),
            observer=search.observer,
        )
        return close_loops(runs)

    def judge(
        self, circuit: Circuit, frames: Sequence[Sequence[int]], kind: str, path: tuple[Move, ...]
    ) -> Violation:
        """The lasso that closes after all frames but the last one."""
        assert isinstance(circuit, LoopCircuit)
        assert self.program is not None
        reader = ScheduleReader(circuit)
        start = None
        for inputs in frames[:-1]:
            before = len(reader.path)
            reader.follow([inputs])
            if start is None and reader.extra[circuit.saved]:
                start = count_moves(reader.path[:before], circuit.claim)
        if start is None:
            raise InternalError("a loop of the circuit has no beginning")
        moves = tuple(move for move in path if move.thread != circuit.claim)
        wrong = refute_lasso(self.program, self.formula, moves, start, fair=self.fair)
        if wrong is not None:
            raise InternalError(f"the interpreter does not confirm a counterexample: {wrong}")
        return Violation(LASSO, moves, loop_start=start)


def count_moves(path: Sequence[Move], claim: int) -> int:
    """How many moves are the program's."""
    return sum(move.thread != claim for move in path)


FormulaSearch = Callable[[Program, SearchOptions, Observer, RunsOfFormula], SearchResult]

SEARCHES: dict[str, FormulaSearch] = {
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
