"""`mazurka bench verdict`: how long it takes from a model to a verdict, against SPIN.

Whole commands are measured, as somebody types them: `mazurka check MODEL` on one side, `spin -a`,
`gcc -O2` and `pan` on the other, with SPIN's partial-order reduction and up to the first error.  So
starting, reading, translating, compiling and searching all count.  What Mazurka compiles once for
all models, and keeps, is there beforehand: each command runs once without being measured.

Each model is written twice.  The two versions need not have the same states: both tools reduce.
They must have the same verdict.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mazurka.bench import spin
from mazurka.bench.figures import Figures, typical
from mazurka.bench.harness import Benchmark, Case, Line, Measured, thousands
from mazurka.errors import OptionError
from mazurka.processes import PIPE, python, run

MAZURKA, SPIN = "mazurka", "spin"
HOLDS = "holds"


@dataclass(frozen=True, kw_only=True)
class VerdictCase(Case):
    """A model with the verdict that it must have."""

    failure: str | None = None
    """The kind of violation; None if it holds."""


def describe(
    name: str,
    title: str,
    constants: Mapping[str, int],
    quick: Mapping[str, int],
    failure: str | None = None,
    model: str | None = None,
) -> VerdictCase:
    """A model; its constants are given in full, so that both versions use the same."""
    return VerdictCase(
        name=name,
        title=title,
        model=model or f"verdict/{name}",
        constants=constants,
        quick=quick,
        failure=failure,
    )


CASES = (
    describe("peterson", "Peterson's filter lock", {"N": 4}, {"N": 3}, model="speed/peterson"),
    describe("szymanski", "Szymanski's lock", {}, {}),
    describe("bakery", "a bakery that fails", {"N": 3, "ROUNDS": 2}, {}, "assert"),
    describe(
        "philosophers",
        "philosophers who starve",
        {"N": 12},
        {"N": 5},
        "deadlock",
        model="speed/philosophers",
    ),
    describe(
        "buffer",
        "a bounded buffer",
        {"PRODUCERS": 2, "CONSUMERS": 2, "SIZE": 4},
        {"PRODUCERS": 1, "CONSUMERS": 1, "SIZE": 2},
        model="speed/bounded_buffer",
    ),
    describe(
        "readers_writers",
        "readers and writers",
        {"READERS": 6, "WRITERS": 3},
        {"READERS": 2, "WRITERS": 1},
    ),
    describe(
        "barber",
        "the sleeping barber",
        {"CUSTOMERS": 6, "CHAIRS": 3},
        {"CUSTOMERS": 2, "CHAIRS": 1},
    ),
    describe(
        "transfer",
        "transfers under locks",
        {"ACCOUNTS": 3, "CLERKS": 3},
        {"ACCOUNTS": 3, "CLERKS": 2},
    ),
    describe("election", "leader election in a ring", {"N": 8}, {"N": 3}),
    describe(
        "alternating_bit",
        "the alternating bit protocol",
        {"VALUES": 8, "ROOM": 5},
        {"VALUES": 2, "ROOM": 1},
    ),
    describe("two_phase_commit", "a two-phase commit that fails", {"N": 6}, {"N": 3}, "assert"),
    describe("token_ring", "a token ring", {"N": 8, "WORK": 3}, {"N": 3, "WORK": 2}),
)


class VerdictTable(Benchmark[VerdictCase]):
    name = "verdict"
    heading = "From a model to a verdict: seconds of whole commands, compilation included"
    default_limit = 300.0
    depth_first = "each tool searches in the order that it chooses"
    title_widths = (16, 8)

    @property
    def cases(self) -> Sequence[VerdictCase]:
        return CASES

    def find_tools(self, cases: Sequence[VerdictCase]) -> dict[str, str | None]:
        return {SPIN: None if spin.missing() else spin.version()}

    def measure_case(self, case: VerdictCase) -> Measured[VerdictCase]:
        """The typical figures of both, which take turns; the first run of each does not count."""
        constants = case.chosen(quick=self.options.quick)
        ours: list[Figures] = []
        theirs: list[Figures] = []
        error = spin.missing()
        for _ in range(self.options.repeat + 1):
            ours.append(timed(lambda: run_mazurka(case, constants, self.limit)))
            if error is not None:
                continue
            with tempfile.TemporaryDirectory(prefix="mazurka-bench-") as directory:
                model, place = case.path.with_suffix(".pml"), Path(directory)
                try:
                    run = timed(lambda: spin.find_verdict(model, constants, place))  # noqa: B023
                    theirs.append(run)
                except spin.SpinError as failed:
                    error = str(failed)
        beside = Figures(error=error) if error is not None else typical(theirs[1:])
        figures = {MAZURKA: typical(ours[1:]), SPIN: beside}
        return Measured(case=case, figures=figures, constants=constants)

    @property
    def columns(self) -> Sequence[Mapping[str, int]]:
        return (
            {"Mazurka": 7, "cpu": 5, "states": 8},
            {"SPIN": 6, "cpu": 5, "states": 9, "ratio": 6},
        )

    def lines(self, row: Measured[VerdictCase]) -> Iterable[Line]:
        cells = [*_cells(row[MAZURKA]), *_cells(row[SPIN])]
        faster = ratio(row)
        style = "red" if is_wrong(row) else ""
        verdict = row[MAZURKA].failure or HOLDS
        yield Line(
            [row.case.name, verdict], [*cells, "" if faster is None else f"{faster:.2f}x"], style
        )

    @property
    def legend(self) -> Iterable[str]:
        yield (
            "Mazurka, SPIN: seconds from the start of the first command to the end of the last."
            " cpu: seconds of all processors together. ratio: SPIN's seconds divided by Mazurka's;"
            " above 1 Mazurka is ahead."
        )
        if self.options.repeat > 1:
            yield f"The median of {self.options.repeat} runs each."
        ratios = [found for row in self.rows if (found := ratio(row)) is not None]
        if ratios:
            yield (
                f"Mazurka is ahead on {sum(each > 1 for each in ratios)} of {len(ratios)} models;"
                f" the smallest ratio is {min(ratios):.2f}."
            )
        if self.tools.get(SPIN):
            yield self.tools[SPIN] or ""

    @property
    def wrong(self) -> list[str]:
        return [
            f"{row.case.name}: {tool} says {row[tool].failure or HOLDS}, which is wrong."
            for row in self.rows
            for tool in (MAZURKA, SPIN)
            if row[tool].error is None and row[tool].failure != row.case.failure
        ]

    @property
    def unknown(self) -> list[str]:
        """Errors that several models have in common are said once."""
        errors: dict[str, list[str]] = {}
        for row in self.rows:
            if row[SPIN].error is not None:
                errors.setdefault(row[SPIN].error or "", []).append(row.case.name)
        return [f"SPIN is left out of {', '.join(names)}: {why}" for why, names in errors.items()]

    def details(self) -> dict[str, object]:
        return {"spin_version": self.tools.get(SPIN), **super().details()}

    def row_to_json(self, row: Measured[VerdictCase]) -> dict[str, object]:
        names = ("failure", "states", "seconds", "processor_seconds")
        beside = row[SPIN]
        return {
            "model": row.case.name,
            "title": row.case.title,
            "constants": dict(row.constants),
            "failure": row.case.failure,
            "mazurka": row[MAZURKA].to_json(*names),
            "spin": None if beside.error is not None else beside.to_json(*names),
            "spin_command": beside.command,
            "right": not is_wrong(row),
            "ratio": ratio(row),
            "message": beside.error,
        }


TABLE = VerdictTable


def ratio(row: Measured[VerdictCase]) -> float | None:
    """How many times as long as Mazurka SPIN takes; None without a right verdict of both."""
    return None if is_wrong(row) else row.ratio("seconds", SPIN, to=MAZURKA)


def is_wrong(row: Measured[VerdictCase]) -> bool:
    return any(
        row[tool].error is None and row[tool].failure != row.case.failure
        for tool in (MAZURKA, SPIN)
    )


def timed(run: Callable[[], Figures]) -> Figures:
    """What a tool came to, with the time that its processes took."""
    started, before = time.perf_counter(), os.times()
    found = run()
    seconds, after = time.perf_counter() - started, os.times()
    spent = after.children_user + after.children_system
    spent -= before.children_user + before.children_system
    return replace(found, seconds=seconds, processor_seconds=spent)


def run_mazurka(case: VerdictCase, constants: Mapping[str, int], limit: float) -> Figures:
    """Check a model in a process of its own."""
    definitions = [f"-D{name}={value}" for name, value in constants.items()]
    arguments = [str(case.path.resolve()), *definitions, "--json", f"--limit-time={limit}"]
    done = run(python("mazurka.__main__:main", "check", *arguments), stdout=PIPE, text=True)
    answer = json.loads(done.stdout)
    if answer["verdict"] not in (HOLDS, "violated"):
        reasons = [*answer["limits"], (answer["error"] or {}).get("message", "")]
        raise OptionError(f"{case.name} has no verdict: {reasons[0]}")
    violation = answer["violation"]
    states = answer["stats"].get("states")
    return Figures(states=states, failure=violation["kind"] if violation else None)


def _cells(figures: Figures) -> list[str]:
    if figures.error is not None:
        return ["", "", ""]
    seconds, spent = figures.seconds or 0, figures.processor_seconds or 0
    return [f"{seconds:.2f}", f"{spent:.2f}", thousands(figures.states)]
