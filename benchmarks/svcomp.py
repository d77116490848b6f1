"""Run the tasks of a folder of C programs in the format of SV-COMP, and compare the verdicts.

    python benchmarks/svcomp.py DIR --json result.json

DIR is searched for task files (`*.yml`) with an expected verdict for `unreach-call`; programs
without one count if their name says what is expected (`..._true-unreach-call.i`).  Each task is one
`mazurka check --property assert`.  *Right* is a verdict as expected, *wrong* one that contradicts;
`violated` by anything but an assertion, and `inconclusive`, are *unknown*; what cannot be read is
*unsupported*, with the reason.  Programs of the competition are not part of Mazurka.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Timer


@dataclass
class Task:
    name: str
    program: Path
    expected: bool
    """Whether the property holds."""
    model: str


@dataclass
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
        name = str(path.relative_to(folder).with_suffix(""))
        yield Task(name, program, found[1] == "true", used)
    for path in sorted([*folder.rglob("*.i"), *folder.rglob("*.c")]):
        named = re.search(r"_(true|false)-unreach-call", path.name)
        if named and path not in described and not path.with_suffix(".yml").exists():
            yield Task(str(path.relative_to(folder)), path, named[1] == "true", model)


def run(task: Task, arguments: argparse.Namespace) -> Outcome:
    command = [sys.executable, "-m", "mazurka", "check", str(task.program), "--json"]
    command += ["--property", "assert", "--model", task.model]
    command += ["--limit-time", str(arguments.seconds), "--limit-memory", str(arguments.megabytes)]
    command += ["--engine", arguments.engine, "--strategy", arguments.strategy]
    command += arguments.option
    started = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    timer = Timer(arguments.seconds * 1.5 + 30, lambda: os.killpg(process.pid, 9))
    timer.start()
    output, errors = process.communicate()
    timer.cancel()
    seconds = time.perf_counter() - started
    try:
        found = json.loads(output)
    except ValueError:
        found = {"error": {"message": errors.decode(errors="replace")[-300:] or "killed"}}
    return judge(task, found, seconds)


def judge(task: Task, found: dict, seconds: float) -> Outcome:
    expected = "holds" if task.expected else "violated"
    verdict, reason = found.get("verdict", "unsupported"), ""
    if found.get("error"):
        verdict = "unsupported"
        error = found["error"]
        reason = error if isinstance(error, str) else error.get("message", str(error))
        judged = "unsupported"
    elif verdict == "inconclusive":
        judged, reason = "unknown", "; ".join(map(str, found.get("limits", [])))
    elif verdict == "violated" and (found.get("violation") or {}).get("kind") != "assert":
        judged, reason = "unknown", f"{found['violation']['kind']}: {found['violation']['message']}"
    else:
        judged = "right" if verdict == expected else "wrong"
    statistics = found.get("stats") or {}
    used = int(statistics.get("peak_bytes") or statistics.get("bytes") or 0) // 1_000_000
    return Outcome(
        task.name, expected, verdict, judged, reason[:300], str(found.get("engine", "")),
        str(found.get("strategy", "")), round(seconds, 2), used,
    )  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", type=Path, help="write all outcomes and the totals to this file")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--megabytes", type=int, default=4000)
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--strategy", default="auto")
    parser.add_argument("--model", default="ilp32", help="where a task does not say")
    parser.add_argument("--only", default="", help="tasks whose names contain this")
    parser.add_argument(
        "--option", action="append", default=[], help="one more option of `mazurka check`"
    )
    arguments = parser.parse_args()
    outcomes = []
    for task in find_tasks(arguments.folder, arguments.model):
        if arguments.only not in task.name:
            continue
        outcome = run(task, arguments)
        outcomes.append(outcome)
        note = f"  ({outcome.reason[:120]})" if outcome.reason else ""
        print(
            f"{outcome.judged:11} {outcome.verdict:12} {task.name}  {outcome.seconds:.1f} s"
            f"  {outcome.strategy}{note}",
            flush=True,
        )
    totals = Counter(each.judged for each in outcomes)
    proved = sum(each.judged == "right" and each.verdict == "holds" for each in outcomes)
    print(f"{len(outcomes)} tasks:", ", ".join(f"{n} {word}" for word, n in totals.most_common()))
    print(f"proved: {proved}; found: {totals['right'] - proved}")
    if arguments.json:
        everything = {
            "totals": dict(totals),
            "proved": proved,
            "reasons": Counter(e.reason for e in outcomes if e.judged == "unsupported"),
            "tasks": [asdict(each) for each in outcomes],
        }
        arguments.json.write_text(json.dumps(everything, indent=1), encoding="utf-8")
    return 1 if totals["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
