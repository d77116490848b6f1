"""The script that runs tests of real packages: what it reads, and how it judges and sums up.

`benchmarks/real_packages.py` installs the packages and runs the tests; nothing is installed here.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "real_packages.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("real_packages_script", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_collection_is_as_large_as_promised(script: ModuleType) -> None:
    """At least 40 packages and 120 tests; each verdict is expected of a third of them or more."""
    cases = list(script.find_cases())
    assert len({case.package for case in cases if case.version != "Python"}) >= 40
    assert len(cases) >= 120
    expected = Counter(case.expected for case in cases)
    assert min(expected["holds"], expected["violated"]) * 3 >= len(cases)


def test_every_pinned_package_has_tests(script: ModuleType) -> None:
    pinned = script.read_requirements((script.TESTS / "requirements.txt").read_text())
    assert set(pinned) == {c.package for c in script.find_cases() if c.version != "Python"}


def test_tests_need_nothing_but_the_marker(script: ModuleType) -> None:
    """No options, no fixtures: plain runs call the same functions without pytest."""
    for path in script.TESTS.glob("*/test_*.py"):
        text = path.read_text()
        assert re.findall(r"mark\.mazurka.*", text) == ["mark.mazurka"], path
        for function in ast.parse(text).body:
            if isinstance(function, ast.FunctionDef) and function.name.startswith("test_"):
                assert not function.args.args, (path, function.name)


@pytest.mark.parametrize(
    ("expected", "verdict", "judged"),
    [
        ("holds", "holds", "right"),
        ("violated", "violated", "right"),
        ("violated", "holds", "wrong holds"),
        ("holds", "violated", "wrong violated"),
        ("violated", "inconclusive", "inconclusive"),
        ("holds", "error", "error"),
    ],
)
def test_judge(script: ModuleType, expected: str, verdict: str, judged: str) -> None:
    case = script.Case("package", "1.0", "room/test_package.py", "test_it", expected, "why")
    assert script.Row(case, verdict).judge() == judged


def test_select_and_summarize(script: ModuleType) -> None:
    cases = script.select_cases(script.find_cases(), ["blinker"])
    assert {case.package for case in cases} == {"blinker"}
    rows = [script.Row(case, case.expected, seconds=1.0) for case in cases]
    rows[0].verdict = "error"
    violation = next(row for row in rows if row.verdict == "violated")
    violation.stress = {"default": {"runs": 10, "failed": 0}, "tiny": {"runs": 10, "failed": 3}}
    assert script.summarize(rows) == [
        f"{len(cases)} tests of 1 packages: {len(cases) - 1} right, 0 wrong holds,"
        " 0 wrong violated, 0 inconclusive, 1 error",
        "seconds: median 1.00, worst 1.00",
        "violations that plain runs show, default: 0 of 1",
        "violations that plain runs show, tiny: 1 of 1",
    ]


def test_a_docstring_without_verdict_is_refused(script: ModuleType, tmp_path: Path) -> None:
    room = tmp_path / "standard_library"
    room.mkdir()
    (tmp_path / "requirements.txt").write_text("")
    (room / "test_queues.py").write_text('def test_it():\n    """It works."""\n')
    with pytest.raises(SystemExit, match="must begin with `holds: ` or `violated: `"):
        list(script.find_cases(tmp_path))


def test_plain_runs_count_failures_of_threads(script: ModuleType, tmp_path: Path) -> None:
    """Exceptions of threads count, and those of the test itself: here one run in two fails."""
    path = tmp_path / "test_it.py"
    path.write_text(
        "from together import run_together\nruns = []\n\n\ndef fail():\n"
        "    runs.append(1)\n    assert len(runs) % 2\n\n\n"
        "def test_it():\n    run_together(fail)\n"
    )
    command = [sys.executable, script.TESTS / "stress.py", path, "test_it", "--runs", "4"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {"runs": 4, "failed": 2, "hung": False}


def test_results_are_those_of_one_state(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run goes on where it was; a change of the source makes its results old."""
    first, second, *_ = script.find_cases()
    kept = script.Results(tmp_path / "results.json")
    kept.add(script.Row(first, "violated"))

    again = script.Results(tmp_path / "results.json")
    assert again.find(first) == kept.find(first)
    assert again.find(second) is None
    monkeypatch.setattr(script, "digest_source", lambda: "another state")
    assert again.find(first) is None
    assert again.find(first, of_state=False) == kept.find(first, of_state=False)


def test_plain_runs_are_those_of_one_version(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They do not depend on Mazurka, but on the test and the package."""
    first, second, *_ = script.find_cases()
    counts = {"runs": 10_000, "failed": 3, "hung": False}
    script.PlainRuns(tmp_path / "plain_runs.json").add(first, "tiny", counts)

    again = script.PlainRuns(tmp_path / "plain_runs.json")
    monkeypatch.setattr(script, "digest_source", lambda: "another state")
    assert again.find(first) == {"tiny": counts}
    assert again.find(second) == {}
    monkeypatch.setattr(script, "digest_case", lambda case: "another version of the package")
    assert again.find(first) == {}


def test_plain_runs_add_up(script: ModuleType) -> None:
    """A second call makes those for which the first one had no time; one that hangs is the last."""
    before = {"runs": 10, "failed": 1, "hung": False}
    more = {"runs": 5, "failed": 1, "hung": True}
    assert script.add_runs(before, more) == {"runs": 15, "failed": 2, "hung": True}


def test_batches_have_whole_files(script: ModuleType) -> None:
    cases = list(script.find_cases())
    batches = list(script.batch_cases(cases))
    assert [case for batch in batches for case in batch] == cases
    files = [{case.file for case in batch} for batch in batches]
    assert sum(map(len, files)) == len({case.file for case in cases})
    assert all(len(batch) >= script.BATCH for batch in batches[:-1])
