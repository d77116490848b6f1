"""Compare every strategy with the unreduced search on many random programs.

    python benchmarks/reductions.py --programs 20000 --seed 0 --jobs 2

Programs come from the two generators in turn, each as it is and prepared; from `--seed 1000000` on
from a third one, whose assumptions stop threads that others wait for, and from 2000000 on from the
first, with threads that choose between waiting and going on in one step.  For every property that a
strategy keeps, its verdict is held against the interpreter's (`tests/soundness/reductions.py`).
`--only SEED` shows one program and how every search of it ended; with `--shrink` the first
disagreement is made small.  Exit status 1 if there is a disagreement.  Run from the root.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.soundness.reductions import (
    PROVISO,
    STATES,
    Agreement,
    Comparison,
    Subject,
    compare_all,
    consult,
    disagreement,
)
from tests.soundness.shrink import listing, shrink

import mazurka.ir.native.step
from mazurka.search.registry import load_strategy, strategy_names

# Each program is searched for a few milliseconds: optimizing its code takes longer than that.
mazurka.ir.native.step.HUGE_PROGRAM = 0

SHOWN = 5
"""How many disagreements of a strategy are printed as they come."""
WORST_FIRST = (Agreement.DISAGREES, Agreement.INCONCLUSIVE, Agreement.AGREES)
COLUMNS = ("compared", "disagreements", "inconclusive", "skipped", "larger", "reduced to")


@dataclass(frozen=True)
class Report:
    """One program's comparisons; none where it has too many states."""

    subject: Subject
    states: int = 0
    comparisons: list[Comparison] = field(default_factory=list)


@dataclass
class Tally:
    """What a strategy did on all programs."""

    programs: Counter[Agreement] = field(default_factory=Counter)
    wrong: list[int] = field(default_factory=list)
    """The seeds of the programs with disagreements."""
    larger: int = 0
    states: int = 0
    full_states: int = 0

    def add(self, report: Report, comparisons: list[Comparison]) -> None:
        found = {comparison.agreement for comparison in comparisons}
        self.programs[next(verdict for verdict in WORST_FIRST if verdict in found)] += 1
        for comparison in comparisons:
            if not comparison.options.stop_at_first and comparison.states:
                self.states += comparison.states
                self.full_states += report.states
                self.larger += comparison.states > report.states


def examine(
    strategies: tuple[str, ...], asked: argparse.Namespace, seed: int, *, thoroughly: bool = False
) -> Report:
    subject = Subject(seed)
    oracle = consult(subject.program(), asked.states)
    if oracle is None:
        return Report(subject)
    comparisons = []
    for name in strategies:
        turn = None if thoroughly else seed // 8  # every kind of program gets every turn
        comparisons += compare_all(oracle, load_strategy(name), asked.movers, turn, asked.proviso)
    return Report(subject, len(oracle.whole.states), comparisons)


def reports(arguments: argparse.Namespace, strategies: tuple[str, ...]) -> Iterator[Report]:
    seeds = range(arguments.seed, arguments.seed + arguments.programs)
    work = partial(examine, strategies, arguments)
    if arguments.jobs == 1:
        yield from map(work, seeds)
        return
    with multiprocessing.get_context("spawn").Pool(arguments.jobs) as pool:
        yield from pool.imap(work, seeds, chunksize=8)


def count(found: Iterable[Report], strategies: tuple[str, ...]) -> tuple[dict[str, Tally], int]:
    """Tallies by strategy, and how many programs were too large."""
    tallies = {name: Tally() for name in strategies}
    skipped = 0
    for report in found:
        skipped += not report.comparisons
        for name in strategies if report.comparisons else ():
            own = [one for one in report.comparisons if one.strategy == name]
            if not own:  # too large for a search over schedules
                continue
            tallies[name].add(report, own)
            wrong = [one for one in own if one.agreement is Agreement.DISAGREES]
            if wrong:
                tallies[name].wrong.append(report.subject.seed)
            if wrong and len(tallies[name].wrong) <= SHOWN:
                print(f"{report.subject}: {wrong[0]}", flush=True)
    return tallies, skipped


def print_table(tallies: dict[str, Tally], skipped: int) -> None:
    print(f"{'strategy':16}" + "".join(f"{column:>15}" for column in COLUMNS))
    for name, tally in tallies.items():
        compared = tally.programs.total()
        inconclusive = tally.programs[Agreement.INCONCLUSIVE]
        share = 100 * inconclusive / compared if compared else 0.0
        reduced = 100 * tally.states / tally.full_states if tally.full_states else 0.0
        values = (
            f"{compared:,}",
            f"{tally.programs[Agreement.DISAGREES]:,}",
            f"{inconclusive:,} ({share:.1f} %)",
            f"{skipped:,}",
            f"{tally.larger:,}",
            f"{reduced:.1f} %",
        )
        print(f"{name:16}" + "".join(f"{value:>15}" for value in values))
    for name, tally in tallies.items():
        if tally.wrong:
            print(f"{name} disagrees with seeds {', '.join(map(str, tally.wrong))}")


def show_one(arguments: argparse.Namespace, strategies: tuple[str, ...]) -> int:
    """Everything about one program; small, if asked for and something is wrong with it."""
    subject = Subject(arguments.only)
    program = subject.program()
    report = examine(strategies, arguments, arguments.only, thoroughly=True)
    print(subject, f"{report.states} states" if report.comparisons else "has too many states")
    print(listing(program))
    for comparison in report.comparisons:
        print(f"{comparison} [{comparison.states} states]")
    wrong = [one for one in report.comparisons if one.agreement is Agreement.DISAGREES]
    if wrong and arguments.shrink:
        strategy, options = load_strategy(wrong[0].strategy), wrong[0].options
        small = shrink(
            program, lambda p: disagreement(p, strategy, options, arguments.states) is not None
        )
        print(f"\n{wrong[0]}, on the smaller program:\n{listing(small)}")
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--strategies", help="by name, with commas; all but `full` by default")
    parser.add_argument("--movers", default="inferred", choices=("inferred", "static", "declared"))
    parser.add_argument("--proviso", default=PROVISO.default, choices=PROVISO.values)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--states", type=int, default=STATES, help="skip larger programs")
    parser.add_argument("--only", type=int, metavar="SEED", help="show one program in detail")
    parser.add_argument("--shrink", action="store_true", help="with --only: a smaller program")
    arguments = parser.parse_args()
    explicit = [*strategy_names("stateful"), *strategy_names("stateless")]
    everything = [name for name in explicit if name != "full"]
    chosen = arguments.strategies.split(",") if arguments.strategies else everything
    strategies = tuple(load_strategy(name).name for name in chosen)
    if arguments.only is not None:
        return show_one(arguments, strategies)
    started = time.perf_counter()
    tallies, skipped = count(reports(arguments, strategies), strategies)
    print_table(tallies, skipped)
    seconds = time.perf_counter() - started
    last = arguments.seed + arguments.programs - 1
    each = 1000 * seconds / max(arguments.programs, 1)
    print(f"seeds {arguments.seed}..{last}: {seconds:.0f} s, {each:.0f} ms a program")
    return 1 if any(tally.wrong for tally in tallies.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
