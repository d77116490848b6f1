"""Run the tasks of folders of C programs in the format of SV-COMP, and compare the verdicts.

    python benchmarks/svcomp.py DIR [DIR ...] --json result.json --jobs 4

The folders are searched for task files (`*.yml`) with an expected verdict for `unreach-call`;
programs without one count if their name says what is expected (`..._true-unreach-call.i`).  Each
task is one `mazurka check --property assert`.  *Right* is a verdict as expected, *wrong* one that
contradicts; `violated` by anything but an assertion, `inconclusive`, and what passes the limits are
*unknown*; what cannot be read is *unsupported*, with the reason.  Programs of the competition are
not part of Mazurka.

Tasks run side by side (`--jobs`), each on its part of the processors, and with its own limits: one
that has not ended some seconds after `--seconds`, or whose processes together pass `--megabytes`,
is killed.  A line is printed and the JSON file is written whenever a task ends, so nothing is lost
if the run is killed; `--resume` goes on with the tasks that the file does not contain yet.
`--stop-after` ends the run by itself.  `--engine stateful` measures explicit strategies alone.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Lock
from typing import Any

GRACE = 5.0
"""Seconds that a task may take beyond its limit, to end by itself and to say how far it came."""
INTERVAL = 0.25
"""Seconds between two looks at the memory of a task."""


@dataclass(frozen=True)
class Task:
    name: str
    program: Path
    expected: bool
    """Whether the property holds."""
    model: str


@dataclass(frozen=True)
class Outcome:
    name: str
    expected: str
    verdict: str
    """`holds`, `violated`, `inconclusive`, `unsupported`, or `error`."""
    judged: str
    """`right`, `wrong`, `unknown`, or `unsupported`."""
    reason: str
    engine: str
    strategy: str
    seconds: float
    """On the clock."""
    processor_seconds: float
    """Of the processor, by all processes of the task that have ended in order."""
    megabytes: int
    """The largest sum over all processes of the task at one time."""


@dataclass(frozen=True)
class Run:
    """How one command ended."""

    output: bytes
    errors: bytes
    killed: str
    """Why it was killed; empty if it was not."""
    seconds: float
    processor_seconds: float
    megabytes: int


def find_tasks(folder: Path, model: str) -> Iterator[Task]:
    """The tasks below a folder, by their description or by the name of the program."""
    described: set[Path] = set()
    for path in sorted(folder.rglob("*.yml")):
        text = path.read_text(encoding="utf-8", errors="replace")
        files = re.findall(r"input_files:\s*['\"]?([^'\"\n]+)", text)
        found = re.search(
            r"property_file:\s*\S*unreach-call\.prp\s*\n\s*expected_verdict:\s*(true|false)", text
        )
        if not files or not found:
            continue
        program = path.parent / files[0].strip()
        described.add(program)
        width = re.search(r"data_model:\s*(ILP32|LP64)", text)
        used = width[1].lower() if width else model
        yield Task(name_task(folder, path.with_suffix("")), program, found[1] == "true", used)
    for path in sorted([*folder.rglob("*.i"), *folder.rglob("*.c")]):
        named = re.search(r"_(true|false)-unreach-call", path.name)
        if named and path not in described and not path.with_suffix(".yml").exists():
            yield Task(name_task(folder, path), path, named[1] == "true", model)


def name_task(folder: Path, path: Path) -> str:
    return str(Path(folder.resolve().name) / path.relative_to(folder))


class Bench:
    """The tasks of one run, side by side."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.stopped = Event()
        """Set where the whole run is to end."""
        self.lock = Lock()
        self.outcomes: list[Outcome] = []
        self.processors: SimpleQueue[set[int]] = SimpleQueue()
        """Those of each task that may run."""
        for own in divide_processors(arguments.jobs):
            self.processors.put(own)

    def run_all(self, tasks: list[Task]) -> None:
        with ThreadPoolExecutor(self.arguments.jobs) as pool:
            for done in as_completed([pool.submit(self.run_task, task) for task in tasks]):
                done.result()

    def run_task(self, task: Task) -> None:
        if self.stopped.is_set():
            return
        outcome = judge(task, self.execute(self.command(task)), self.arguments)
        if self.stopped.is_set() and outcome.judged != "right":
            return
        with self.lock:
            self.outcomes.append(outcome)
            note = f"  ({outcome.reason[:120]})" if outcome.reason else ""
            print(
                f"{len(self.outcomes):3} {outcome.judged:11} {outcome.verdict:12} {task.name}"
                f"  {outcome.seconds:.1f} s  {outcome.megabytes} MB  {outcome.strategy}{note}",
                flush=True,
            )
            self.write()

    def command(self, task: Task) -> list[str]:
        asked = self.arguments
        command = [sys.executable, "-m", "mazurka", "check", str(task.program), "--json"]
        command += ["--property", "assert", "--model", task.model]
        command += ["--limit-time", str(asked.seconds), "--limit-memory", str(asked.megabytes)]
        command += ["--engine", asked.engine, "--strategy", asked.strategy]
        return command + list(asked.option)

    def execute(self, command: list[str]) -> Run:
        """Run a command in a session of its own, within the limits."""
        limit = self.arguments.megabytes * 1_000_000
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            began = time.perf_counter()
            process = subprocess.Popen(
                command, stdout=output, stderr=errors, start_new_session=True
            )
            own = self.processors.get()
            os.sched_setaffinity(process.pid, own)
            peak, killed, usage = 0, "", None
            while usage is None:
                ended, _, spent = os.wait4(process.pid, os.WNOHANG)
                if ended:
                    usage = spent
                    break
                peak = max(peak, session_memory(process.pid))
                seconds = time.perf_counter() - began
                if self.stopped.is_set():
                    killed = "the run was ended"
                elif seconds > self.arguments.seconds + GRACE:
                    killed = f"not ended after {seconds:.0f} s"
                elif peak > limit:
                    killed = f"all processes together take {peak // 1_000_000} MB"
                if killed:
                    end_session(process.pid)
                    usage = os.wait4(process.pid, 0)[2]
                    break
                self.stopped.wait(INTERVAL if seconds > 1 else INTERVAL / 5)
            process.returncode = 0  # it was waited for here
            self.processors.put(own)
            end_session(process.pid)
            output.seek(0)
            errors.seek(0)
            return Run(
                output.read(), errors.read(), killed, time.perf_counter() - began,
                usage.ru_utime + usage.ru_stime, peak // 1_000_000,
            )  # fmt: skip

    def summary(self) -> dict[str, Any]:
        totals = Counter(each.judged for each in self.outcomes)
        proved = sum(each.judged == "right" and each.verdict == "holds" for each in self.outcomes)
        return {
            "totals": dict(totals),
            "proved": proved,
            "found": totals["right"] - proved,
            "reasons": Counter(e.reason for e in self.outcomes if e.judged == "unsupported"),
            "options": described(self.arguments),
            "tasks": [asdict(each) for each in sorted(self.outcomes, key=lambda each: each.name)],
        }

    def write(self) -> None:
        """Write what is known, so that a reader never meets half of it."""
        target = self.arguments.json
        if target is not None:
            part = target.with_name(target.name + ".part")
            part.write_text(json.dumps(self.summary(), indent=1), encoding="utf-8")
            part.replace(target)


