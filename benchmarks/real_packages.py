"""Run small thread-safety tests of real packages, and compare the verdicts with what is known.

    python benchmarks/real_packages.py --no-stress
    python benchmarks/real_packages.py --only blinker --only test_gauss --json found.json
    python benchmarks/real_packages.py --table found.json

The tests lie in `benchmarks/real_packages/`; each says in its docstring which verdict is right, and
why, from reading the source of the package.  The script installs the versions that
`requirements.txt` names into a virtual environment of its own, and runs the tests of each file with
pytest, by the marker alone.  Beside each violation it prints how many of 10,000 plain
runs without Mazurka fail, with Python's own switch interval and with a tiny one.  Seconds are those
of the processor, for the test itself, without the start of pytest.  Results are written to the file
of `--json` as they come, in place of older ones of the same tests; `--table` prints the table of
`docs/benchmarks.md` from it.  Exit status 1 if a verdict is a wrong `holds`.
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
from itertools import chain, groupby
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


def explore_cases(cases: list[Case], python: Path, tests: Path, limit: float) -> Iterator[Row]:
    """Run tests of one file with pytest, as a user would, each with the same limit.

    They are run in one process.  What did not come out as expected is run again in a process of its
    own, and what that says counts: a test may suffer from the one before it.
    """
    told, output, _ = run_pytest(cases, python, tests, limit * len(cases))
    for case in cases:
        row = make_row(case, told.get(case.name), output)
        if len(cases) > 1 and row.judge() != "right":
            alone, output_alone, timed_out = run_pytest([case], python, tests, limit)
            row = make_row(case, alone.get(case.name), output_alone)
            if timed_out:
                row = Row(case, "error", f"no end after {limit:g} s", seconds=limit)
        yield row


def run_pytest(
    cases: list[Case], python: Path, tests: Path, limit: float
) -> tuple[dict[str, Any], str, bool]:
    """Run tests; what the plugin says by their names, the output, and whether time was over."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [str(python), "-m", "pytest", "-p", "reporting", "-p", "no:cacheprovider"]
        output, timed_out = run_limited(
            [*command, *(f"{case.file}::{case.name}" for case in cases)],
            limit,
            tests,
            {"REAL_PACKAGES_REPORT": str(report), "PYTHONPATH": str(tests)},
        )
        told = json.loads(report.read_text()) if report.is_file() else {}
    return told, output, timed_out


def make_row(case: Case, told: dict[str, Any] | None, output: str) -> Row:
    """Make a row of what the plugin says about a test."""
    if told is None:
        return Row(case, "error", f"pytest has ended without a report: {output[-2000:]}")
    message, executions = told.get("message", ""), told.get("executions")
    return Row(case, told["verdict"], message, executions, told.get("seconds"), told)


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
    """Run the tests one after the other, and print and store each row when it is there."""
    python = prepare_environment(arguments.environment)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        tests = Path(folder) / "tests"
        shutil.copytree(TESTS, tests, ignore=shutil.ignore_patterns("__pycache__"))
        print(HEAD, flush=True)
        files = groupby(cases, key=lambda case: case.file)
        found = (explore_cases(list(of), python, tests, arguments.limit) for _, of in files)
        for row in chain.from_iterable(found):
            if row.verdict == "violated" and arguments.stress:
                stress_row(row, python, tests, arguments)
            print(show_row(row), flush=True)
            if arguments.show:
                print(row.details.get("report", row.message), flush=True)
            rows.append(row)
            if arguments.json:
                store_row(row, arguments.json)
    return rows


def stress_rows(cases: list[Case], arguments: argparse.Namespace) -> list[Row]:
    """Add plain runs to the violations that the file of `--json` has and that have none yet."""
    python = prepare_environment(arguments.environment)
    wanted = {(case.file, case.name) for case in cases}
    rows = [row for row in read_rows(arguments.json) if name_row(row) in wanted]
    for row in rows:
        if row.verdict == "violated" and not row.stress:
            stress_row(row, python, TESTS, arguments)
            print(show_row(row), flush=True)
            store_row(row, arguments.json)
    return rows


