"""`mazurka check --ltl`: verdicts, lassos, and what is refused."""

from __future__ import annotations

from tests.soundness.test_ltl import TURNS


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
        (("--ltl", "F y", "--trace", "t.json"), "leave it out"),
    ):
        refused = mazurka("check", "turns.py", *arguments)
        assert refused.status == 2
        assert message in refused.err