TINY = """
#include <pthread.h>
int x;
void *f(void *p) { x = 1; return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); return x - 1; }
"""


def compile_kernels() -> None:
    """Let the engines compile what they keep for all programs, at nobody's expense."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tiny.c"
        path.write_text(TINY, encoding="utf-8")
        for strategy in ("full", "portfolio"):
            command = [sys.executable, "-m", "mazurka", "check", str(path), "--strategy", strategy]
            subprocess.run(command, capture_output=True, check=False)


def divide_processors(jobs: int) -> list[set[int]]:
    """Give each of the tasks that run side by side processors of its own, where there are enough:
    a task uses all that it finds."""
    there = sorted(os.sched_getaffinity(0))
    each = max(len(there) // jobs, 1)
    return [{there[(each * job + n) % len(there)] for n in range(each)} for job in range(jobs)]


def session_memory(session: int) -> int:
    """The memory of all processes of a session; pages that several share count once in all."""
    total = 0
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="ascii", errors="replace") as stat:
                fields = stat.read().rpartition(")")[2].split()
            if int(fields[3]) == session:
                total += proportional_memory(entry)
        except (OSError, ValueError, IndexError):
            continue  # it has ended meanwhile
    return total


def proportional_memory(process: str) -> int:
    try:
        with open(f"/proc/{process}/smaps_rollup", encoding="ascii") as rollup:
            for line in rollup:
                if line.startswith("Pss:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    with open(f"/proc/{process}/statm", encoding="ascii") as pages:
        return int(pages.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def end_session(leader: int) -> None:
    """Kill what a command has left running."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


