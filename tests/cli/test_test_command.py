"""`mazurka test` and the replay of tokens."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.bank_account import ACCOUNT
from tests.limits import ENOUGH

BANK = (
    """\
import threading
import unittest

import mazurka


"""
    + ACCOUNT
    + """\


def test_wrong():
    account = Account()
    twice(account.deposit)
    assert account.balance == 2


def test_right():
    account = Account()
    twice(account.deposit_safely)
    assert account.balance == 2


@mazurka.explore(preemptions=0)
def within_its_bound():
    test_wrong.__wrapped__() if hasattr(test_wrong, "__wrapped__") else test_wrong()


class TestMethods:
    def setup_method(self):
        self.account = Account()

    def test_method(self):
        print("not shown")
        twice(self.account.deposit_safely)
        assert self.account.balance == 2


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kind = Account

    def setUp(self):
        self.account = self.kind()

    def test_case(self):
        twice(self.account.deposit_safely)
        assert self.account.balance == 2

    def test_skipped(self):
        self.skipTest("not today")


def test_with_a_fixture(tmp_path):
    pass


def helper():
    test_right()
"""
)


@pytest.fixture
def bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    Path("bank_tests.py").write_text(BANK, encoding="utf-8")
    yield "bank_tests.py"
    sys.modules.pop("bank_tests", None)


def test_a_wrong_test_fails_with_a_report(mazurka, bank):
    answer = mazurka("test", f"{bank}::test_wrong")
    assert answer.status == 1
    assert answer.out.startswith("violated: assert")
    assert "account.balance ➜ 0" in answer.out
    assert "mazurka replay mz1-" in answer.out
    assert answer.err == ""


def test_a_right_test_holds_with_its_scope(mazurka, bank):
    answer = mazurka("test", f"{bank}::test_right", "--preemptions", "none", "--json")
    assert answer.status == 0
    data = answer.json
    assert data["verdict"] == "holds"
    assert data["scope"] == "all executions; 2 partial orders, each run once"
    assert data["stats"]["executions"] == data["stats"]["partial_orders"] == 2
    assert data["preemptions"] is None
    assert data["violation"] is data["trace"] is data["error"] is None


def test_the_bound_decides(mazurka, bank):
    found = {
        bound: mazurka("test", f"{bank}::test_wrong", "--preemptions", bound, "--json").json
        for bound in ("0", "1", "none")
    }
    assert found["0"]["verdict"] == "holds"
    assert found["0"]["scope"].startswith("all executions without preemptions")
    assert found["1"]["verdict"] == found["none"]["verdict"] == "violated"
    assert found["1"]["violation"]["kind"] == "assert"
    assert sum(row["preemption"] for row in found["1"]["trace"]) == 1


def test_several_tests_are_a_list_and_the_worst_counts(mazurka, bank):
    answer = mazurka("test", bank, "--json")
    assert answer.status == 2
    verdicts = {
        result["input"].partition("::")[2]: result["verdict"] for result in answer.json["results"]
    }
    assert verdicts == {
        "test_wrong": "violated",
        "test_right": "holds",
        "within_its_bound": "holds",
        "TestMethods::test_method": "holds",
        "Case::test_case": "holds",
        "Case::test_skipped": "inconclusive",
        "test_with_a_fixture": "error",
    }
    assert "fixtures" in answer.err


@pytest.mark.parametrize("name", ["TestMethods::test_method", "Case::test_case", "helper"])
def test_any_test_can_be_named(mazurka, bank, name):
    assert mazurka("test", f"{bank}::{name}").status == 0


@pytest.mark.parametrize("strategy", ["algorithm1", "cb-dfs", "random", "pct"])
def test_other_strategies_find_it(mazurka, bank, strategy):
    seed = ["--seed", "1"] if strategy in ("random", "pct") else []
    data = mazurka("test", f"{bank}::test_wrong", "--strategy", strategy, *seed, "--json").json
    assert data["verdict"] == "violated"
    assert data["strategy"] == strategy


def test_random_schedules_prove_nothing(mazurka, bank):
    arguments = ("--strategy", "random", "--seed", "5", "--executions", "3", "--json")
    answer = mazurka("test", f"{bank}::test_right", *arguments)
    assert answer.status == 3
    assert answer.json["limits"] == ["unsound-strategy"]
    assert answer.json["seed"] == 5
    assert answer.json["stats"]["executions"] == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.py"], "missing.py: no such file"),
        (["bank_tests.py::test_missing"], "there is no test 'test_missing'"),
        (["bank_tests.py::test_right", "--strategy", "best"], "there is no strategy 'best'"),
        (["bank_tests.py::test_right", "--preemptions", "-1"], "needs a number or none"),
        (["bank_tests.py::test_right", "--seed", "5"], "add --strategy random or --strategy pct"),
        (["bank_tests.py::test_right", "--workers", "999"], "workers must be 256 or less, not 999"),
        (["bank_tests.py::test_right", "--leave-out", "no_such_module"], "no module"),
        (["bank_tests.py::test_right", "--instrument", "json"], "no option 'instrument' any more"),
        (["broken.py"], "syntax error"),
        (["failing.py"], "cannot be imported: ValueError: no"),
        (["empty.py"], "no function named test*"),
    ],
)
def test_bad_input_is_one_clear_line(mazurka, bank, arguments, message):
    Path("broken.py").write_text("def test(:\n", encoding="utf-8")
    Path("failing.py").write_text("\nraise ValueError('no')\n", encoding="utf-8")
    Path("empty.py").write_text("x = 1\n", encoding="utf-8")
    answer = mazurka("test", *arguments, "--json")
    assert answer.status == 2
    assert answer.json["verdict"] == "error"
    assert message in answer.json["error"]["message"] + answer.err
    told, *excerpt = answer.err.splitlines()
    assert told.startswith("mazurka: ")
    shown = ["  def test(:", "           ^"] if arguments == ["broken.py"] else []
    assert excerpt == shown
    assert message in answer.err


def test_a_token_is_replayed(mazurka, bank):
    token = mazurka("test", f"{bank}::test_wrong", "--json").json["replay"]
    again = mazurka("replay", token, "--json")
    assert again.status == 1
    assert again.json["violation"]["kind"] == "assert"
    Path(bank).write_text(BANK.replace("== 2", "<= 2"), encoding="utf-8")
    changed = mazurka("replay", token)
    assert changed.status == 0
    assert "does not occur" in changed.out
    Path(bank).write_text(BANK.replace("def test_wrong", "def test_gone"), encoding="utf-8")
    gone = mazurka("replay", token)
    assert gone.status == 2
    assert "there is no test 'test_wrong'" in gone.err


def test_a_token_is_replayed_where_its_file_is(mazurka, bank, tmp_path, monkeypatch):
    token = mazurka("test", f"{bank}::test_wrong", "--json").json["replay"]
    (tmp_path / "below").mkdir()
    (tmp_path / ".git").mkdir()  # so it is a project
    monkeypatch.chdir(tmp_path / "below")
    assert mazurka("replay", token).status == 1
    monkeypatch.chdir(tmp_path.parent)
    elsewhere = mazurka("replay", token)
    assert elsewhere.status == 2
    assert elsewhere.err.startswith(f"mazurka: {bank}: the token is of a test in this file")
    assert "run mazurka replay in the directory in which the test was run" in elsewhere.err


MARKED = """
import pytest


