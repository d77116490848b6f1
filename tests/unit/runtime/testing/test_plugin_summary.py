"""What the pytest plugin says at the end of a session, where a dot would say too much."""

from __future__ import annotations

from pathlib import Path

import pytest
from plugin_sessions import run

PLAIN = """\
import threading

import pytest


def test_plain():
    threading.Lock()


@pytest.mark.skip(reason="not today")
def test_skipped():
    pass
"""
STRANGER = """\
class Box:
    def __init__(self):
        self.value = 0

    def put(self, value):
        self.value = value
"""
UNSEEN = """\
import threading

import pytest
import strangers


def put(count):
    boxes = [strangers.Box() for _ in range(count)]
    for thread in [threading.Thread(target=box.put, args=(1,)) for box in boxes]:
        thread.start()
        thread.join()


@pytest.mark.mazurka(preemptions=1, leave_out="strangers")
def test_unseen():
    put(1)


@pytest.mark.mazurka(preemptions=1)
def test_seen():
    lock = threading.Lock()
    thread = threading.Thread(target=lock.acquire)
    thread.start()
    thread.join()


@pytest.mark.mazurka(preemptions=1, leave_out="strangers")
@pytest.mark.parametrize("count", range(14))
def test_many(count):
    put(1)
"""
MISSPELLED = """\
import threading

import pytest


@pytest.mark.mazurka(preemption=2)
def test_misspelled():
    pass


@pytest.mark.mazurka(2)
def test_without_a_name():
    pass


@pytest.mark.mazurka(preemptions=1)
def test_spelled():
    thread = threading.Thread(target=print)
    thread.start()
    thread.join()


def test_plain():
    pass
"""


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project, and a module that is not of it."""
    made = tmp_path_factory.mktemp("summaries")
    project, outside = made / "project", made / "outside"
    project.mkdir()
    outside.mkdir()
    (outside / "strangers.py").write_text(STRANGER, encoding="utf-8")
    (project / "pytest.ini").write_text("[pytest]\npythonpath = ../outside\n", encoding="utf-8")
    sources = {"plain": PLAIN, "unseen": UNSEEN, "misspelled": MISSPELLED}
    for name, source in sources.items():
        (project / f"test_{name}.py").write_text(source, encoding="utf-8")
    return project


@pytest.mark.parametrize("more", [[], ["-p", "xdist", "-n", "2"]], ids=["alone", "xdist"])
@pytest.mark.parametrize("option", [["--mazurka-preemptions", "2"], ["--mazurka-races"]])
def test_options_without_a_test_to_explore_are_told(
    directory: Path, option: list[str], more: list[str]
) -> None:
    if more:
        pytest.importorskip("xdist")
    status, output = run(directory, "-q", *option, *more, "test_plain.py")
    assert status == 0, output
    assert f"no test was explored, so {option[0]} had no effect: mark a test with" in output
    assert "`mazurka test FILE`" in output


def test_no_word_without_options_or_tests_that_have_run(directory: Path) -> None:
    for arguments in (
        ["test_plain.py"],
        ["--mazurka-seed=1", "test_plain.py", "-k", "skipped"],
        ["--mazurka-seed=1", "test_plain.py", "--collect-only"],
        ["--mazurka-preemptions=1", "test_unseen.py", "-k", "test_seen"],
    ):
        status, output = run(directory, "-q", *arguments)
        assert status == 0, output
        assert "= mazurka =" not in output, output


def test_options_of_a_configuration_are_for_other_tests(directory: Path) -> None:
    status, output = run(directory, "-q", "-o", "addopts=--mazurka-seed=1", "test_plain.py")
    assert status == 0, output
    assert "= mazurka =" not in output, output


def test_a_seed_that_no_test_takes_is_told(directory: Path) -> None:
    arguments = ("-q", "--mazurka-seed=1", "test_unseen.py", "-k", "test_seen")
    status, output = run(directory, *arguments)
    assert status == 0, output
    assert "no test has random schedules, so --mazurka-seed had no effect" in output
    status, output = run(directory, *arguments, "--mazurka-strategy=random")
    assert status == 0, output
    assert "= mazurka =" not in output, output


@pytest.mark.parametrize("more", [[], ["-p", "xdist", "-n", "2"]], ids=["alone", "xdist"])
def test_tests_that_hold_with_code_not_observed_are_told(directory: Path, more: list[str]) -> None:
    if more:
        pytest.importorskip("xdist")
    status, output = run(directory, "-q", *more, "test_unseen.py", "-k", "not many")
    assert status == 0, output
    assert "= mazurka =" in output
    told = [line for line in output.splitlines() if line.startswith("test_unseen.py::")]
    assert told == ["test_unseen.py::test_unseen holds, not observed: strangers"]


def test_few_lines_for_many_tests(directory: Path) -> None:
    status, output = run(directory, "-q", "test_unseen.py", "-k", "many")
    assert status == 0, output
    assert output.count("holds, not observed: strangers") == 10
    assert "... and 4 more: -v lists them" in output
    status, output = run(directory, "-v", "test_unseen.py", "-k", "many")
    assert output.count("left out: strangers") == 14


def test_a_misspelled_option_is_an_error_of_its_test_alone(directory: Path) -> None:
    status, output = run(directory, "-q", "test_misspelled.py")
    assert status == 1, output
    assert "2 passed, 2 errors" in output
    assert "ERROR test_misspelled.py::test_misspelled - " in output
    assert "there is no option 'preemption'" in output
    assert "the marker mazurka takes options by name: preemptions=2" in output
    assert "Traceback" not in output


INTERRUPTING = """\
from mazurka.runtime.exploring.progress import LastProgress

remember = LastProgress.__call__


def remember_and_stop(self, explored):
    remember(self, explored)
    raise KeyboardInterrupt


LastProgress.__call__ = remember_and_stop
"""
LONG = """\
import threading

import pytest


@pytest.mark.mazurka
def test_long():
    lock = threading.Lock()
    threads = [threading.Thread(target=lock.locked) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def test_an_interrupted_session_says_how_far_it_has_come(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(INTERRUPTING)
    (tmp_path / "test_long.py").write_text(LONG)
    status, output = run(tmp_path)
    assert status == pytest.ExitCode.INTERRUPTED
    assert "mazurka: test_long.py::test_long interrupted after 1 execution in " in output
    assert "then it was interrupted" in output
