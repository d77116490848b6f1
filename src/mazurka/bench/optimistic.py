"""`mazurka bench optimistic`: paper 002's table, with our numbers beside the paper's.

Each program is searched three times: with every instruction a step, with every source line a step
(both in full), and by the `optimistic` reduction, on the program as `check` reads it.  Assertions
and deadlocks are looked for each time: Java PathFinder does so, and in the paper's reduction taking
a lock is visible, so that it keeps deadlocks.  Where the reduction needs several rounds, the last
one counts, in which the classification is settled; the others are in the JSON object.

The paper's programs were Java, searched by Java PathFinder; their sources are not public.  The
models are written from its one-line descriptions, so only the shape of the table can be compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mazurka.bench.figures import Figures
from mazurka.bench.harness import Benchmark, Case, Line, Measured, marked, thousands, times
from mazurka.errors import OptionError
from mazurka.ir.passes.merge import Granularity
from mazurka.report.observer import bytes_text

REDUCTION = "optimistic"
PROPERTIES = ("assert", "deadlock")
INSTRUCTION, LINE, REDUCED = "instruction", "line", "reduced"
GRANULARITIES = {INSTRUCTION: Granularity.INSTRUCTION, LINE: Granularity.LINE, REDUCED: None}
COARSENED = (INSTRUCTION, LINE)
"""What the reduced search is compared with."""


@dataclass(frozen=True, kw_only=True)
class OptimisticCase(Case):
    megabytes: Mapping[str, float]
    """The memory that the paper reports at each granularity."""
    ratios: Mapping[str, float]
    """To the reduced search, as the paper prints them."""
    out_of_memory: bool = False
    """The paper's search by instructions did not finish: its memory and ratio are more."""


def describe(
    name: str, title: str, *paper: float, out_of_memory: bool = False, **quick: int
) -> OptimisticCase:
    """A row of the paper's table: memory at three granularities, and two ratios."""
    return OptimisticCase(
        name=name,
        title=title,
        model=f"optimistic/{name}",
        quick=quick,
        megabytes=dict(zip(GRANULARITIES, paper[:3], strict=True)),
        ratios=dict(zip(COARSENED, paper[3:], strict=True)),
        out_of_memory=out_of_memory,
    )


CASES = (
    describe(
        "halt_exception", "HaltException", 45.9, 4.3, 2.1, 22, 2.0, WORKERS=2, COUNTS=2, TARGET=3
    ),
    describe("clean", "Clean", 8.2, 3.6, 2.3, 3.6, 1.6, ITEMS=2),
    describe("xtango_dp", "Xtango-DP", 1800, 609, 236, 7.6, 2.6, out_of_memory=True, N=2),
    describe("xtango_qs", "Xtango-QS", 1800, 346, 91, 20, 3.8, out_of_memory=True, N=5, PICTURES=1),
)


class OptimisticTable(Benchmark[OptimisticCase]):
    name = "optimistic"
    heading = "Optimistic coarsening: paper 002, assertions and deadlocks"
    depth_first = "the reduction is a depth-first search"
    default_limit = 60.0
    title_widths = (13, 6)
    cases = CASES
    columns = ({"instruction": 12, "line": 10, "reduced": 10, "instr/red": 9, "line/red": 9},)
    legend = (
        "instruction, line: full searches with an instruction or a source line a step; by lines,"
        " violations can be missed. reduced: optimistic coarsening.",
        "memory: the visited states with their hash table, which is never smaller than some"
        " kilobytes. paper: memory of Java PathFinder.",
        ">: the search was stopped by its limit.",
    )

    def check_options(self) -> None:
        super().check_options()
        if self.options.repeat != 1:
            repeat = f"--repeat {self.options.repeat}"
            raise OptionError(f"{repeat}: states and bytes are the same in every round")

    def measure_case(self, case: OptimisticCase) -> Measured[OptimisticCase]:
        constants = case.chosen(quick=self.options.quick)
        figures: dict[str, Figures] = {}
        for column, granularity in GRANULARITIES.items():
            program = case.load(constants, granularity)
            strategy = REDUCTION if column == REDUCED else "full"
            figures[column] = self.search(case, program, strategy, properties=PROPERTIES)
        return Measured(case=case, figures=figures, constants=program.constants)

    @property
    def wrong(self) -> list[str]:
        return [
            f"{row.case.title}: the reduced search has the most states."
            for row in self.rows
            if row[INSTRUCTION].complete
            and (row[REDUCED].states or 0) > (row[INSTRUCTION].states or 0)
        ]

    def lines(self, row: Measured[OptimisticCase]) -> Iterator[Line]:
        """Three lines for each program: its states, its memory, and the paper's memory."""
        columns = row.figures.values()
        yield Line(
            [row.case.title, "states"],
            [marked(thousands(one.states), one.complete) for one in columns]
            + _ratios(row, "states"),
        )
        yield Line(
            ["", "memory"],
            [marked(bytes_text(one.table_bytes or 0), one.complete) for one in columns]
            + _ratios(row, "table_bytes"),
        )
        yield Line(["", "paper"], _theirs(row.case), "dim")

    def row_to_json(self, row: Measured[OptimisticCase]) -> dict[str, object]:
        names = (
            "states", "transitions", "table_bytes", "seconds", "complete", "rounds",
            "earlier_states",
        )  # fmt: skip
        case = row.case
        return {
            "model": case.name,
            "title": case.title,
            "constants": dict(row.constants),
            **{column: figures.to_json(*names) for column, figures in row.figures.items()},
            "ratios": {column: _ratio_to_json(row, column) for column in COARSENED},
            "paper": {
                "megabytes": dict(case.megabytes),
                "instruction_ratio": case.ratios[INSTRUCTION],
                "line_ratio": case.ratios[LINE],
                "instruction_complete": not case.out_of_memory,
            },
        }


TABLE = OptimisticTable


def ratio_to_reduced(row: Measured[OptimisticCase], what: str, column: str) -> float | None:
    """How many times the figure of the reduced search; None where that one was stopped."""
    return row.ratio(what, column, to=REDUCED) if row[REDUCED].complete else None


def _ratios(row: Measured[OptimisticCase], what: str) -> list[str]:
    ratios = [(ratio_to_reduced(row, what, column), row[column].complete) for column in COARSENED]
    return ["-" if ratio is None else marked(times(ratio), complete) for ratio, complete in ratios]


def _ratio_to_json(row: Measured[OptimisticCase], column: str) -> dict[str, object] | None:
    if not row[REDUCED].complete:
        return None
    return {
        "states": ratio_to_reduced(row, "states", column),
        "table_bytes": ratio_to_reduced(row, "table_bytes", column),
        "complete": row[column].complete,
    }


def _theirs(case: OptimisticCase) -> list[str]:
    numbers = [f"{megabytes:g} MB" for megabytes in case.megabytes.values()]
    numbers += [times(ratio) for ratio in case.ratios.values()]
    for unfinished in (0, len(GRANULARITIES)):
        numbers[unfinished] = marked(numbers[unfinished], not case.out_of_memory)
    return numbers
