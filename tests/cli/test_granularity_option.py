"""`--granularity`: what counts as one step, in verdicts, scopes, JSON and saved traces."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

AN_UPDATE_A_LINE = """\
from mazurka.model import Int, join, spawn

n: Int[0, 2] = 0

def add():
    global n
    n += 1

def main():
    one = spawn(add)
    other = spawn(add)
    join(one)
    join(other)
    assert n == 2, "an update is lost"

main()
"""


@pytest.fixture
def updates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("updates.py").write_text(AN_UPDATE_A_LINE, encoding="utf-8")
    return "updates.py"


def test_a_lost_update_is_found_by_instructions_and_not_by_lines(mazurka, updates):
    assert mazurka("check", updates).status == 1
    assert mazurka("check", updates, "--granularity", "instruction").status == 1
    assert mazurka("check", updates, "--granularity", "line").status == 0


def test_the_scope_and_the_options_name_the_granularity(mazurka, updates):
    data = mazurka("check", updates, "--granularity", "line", "--json").json
    assert data["scope"].startswith("at line granularity: assertions")
    assert (data["options"]["granularity"], data["options"]["merge"]) == ("line", False)
    data = mazurka("check", updates, "--granularity", "instruction", "--json").json
    assert "granularity" not in data["scope"]
    assert data["options"]["granularity"] == "instruction"
    data = mazurka("check", updates, "--json").json
    assert (data["options"]["granularity"], data["options"]["merge"]) == (None, True)
    assert "at line granularity" in mazurka("check", updates, "--granularity", "line").out


def test_instructions_are_what_no_merge_keeps_apart(mazurka, model):
    """Lines are coarser; both keep apart what is merged without the option."""

    def states(*options: str) -> int:
        count = mazurka("check", model("holds"), "--json", *options).json["stats"]["states"]
        assert isinstance(count, int)
        return count

    assert states("--granularity", "instruction") == states("--no-merge")
    assert states("--granularity", "line") < states("--granularity", "instruction")


@pytest.mark.parametrize("granularity", ["instruction", "line"])
def test_a_trace_is_replayed_as_it_was_found(mazurka, model, granularity):
    name = model("lost_update")
    found = mazurka("check", name, "--granularity", granularity, "--trace", "trace.json")
    assert found.status == 1
    assert json.loads(Path("trace.json").read_text())["options"]["granularity"] == granularity
    assert mazurka("replay", "trace.json", "--json").json["outcome"] == "reproduced"


def test_compare_takes_it_too(mazurka, updates):
    answer = mazurka(
        "compare", updates, "--granularity", "line", "--strategies", "full", "--json"
    )  # fmt: skip
    (result,) = answer.json["results"]
    assert (result["verdict"], result["options"]["granularity"]) == ("holds", "line")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--granularity", "page"), "granularity 'page' is not known; there are: instruction, li"),
        (("--granularity", "line", "--no-merge"), "--no-merge and --granularity both say what"),
        (("--granularity", "line", "--property", "race"), "data races cannot be looked for"),
    ],
)
@pytest.mark.parametrize("command", ["check", "compare"])
def test_what_makes_no_sense_is_refused(mazurka, updates, command, options, reason):
    answer = mazurka(command, updates, *options)
    assert answer.status == 2
    assert reason in answer.err


def test_an_exported_program_has_its_steps_already(mazurka, updates):
    assert mazurka("export", updates, "-o", "updates.json").status == 0
    answer = mazurka("check", "updates.json", "--granularity", "line")
    assert answer.status == 2
    assert "an exported program's steps are settled" in answer.err
