"""Run small thread-safety tests of real packages, and compare the verdicts with what is known.

    python benchmarks/real_packages.py --no-stress
    python benchmarks/real_packages.py --only blinker --only test_gauss
    python benchmarks/real_packages.py --stress-only
    python benchmarks/real_packages.py --table

The tests lie in `benchmarks/real_packages/`; each says in its docstring which verdict is right, and
why, from reading the source of the package.  The script installs the versions that
`requirements.txt` names into a virtual environment of its own, and runs the tests with pytest, some
files at a time, by the marker alone.  What cannot be installed for the Python that runs the script
is left out, and named.  Seconds are those of the processor, for the test itself, without the start
of pytest.

Results are kept in a file (`--json`) as they come, each with the *state* from which it is: a digest
of Mazurka's source, of the test and of the version of Python.  A run that was interrupted goes on
where it was: tests that have a result of the present state are not run again, unless `--again` says
so.

Beside each violation there are plain runs without Mazurka, with Python's own switch interval and
with a tiny one.  They do not depend on Mazurka, and are kept in a file of their own, for as long as
the test and the version of the package stay the same: `--stress-only` can run beside the rest.  A
call makes at most `--stress-limit` seconds of them for a test and an interval, and adds them to
those of earlier calls, until there are 10,000.

`--table` prints the table of `docs/benchmarks.md`.  Exit status 1 if a verdict is a wrong `holds`,
3 if the run was interrupted.
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
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import chain, groupby
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TESTS = Path(__file__).resolve().parent / "real_packages"
STANDARD_LIBRARY = "standard_library"
TINY_INTERVAL = 1e-6
MISSING = "missing.json"
"""Names the packages that cannot be installed, in the environment."""
BATCH = 16
"""How many tests one process runs, at least, with those of the same file."""


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
    state: str = ""
    """Of what the verdict is: of Mazurka's source, the test, and Python (`digest_state`)."""
    commit: str = ""
    """The commit of that state, for people."""
    stress: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By interval: counts of plain runs."""

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
    """Read the verdict and the reason that a test's docstring begins with.  `violated before 3.13`
    is a failure that Python's library no longer has on this version."""
    text = " ".join((ast.get_docstring(function) or "").split())
    found = re.match(r"(holds|violated)(?: before (\d+)\.(\d+))?: (.+)", text)
    if found is None:
        raise SystemExit(
            f"{path}:{function.lineno}: the docstring of {function.name} must begin with"
            " `holds: ` or `violated: ` and say why"
        )
    expected, major, minor, reason = found.groups()
    if major and sys.version_info >= (int(major), int(minor)):
        expected = "holds" if expected == "violated" else "violated"
    return expected, reason


def select_cases(cases: Iterator[Case], only: list[str]) -> list[Case]:
    """Select the tests whose package, folder, file or name was asked for; all if nothing was."""
    return [case for case in cases if not only or name_case(case) & set(only)]


def name_case(case: Case) -> set[str]:
    """List the names by which a test can be asked for."""
    folder, file = case.file.split("/")
    return {case.package, folder, file.removesuffix(".py"), case.file, case.name}


# -- states --------------------------------------------------------------------------------------


def digest_case(case: Case) -> str:
    """Make a short digest of what plain runs of a test depend on."""
    files = [TESTS / case.file, TESTS / "together.py"]
    return _digest(sys.version, case.version, *(file.read_text() for file in files))


def digest_state(case: Case) -> str:
    """Make a short digest of what the verdict about a test depends on."""
    return _digest(digest_case(case), digest_source())


@cache
def digest_source() -> str:
    """Make a short digest of Mazurka's source."""
    files = sorted((ROOT / "src" / "mazurka").rglob("*.py"))
    return _digest(*(f"{file.relative_to(ROOT)}\n{file.read_text()}" for file in files))


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]


