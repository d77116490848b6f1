"""`mazurka bench speed`: full searches by Mazurka and by SPIN, side by side in one run.

Machines and their load differ, so the number to look at is the ratio.  With several repetitions
the two tools take turns, and the median of each counts.

Each model is written twice, for Mazurka and for SPIN.  The two versions take the same steps, so
they have the same states and transitions; the benchmark checks that they do.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from mazurka.bench import spin
from mazurka.bench.figures import Figures, typical
from mazurka.bench.harness import Benchmark, Case, Line, Measured, grid, print_notes
from mazurka.ir.native.layout import make_layout
from mazurka.report.observer import bytes_text

MAZURKA, SPIN = "mazurka", "spin"
COLUMNS = {
    "states": 10,
    "transitions": 11,
    "seconds": 8,
    "states/s": 10,
    "bytes/state": 11,
    "peak": 7,
    "ratio": 6,
}
LEGEND = (
    "ratio: Mazurka's states/s divided by SPIN's. bytes/state: the visited states with their"
    " hash table. peak: these and the stack. seconds: the search without any compilation."
)


def describe(name: str, title: str, constants: dict[str, int], quick: dict[str, int]) -> Case:
    """A model; its constants are given in full, so that both versions use the same."""
    return Case(name=name, title=title, model=f"speed/{name}", constants=constants, quick=quick)


CASES = (
    describe("philosophers", "dining philosophers", {"N": 14}, {"N": 9}),
    describe("peterson", "Peterson's mutual exclusion", {"N": 5}, {"N": 4}),
    describe(
        "bounded_buffer",
        "a bounded buffer",
        {"PRODUCERS": 3, "CONSUMERS": 3, "SIZE": 5},
        {"PRODUCERS": 3, "CONSUMERS": 3, "SIZE": 3},
    ),
    describe(
        "relaxation",
        "shortest paths in a shared array",
        {"WORKERS": 10, "LENGTH": 3, "SHORTCUT": 29},
        {"WORKERS": 4, "LENGTH": 6, "SHORTCUT": 20},
    ),
)


class SpeedTable(Benchmark[Case]):
    name = "speed"

    @property
    def cases(self) -> Sequence[Case]:
        return CASES

    def find_tools(self, cases: Sequence[Case]) -> dict[str, str | None]:
        return {SPIN: None if spin.missing() else spin.version()}

    def measure_case(self, case: Case) -> Measured[Case]:
        """The typical figures of both; SPIN is left out if it is absent or fails."""
        constants = case.chosen(quick=self.options.quick)
        program = case.load(constants)
        self.search(
            case, case.load(case.chosen(quick=True)), "full", times=1
        )  # compiles the search
        ours: list[Figures] = []
        theirs: list[Figures] = []
        error = spin.missing()
        verifier: spin.Verifier | None = None
        with tempfile.TemporaryDirectory(prefix="mazurka-bench-") as directory:
            for _ in range(self.options.repeat):
                ours.append(self.search(case, program, "full", times=1))
                if error is not None:
                    continue
                try:
                    verifier = verifier or spin.build(
                        case.path.with_suffix(".pml"),
                        constants,
                        Path(directory),
                        breadth_first=self.options.order == "bfs",
                    )
                    theirs.append(verifier.search(ours[0]))
                except spin.SpinError as failed:
                    error = str(failed)
        beside = Figures(error=error) if error is not None else typical(theirs)
        figures = {MAZURKA: typical(ours), SPIN: beside}
        return Measured(case=case, figures=figures, constants=constants)

    @property
    def wrong(self) -> list[str]:
        differ = "the tools count differently, so the models differ"
        return [f"{row.case.title}: {differ}." for row in self.rows if agree(row) is False]

    def print(self, console: Console) -> None:
        """A small table for each model, all with the same columns."""
        heading = (
            f"Full search, {'depth' if self.options.order == 'dfs' else 'breadth'}-first, one core"
        )
        if self.options.repeat > 1:
            heading += f"; the median of {self.options.repeat} runs each"
        console.print(Text(heading, "bold"))
        for row in self.rows:
            console.print()
            console.print(Text(title(row), "bold"))
            console.print(grid((7,), COLUMNS.items(), _lines(row)))
            print_notes(console, notes(row), "yellow")
            print_notes(console, filter(None, [row[SPIN].command]), "dim")
        if any(row[SPIN].error is None for row in self.rows):
            console.print()
            print_notes(console, (LEGEND, self.tools.get(SPIN) or ""), "dim")
        if self.interrupted:
            console.print("Interrupted: the rest was not measured.")

    def details(self) -> dict[str, object]:
        return {"spin_version": self.tools.get(SPIN), **super().details()}

    def row_to_json(self, row: Measured[Case]) -> dict[str, object]:
        names = (
            "states", "transitions", "depth", "seconds", "states_per_second", "bytes_per_state",
            "table_bytes", "peak_bytes",
        )  # fmt: skip
        beside = row[SPIN]
        return {
            "model": row.case.name,
            "title": row.case.title,
            "constants": dict(row.constants),
            "words": words(row),
            "mazurka": row[MAZURKA].to_json(*names),
            "spin": None if beside.error is not None else beside.to_json(*names),
            "spin_command": beside.command,
            "agrees": agree(row),
            "ratio": ratio(row),
            "memory_ratio": ratio(row, "bytes_per_state"),
            "message": beside.error,
        }


TABLE = SpeedTable


def words(row: Measured[Case]) -> int:
    """The 64-bit words of a packed state."""
    return make_layout(row.case.load(row.constants)).words


def agree(row: Measured[Case]) -> bool | None:
    """Whether both tools count the same states and transitions."""
    return None if row[SPIN].error is not None else row[MAZURKA].counts == row[SPIN].counts


def ratio(row: Measured[Case], what: str = "states_per_second") -> float | None:
    """How many times SPIN's states a second (or bytes a state) Mazurka's are.

    None where the time of a run is too short for the clock.
    """
    return row.ratio(what, MAZURKA, to=SPIN) if agree(row) else None


def title(row: Measured[Case]) -> str:
    """`philosophers (N=14), 1 word a state`."""
    constants = ", ".join(f"{name}={value}" for name, value in row.constants.items())
    size = words(row)
    return f"{row.case.name} ({constants}), {'1 word' if size == 1 else f'{size} words'} a state"


def notes(row: Measured[Case]) -> list[str]:
    """What a reader must know before trusting the numbers of a row."""
    if row[SPIN].error is not None:
        return [f"SPIN is left out: {row[SPIN].error}"]
    if not agree(row):
        return ["The tools count differently, so the models differ and there is no ratio."]
    if ratio(row) is None:
        return ["SPIN's clock, which counts hundredths of a second, shows nothing: no ratio."]
    return []


def _lines(row: Measured[Case]) -> list[Line]:
    faster, differ = ratio(row), agree(row) is False
    ours = Line(["Mazurka"], [*_cells(row[MAZURKA]), "" if faster is None else f"{faster:.2f}x"])
    if row[SPIN].error is not None:
        return [ours]
    theirs = [*_cells(row[SPIN]), "differs" if differ else ""]
    return [ours, Line(["SPIN"], theirs, "red" if differ else "")]


def _cells(figures: Figures) -> list[str]:
    rate = figures.states_per_second
    return [
        f"{figures.states:,}",
        f"{figures.transitions:,}",
        f"{figures.seconds:.3f}",
        f"{rate:,.0f}" if rate else "-",
        f"{figures.bytes_per_state:.1f}",
        bytes_text(figures.peak_bytes or 0),
    ]
