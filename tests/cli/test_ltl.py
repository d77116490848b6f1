"""`mazurka check --ltl`: verdicts, lassos, and what is refused."""

from __future__ import annotations

import json

import pytest
from tests.soundness.test_ltl import TURNS, WAITS


def test_formulas(mazurka, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "turns.py").write_text(TURNS)
    unfair = mazurka("check", "turns.py", "--json", "--ltl", "F y")
    assert unfair.status == 1
    assert unfair.json["violation"]["kind"] == "ltl"
    assert 0 <= unfair.json["loop_start"] < len(unfair.json["trace"])
    assert "'F y' is violated: the steps from " in unfair.json["violation"]["message"]
    shown = mazurka("check", "turns.py", "--ltl", "F y")
    assert "for ever" in shown.out
    fair = mazurka("check", "turns.py", "--json", "--ltl", "F y", "--fair")
    assert fair.status == 0
    assert "formula 'F y', all fair runs, unreduced" in fair.json["scope"]
    for arguments, message in (
        (("--fair",), "--fair is for --ltl"),
        (("--ltl", "F z"), "there is no shared variable 'z'"),
        (("--ltl", "F y", "--property", "deadlock"), "--property needs assert as well"),
        (("--ltl", "F y", "--granularity", "line"), "leave out --granularity"),
    ):
        refused = mazurka("check", "turns.py", *arguments)
        assert refused.status == 2
        assert message in refused.err


@pytest.mark.parametrize("strategy", ["full", "bmc", "k-induction", "pdr", "bdd", "portfolio"])
def test_the_lines_of_a_report_agree(mazurka, tmp_path, monkeypatch, strategy):
    """What a formula has taken is told, the times add up, and steps are called steps: all runs of
    this model come to rest, so every back end decides."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "waits.py").write_text(WAITS)
    asked = ("check", "waits.py", "--strategy", strategy, "--property", "assert")
    found = mazurka(*asked, "--ltl", "G !done || F done", "--json").json
    assert found["verdict"] == "holds"
    assert "all runs, unreduced, step by step: " in found["scope"]
    (formula,) = found["formulas"]
    assert formula["formula"] == "G !done || F done"
    assert {"states", "unrolled"} & set(formula)
    stats = found["stats"]
    parts = [stats[f"{each}_seconds"] for each in ("preparing", "total", "explaining")]
    assert stats["elapsed_seconds"] == pytest.approx(sum(parts), abs=1e-4)
    assert stats["total_seconds"] == pytest.approx(stats["seconds"] + formula["seconds"], abs=1e-4)
    assert not any("circuit of one round" in each for each in found["notes"] if "formula" in each)
    shown = mazurka(*asked, "--ltl", "G !done || F done")
    assert " formula 'G !done || F done'\n" in shown.out


def test_a_bounded_search_says_why_it_does_not_know(mazurka, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "turns.py").write_text(TURNS)
    found = mazurka("check", "turns.py", "--strategy", "bmc", "--json", "--ltl", "G F x", "--fair")
    assert found.status == 3
    assert "some run goes on for more than 100 steps" in found.json["limits"]


def test_a_lasso_is_saved_and_replayed(mazurka, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "turns.py").write_text(TURNS)
    found = mazurka("check", "turns.py", "--json", "--ltl", "G (x -> X !x)", "--trace", "t.json")
    assert found.status == 1
    again = mazurka("replay", "t.json", "--json")
    assert again.status == 1
    assert again.json["outcome"] == "reproduced"
    assert again.json["violation"]["message"].endswith("(followed twice)")

    saved = json.loads((tmp_path / "t.json").read_text())
    assert saved["formula"] == {"text": "G (x -> X !x)", "fair": False}
    saved["formula"]["text"] = "G (x -> F X !x)"  # the run satisfies it
    (tmp_path / "t.json").write_text(json.dumps(saved))
    other = mazurka("replay", "t.json", "--json")
    assert other.status == 0
    assert "the formula holds on the run" in other.json["message"]

    saved["loop_start"] += 1
    (tmp_path / "t.json").write_text(json.dumps(saved))
    assert "does not lead back" in mazurka("replay", "t.json", "--json").json["message"]
    del saved["formula"]
    (tmp_path / "t.json").write_text(json.dumps(saved))
    assert mazurka("replay", "t.json").status == 2


DECLARED = (
    TURNS
    + """