@cache
def name_commit() -> str:
    """Name the commit of Mazurka's source for people; with a plus sign if files have changed."""
    command = ["git", "-C", str(ROOT)]
    try:
        last = subprocess.run(
            [*command, "log", "-1", "--format=%h", "--", "src"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        changed = subprocess.run([*command, "diff", "--quiet", "HEAD", "--", "src"]).returncode
    except (OSError, subprocess.CalledProcessError):
        return ""
    return last + "+" * bool(changed)


# -- running -------------------------------------------------------------------------------------


def prepare_environment(folder: Path) -> Path:
    """Make the virtual environment, or complete it, and return its Python."""
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    requirements = TESTS / "requirements.txt"
    stamp = folder / "installed"
    digest = hashlib.sha256(f"{ROOT} {requirements.read_text()}".encode()).hexdigest()
    if stamp.is_file() and stamp.read_text() == digest:
        return python
    print(f"installing packages into {folder} ...", file=sys.stderr, flush=True)
    if not python.is_file():
        venv.create(folder / "venv", with_pip=True)
    install = [str(python), "-m", "pip", "install", "--quiet"]
    wanted = ["pytest", "-e", str(ROOT)]
    missing = []
    if subprocess.run([*install, *wanted, "-r", str(requirements)], check=False).returncode:
        subprocess.run([*install, *wanted], check=True)
        for pinned in requirements.read_text().split():
            if subprocess.run([*install, pinned], check=False).returncode:
                missing.append(pinned)
    write_json(folder / MISSING, missing)
    stamp.write_text(digest)
    return python


def leave_missing_out(cases: list[Case], environment: Path) -> list[Case]:
    """Leave out the tests of packages that cannot be installed for this version of Python."""
    missing = read_requirements("\n".join(read_json(environment / MISSING) or []))
    left_out = [case for case in cases if case.package in missing]
    if left_out:
        names = ", ".join(f"{name} {version}" for name, version in missing.items())
        print(f"left out, {len(left_out)} tests: cannot be installed: {names}", file=sys.stderr)
    return [case for case in cases if case.package not in missing]


def explore_cases(cases: list[Case], python: Path, tests: Path, limit: float) -> Iterator[Row]:
    """Run tests of some files with pytest, as a user would, each with the same limit.

    They are run in one process.  What did not come out as expected is run again in a process of its
    own, and what that says counts: a test may suffer from the one before it.
    """
    told, output, _ = run_pytest(cases, python, tests, limit * len(cases))
    for case in cases:
        row = make_row(case, told.get(name_of(case)), output)
        if len(cases) > 1 and row.judge() != "right":
            alone, output_alone, timed_out = run_pytest([case], python, tests, limit)
            row = make_row(case, alone.get(name_of(case)), output_alone)
            if timed_out:
                row = Row(case, "error", f"no end after {limit:g} s", seconds=limit)
        yield row


def name_of(case: Case) -> str:
    """Return the name under which the plugin tells of a test."""
    return f"{case.file.rpartition('/')[2]}::{case.name}"


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


def run_plainly(
    case: Case, python: Path, tests: Path, runs: int, interval: float | None, limit: float
) -> dict[str, Any]:
    """Run one test many times without Mazurka, within a limit of seconds of processor time."""
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
    case, is_violated = row.case, row.verdict == "violated"
    cells = [
        f"{case.package:<20.20} {case.version:<10.10} {case.name.removeprefix('test_'):<42.42}",
        f"{case.expected:<8} {row.verdict:<12}",
        f"{row.executions if row.executions is not None else '':>6}",
        f"{row.seconds:>7.2f}" if row.seconds is not None else " " * 7,
        *(f"{show_stress(counts):>13}" for counts in row.stress.values() if is_violated),
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
    violations = [row.stress for row in rows if row.verdict == "violated"]
    for name in INTERVALS:
        counts = [stress[name] for stress in violations if name in stress]
        if counts:
            caught = sum(one["failed"] > 0 for one in counts)
            lines.append(f"violations that plain runs show, {name}: {caught} of {len(counts)}")
    return lines


def run_cases(cases: list[Case], arguments: argparse.Namespace) -> list[Row]:
    """Run the tests one after the other, and print and store each row when it is there."""
    python = prepare_environment(arguments.environment)
    cases = leave_missing_out(cases, arguments.environment)
    kept, plain = Results(arguments.json), PlainRuns(arguments.plain)
    rows = [row for case in cases if (row := kept.find(case)) and not arguments.again]
    known = {name_row(row) for row in rows}
    print(HEAD, *map(show_row, rows), sep="\n", flush=True)
    missing = [case for case in cases if (case.file, case.name) not in known]
    if not missing:
        return rows
    print(f"{len(rows)} tests have results of this state, {len(missing)} to run", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        tests = Path(folder) / "tests"
        shutil.copytree(TESTS, tests, ignore=shutil.ignore_patterns("__pycache__"))
        batches = batch_cases(missing)
        found = (explore_cases(batch, python, tests, arguments.limit) for batch in batches)
        with suppress_interrupt(arguments):
            for row in chain.from_iterable(found):
                kept.add(row)
                if arguments.stress and row.verdict == "violated":
                    stress_case(row.case, python, tests, arguments, plain)
                row.stress = plain.find(row.case)
                print(show_row(row), flush=True)
                if arguments.show:
                    print(row.details.get("report", row.message), flush=True)
                rows.append(row)
    return rows


def batch_cases(cases: list[Case]) -> Iterator[list[Case]]:
    """Put tests together that one process runs: to start one takes longer than most tests do.

    A run that is interrupted has to do its last batch again.
    """
    batch: list[Case] = []
    for _, of in groupby(cases, key=lambda case: case.file):
        batch += of
        if len(batch) >= BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


@contextmanager
def suppress_interrupt(arguments: argparse.Namespace) -> Iterator[None]:
    """Let an interrupt end the run, and not the sums; what has been found is in the file."""
    try:
        yield
    except KeyboardInterrupt:
        arguments.interrupted = True
        print("interrupted; the same command goes on from here", file=sys.stderr)


def stress_cases(cases: list[Case], arguments: argparse.Namespace) -> None:
    """Make the plain runs that are missing of tests which may fail."""
    python = prepare_environment(arguments.environment)
    plain = PlainRuns(arguments.plain)
    with suppress_interrupt(arguments):
        for case in cases:
            if case.expected == "violated" and stress_case(case, python, TESTS, arguments, plain):
                counts = (f"{name} {show_stress(one)}" for name, one in plain.find(case).items())
                print(f"{case.package} {case.name}: {', '.join(counts)}", flush=True)


INTERVALS = {"default": None, "tiny": TINY_INTERVAL}


def stress_case(
    case: Case, python: Path, tests: Path, arguments: argparse.Namespace, plain: PlainRuns
) -> bool:
    """Add plain runs to those that a test has; tell whether any were missing."""
    added = False
    for name, interval in INTERVALS.items():
        before = plain.find(case).get(name, {"runs": 0, "failed": 0, "hung": False})
        wanted = arguments.runs - before["runs"]
        if wanted > 0 and not before["hung"]:
            more = run_plainly(case, python, tests, wanted, interval, arguments.stress_limit)
            plain.add(case, name, add_runs(before, more))
            added = True
    return added


def add_runs(before: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Add counts of plain runs of the same test."""
    return {**more, **{key: before[key] + more[key] for key in ("runs", "failed")}}


class Results:
    """The rows that a file has, one for each test."""

    def __init__(self, file: Path) -> None:
        self.file = file
        found = read_json(file) or []
        for entry in found:
            del entry["judged"]
        rows = [Row(**{**entry, "case": Case(**entry["case"])}) for entry in found]
        self.rows = {name_row(row): row for row in rows}

    def find(self, case: Case, *, of_state: bool = True) -> Row | None:
        """Find the row of a test, of the present state unless any will do."""
        row = self.rows.get((case.file, case.name))
        if row is None or (of_state and row.state != digest_state(case)):
            return None
        row.case = case  # what is expected may be said in other words by now
        return row

    def add(self, row: Row) -> None:
        """Take a row of the present state, in place of an older one, and write the file."""
        row.state, row.commit = digest_state(row.case), name_commit()
        self.rows[name_row(row)] = row
        rows = self.rows.values()
        found = [{**asdict(one), "stress": {}, "judged": one.judge()} for one in rows]
        write_json(self.file, found)


class PlainRuns:
    """The counts of plain runs that a file has."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.counts: dict[str, dict[str, Any]] = read_json(file) or {}

    def find(self, case: Case) -> dict[str, dict[str, Any]]:
        """Find the counts for a test, by interval, if test and package are still the same."""
        entry = self.counts.get(f"{case.file}::{case.name}", {})
        known: dict[str, dict[str, Any]] = entry.get("counts", {})
        return known if entry.get("of") == digest_case(case) else {}

    def add(self, case: Case, interval: str, counts: dict[str, Any]) -> None:
        """Take the counts for a test and an interval, and write the file."""
        entry = {"of": digest_case(case), "counts": {**self.find(case), interval: counts}}
        self.counts[f"{case.file}::{case.name}"] = entry
        write_json(self.file, self.counts)


def read_json(file: Path) -> Any:
    return json.loads(file.read_text()) if file.is_file() else None


def write_json(file: Path, found: Any) -> None:
    """Write a file at once: whoever interrupts that leaves the old one behind."""
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_suffix(".new")
    unfinished.write_text(json.dumps(found, indent=1))
    unfinished.replace(file)


def read_rows(cases: list[Case], arguments: argparse.Namespace) -> Iterator[Row]:
    """Read the rows of tests, of whatever state, with their plain runs."""
    kept, plain = Results(arguments.json), PlainRuns(arguments.plain)
    for case in cases:
        row = kept.find(case, of_state=False)
        if row is not None:
            row.stress = plain.find(case)
            yield row


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
        stress = row.stress if row.verdict == "violated" else {}
        counts = [show_stress(stress[name]) if name in stress else "" for name in INTERVALS]
        cells = [
            case.package,
            "" if case.version == "Python" else case.version,
            f"`{case.name.removeprefix('test_')}`",
            case.expected,
            verdict,
            f"{row.executions:,}" if row.executions is not None else "",
            f"{row.seconds:.2f}" if row.seconds is not None else "",
            *counts,
        ]
        lines.append("| " + " | ".join(cells).replace("|  |", "| |") + " |")
    return [*lines, "", *summarize(rows), *name_states(rows)]


def name_states(rows: list[Row]) -> list[str]:
    """Say from which state of Mazurka's source the rows are, or that they are from several."""
    states = Counter(row.commit for row in rows)
    found = [f"{count} of {commit or 'no commit'}" for commit, count in states.most_common()]
    return ["state of the source: " + ", ".join(found)]


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
        "--stress-only", action="store_true", help="plain runs of tests that may fail, and no more"
    )
    parser.add_argument("--runs", type=int, default=10_000, help="plain runs of a violated test")
    parser.add_argument(
        "--limit", type=float, default=120, help="seconds of processor time for one exploration"
    )
    parser.add_argument(
        "--stress-limit",
        type=float,
        default=20,
        help="seconds of processor time for plain runs of a test with one interval, in one call",
    )
    parser.add_argument("--list", action="store_true", help="list the tests, and run none")
    parser.add_argument("--show", action="store_true", help="print what pytest prints, too")
    parser.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="where results are kept; results.json of the environment unless given",
    )
    parser.add_argument(
        "--table", action="store_true", help="print the results as a table, and run nothing"
    )
    parser.add_argument(
        "--again", action="store_true", help="run tests that have a result of this state, too"
    )
    default = Path(tempfile.gettempdir()) / "mazurka-real-packages"
    parser.add_argument(
        "--environment", type=Path, default=default, help="where packages are installed"
    )
    arguments = parser.parse_args()
    arguments.interrupted = False
    arguments.json = arguments.json or arguments.environment / "results.json"
    arguments.plain = arguments.json.with_name("plain_runs.json")
    cases = select_cases(find_cases(), arguments.only)
    if arguments.table:
        print(*show_table(list(read_rows(cases, arguments))), sep="\n")
        return 0
    if arguments.list:
        for case in cases:
            print(f"{case.package:<20} {case.name:<45} {case.expected:<8} {case.reason}")
        return 0
    if arguments.stress_only:
        stress_cases(cases, arguments)
        rows = list(read_rows(cases, arguments))
    else:
        rows = run_cases(cases, arguments)
    print(*summarize(rows), sep="\n")
    if arguments.interrupted:
        return 3
    return int(any(row.judge() == "wrong holds" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
