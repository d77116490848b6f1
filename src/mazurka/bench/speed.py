"""`mazurka bench speed`: full searches by Mazurka and by SPIN, side by side in one run.

Machines and their load differ, so the number to look at is the ratio.  With several repetitions
the two tools take turns, and the median of each counts.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Unpack

from mazurka.bench import spin
from mazurka.bench.measurement import Measurement, Row, typical
from mazurka.bench.printing import Options, announce, publish
from mazurka.bench.results import Results, print_results
from mazurka.bench.subjects import Subject, select
from mazurka.errors import OptionError
from mazurka.frontend.python import load_model
from mazurka.ir.native.layout import make_layout
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import Program
from mazurka.search.observer import Silent
from mazurka.search.options import SearchOptions
from mazurka.search.registry import load_strategy

ORDERS = ("dfs", "bfs")

Announce = Callable[[str], None]


def run(*, as_json: bool = False, **options: Unpack[Options]) -> int:
    """Measure and print; the exit status is 1 if the tools do not count the same, else 0."""
    results = measure(announce=announce, **options)
    wrong = any(row.agrees is False for row in results.rows)
    return publish(results, print_results, as_json=as_json, wrong=wrong)


def measure(
    *,
    quick: bool = False,
    only: str | None = None,
    repeat: int = 1,
    order: str = "dfs",
    announce: Announce = lambda text: None,
) -> Results:
    """Run the benchmark; `announce` is told what is about to be done."""
    if repeat < 1:
        raise OptionError(f"--repeat {repeat}: at least one run is needed")
    if order not in ORDERS:
        raise OptionError(f"unknown order {order!r}; there are: {', '.join(ORDERS)}")
    subjects = select(only)
    absent = spin.missing()
    rows = []
    for subject in subjects:
        announce(f"{subject.title} ...")
        with tempfile.TemporaryDirectory(prefix="mazurka-bench-") as directory:
            trial = Trial(subject, quick=quick, order=order, directory=Path(directory))
            rows.append(trial.run(repeat, absent))
    return Results(
        order=order,
        repeat=repeat,
        quick=quick,
        spin_version=None if absent else spin.version(),
        rows=tuple(rows),
    )


class Trial:
    """One model, run by both tools in turn."""

    def __init__(self, subject: Subject, *, quick: bool, order: str, directory: Path) -> None:
        self.subject = subject
        self.order = order
        self.directory = directory
        self.constants = dict(subject.chosen(quick=quick))
        self.program = self._program(self.constants)

    def run(self, repeat: int, absent: str | None) -> Row:
        """The typical measurements of `repeat` rounds; without SPIN if it is absent or fails."""
        self._search(self._program(dict(self.subject.quick)))  # compiles the search
        ours: list[Measurement] = []
        theirs: list[Measurement] = []
        message, command = absent, None
        verifier = None
        for _ in range(repeat):
            ours.append(self._search(self.program))
            if message is not None:
                continue
            try:
                verifier = verifier or self._verifier()
                measurement, command = verifier.search(ours[0])
                theirs.append(measurement)
            except spin.SpinError as error:
                message = str(error)
        return Row(
            model=self.subject.name,
            title=self.subject.title,
            constants=self.constants,
            words=make_layout(self.program).words,
            mazurka=typical(ours),
            spin=typical(theirs) if theirs and message is None else None,
            spin_command=command,
            message=message,
        )

    def _program(self, constants: dict[str, int]) -> Program:
        definitions = {name: str(value) for name, value in constants.items()}
        return prepare(load_model(self.subject.python, definitions))

    def _verifier(self) -> spin.Verifier:
        return spin.build(
            self.subject.promela,
            self.constants,
            self.directory,
            breadth_first=self.order == "bfs",
        )

    def _search(self, program: Program) -> Measurement:
        options = SearchOptions(
            properties=frozenset({"assert"}), order=self.order, stop_at_first=False
        )
        result = load_strategy("full").run(program, options, Silent())
        if "interrupted" in result.limits:
            raise KeyboardInterrupt
        if result.limits or result.violation is not None:
            what = result.limits[0] if result.limits else "a violation"
            raise OptionError(f"the search of {self.subject.title} was cut short: {what}")
        statistics = result.statistics
        return Measurement(
            states=statistics.states,
            transitions=statistics.transitions,
            depth=statistics.depth,
            seconds=statistics.seconds,
            table_bytes=statistics.table_bytes,
            peak_bytes=statistics.peak_bytes,
        )