def stress_row(row: Row, python: Path, tests: Path, arguments: argparse.Namespace) -> None:
    """Add the counts of plain runs to a row."""
    for name, interval in (("default", None), ("tiny", TINY_INTERVAL)):
        row.stress[name] = stress_case(
            row.case, python, tests, arguments.runs, interval, arguments.stress_limit
        )


def store_row(row: Row, file: Path) -> None:
    """Write a row to a file, in place of an older one of the same test.

    Counts of plain runs that the older row has, and the new one has not, are kept: they do not
    depend on Mazurka.
    """
    rows = {name_row(old): old for old in read_rows(file)}
    older = rows.get(name_row(row))
    if older and row.verdict == "violated" and not row.stress:
        row.stress = older.stress
    rows[name_row(row)] = row
    found = [{**asdict(one), "judged": one.judge()} for one in rows.values()]
    file.write_text(json.dumps(found, indent=1))


def read_rows(file: Path) -> list[Row]:
    """Read the rows that a file has; none if there is no such file."""
    if not file.is_file():
        return []
    found = json.loads(file.read_text())
    for entry in found:
        del entry["judged"]
    return [Row(**{**entry, "case": Case(**entry["case"])}) for entry in found]


def name_row(row: Row) -> tuple[str, str]:
    return row.case.file, row.case.name


def show_table(rows: list[Row]) -> list[str]:
    """Show the rows as a table in Markdown, and their sums."""
    lines = [
        "| package | version | test | expected | verdict | executions | seconds | plain | tiny |",
        "|---|---|---|---|---|---:|---:|---:|---:|",
    ]
    for row in sorted(rows, key=lambda row: (row.case.version == "Python", name_row(row))):
        case = row.case
        verdict = row.verdict if row.judge() == "right" else f"**{row.verdict}**"
        counts = [show_stress(row.stress[name]) for name in ("default", "tiny") if row.stress]
        cells = [
            case.package,
            "" if case.version == "Python" else case.version,
            f"`{case.name.removeprefix('test_')}`",
            case.expected,
            verdict,
            f"{row.executions:,}" if row.executions is not None else "",
            f"{row.seconds:.2f}" if row.seconds is not None else "",
            *(counts or ("", "")),
        ]
        lines.append("| " + " | ".join(cells).replace("|  |", "| |") + " |")
    return [*lines, "", *summarize(rows)]


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
    parser.add_argument(
        "--stress-only", action="store_true", help="plain runs beside violations of --json alone"
    )
    parser.add_argument("--runs", type=int, default=10_000, help="plain runs of a violated test")
    parser.add_argument(
        "--limit", type=float, default=120, help="seconds of processor time for one exploration"
    )
    parser.add_argument(
        "--stress-limit", type=float, default=60, help="seconds of processor time for plain runs"
    )
    parser.add_argument("--list", action="store_true", help="list the tests, and run none")
    parser.add_argument("--show", action="store_true", help="print what pytest prints, too")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything to this file")
    parser.add_argument(
        "--table", type=Path, metavar="FILE", help="print such a file as a table, and run nothing"
    )
    parser.add_argument(
        "--missing", action="store_true", help="leave out tests that the file of --json has"
    )
    default = Path(tempfile.gettempdir()) / "mazurka-real-packages"
    parser.add_argument(
        "--environment", type=Path, default=default, help="where packages are installed"
    )
    arguments = parser.parse_args()
    if arguments.table:
        print(*show_table(read_rows(arguments.table)), sep="\n")
        return 0
    cases = select_cases(find_cases(), arguments.only)
    if arguments.list:
        for case in cases:
            print(f"{case.package:<20} {case.name:<45} {case.expected:<8} {case.reason}")
        return 0
    if arguments.missing and arguments.json:
        known = {name_row(row) for row in read_rows(arguments.json)}
        cases = [case for case in cases if (case.file, case.name) not in known]
    rows = stress_rows(cases, arguments) if arguments.stress_only else run_cases(cases, arguments)
    print(*summarize(rows), sep="\n")
    return int(any(row.judge() == "wrong holds" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