@pytest.mark.mazurka(preemption=2)
def test_misspelled():
    pass


@pytest.mark.mazurka(2)
def test_without_a_name():
    pass


@pytest.mark.mazurka
def test_marked(tmp_path):
    pass


def test_not_marked(tmp_path):
    pass


def test_other():
    pass
"""


@pytest.fixture
def marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    Path("marked_tests.py").write_text(MARKED, encoding="utf-8")
    yield "marked_tests.py"
    sys.modules.pop("marked_tests", None)


def test_a_wrong_marker_is_an_error_of_its_test_alone(mazurka, marked):
    assert mazurka("test", f"{marked}::test_other").status == 0
    answer = mazurka("test", f"{marked}::test_misspelled", "--json")
    assert answer.status == 2
    error = answer.json["error"]
    assert (error["file"], error["line"]) == (marked, 5)
    assert error["message"].startswith("the marker of test_misspelled is wrong: there is no option")
    assert error["message"].endswith("did you mean 'preemptions'?")
    nameless = mazurka("test", f"{marked}::test_without_a_name")
    assert nameless.status == 2
    assert "takes options by name: preemptions=2" in nameless.out
    results = mazurka("test", marked, "--json").json["results"]
    assert [one["verdict"] for one in results] == ["error"] * 4 + ["holds"]


def test_tests_with_fixtures_are_for_pytest(mazurka, marked):
    has = mazurka("test", f"{marked}::test_marked", "--json").json["error"]["message"]
    assert f"parameters: run `pytest {marked}::test_marked`" in has
    lacks = mazurka("test", f"{marked}::test_not_marked", "--json").json["error"]["message"]
    assert "mark it with @pytest.mark.mazurka and run `pytest" in lacks


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        ("2", "not 2; options are given by name: preemptions=2"),
        ("'pct'", "by name: strategy='pct'"),
        ("'numpy'", "by name: leave_out='numpy'"),
    ],
)
def test_an_option_without_its_name(mazurka, bank, given, advice):
    Path("decorated.py").write_text(
        f"import mazurka\n\n\n@mazurka.explore({given})\ndef test():\n    pass\n", encoding="utf-8"
    )
    answer = mazurka("test", "decorated.py", "--json")
    assert answer.status == 2
    assert advice in answer.json["error"]["message"]
    assert (answer.json["error"]["file"], answer.json["error"]["line"]) == ("decorated.py", 4)


UNRUN = """
import unittest

