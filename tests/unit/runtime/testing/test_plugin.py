"""The pytest plugin, in sessions of its own: marker, options, fixtures, cases, replay, workers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from plugin_sessions import run
from tests.bank_account import ACCOUNT

TESTS = (
    """\
import threading
import unittest

import mazurka
import pytest


"""
    + ACCOUNT
    + """\


@pytest.fixture
def account(shared):
    made = Account()
    yield made
    assert made.balance == 2, "torn down in each execution"


@pytest.fixture(scope="module")
def shared():
    return []


@pytest.mark.mazurka(preemptions=2)
def test_marked_and_wrong():
    made = Account()
    twice(made.deposit)
    assert made.balance == 2


@mazurka.explore(preemptions=2)
def test_decorated_and_right(account, shared):
    assert account.balance == 0, "set up in each execution"
    twice(account.deposit_safely)


@pytest.mark.mazurka
def test_wrong_in_tear_down(account):
    twice(account.deposit)


@pytest.mark.mazurka(preemptions=1)
@pytest.mark.parametrize("count", [2, 3])
def test_parameters(count):
    made = Account()
    twice(made.deposit_safely)
    assert made.balance == count


class TestClass:
    def setup_method(self):
        self.made = Account()

    @mazurka.explore
    def test_method(self):
        assert self.made.balance == 0
        twice(self.made.deposit_safely)
        assert self.made.balance == 2


class Case(unittest.TestCase):
    def setUp(self):
        self.made = Account()

    def tearDown(self):
        assert self.made.balance == 2

    @pytest.mark.mazurka
    def test_marked_case(self):
        assert self.made.balance == 0
        twice(self.made.deposit_safely)

    @mazurka.explore
    def test_wrong_case(self):
        twice(self.made.deposit)

    @pytest.mark.mazurka
    def test_skipped_case(self):
        self.made.balance = 2
        self.skipTest("not today")


@pytest.mark.mazurka
def test_skipped():
    pytest.skip("not today")


def test_notes(request, shared):
    # The executions of two tests have asked for this fixture by way of another one.
    assert len(request._get_active_fixturedef("shared")._finalizers) <= 1


def test_untouched():
    assert type(threading.Lock()).__module__ == "_thread"
    assert "mazurka" not in threading.Thread.start.__module__
"""
)

WRONG = [
    "test_marked_and_wrong",
    "test_wrong_in_tear_down",
    "test_parameters[3]",
    "Case::test_wrong_case",
]
RIGHT = [
    "test_decorated_and_right",
    "test_parameters[2]",
    "TestClass::test_method",
    "Case::test_marked_case",
    "test_notes",
    "test_untouched",
]


def outcomes(output: str) -> dict[str, str]:
    return {
        found["name"]: found["outcome"]
        for found in re.finditer(
            r"^test_bank\.py::(?P<name>\S+) (?P<outcome>PASSED|FAILED|SKIPPED)", output, re.M
        )
    }


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("project")
    (made / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (made / "test_bank.py").write_text(TESTS, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def session(directory: Path) -> str:
    status, output = run(directory, "-v")
    assert status == 1, output
    return output


def test_every_test_has_the_right_outcome(session: str) -> None:
    found = outcomes(session)
    assert {name for name, outcome in found.items() if outcome == "FAILED"} == set(WRONG)
    assert {name for name, outcome in found.items() if outcome == "PASSED"} == set(RIGHT)
    assert {name for name, outcome in found.items() if outcome == "SKIPPED"} == {
        "Case::test_skipped_case",
        "test_skipped",
    }


def test_the_failure_is_our_report_and_nothing_else(session: str) -> None:
    assert session.count("violated: assert") == len(WRONG)
    assert "made.balance ➜ 0" in session
    assert "Traceback" not in session
    assert "scheduler.py" not in session
    assert "exploration.py" not in session
    assert re.search(
        r"FAILED test_bank\.py::test_marked_and_wrong - assert: AssertionError", session
    )


def test_scopes_are_told_with_v(session: str) -> None:
    assert "test_bank.py::test_decorated_and_right: holds: all executions; 2 partial" in session


def test_a_token_replays_one_test(directory: Path, session: str) -> None:
    token = re.search(r"mazurka replay (\S+)", session)
    assert token is not None
    status, output = run(directory, "-v", f"--mazurka-replay={token[1]}")
    assert status == 1
    assert outcomes(output) == {"test_marked_and_wrong": "FAILED"}
    assert "the recorded schedule, replayed" in output


def test_the_bound_of_the_command_line_counts(directory: Path) -> None:
    chosen = "test_bank.py::test_marked_and_wrong"
    status, output = run(directory, "-v", "--mazurka-preemptions=0", chosen)
    assert status == 0, output
    assert "all executions without preemptions" in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--mazurka-preemptions=few"], "needs a number or none"),
        (["--mazurka-replay=mz1-what"], "damaged"),
    ],
)
def test_bad_options_are_refused(directory: Path, arguments: list[str], message: str) -> None:
    status, output = run(directory, *arguments)
    assert status == 4
    assert message in output
    assert "Traceback" not in output


def test_a_test_whose_body_does_not_run_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (tmp_path / "test_unrun.py").write_text(
        """\
import unittest
import pytest

pytestmark = pytest.mark.mazurka


async def test_coroutine():
    assert False


class TestPlain:
    async def test_method(self):
        assert False

    def test_returns(self):
        return test_coroutine()


class Case(unittest.IsolatedAsyncioTestCase):
    async def test_case(self):
        assert False


class Returning(unittest.TestCase):
    def test_case(self):
        return test_coroutine()


def test_with_a_fixture(tmp_path):
    return test_coroutine()
""",
        encoding="utf-8",
    )
    status, output = run(tmp_path, "-v")
    assert status == 1
    failures, _, _ = output.partition("short test summary info")
    assert failures.count("is a coroutine or a generator; mazurka.explore takes functions") == 3
    assert failures.count("an object of type coroutine, whose code has not run; mazurka.exp") == 3
    assert "3 failed, 3 errors" in output
    assert "Traceback" not in output
    assert not re.search(r"\w+\.py:\d+: in ", output)
    assert "never awaited" not in output


def test_worker_processes_report_the_same(directory: Path) -> None:
    pytest.importorskip("xdist")
    status, output = run(directory, "-p", "xdist", "-n", "2", "-q")
    assert status == 1
    assert f"{len(WRONG)} failed, {len(RIGHT)} passed, 2 skipped" in output
    assert output.count("violated: assert") == len(WRONG)


def test_a_broken_scheduler_does_not_hang_pytest(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (tmp_path / "test_broken.py").write_text(
        """\
import threading
import mazurka.runtime.core.scheduler as scheduler
import pytest


def broken(self, *args):
    raise ZeroDivisionError("inside")


@pytest.mark.mazurka
def test_broken(monkeypatch):
    monkeypatch.setattr(scheduler.Scheduler, "create", broken)
    thread = threading.Thread(target=print)
    thread.start()
    thread.join()


def test_after():
    assert type(threading.Lock()).__module__ == "_thread"
""",
        encoding="utf-8",
    )
    status, output = run(tmp_path, "-v")
    assert status == 1
    assert "test_broken FAILED" in output
    assert "test_after PASSED" in output