def judge(task: Task, run: Run, arguments: argparse.Namespace) -> Outcome:
    expected = "holds" if task.expected else "violated"
    try:
        found = json.loads(run.output)
    except ValueError:
        message = run.errors.decode(errors="replace")[-300:] or "no answer"
        found = {"error": {"message": message}}
    verdict, reason = found.get("verdict", "unsupported"), ""
    if run.killed:
        verdict, judged, reason = "inconclusive", "unknown", f"killed: {run.killed}"
    elif found.get("error"):
        error = found["error"]
        reason = error if isinstance(error, str) else error.get("message", str(error))
        verdict, judged = "unsupported", "unsupported"
    elif verdict == "inconclusive":
        judged, reason = "unknown", "; ".join(map(str, found.get("limits", [])))
    elif verdict == "violated" and (found.get("violation") or {}).get("kind") != "assert":
        judged, reason = "unknown", f"{found['violation']['kind']}: {found['violation']['message']}"
    else:
        judged = "right" if verdict == expected else "wrong"
        if judged == "right" and run.seconds > arguments.seconds + 1:
            judged, reason = "unknown", f"{verdict}, but later than {arguments.seconds:g} s"
    return Outcome(
        task.name, expected, verdict, judged, reason[:300], str(found.get("engine", "")),
        str(found.get("strategy", "")), round(run.seconds, 2), round(run.processor_seconds, 2),
        run.megabytes,
    )  # fmt: skip


def described(arguments: argparse.Namespace) -> dict[str, Any]:
    """What decides the outcomes: two runs with the same of it can be put together."""
    names = ["seconds", "megabytes", "engine", "strategy", "model", "option", "jobs"]
    return {name: getattr(arguments, name) for name in names}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+", metavar="DIR")
    parser.add_argument("--json", type=Path, help="write all outcomes and the totals to this file")
    parser.add_argument("--resume", action="store_true", help="leave out what --json contains")
    parser.add_argument("--jobs", type=int, default=1, help="how many tasks run side by side")
    parser.add_argument("--seconds", type=float, default=60, help="for each task, on the clock")
    parser.add_argument("--megabytes", type=int, default=4000, help="for all processes of a task")
    parser.add_argument("--stop-after", type=float, help="end the whole run after these seconds")
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--strategy", default="auto")
    parser.add_argument("--model", default="ilp32", help="where a task does not say")
    parser.add_argument("--only", default="", help="tasks whose names contain this")
    parser.add_argument("--tasks", type=Path, help="only those that this file names, one a line")
    parser.add_argument(
        "--option", action="append", default=[], help="one more option of `mazurka check`"
    )
    arguments = parser.parse_args()
    bench = Bench(arguments)
    if arguments.resume and arguments.json and arguments.json.exists():
        kept = json.loads(arguments.json.read_text(encoding="utf-8"))
        if kept["options"] != described(arguments):
            parser.error(f"--resume: {arguments.json} is of a run with other options")
        bench.outcomes = [Outcome(**each) for each in kept["tasks"]]
    known = {each.name for each in bench.outcomes}
    named = arguments.tasks and {
        line.split()[0].rsplit(".", 1)[0] for line in arguments.tasks.read_text().splitlines()
    }
    tasks = [
        task
        for folder in arguments.folders
        for task in find_tasks(folder, arguments.model)
        if arguments.only in task.name
        and task.name not in known
        and (named is None or task.name.rsplit(".", 1)[0] in named)
    ]
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: bench.stopped.set())
    if arguments.stop_after:
        signal.signal(signal.SIGALRM, lambda *_: bench.stopped.set())
        signal.setitimer(signal.ITIMER_REAL, arguments.stop_after)
    compile_kernels()
    bench.run_all(tasks)
    summary = bench.summary()
    bench.write()
    missing = len(tasks) + len(known) - len(bench.outcomes)
    counts = ", ".join(f"{n} {word}" for word, n in summary["totals"].items())
    print(f"{len(bench.outcomes)} tasks: {counts}" + (f"; {missing} not run" if missing else ""))
    print(f"proved: {summary['proved']}; found: {summary['found']}")
    return 1 if summary["totals"].get("wrong") else 3 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
