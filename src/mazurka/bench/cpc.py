"""`mazurka bench cpc`: paper 000's Table 1, with our numbers beside the paper's.

Each program is searched to the end for assertions: without reduction, by transactions that never
end by force (unsound), by commit point completion, and by cycle detection.  What counts is
distinct program states, phases removed.  The last round of a search counts, in which the
classification of the cells is settled; the rounds before it are reported apart.

The paper's programs are Zing models, some translated from workflows and from C, which are not
public.  Ours keep what matters to the reductions: who shares what, what is locked, and which loops
end nondeterministically.  So the numbers differ; what should agree is how they compare.

The models were fitted to the table: where the loops stand, how deep they nest and how large the
instances are was settled after measuring, with the paper's ratios in view.  The table shows that
such programs exist, not how often.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from mazurka.bench.figures import Figures
from mazurka.bench.harness import Benchmark, Case, Line, Measured, thousands
from mazurka.ir.program import split_lines

STRATEGIES = ("full", "transactions", "cpc", "cycle-detection")


@dataclass(frozen=True, kw_only=True)
class CpcCase(Case):
    paper_lines: int
    """Lines of code of the paper's program."""

    @property
    def lines(self) -> int:
        """Lines of code of our model."""
        return count_code_lines(self.path.read_text(encoding="utf-8"))

    @property
    def paper_ratio(self) -> float:
        return (self.paper["cycle-detection"].states or 0) / (self.paper["cpc"].states or 1)


def describe(title: str, name: str, lines: int, *states: int, **quick: int) -> CpcCase:
    """A row of the paper's table: lines of code, and states by each of the three searches."""
    paper = {
        strategy: Figures(states=count)
        for strategy, count in zip(STRATEGIES[1:], states, strict=True)
    }
    return CpcCase(
        name=name, title=title, model=f"cpc/{name}", quick=quick, paper=paper, paper_lines=lines
    )


CASES = (
    describe("AuctionHouse", "auction_house", 798, 108, 108, 108, CARDS=1),
    describe("FlowTest", "flow_test", 485, 4656, 4656, 4656, COLUMNS=2),
    describe("Shipping", "shipping", 1844, 206, 206, 222, ITEMS=2),
    describe("Conc", "conc", 392, 512, 512, 2063, PRODUCERS=1),
    describe("Peterson", "peterson", 793, 1080, 1213, 3427),
    describe("Bluetooth", "bluetooth", 2768, 48109, 52092, 116559, REQUESTS=1),
    describe(
        "TransactionManager", "transaction_manager", 6927, 1220517, 1264894, 1268571,
        TRANSACTIONS=1,
    ),
    describe("AlternatingBit", "alternating_bit", 130, 1180, 1180, 1349, VALUES=2),
    describe("Philosophers", "philosophers", 76, 87399, 87399, 428896, N=4),
    describe("Bakery", "bakery", 104, 10221, 14935, 14254, VISITS=1),
)  # fmt: skip


class CpcTable(Benchmark[CpcCase]):
    name = "cpc"
    heading = "Commit point completion: paper 000, Table 1"
    depth_first = "commit point completion is a depth-first search"
    cases = CASES
    columns = (
        {"loc": 4, "full": 7, "unsound": 9, "cpc": 9, "cycles": 9}
        | {"ratio": 5, "rounds": 6, "secs": 5},
    )
    legend = (
        "Distinct program states, assertions only; the second line of each program is the paper's.",
        "unsound: transactions that never end by force. cycles: cycle detection. ratio: cycles /"
        " cpc.",
        "loc: lines of code. rounds: searches by cpc that took too much for protected and were"
        " begun again; they are not in its states, but in its secs.",
    )

    def measure_case(self, case: CpcCase) -> Measured[CpcCase]:
        program = case.load(case.chosen(quick=self.options.quick))
        figures = {strategy: self.search(case, program, strategy) for strategy in STRATEGIES}
        return Measured(case=case, figures=figures, constants=program.constants)

    @property
    def wrong(self) -> list[str]:
        return [
            f"{row.case.title}: cpc has more states than the full search."
            for row in self.rows
            if (row["cpc"].states or 0) > (row["full"].states or 0)
        ]

    def lines(self, row: Measured[CpcCase]) -> Iterator[Line]:
        case, cpc = row.case, row["cpc"]
        ours = [thousands(row[name].states) for name in STRATEGIES]
        ratio, seconds = f"{ratio_to_cpc(row):.2f}", f"{cpc.seconds:.3f}"
        yield Line([case.title], [f"{case.lines}", *ours, ratio, f"{cpc.rounds}", seconds])
        theirs = [thousands(figures.states) for figures in case.paper.values()]
        yield Line([""], [f"{case.paper_lines}", "", *theirs, f"{case.paper_ratio:.2f}"], "dim")

    def row_to_json(self, row: Measured[CpcCase]) -> dict[str, object]:
        names = ("states", "transitions", "seconds", "rounds", "earlier_states")
        case = row.case
        return {
            "model": case.name,
            "title": case.title,
            "constants": dict(row.constants),
            "lines": case.lines,
            "strategies": {name: row[name].to_json(*names) for name in STRATEGIES},
            "ratio": ratio_to_cpc(row),
            "paper": {
                "lines": case.paper_lines,
                **{name: figures.states for name, figures in case.paper.items()},
                "ratio": case.paper_ratio,
            },
        }


TABLE = CpcTable


def ratio_to_cpc(row: Measured[CpcCase]) -> float:
    """How many times the states of `cpc` cycle detection visits."""
    return row.ratio("states", "cycle-detection", to="cpc") or 0.0


def count_code_lines(source: str) -> int:
    """Count the lines that have code on them: no blank lines, comments or docstrings."""
    described: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef):
            continue
        if ast.get_docstring(node):
            text = node.body[0]
            described.update(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    return sum(
        1
        for number, line in enumerate(split_lines(source), start=1)
        if number not in described and line.strip() and not line.lstrip().startswith("#")
    )
