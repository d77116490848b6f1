"""Give Mazurka damaged input of every kind that it reads, as much as you like.

    python benchmarks/hostile.py --inputs 200000 --jobs 2 --into hostile
    python benchmarks/hostile.py --only trace --inputs 1000 --into hostile
    python benchmarks/hostile.py --number 4711 --into hostile

Models, C programs, exported programs, saved traces, tokens, formulas, configuration, words of the
command line, circuits with witnesses, and the files of the cache are damaged: their bytes, lines,
words, numbers, syntax trees and JSON values.  Each input is read in a forked process with limits.
It is accepted, refused with a reason, or ends by a limit; anything else is a finding: an internal
error, a wrong answer, a process that takes too long or too much memory, or dies by a signal.

The same seed and number make the same input.  What has been done is kept in the folder given by
`--into`, also after Ctrl-C: the same command goes on from there.  Each finding is a folder in it,
with the damaged files and the command; `--number` reads one input again and shows how it ends.
Exit status 1 if there are findings.  Run from the root.
"""

from __future__ import annotations

import argparse
import gc
import json
import re
import shlex
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.soundness.hostile.children import FINDINGS, FINE, Ending, run_all, write_files
from tests.soundness.hostile.inputs import KINDS, HostileInput, Seeds, make_input
from tests.soundness.hostile.seeds import prepare, warm_up

SAVE_SECONDS = 10.0
MOST_ALIKE = 3
"""So many inputs are kept of findings at the same place."""
COLUMNS = (*FINE, *FINDINGS)


class Progress:
    """What has been done, in a file."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.first = 0
        """All inputs of smaller numbers are done."""
        self.beyond: set[int] = set()
        """Those of larger numbers that are done."""
        self.counts: Counter[str] = Counter()
        self.alike: Counter[str] = Counter()
        self.saved = time.monotonic()
        if file.exists():
            found = json.loads(file.read_text("utf-8"))
            self.first, self.beyond = found["first"], set(found["beyond"])
            self.counts, self.alike = Counter(found["counts"]), Counter(found["alike"])

    def missing(self, count: int) -> Iterator[int]:
        return (each for each in range(self.first, count) if each not in self.beyond)

    def note(self, number: int, kind: str, ending: Ending) -> None:
        self.counts[f"{kind}/{ending.outcome}"] += 1
        self.beyond.add(number)
        while self.first in self.beyond:
            self.beyond.remove(self.first)
            self.first += 1
        if time.monotonic() - self.saved > SAVE_SECONDS:
            self.save()
            self.show_state()

    @property
    def done(self) -> int:
        return self.first + len(self.beyond)

    @property
    def findings(self) -> int:
        return sum(count for key, count in self.counts.items() if key.split("/")[1] in FINDINGS)

    def save(self) -> None:
        self.saved = time.monotonic()
        content = {"first": self.first, "beyond": sorted(self.beyond), "counts": self.counts}
        self.file.write_text(json.dumps({**content, "alike": self.alike}), "utf-8")

    def show_state(self) -> None:
        print(f"{self.done:,} inputs, {self.findings} findings", file=sys.stderr)

    def table(self) -> str:
        lines = ["| kind | inputs | " + " | ".join(COLUMNS) + " |", "|---|" + "---:|" * 9]
        for kind in (*KINDS, "all"):
            kinds = KINDS if kind == "all" else (kind,)
            row = [sum(self.counts[f"{one}/{each}"] for one in kinds) for each in COLUMNS]
            if sum(row):
                lines.append(
                    f"| {kind} | {sum(row):,} | " + " | ".join(f"{n:,}" for n in row) + " |"
                )
        return "\n".join(lines)


def keep(
    folder: Path, number: int, asked: HostileInput, ending: Ending, progress: Progress
) -> None:
    """Keep a finding, unless there are enough like it."""
    sign = f"{asked.kind} {ending.outcome} {ending.signature}"
    progress.alike[sign] += 1
    if progress.alike[sign] == 1:
        print(f"{number}: {sign}", file=sys.stderr)
    if progress.alike[sign] > MOST_ALIKE:
        return
    place = folder / "findings" / f"{re.sub(r'[^A-Za-z0-9.]+', '-', sign)[:90]}-{number}"
    place.mkdir(parents=True, exist_ok=True)
    write_files(asked, place)
    shown = describe(number, asked, ending)
    (place / "finding.txt").write_text(shown, "utf-8", errors="backslashreplace")


def describe(number: int, asked: HostileInput, ending: Ending) -> str:
    words = shlex.join(asked.action)
    figures = f"{ending.seconds} s, {ending.megabytes} MB"
    return (
        f"input {number} ({asked.kind}): {ending.outcome}, {figures}\n{words}\n\n{ending.message}\n"
    )


def show_one(options: argparse.Namespace, kinds: list[str], seeds: Seeds, place: Path) -> int:
    number = options.number
    asked = make_input(options.seed, number, seeds, kinds)
    (found,) = run_all(iter([(number, asked)]), place, 1)
    shown = options.into / f"input-{number}"
    write_files(asked, shown)
    told = describe(number, asked, found[2])
    print(told.encode("utf-8", "backslashreplace").decode(), f"The files are in {shown}.", sep="")
    return int(found[2].is_finding)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default=",".join(KINDS), help="input of these kinds alone")
    parser.add_argument("--without", default="", help="no input of these kinds")
    parser.add_argument("--number", type=int, help="read this one input again")
    parser.add_argument("--into", type=Path, required=True, help="a folder for what is found")
    options = parser.parse_args()
    options.into = options.into.resolve()
    options.into.mkdir(parents=True, exist_ok=True)
    left_out = options.without.split(",")
    kinds = [kind for kind in options.only.split(",") if kind not in left_out]
    if unknown := [each for each in (*kinds, *filter(None, left_out)) if each not in KINDS]:
        parser.error(f"there is no kind {unknown[0]!r}; there are {', '.join(KINDS)}")
    chosen = "all" if kinds == list(KINDS) else "-".join(kinds)
    progress = Progress(options.into / f"progress-{options.seed}-{chosen}.json")
    for number in (signal.SIGINT, signal.SIGTERM):  # in the background a shell ignores the first
        signal.signal(number, signal.default_int_handler)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        seeds = prepare(place, kinds)
        warm_up(seeds, place)
        gc.collect()
        gc.freeze()
        if options.number is not None:
            return show_one(options, kinds, seeds, place)
        numbers = progress.missing(options.inputs)
        inputs = ((n, make_input(options.seed, n, seeds, kinds)) for n in numbers)
        begun, before = time.monotonic(), progress.done
        try:
            for number, asked, ending, _ in run_all(inputs, place, options.jobs):
                progress.note(number, asked.kind, ending)
                if ending.is_finding:
                    keep(options.into, number, asked, ending, progress)
        except KeyboardInterrupt:
            print("interrupted; the same command goes on", file=sys.stderr)
        finally:
            progress.save()
    spent = time.monotonic() - begun
    print(progress.table())
    print(f"\n{progress.done - before:,} inputs in {spent:.0f} s, seed {options.seed}")
    return int(progress.findings > 0)


if __name__ == "__main__":
    raise SystemExit(main())
