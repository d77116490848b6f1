"""Run small thread-safety tests of real packages, and compare the verdicts with what is known.

    python benchmarks/real_packages.py --no-stress
    python benchmarks/real_packages.py --only blinker --only test_gauss --json found.json

The tests lie in `benchmarks/real_packages/`; each says in its docstring which verdict is right, and
why, from reading the source of the package.  The script installs the versions that
`requirements.txt` names into a virtual environment of its own, and runs each test with pytest in a
process of its own, by the marker alone.  Beside each violation it prints how many of 10,000 plain
runs without Mazurka fail, with Python's own switch interval and with a tiny one.  Seconds are those
of the processor, for the test itself, without the start of pytest.  Exit status 1 if a verdict is a
wrong `holds`.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TESTS = Path(__file__).resolve().parent / "real_packages"
STANDARD_LIBRARY = "standard_library"
TINY_INTERVAL = 1e-6


@dataclass(frozen=True)
class Case:
    """A test, and what is known of it."""

    package: str
    version: str
    file: str
    name: str
    expected: str
    reason: str


@dataclass
class Row:
    """A test, and what was found."""

    case: Case
    verdict: str
    message: str = ""
    executions: int | None = None
    seconds: float | None = None
    details: dict[str, Any] = field(default_factory=dict)
    stress: dict[str, dict[str, Any]] = field(default_factory=dict)

    def judge(self) -> str:
        """Judge the verdict: right, wrong holds, wrong violated, inconclusive, error."""
        if self.verdict == self.case.expected:
            return "right"
        if self.verdict in ("holds", "violated"):
            return f"wrong {self.verdict}"
        return self.verdict


def read_requirements(text: str) -> dict[str, str]:
    """Read pinned versions by the names that test files use for packages."""
    pinned = re.findall(r"^([\w.-]+)==(\S+)$", text, re.MULTILINE)
    return {normalize(name): version for name, version in pinned}


def normalize(name: str) -> str:
    return re.sub(r"[-_.]+", "_", name).lower()


def find_cases(folder: Path = TESTS) -> Iterator[Case]:
    """Find all tests, with the verdicts that their docstrings expect."""
    versions = read_requirements((folder / "requirements.txt").read_text())
    for path in sorted(folder.glob("*/test_*.py")):
        package = path.stem.removeprefix("test_")
        if path.parent.name == STANDARD_LIBRARY:
            package, version = "standard library", "Python"
        else:
            version = versions[package]
        for function in ast.parse(path.read_text()).body:
            if isinstance(function, ast.FunctionDef) and function.name.startswith("test_"):
                expected, reason = read_expectation(path, function)
                file = path.relative_to(folder).as_posix()
                yield Case(package, version, file, function.name, expected, reason)


def read_expectation(path: Path, function: ast.FunctionDef) -> tuple[str, str]:
    """Read the verdict and the reason that a test's docstring begins with."""
    expected, _, reason = " ".join((ast.get_docstring(function) or "").split()).partition(": ")
    if expected not in ("holds", "violated") or not reason:
        raise SystemExit(
            f"{path}:{function.lineno}: the docstring of {function.name} must begin with"
            " `holds: ` or `violated: ` and say why"
        )
    return expected, reason


def select_cases(cases: Iterator[Case], only: list[str]) -> list[Case]:
    """Select the tests whose package, folder, file or name was asked for; all if nothing was."""
    return [case for case in cases if not only or name_case(case) & set(only)]


def name_case(case: Case) -> set[str]:
    """List the names by which a test can be asked for."""
    folder, file = case.file.split("/")
    return {case.package, folder, file.removesuffix(".py"), case.file, case.name}


def prepare_environment(folder: Path) -> Path:
    """Make the virtual environment, or complete it, and return its Python."""
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    requirements = TESTS / "requirements.txt"
    stamp = folder / "installed"
    digest = hashlib.sha256(f"{ROOT} {requirements.read_text()}".encode()).hexdigest()
    if stamp.is_file() and stamp.read_text() == digest:
        return python
    print(f"installing packages into {folder} ...", file=sys.stderr, flush=True)
    venv.create(folder / "venv", with_pip=True, clear=True)
    install = [str(python), "-m", "pip", "install", "--quiet"]
    wanted = ["pytest", "-e", str(ROOT), "-r", str(requirements)]
    subprocess.run([*install, *wanted], check=True)
    stamp.write_text(digest)
    return python


