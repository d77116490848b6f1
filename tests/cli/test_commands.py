"""The other commands: compare, replay, export."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mazurka.search.registry import load_strategy


def test_compare_shows_every_strategy(mazurka, model):
    answer = mazurka("compare", model("deadlock"), "--json")
    assert answer.status == 0
    results = {result["strategy"]: result for result in answer.json["results"]}
    assert {each["verdict"] for each in results.values()} <= {"violated", "inconclusive"}
    assert results["full"]["violation"]["kind"] == "deadlock"
    assert answer.json["property"] == ["assert", "deadlock", "hang"]
    table = mazurka("compare", "deadlock.py").out
    assert "strategy" in table
    assert f"{results['full']['stats']['states']:,}" in table


def test_compare_begins_with_the_full_search(mazurka, model, monkeypatch):
    names = ["before", "full", "zigzag"]
    same = load_strategy("full")
    monkeypatch.setattr("mazurka.comparing.strategy_names", lambda engine: names)
    monkeypatch.setattr("mazurka.comparing.load_strategy", lambda name: replace(same, name=name))
    data = mazurka("compare", model("holds"), "--json").json
    assert [result["strategy"] for result in data["results"]] == ["full", "before", "zigzag"]
    asked = mazurka("compare", "holds.py", "--strategies", "zigzag,full", "--json").json
    assert [result["strategy"] for result in asked["results"]] == ["zigzag", "full"]


def test_compare_says_by_its_status_that_it_was_interrupted(mazurka, model, monkeypatch):
    same = load_strategy("full")

    def interrupted(program, options, observer):
        result = same.run(program, options, observer)
        return replace(result, limits=("interrupted",))

    monkeypatch.setattr("mazurka.comparing.strategy_names", lambda engine: ["full", "later"])
    monkeypatch.setattr(
        "mazurka.comparing.load_strategy", lambda name: replace(same, name=name, run=interrupted)
    )
    answer = mazurka("compare", model("holds"))
    assert answer.status == 3
    assert "full: interrupted" in answer.out
    assert "left out: later: interrupted" in answer.out


@pytest.mark.parametrize(
    "arguments", [("none.py",), ("holds.py", "--strategies", "best"), ("holds.py", "--colour")]
)
def test_mistakes_in_compare_have_its_keys(mazurka, model, arguments):
    model("holds")
    right = mazurka("compare", "holds.py", "--json").json
    answer = mazurka("compare", *arguments, "--json")
    assert answer.status == 2
    assert answer.json.keys() == right.keys()
    assert answer.json["results"] == answer.json["left_out"] == []
    assert answer.json["error"]["message"] in answer.err


def test_compare_explores_all(mazurka, model):
    name = model("deadlock")
    data = mazurka("compare", name, "--property", "deadlock", "--json").json
    every = mazurka("check", name, "--explore-all", "--json").json
    assert data["results"][0]["verdict"] == "violated"
    assert data["results"][0]["stats"]["states"] == every["stats"]["states"]


@pytest.mark.parametrize("name", ["deadlock", "lost_update", "race"])
def test_replay_reproduces(mazurka, model, name):
    properties = "race" if name == "race" else "assert,deadlock"
    assert mazurka("check", model(name), "--trace", "t.json", "--property", properties).status == 1
    answer = mazurka("replay", "t.json")
    assert answer.status == 1
    assert "the violation was reproduced" in answer.out
    assert mazurka("replay", "t.json", "--step").out == answer.out
    assert mazurka("replay", "t.json", "--json").json["outcome"] == "reproduced"


def test_replay_does_not_mind_comments(mazurka, model):
    name = model("deadlock")
    mazurka("check", name, "--trace", "t.json")
    Path(name).write_text("# new\n\n" + Path(name).read_text())
    answer = mazurka("replay", "t.json")
    assert answer.status == 1
    assert "the text has changed" in " ".join(answer.out.split())


def test_replay_says_when_the_program_has_changed(mazurka, model):
    name = model("lost_update")
    mazurka("check", name, "--trace", "t.json")
    Path(name).write_text(Path(name).read_text().replace("n += 1", "n += 2"))
    answer = mazurka("replay", "t.json")
    assert answer.status == 2
    said = " ".join(answer.out.split())
    assert "the program has changed since the trace was saved; step 1 was (add" in said
    assert "and is now (add" in said


def test_replay_of_moves_that_lead_nowhere(mazurka, model):
    mazurka("check", model("deadlock"), "--trace", "t.json")
    data = json.loads(Path("t.json").read_text())
    data["moves"].pop()
    Path("t.json").write_text(json.dumps(data))
    answer = mazurka("replay", "t.json")
    assert answer.status == 0
    assert "not reproduced" in answer.out


def test_replay_uses_the_definitions(mazurka, model):
    mazurka("check", model("deadlock"), "-D", "N=4", "--no-merge", "--trace", "t.json")
    assert mazurka("replay", "t.json").status == 1


def test_replay_finds_the_model_beside_the_trace(mazurka, model, tmp_path, monkeypatch):
    mazurka("check", model("deadlock"), "--trace", "t.json")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert mazurka("replay", "../t.json").status == 1


def test_nothing_is_saved_where_nothing_was_found(mazurka, model):
    assert mazurka("check", model("holds"), "--trace", "t.json").status == 0
    assert not Path("t.json").exists()


def test_a_chart_of_a_counterexample(mazurka, model):
    name = model("deadlock")
    drawn = mazurka("check", name, "--trace", "t.json", "--format", "svg")
    assert drawn.status == 1
    assert ElementTree.fromstring(drawn.out).tag.endswith("svg")
    assert drawn.err.startswith("violated: deadlock: no thread can move")
    again = mazurka("replay", "t.json", "--format", "svg")
    assert (again.status, again.out) == (1, drawn.out)
    assert "the violation was reproduced" in again.err
    holds = mazurka("check", model("holds"), "--format", "svg")
    assert (holds.status, holds.out) == (0, "")
    assert holds.err.startswith("holds")


def test_forms(mazurka, model):
    name = model("deadlock")
    data = mazurka("check", name, "--format", "json").json
    assert data["violation"] == mazurka("check", name, "--json").json["violation"]
    assert "there are: text, json, svg" in mazurka("check", name, "--format", "gif").err
    assert "give one of them" in mazurka("check", name, "--format", "svg", "--json").err
    assert "saved traces" in mazurka("replay", "mz1-x", "--format", "svg").err


@pytest.mark.parametrize("option", ["--trace", "--output"])
def test_no_file_of_somebody_else_is_overwritten(mazurka, model, option):
    name = model("deadlock")
    command = "check" if option == "--trace" else "export"
    Path("link.py").symlink_to(name)
    Path("notes.txt").write_text("mine", encoding="utf-8")
    text = Path(name).read_text(encoding="utf-8")
    for target, message in (
        (name, "would overwrite the file that is read"),
        ("link.py", "would overwrite the file that is read"),
        ("notes.txt", "would overwrite this file, which Mazurka has not written there before"),
    ):
        answer = mazurka(command, name, option, target)
        assert answer.status == 2
        assert f"{target}: {option} {message}" in answer.err
    assert Path(name).read_text(encoding="utf-8") == text
    assert Path("notes.txt").read_text(encoding="utf-8") == "mine"
    Path("empty").touch()
    for target in ("new.json", "new.json", "empty"):
        assert mazurka(command, name, option, target).status == (option == "--trace")


def test_a_trace_and_an_exported_program_do_not_overwrite_each_other(mazurka, model):
    name = model("deadlock")
    mazurka("check", name, "--trace", "t.json")
    mazurka("export", name, "-o", "p.json")
    assert mazurka("check", name, "--trace", "p.json").status == 2
    assert mazurka("export", name, "-o", "t.json").status == 2
    assert mazurka("export", "p.json", "-o", "p.json").status == 2
    assert mazurka("check", "p.json").status == 1


@pytest.mark.parametrize(
    "command", [("check", "no.py"), ("check", "no.json"), ("replay", "no.json"), ("test", "no.py")]
)
def test_a_missing_file_is_told_in_the_same_words(mazurka, model, command):
    model("holds")
    answer = mazurka(*command)
    assert answer.status == 2
    assert answer.err == f"mazurka: {command[1]}: no such file\n"


@pytest.mark.parametrize("command", ["check", "test"])
def test_a_mistyped_file_gets_a_suggestion(mazurka, model, command):
    model("holds")
    assert "no such file; did you mean 'holds.py'?" in mazurka(command, "hold.py").err


@pytest.mark.parametrize("name", ["deadlock", "lost_update", "holds", "race"])
@pytest.mark.parametrize("merge", [(), ("--no-merge",)])
def test_an_exported_program_gives_the_same_answer(mazurka, model, name, merge):
    model(name)
    assert mazurka("export", f"{name}.py", "-o", "p.json", *merge).status == 0
    one = mazurka("check", f"{name}.py", "--explore-all", "--json", *merge).json
    other = mazurka("check", "p.json", "--explore-all", "--json").json
    assert one["verdict"] == other["verdict"]
    for count in ("states", "transitions"):
        assert one["stats"][count] == other["stats"][count]
    again = mazurka("export", "p.json")
    assert again.out == Path("p.json").read_text()


def test_dot(mazurka, model):
    answer = mazurka("export", model("deadlock"), "--format", "dot")
    assert answer.status == 0
    assert answer.out.startswith("digraph")
    assert answer.out.count("subgraph cluster_") == 2


def test_an_exported_file_that_was_damaged(mazurka, model):
    mazurka("export", model("deadlock"), "-o", "p.json")
    data = json.loads(Path("p.json").read_text())
    data["threads"][0]["edges"][0]["target"] = 10_000
    Path("p.json").write_text(json.dumps(data))
    answer = mazurka("check", "p.json")
    assert answer.status == 2
    assert "p.json" in answer.err
    assert "threads[0].edges[0].target" in answer.err


def test_constants_of_an_exported_program_are_fixed(mazurka, model):
    mazurka("export", model("deadlock"), "-o", "p.json")
    assert mazurka("check", "p.json", "-D", "N=3").status == 2


def test_the_api_says_the_same(model):
    import mazurka

    verdict = mazurka.check(model("deadlock"), definitions={"N": 3})
    assert not verdict
    assert verdict.verdict == "violated"
    assert mazurka.check(model("holds"))
    mazurka.save_trace("t.json", verdict)
    assert mazurka.replay("t.json").outcome == "reproduced"
    assert mazurka.compare("holds.py").verdicts[0].verdict == "holds"
    with pytest.raises(mazurka.MazurkaError):
        mazurka.check("none.py")
