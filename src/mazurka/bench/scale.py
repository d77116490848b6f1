"""`mazurka bench scale`: full searches by more and more processors, a GPU and a cluster.

The models are those of `mazurka bench speed`.  Every search is breadth-first and counts the same
states and transitions, or the benchmark says that something is wrong.  SPIN's search by several
processes (`-DBFS_PAR`) runs beside them.  It keeps hashes instead of states and may therefore miss
some; and it does not always come to an end, so the time limit is for this search.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from mazurka.bench import speed, spin
from mazurka.bench.curves import Curve, Panel, draw_panels
from mazurka.bench.figures import Figures, repeat
from mazurka.bench.harness import Announce, Benchmark, Case, Line, Measured, figures_of, times
from mazurka.cluster.connection import Connection
from mazurka.cluster.crew import LOCAL
from mazurka.errors import MazurkaError
from mazurka.ir.program import Program
from mazurka.report.observer import bytes_text
from mazurka.search import SearchOptions, Silent
from mazurka.search.registry import load_strategy
from mazurka.search.resources import processors

MAZURKA, GPU, CLUSTER, SPIN = "mazurka", "gpu", "cluster", "spin"
COLUMNS = {
    "states": 10,
    "transitions": 11,
    "seconds": 8,
    "M states/s": 10,
    "speed-up": 8,
    "memory": 8,
}
LEGEND = (
    "speed-up: how many times as many states/s as by one worker. seconds: the search without any"
    " compilation, and without starting a cluster. SPIN's search by several cores keeps hashes"
    " instead of states."
)
NAMES = (
    "states", "transitions", "depth", "seconds", "states_per_second", "table_bytes", "peak_bytes",
)  # fmt: skip


def column(tool: str, workers: int = 1) -> str:
    return tool if tool == GPU else f"{tool}:{workers}"


def title_of(name: str) -> str:
    """`16 workers`, `16 workers, Ray`, `SPIN, 16 cores`."""
    tool, _, number = name.partition(":")
    many = "" if number == "1" else "s"
    return {
        MAZURKA: f"{number} worker{many}",
        GPU: "GPU",
        CLUSTER: f"{number} worker{many}, Ray",
        SPIN: f"SPIN, {number} core{many}",
    }[tool]


class ScaleTable(Benchmark[Case]):
    name = "scale"
    heading = "Full search, breadth-first, by more and more processors"
    default_limit = 60.0
    default_workers: ClassVar[int | None] = processors()
    depth_first = "the searches of 'scale' are breadth-first"
    title_widths = (17,)
    option_help: ClassVar[Mapping[str, str]] = {
        "limit_time": f"Stop each search of SPIN after S seconds.  [default: {default_limit:g}]",
        "workers": f"The most workers.  [default: {default_workers}, all processors]",
        "svg": "Draw the states a second into this file.",
    }
    cluster: Connection | None = None

    @property
    def cases(self) -> Sequence[Case]:
        return speed.CASES

    @property
    def counts(self) -> list[int]:
        """1, 2, 4 and so on up to the number of workers."""
        powers = [1 << bit for bit in range(self.workers.bit_length())]
        return sorted({*powers, self.workers})

    def find_tools(self, cases: Sequence[Case]) -> dict[str, str | None]:
        return {SPIN: None if spin.missing() else spin.version()}

    def measure(self, announce: Announce = lambda text: None) -> list[Measured[Case]]:
        try:
            return super().measure(announce)
        finally:
            if self.cluster is not None:
                self.cluster.close()

    def measure_case(self, case: Case) -> Measured[Case]:
        constants = case.chosen(quick=self.options.quick)
        program, small = case.load(constants), case.load(case.chosen(quick=True))
        self.search_with(small, {"workers": 2})  # compiles the search
        figures = {
            column(MAZURKA, workers): self.search_with(program, {"workers": workers})
            for workers in self.counts
        }
        self.search_with(small, {"device": "cuda"})
        figures[GPU] = self.search_with(program, {"device": "cuda"})
        most = self.workers
        figures[column(CLUSTER, most)] = self.search_on_cluster(program, most)
        figures |= self.search_by_spin(case, constants, figures[column(MAZURKA)])
        return Measured(case=case, figures=figures, constants=constants)

    def search_with(self, program: Program, tuning: Mapping[str, object]) -> Figures:
        """The typical search with some options of the strategy; what is not there is an error."""
        options = SearchOptions(
            properties=frozenset({"assert"}),
            order="bfs",
            stop_at_first=False,
            tuning=dict(tuning),
        )
        strategy = load_strategy("full")

        def search() -> Figures:
            return figures_of(strategy.run(program, options, Silent()), "a model", limited=True)

        return self.attempt(lambda: repeat(self.options.repeat, search))

    def attempt(self, measure: Callable[[], Figures]) -> Figures:
        try:
            return measure()
        except MazurkaError as error:
            return Figures(error=str(error))

    def search_on_cluster(self, program: Program, workers: int) -> Figures:
        def search() -> Figures:
            if self.cluster is None:
                self.cluster = Connection(LOCAL, workers, Silent())
            return self.search_with(program, {"cluster": LOCAL, "workers": workers})

        return self.attempt(search)

    def search_by_spin(
        self, case: Case, constants: Mapping[str, int], like: Figures
    ) -> dict[str, Figures]:
        """SPIN's figures by number of cores.  Where one number fails or does not end another may:
        each is tried by itself."""
        names = [column(SPIN, cores) for cores in self.counts]
        error = spin.missing()
        if error is not None:
            return {name: Figures(error=error) for name in names[-1:]}
        with tempfile.TemporaryDirectory(prefix="mazurka-bench-") as directory:
            try:
                verifier = spin.build(
                    case.path.with_suffix(".pml"),
                    constants,
                    Path(directory),
                    breadth_first=True,
                    together=True,
                )
            except spin.SpinError as failed:
                return {names[-1]: Figures(error=str(failed))}
            return {
                name: self.search_by_cores(verifier, like, cores)
                for name, cores in zip(names, self.counts, strict=True)
            }

    def search_by_cores(self, verifier: spin.Verifier, like: Figures, cores: int) -> Figures:
        try:
            return repeat(
                self.options.repeat, lambda: verifier.search_together(like, cores, self.limit)
            )
        except spin.SpinError as failed:
            return Figures(error=str(failed))

    # --- what is shown ------------------------------------------------------------------------

    @property
    def columns(self) -> Sequence[Mapping[str, int]]:
        return (COLUMNS,)

    def lines(self, row: Measured[Case]) -> Iterable[Line]:
        yield Line([row.case.name], [""] * len(COLUMNS), "bold")
        for name, figures in row.figures.items():
            if figures.error is None:
                yield Line([f"  {title_of(name)}"], self.cells(row, name))
        yield Line([""], [""] * len(COLUMNS))

    def cells(self, row: Measured[Case], name: str) -> list[str]:
        figures, faster = row[name], speed_up(row, name)
        rate = figures.states_per_second
        mark = "" if figures.complete else ">"
        differs = "*" if differ(row, name) else ""
        return [
            f"{mark}{figures.states or 0:,}{differs}",
            f"{mark}{figures.transitions or 0:,}",
            f"{figures.seconds or 0:.3f}",
            f"{rate / 1e6:,.2f}" if rate else "-",
            f"{times(faster)}x" if faster else "",
            bytes_text(figures.peak_bytes or 0),
        ]

    @property
    def legend(self) -> Iterable[str]:
        yield LEGEND
        yield from filter(None, [self.tools.get(SPIN)])
        if any(differ(row, name) for row in self.rows for name in row.figures):
            yield "*: other counts than one worker's."
        if any(figures.limits for row in self.rows for figures in row.figures.values()):
            yield ">: stopped, for lack of memory."

    @property
    def wrong(self) -> list[str]:
        return [
            f"{row.case.title}: {title_of(name)} count differently from one worker."
            for row in self.rows
            for name in row.figures
            if differ(row, name) and not name.startswith(SPIN)
        ]

    @property
    def unknown(self) -> list[str]:
        """What was left out, each reason once."""
        reasons = {
            f"{title_of(name)}: left out: {figures.error}": None
            for row in self.rows
            for name, figures in row.figures.items()
            if figures.error is not None
        }
        return list(reasons)

    def draw(self) -> str | None:
        panels = [panel(row) for row in self.rows]
        return draw_panels("States a second, by number of workers", panels)

    def details(self) -> dict[str, object]:
        return {
            "processors": processors(),
            "spin_version": self.tools.get(SPIN),
            **super().details(),
        }

    def row_to_json(self, row: Measured[Case]) -> dict[str, object]:
        return {
            "model": row.case.name,
            "title": row.case.title,
            "constants": dict(row.constants),
            "words": speed.words(row),
            "searches": [search_to_json(row, name) for name in row.figures],
        }


TABLE = ScaleTable


def search_to_json(row: Measured[Case], name: str) -> dict[str, object]:
    tool, _, number = name.partition(":")
    figures = row[name]
    counts: dict[str, object] = {} if figures.error else figures.to_json(*NAMES)
    return {
        "tool": tool,
        "workers": int(number) if number else None,
        **counts,
        "limits": list(figures.limits),
        "speed_up": speed_up(row, name),
        "agrees": None if figures.counts is None else not differ(row, name),
        "command": figures.command,
        "message": figures.error,
    }


def speed_up(row: Measured[Case], name: str) -> float | None:
    """How many times as many states a second as one worker's; None where that is not known."""
    return row.ratio("states_per_second", name, to=column(MAZURKA))


def differ(row: Measured[Case], name: str) -> bool:
    """Whether a search that came to its end has counted something else than one worker."""
    counts, expected = row[name].counts, row[column(MAZURKA)].counts
    return counts is not None and expected is not None and counts != expected


def panel(row: Measured[Case]) -> Panel:
    """The curves of one model."""
    curves: list[Curve] = []
    for tool, style in ((MAZURKA, "message"), (SPIN, "waits"), (CLUSTER, "starts"), (GPU, "wakes")):
        points: list[tuple[int, float]] = []
        for name, figures in row.figures.items():
            kind, _, number = name.partition(":")
            if kind == tool and figures.states_per_second:
                points.append((int(number) if number else 0, figures.states_per_second))
        label = {MAZURKA: "Mazurka", SPIN: "SPIN", CLUSTER: "cluster", GPU: "GPU"}[tool]
        curves.append(Curve(label, style, tuple(points)))
    return Panel(f"{row.case.name}: {row[column(MAZURKA)].states or 0:,} states", tuple(curves))