import pytest


async def test_coroutine():
    assert False


def test_generator():
    assert False
    yield


async def test_asynchronous_generator():
    assert False
    yield


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


def test_returns_a_coroutine():
    return test_coroutine()


def test_returns_a_generator():
    return test_generator()


@pytest.mark.mazurka
async def test_marked():
    assert False
"""


def test_a_test_whose_body_does_not_run_is_an_error(mazurka, bank):
    Path("unrun.py").write_text(UNRUN, encoding="utf-8")
    answer = mazurka("test", "unrun.py", "--json")
    assert answer.status == 2
    results = {one["input"].partition("::")[2]: one for one in answer.json["results"]}
    assert len(results) == 10
    assert {one["verdict"] for one in results.values()} == {"error"}
    assert all(
        one["error"]["message"].endswith("; mazurka.explore takes functions that start threads")
        for one in results.values()
    )
    declared = results["TestPlain::test_method"]["error"]
    assert declared["message"].startswith("TestPlain.test_method is a coroutine or a generator;")
    assert (declared["file"], declared["line"]) == ("unrun.py", 22)
    returned = results["test_returns_a_generator"]["error"]["message"]
    assert returned.startswith("the test returns an object of type generator, whose code has not")


SKIPPING = """
import unittest

import pytest


@pytest.mark.skip("not today")
def test_with_a_mark():
    assert False


@pytest.mark.skipif(True, reason="never here")
async def test_with_a_condition():
    assert False


@pytest.mark.skipif(False, reason="never here")
def test_that_runs():
    pass


@pytest.mark.skip
class TestClass:
    def test_method(self):
        assert False


@unittest.skip("no case")
class Case(unittest.TestCase):
    def test_case(self):
        assert False


@pytest.mark.xfail
def test_expected_to_fail():
    assert False
"""


def test_marks_that_skip_are_honoured(mazurka, bank):
    Path("skipping.py").write_text(SKIPPING, encoding="utf-8")
    results = mazurka("test", "skipping.py", "--json").json["results"]
    assert [(one["verdict"], one["scope"].partition(";")[0]) for one in results[:-1]] == [
        ("inconclusive", "skipped: not today"),
        ("inconclusive", "skipped: never here"),
        ("holds", "all executions"),
        ("inconclusive", "skipped"),
        ("inconclusive", "skipped: no case"),
    ]
    assert all(one["limits"] == ["skipped"] for one in results if one["verdict"] == "inconclusive")
    assert results[-1]["verdict"] == "violated", "xfail changes nothing"
    Path("skipped.py").write_text(
        "import pytest\npytestmark = pytest.mark.skip(reason='all')\ndef test(): assert False\n",
        encoding="utf-8",
    )
    assert mazurka("test", "skipped.py", "--json").json["scope"] == "skipped: all"


def test_a_damaged_token_is_refused(mazurka):
    answer = mazurka("replay", "mz1-damaged")
    assert answer.status == 2
    assert "damaged" in answer.err


def test_output_is_the_same_whatever_the_hash_seed(bank, environment):
    def report(seed: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "mazurka", "test", f"{bank}::test_wrong"],
            env={**environment, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=False,
            timeout=ENOUGH,
        )
        assert done.returncode == 1, done.stderr
        return done.stdout.decode().rpartition("\n\n")[0]

    assert report("1") == report("2")
