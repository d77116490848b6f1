"""`mazurka bench context-bounded`: paper 001's Table 1, and twenty programs beside Python peers.

The table has terminal executions of a work-stealing queue by context bound: depth-first search
(cb-dfs) against Algorithm 2 (cb-por), for a model and for real Python code.  The programs are run
by Mazurka and by those of its peers that are installed, each in a process of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Unpack

from mazurka.bench.contest import MAZURKA, PEERS, Played, installed, play
from mazurka.bench.context_bounded_queue import ALGORITHMS, BOUNDS, SIZES, SUBJECTS, Column
from mazurka.bench.context_bounded_results import Results
from mazurka.bench.context_bounded_table import print_results
from mazurka.bench.printing import LimitedOptions, announce, publish
from mazurka.bench.programs import PROGRAMS, Program
from mazurka.errors import OptionError

LIMIT_SECONDS = 300.0
PROGRAM_SECONDS = 10.0
QUICK_SIZES, QUICK_BOUND = (3,), 2
INTERRUPTED = 3
"""The exit status, as of other commands that were told to stop."""
ALL_PROGRAMS = "programs"

Announce = Callable[[str], None]


def run(*, as_json: bool = False, **options: Unpack[LimitedOptions]) -> int:
    """Measure and print; the exit status is 1 if Mazurka's answer on a program is wrong."""
    results = measure(announce=announce, **options)
    status = publish(results, print_results, as_json=as_json, wrong=bool(results.wrong))
    return INTERRUPTED if results.interrupted else status


def measure(
    *,
    quick: bool = False,
    only: str | None = None,
    repeat: int = 1,
    order: str = "dfs",
    limit_seconds: float | None = None,
    announce: Announce = lambda text: None,
) -> Results:
    """Run the benchmark; `announce` is told what is about to be done."""
    limit = LIMIT_SECONDS if limit_seconds is None else limit_seconds
    if repeat < 1:
        raise OptionError(f"--repeat {repeat}: at least one run is needed")
    if order != "dfs":
        raise OptionError(f"order {order!r}: a search over whole runs is depth-first")
    if not limit > 0:
        raise OptionError(f"--limit-time must be greater than 0, not {limit}")
    subjects, programs = select(only)
    peers = installed() if programs else dict.fromkeys(PEERS)
    bench = _Bench(
        repeat=repeat,
        limit_seconds=limit,
        program_seconds=min(PROGRAM_SECONDS, limit),
        sizes=QUICK_SIZES if quick else SIZES,
        bound=QUICK_BOUND if quick else BOUNDS[-1],
        announce=announce,
    )
    interrupted = False
    try:
        bench.search(subjects)
        bench.play([MAZURKA, *(peer for peer in PEERS if peers[peer])], programs)
    except KeyboardInterrupt:
        if not bench.columns and not bench.played:
            raise
        interrupted = True
    return Results(
        quick=quick,
        repeat=repeat,
        limit_seconds=limit,
        program_seconds=bench.program_seconds,
        columns=tuple(bench.columns),
        played=tuple(bench.played),
        peers=peers,
        interrupted=interrupted,
    )


def select(only: str | None) -> tuple[list[str], list[Program]]:
    """Which parts of the table, and which programs, somebody asks for."""
    if only is None:
        return list(SUBJECTS), list(PROGRAMS)
    if only in SUBJECTS:
        return [only], []
    if only == ALL_PROGRAMS:
        return [], list(PROGRAMS)
    chosen = [program for program in PROGRAMS if program.name == only]
    if not chosen:
        there = ", ".join([*SUBJECTS, ALL_PROGRAMS, *(program.name for program in PROGRAMS)])
        raise OptionError(f"unknown subject {only!r}; there are: {there}")
    return [], chosen


@dataclass(kw_only=True)
class _Bench:
    """What has been measured so far."""

    repeat: int
    limit_seconds: float
    program_seconds: float
    sizes: tuple[int, ...]
    bound: int
    announce: Announce
    columns: list[Column] = field(default_factory=list)
    played: list[Played] = field(default_factory=list)

    def search(self, subjects: list[str]) -> None:
        for subject in subjects:
            for size in self.sizes:
                for algorithm in ALGORITHMS:
                    self.announce(f"work-stealing queue, {subject}, size {size}, {algorithm} ...")
                    column = SUBJECTS[subject](size, algorithm, self.bound, self.limit_seconds)
                    self.columns.append(column)

    def play(self, tools: list[str], programs: list[Program]) -> None:
        for number, program in enumerate(programs, 1):
            for tool in tools:
                self.announce(f"{program.name} ({number} of {len(programs)}), {tool} ...")
                self.played.append(self.typical(tool, program))

    def typical(self, tool: str, program: Program) -> Played:
        """The run of median time.  One that gives no answer, or a wrong one, is shown instead."""
        runs: list[Played] = []
        while len(runs) < self.repeat and not (runs and not runs[-1].is_right):
            runs.append(play(tool, program, self.program_seconds))
        if not runs[-1].is_right:
            return runs[-1]
        runs.sort(key=lambda played: played.answer.seconds)
        return runs[(len(runs) - 1) // 2]
