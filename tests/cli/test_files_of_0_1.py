"""Files and tokens of Mazurka 0.1.0 are read; those of a later format are refused by its number."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mazurka.version import __version__

FILES = Path(__file__).with_name("of_0_1")
TOKEN = (
    "mz1-eNqLVipJLS6JT0xOzi_NK9ErqLSyAguUlOcr6SglFhenFpUo6URHKxkAuVn5mXlACklBVkRomHNUMZBpGKsDVKRnCBQ"
    "sL8osSVUoyS9JzAGZkZICJH3SfQq9ndMs4QqNlGAawLRSbKyOkkVSWLlXSGCxUiwAd-gteg"
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put the files in place that 0.1.0 has read."""
    (tmp_path / "examples").mkdir()
    shutil.copy(FILES / "lost_update.txt", tmp_path / "examples" / "lost_update.py")
    shutil.copy(FILES / "account.txt", tmp_path / "test_account.py")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_trace_is_replayed(project: Path, mazurka: Callable[..., Any]) -> None:
    assert json.loads((FILES / "trace.json").read_text())["tool_version"] == "0.1.0"
    answer = mazurka("replay", str(FILES / "trace.json"))
    assert answer.status == 1
    assert "the violation was reproduced" in answer.out


def test_a_token_is_replayed(project: Path, mazurka: Callable[..., Any]) -> None:
    answer = mazurka("replay", TOKEN)
    assert answer.status == 1
    assert "test_account.py:20: AssertionError" in answer.out


def test_a_trace_of_a_later_format_is_refused(project: Path, mazurka: Callable[..., Any]) -> None:
    data = json.loads((FILES / "trace.json").read_text())
    later = {**data, "format_version": 2, "tool_version": "7.0.0"}
    (project / "trace.json").write_text(json.dumps(later))
    answer = mazurka("replay", "trace.json")
    assert answer.status == 2
    assert "format version 2 (written by Mazurka 7.0.0)" in answer.err
    assert f"Mazurka {__version__} reads format version 1" in answer.err


def test_a_token_of_a_later_format_is_refused(project: Path, mazurka: Callable[..., Any]) -> None:
    answer = mazurka("replay", TOKEN.replace("mz1-", "mz2-"))
    assert answer.status == 2
    assert f"has format 2, and Mazurka {__version__} reads format 1" in answer.err