ltl("F y", fair=True)
ltl("G (m -> F !m)")
"""
)


@pytest.mark.parametrize("engine", ["auto", "symbolic"])
def test_formulas_of_the_model(mazurka, tmp_path, monkeypatch, engine):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(DECLARED)
    found = mazurka("check", "model.py", "--json", "--engine", engine, "--trace", "t.json")
    assert found.status == 1
    line = DECLARED.splitlines().index('ltl("G (m -> F !m)")') + 1
    assert found.json["violation"]["line"] == line
    assert "formula 'F y', all fair runs, unreduced" in found.json["scope"]
    assert mazurka("replay", "t.json").status == 1
    (tmp_path / "model.py").write_text(DECLARED.replace("-> F !m)", '-> F !m)", fair=True) #'))
    assert mazurka("check", "model.py", "--engine", engine).status == 0


def test_formulas_stay_with_the_program(mazurka, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(DECLARED)
    exported = mazurka("export", "model.py", "--format", "json")
    (tmp_path / "model.json").write_text(exported.out)
    found = mazurka("check", "model.json", "--json")
    assert found.status == 1
    assert found.json["violation"]["kind"] == "ltl"
    compared = mazurka("compare", "model.py", "--strategies", "full,stubborn")
    assert "the temporal formulas of the model were not looked at" in compared.out


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ('ltl("F z")', "there is no shared variable 'z'"),
        ('ltl("F y", True)', '`ltl` is written `ltl("formula")`'),
        ("ltl(x)", '`ltl` is written `ltl("formula")`'),
        ('if True:\n    ltl("F y")', "`ltl` is a declaration"),
    ],
)
def test_declarations_that_are_refused(mazurka, tmp_path, monkeypatch, declared, message):
    monkeypatch.chdir(tmp_path)
    text = f"{TURNS}{declared}\n"
    (tmp_path / "model.py").write_text(text)
    refused = mazurka("check", "model.py")
    assert refused.status == 2
    assert message in refused.err
    assert f"model.py:{len(text.splitlines())}:" in refused.err


def test_bounded_search_finds_runs_and_proves_nothing(mazurka, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "turns.py").write_text(TURNS)
    bounded = ("check", "turns.py", "--json", "--strategy", "bmc", "--rounds", "6", "--ltl")
    found = mazurka(*bounded, "F y")
    assert found.status == 1
    assert (found.json["loop_start"], len(found.json["trace"])) == (0, 4)
    open_end = mazurka(*bounded, "G F x")
    assert open_end.status == 3
    assert "loops that close within 6 steps examined" in open_end.json["scope"]


def test_the_end_of_a_run_is_told(mazurka, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "waits.py").write_text(WAITS)
    found = mazurka("check", "waits.py", "--property", "assert", "--ltl", "F done")
    assert "the run ends, and stays in its last state" in found.out


def test_the_runs_of_a_formula_are_exported(mazurka, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "turns.py").write_text(TURNS)
    asked = ("export", "turns.py", "--format", "aiger", "--ascii")
    written = mazurka(*asked, "--ltl", "F y", "--fair")
    assert written.status == 0
    header = written.out.splitlines()[0].split()
    assert header[8:9] == ["1"]  # one justice property
    assert header[7:8] == ["1"]  # and one constraint
    for options, message in (
        (("--fair",), "--fair is for --ltl"),
        (("--ltl", "F y", "--interleaving", "sweeps"), "goes by single steps"),
        (("--ltl", "F z"), "there is no shared variable"),
    ):
        refused = mazurka(*asked, *options)
        assert refused.status == 2
        assert message in refused.err
    assert "for --format aiger" in mazurka("export", "turns.py", "--ltl", "F y").err


WIDE = """\
from mazurka.model import *
M = 2 ** 20
k: Int[0, M] = 0
ltl("G k != 77777")
ltl("F done", fair=True)
done: Bool = False
def f():
    global k, done
    k = choose(range({first}, M))
    done = True
def g():
    j = k
threads = [f(), g()]
"""


@pytest.mark.parametrize(("first", "verdict"), [(0, "violated"), (77_778, "holds")])
def test_a_formula_that_tells_more_than_the_program(mazurka, tmp_path, monkeypatch, first, verdict):
    """To the program itself a few outcomes of the choice stand for all of them, so its states can
    be stored; to the formula they do not, and it is checked by a circuit."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wide.py").write_text(WIDE.replace("{first}", str(first)))
    found = mazurka("check", "wide.py", "--json", "--trace", "trace.json").json
    assert found["verdict"] == verdict
    assert found["engine"] == "stateful"
    assert any("states cannot be stored: one step has " in note for note in found["notes"])
    if verdict == "violated":
        assert found["violation"]["kind"] == "ltl"
        assert mazurka("replay", "trace.json").status == 1
    for named in (("--engine", "stateful"), ("--strategy", "full")):
        refused = mazurka("check", "wide.py", *named)
        assert refused.status == 2
        assert "formula 'G k != 77777': one step has " in refused.err
        assert "--engine symbolic may check it" in refused.err
