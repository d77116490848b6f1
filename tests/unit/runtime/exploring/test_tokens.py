"""Replay tokens: they survive unrelated edits, and say where a program has diverged."""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mazurka.runtime.exploring.entry import explore_test, replay_test
from mazurka.runtime.exploring.options import ExploreOptions
from mazurka.runtime.exploring.tokens import Leg, Stop, Token, TokenError, decode
from mazurka.runtime.story.result import Result
from mazurka.runtime.testing.collecting import collect

PROGRAM = """\
import threading


class Account:
    def __init__(self):
        self.balance = 0

    def deposit(self, amount):
        self.balance += amount


def test_deposits():
    account = Account()
    threads = [threading.Thread(target=account.deposit, args=(n,)) for n in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert account.balance == 3
"""


class Project:
    """A file with a test, edited between two runs."""

    def __init__(self, directory: Path) -> None:
        self.file = directory / "test_edited.py"
        self._time = 1_000_000_000

    def write(self, source: str) -> None:
        self.file.write_text(source, encoding="utf-8")
        self._time += 10
        os.utime(self.file, (self._time, self._time))
        linecache.checkcache(str(self.file))

    def explore(self) -> Result:
        found = collect(f"{self.file}::test_deposits")[0]
        return explore_test(found.test, ExploreOptions())

    def replay(self, token: str) -> Result:
        found = collect(f"{self.file}::test_deposits")[0]
        return replay_test(found.test, ExploreOptions(), decode(token))


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    path = list(sys.path)
    yield Project(tmp_path)
    sys.path[:] = path
    sys.modules.pop("test_edited", None)


@pytest.fixture
def token(project: Project) -> str:
    project.write(PROGRAM)
    result = project.explore()
    assert result.verdict == "violated"
    assert result.token is not None
    return result.token


def test_a_token_is_read_as_it_was_written() -> None:
    stop = Stop("acquire", "Account.deposit", "aGFzaA==", 2)
    legs = (Leg("0", stop), Leg("0.1", None))
    token = Token("tests/test_é.py::test", "deadlock", legs, frozenset({"ab-_", "0000"}))
    assert decode(token.encode()) == token
    assert decode(f"  {token.encode()[:20]}\n{token.encode()[20:]} ") == token


@pytest.mark.parametrize(
    "text", ["", "abc", "mz1-", "mz1-!!!!", "mz1-AAAA", Token("a", "b", ()).encode()[:-6]]
)
def test_what_is_no_token_is_refused(text: str) -> None:
    with pytest.raises(TokenError):
        decode(text)


@pytest.mark.parametrize("more", ["A", "Ab", "AAAA", "=A", "mz1-", "-_-_-_-_"])
def test_more_than_a_token_is_refused(more: str) -> None:
    for test in ("a", "ab", "abc", "abcd"):
        with pytest.raises(TokenError):
            decode(Token(test, "deadlock", (Leg("0", None),)).encode() + more)


def test_a_token_reproduces_the_failure(project: Project, token: str) -> None:
    result = project.replay(token)
    assert result.verdict == "violated"
    assert result.violation is not None
    assert result.violation.kind == "assert"
    assert result.story is not None
    assert result.story.preemptions == 1


def test_places_that_are_not_found_are_looked_for_everywhere(project: Project, token: str) -> None:
    assert decode(token).places
    bare = replace(decode(token), places=frozenset())
    assert project.replay(bare.encode()).verdict == "violated"


def commented(source: str) -> str:
    return "# a comment\n\n\n" + source.replace("    def deposit", "    # more\n    def deposit")


def with_another_method(source: str) -> str:
    return source.replace("    def deposit", "    def look(self):\n        pass\n\n    def deposit")


def with_another_lock(source: str) -> str:
    added = "lock = threading.Lock()\n    with lock:\n        pass\n    account = Account()"
    return source.replace("account = Account()", added)


def with_another_attribute(source: str) -> str:
    return source.replace(
        "        self.balance += amount",
        "        self.last = amount\n        self.balance += amount",
    )


@pytest.mark.parametrize(
    "edit", [commented, with_another_method, with_another_lock, with_another_attribute]
)
def test_unrelated_edits_do_not_matter(
    project: Project, token: str, edit: Callable[[str], str]
) -> None:
    edited = edit(PROGRAM)
    assert edited != PROGRAM
    project.write(edited)
    result = project.replay(token)
    assert result.verdict == "violated", result.report()


def test_a_repaired_program_has_diverged(project: Project, token: str) -> None:
    repaired = PROGRAM.replace("self.balance = 0", "self.balance = 0; self.lock = threading.Lock()")
    body = "        with self.lock:\n            self.balance += amount"
    project.write(repaired.replace("        self.balance += amount", body))
    assert project.explore().verdict == "holds"
    result = project.replay(token)
    assert result.verdict == "error"
    assert "the program has changed" in str(result.error)
    assert "run the test itself to see whether it holds now" in str(result.error)


def test_a_diverged_program_is_told_where(project: Project, token: str) -> None:
    project.write(PROGRAM.replace("self.balance += amount", "self.balance = self.balance + amount"))
    result = project.replay(token)
    assert result.verdict == "error"
    assert result.exit_status == 2
    text = str(result.error)
    assert "is to come to stand before `" in text
    assert "self.balance" in text
    assert "Account.deposit" in text


def test_a_schedule_that_fails_no_more_is_not_reproduced(project: Project, token: str) -> None:
    project.write(PROGRAM.replace("assert account.balance == 3", "assert account.balance <= 3"))
    result = project.replay(token)
    assert result.verdict == "holds"
    assert result.exit_status == 0
    assert "does not occur" in result.scope
