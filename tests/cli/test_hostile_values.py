"""Values that no number, time or thread can have are refused, wherever they are given."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from mazurka import check
from mazurka.errors import OptionError, read_number
from mazurka.runtime.exploring.options import ExploreOptions
from mazurka.runtime.testing.configuration import ConfigurationError, read_project

DIGITS = "9" * 5000
"""Python converts 4,300 digits at most."""


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("check", "holds.py", "--limit-time", "1e30"), "1,000,000,000 seconds or less"),
        (("check", "holds.py", f"--limit-time={2**63}"), "1,000,000,000 seconds or less"),
        (("compare", "holds.py", "--limit-time", "1e10"), "1,000,000,000 seconds or less"),
        (("bench", "cartesian", "--limit-time", "1e10"), "1,000,000,000 seconds or less"),
        (("check", "holds.py", "--ltl", f"G n < {DIGITS}"), "a number has at most 63 bits"),
        (("check", "holds.py", "--ltl", f"F worker@{DIGITS}"), "no thread 'worker'"),
        (("check", "holds.py", "-D", f"N={DIGITS}"), "N"),
        (("test", "t.py", "--limit-time", "1e30"), "1,000,000,000 seconds or less"),
        (("test", "t.py", "--patience", "1e30"), "1,000,000,000 seconds or less"),
    ],
)
def test_values_that_are_too_large_are_refused(mazurka, model, words, told):
    model("holds")
    Path("t.py").write_text("def test_nothing():\n    pass\n")
    answer = mazurka(*words)
    assert answer.status == 2
    assert told in answer.err
    assert "internal error" not in answer.err


def test_times_that_are_too_long_are_refused_in_python(model):
    for seconds in (1e30, math.inf):
        with pytest.raises(OptionError, match="seconds or less"):
            check(model("holds"), limit_seconds=seconds)
        with pytest.raises(OptionError, match="seconds or less"):
            ExploreOptions(patience=seconds)


def test_many_digits_are_some_number():
    assert read_number("0042") == 42
    assert read_number(DIGITS) == 10**40


def test_many_digits_in_the_settings_are_an_error_of_the_file(tmp_path):
    (tmp_path / "pyproject.toml").write_text(f"[tool.mazurka]\npreemptions = {DIGITS}\n")
    with pytest.raises(ConfigurationError, match="the settings cannot be read"):
        read_project(tmp_path / "test_x.py")


@pytest.mark.parametrize("thread", [-1, 7, 2**62])
def test_a_saved_race_of_a_thread_that_does_not_exist(mazurka, model, thread):
    assert mazurka("check", model("lost_update"), "--property", "race", "--trace", "r.json").status
    saved = json.loads(Path("r.json").read_text())
    saved["racing"][1][0] = thread
    Path("r.json").write_text(json.dumps(saved))
    answer = mazurka("replay", "r.json")
    assert answer.status != 1
    assert "internal error" not in answer.err


@pytest.mark.parametrize("name", ["model.py", "program.c", "program.json"])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
def test_bytes_that_are_no_text_are_refused_with_their_line(mazurka, tmp_path, name, start):
    file = tmp_path / name
    file.write_bytes(start + b"x\n\xe6y\n")
    answer = mazurka("check", str(file))
    assert answer.status == 2
    assert "UTF-8" in answer.err or "this is not JSON" in answer.err
    assert "internal error" not in answer.err