def explore_case(case: Case, python: Path, tests: Path, limit: float) -> Row:
    """Run one test with pytest, as a user would."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [str(python), "-m", "pytest", "-p", "reporting", "-p", "no:cacheprovider"]
        output, timed_out = run_limited(
            [*command, f"{case.file}::{case.name}"],
            limit,
            tests,
            {"REAL_PACKAGES_REPORT": str(report), "PYTHONPATH": str(tests)},
        )
        if timed_out:
            return Row(case, "error", f"no end after {limit:g} s", seconds=limit)
        if not report.is_file():
            return Row(case, "error", f"pytest has ended without a report: {output[-2000:]}")
        told = json.loads(report.read_text())
    told["output"] = output
    return Row(
        case,
        told["verdict"],
        told.get("message", ""),
        told.get("executions"),
        told.get("seconds"),
        told,
    )


def stress_case(
    case: Case, python: Path, tests: Path, runs: int, interval: float | None, limit: float
) -> dict[str, Any]:
    """Run one test many times without Mazurka."""
    command = [str(python), str(tests / "stress.py"), str(tests / case.file), case.name]
    command += ["--runs", str(runs), "--seconds", str(limit)]
    if interval is not None:
        command += ["--interval", str(interval)]
    output, _ = run_limited(command, limit + 30, tests, {})
    last = output.strip().splitlines()[-1:]
    try:
        counts: dict[str, Any] = json.loads(last[0])
    except (IndexError, ValueError):
        return {"runs": 0, "failed": 0, "hung": False, "output": output[-2000:]}
    return counts


def run_limited(
    command: list[str], limit: float, folder: Path, environment: dict[str, str]
) -> tuple[str, bool]:
    """Run a command; its output, and whether the limit has ended it.

    The limit is one of processor time where the system has such limits: other programs on the
    machine do not count.  A command that waits is ended after ten times as long.
    """
    if shutil.which("sh"):
        command = ["sh", "-c", f'ulimit -t {int(limit)}; exec "$@"', "limited", *command]
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    try:
        output = process.communicate(timeout=10 * limit)[0]
        return output, process.returncode == -signal.SIGKILL
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[0], True


def show_row(row: Row) -> str:
    """Show a row of the table."""
    case = row.case
    cells = [
        f"{case.package:<20.20} {case.version:<10.10} {case.name.removeprefix('test_'):<42.42}",
        f"{case.expected:<8} {row.verdict:<12}",
        f"{row.executions if row.executions is not None else '':>6}",
        f"{row.seconds:>7.2f}" if row.seconds is not None else " " * 7,
        *(f"{show_stress(counts):>13}" for counts in row.stress.values()),
    ]
    if row.judge() != "right":
        first = row.message.strip().splitlines()[:1] or [""]
        cells.append(f"  ! {row.judge()}: {first[0][:160]}")
    return " ".join(cells)


def show_stress(counts: dict[str, Any]) -> str:
    hung = "h" if counts["hung"] else ""
    return f"{counts['failed']}{hung}/{counts['runs']}"


HEAD = (
    f"{'package':<20} {'version':<10} {'test':<42} {'expected':<8} {'verdict':<12} {'runs':>6}"
    f" {'seconds':>7} {'plain':>13} {'tiny interval':>13}"
)


def summarize(rows: list[Row]) -> list[str]:
    """Sum the table up."""
    judged = [row.judge() for row in rows]
    kinds = ("right", "wrong holds", "wrong violated", "inconclusive", "error")
    lines = [
        f"{len(rows)} tests of {len({row.case.package for row in rows})} packages: "
        + ", ".join(f"{judged.count(kind)} {kind}" for kind in kinds)
    ]
    seconds = [row.seconds for row in rows if row.seconds is not None]
    if seconds:
        median = statistics.median(seconds)
        lines.append(f"seconds: median {median:.2f}, worst {max(seconds):.2f}")
    stressed = [row.stress for row in rows if row.stress]
    for name in stressed[0] if stressed else ():
        caught = sum(stress[name]["failed"] > 0 for stress in stressed)
        lines.append(f"violations that plain runs show, {name}: {caught} of {len(stressed)}")
    return lines


def run_cases(cases: list[Case], arguments: argparse.Namespace) -> list[Row]:
    """Run the tests one after the other, and print each row when it is there."""
    python = prepare_environment(arguments.environment)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        tests = Path(folder) / "tests"
        shutil.copytree(TESTS, tests, ignore=shutil.ignore_patterns("__pycache__"))
        print(HEAD, flush=True)
        for case in cases:
            row = explore_case(case, python, tests, arguments.limit)
            if row.verdict == "violated" and arguments.stress:
                for name, interval in (("default", None), ("tiny", TINY_INTERVAL)):
                    row.stress[name] = stress_case(
                        case, python, tests, arguments.runs, interval, arguments.stress_limit
                    )
            print(show_row(row), flush=True)
            if arguments.show:
                print(row.details.get("output", row.message), flush=True)
            rows.append(row)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME",
        help="a package, folder, file or test",
    )
    parser.add_argument(
        "--no-stress", dest="stress", action="store_false", help="no plain runs beside violations"
    )
    parser.add_argument("--runs", type=int, default=10_000, help="plain runs of a violated test")
    parser.add_argument(
        "--limit", type=float, default=120, help="seconds of processor time for one exploration"
    )
    parser.add_argument("--stress-limit", type=float, default=60, help="seconds for plain runs")
    parser.add_argument("--list", action="store_true", help="list the tests, and run none")
    parser.add_argument("--show", action="store_true", help="print what pytest prints, too")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything to this file")
    default = Path(tempfile.gettempdir()) / "mazurka-real-packages"
    parser.add_argument(
        "--environment", type=Path, default=default, help="where packages are installed"
    )
    arguments = parser.parse_args()
    cases = select_cases(find_cases(), arguments.only)
    if arguments.list:
        for case in cases:
            print(f"{case.package:<20} {case.name:<45} {case.expected:<8} {case.reason}")
        return 0
    rows = run_cases(cases, arguments)
    print(*summarize(rows), sep="\n")
    if arguments.json:
        found = [{**asdict(row), "judged": row.judge()} for row in rows]
        arguments.json.write_text(json.dumps(found, indent=1))
    return int(any(row.judge() == "wrong holds" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
