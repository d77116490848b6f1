"""Code that asks for the frames of its callers finds those of the program."""

from __future__ import annotations

import collections
import inspect
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import mazurka


def name_of_caller() -> str:
    return sys._getframe(1).f_code.co_name


def name_of_callers_caller() -> str:
    def ask() -> str:
        return sys._getframe(2).f_code.co_name

    return ask()


class Thing:
    def __init__(self) -> None:
        self.made_by = sys._getframe(1).f_code.co_name

    @property
    def asked_by(self) -> str:
        return sys._getframe(1).f_code.co_name


def own_name() -> str:
    frame = inspect.currentframe()
    assert frame is not None
    return frame.f_code.co_name


def test_frames_of_rewritten_code() -> None:
    found: list[Any] = []

    def work() -> None:
        found.append((name_of_caller(), name_of_callers_caller(), own_name()))
        found.append((Thing().made_by, Thing().asked_by))
        found.append(collections.namedtuple("Pair", "x y").__module__)

    def program() -> None:
        found.clear()
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert found == [("work", "work", "own_name"), ("work", "work"), __name__]

    result = mazurka.explore(program, preemptions=0)
    assert result.verdict == "holds", result.report()


def test_the_stack_ends() -> None:
    def program() -> None:
        thread = threading.Thread(target=own_name)
        thread.start()
        thread.join()
        with pytest.raises(ValueError, match="call stack is not deep enough"):
            sys._getframe(10_000)

    assert mazurka.explore(program, preemptions=0).verdict == "holds"


def test_frames_of_code_that_an_import_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The function is known before the exploration, so that there is a trap in it."""
    (tmp_path / "asks_for_frames.py").write_text(
        "import sys\n\ndef keep(kind):\n"
        "    sys._getframe(1).f_globals['Kept' + kind.__name__] = kind\n    return kind\n"
    )
    (tmp_path / "is_imported_late.py").write_text(
        "from asks_for_frames import keep\n\n@keep\nclass Thing:\n    pass\n\n"
        "class Other(KeptThing):\n    pass\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    __import__("asks_for_frames")

    def program() -> None:
        thread = threading.Thread(target=lambda: __import__("is_imported_late").Other())
        thread.start()
        thread.join()

    result = mazurka.explore(program, preemptions=0)
    for name in ("asks_for_frames", "is_imported_late"):
        sys.modules.pop(name, None)
    assert result.verdict == "holds", result.report()
