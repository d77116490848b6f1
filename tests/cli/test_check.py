"""`mazurka check`: verdicts, exit statuses, JSON, and one line for every mistake."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from tests.limits import SOON

KEYS = {
    "tool", "version", "input", "verdict", "scope", "property", "strategy", "stats",
    "violation", "trace", "limits", "error",
}  # fmt: skip


@pytest.mark.parametrize("order", ["dfs", "bfs"])
@pytest.mark.parametrize(
    ("name", "arguments", "status", "kind"),
    [
        ("holds", (), 0, None),
        ("deadlock", (), 1, "deadlock"),
        ("deadlock", ("--property", "assert"), 0, None),
        ("lost_update", (), 1, "assert"),
        ("race", (), 0, None),
        ("race", ("--property", "race"), 1, "race"),
        ("holds", ("--property", "assert,deadlock,race"), 0, None),
    ],
)
def test_verdicts(mazurka, model, order, name, arguments, status, kind):
    answer = mazurka("check", model(name), "--order", order, "--json", *arguments)
    assert answer.status == status
    data = answer.json
    assert data["verdict"] == ("violated" if status else "holds")
    assert (data["violation"] or {}).get("kind") == kind
    assert answer.err == ""


def test_the_json_is_complete(mazurka, model):
    data = mazurka("check", model("deadlock"), "--json").json
    assert set(data) >= KEYS
    assert data["tool"] == "mazurka"
    assert data["input"] == "deadlock.py"
    assert data["property"] == ["assert", "deadlock", "hang"]
    assert data["strategy"] == "full"
    assert set(data["stats"]) >= {
        "states", "transitions", "seconds", "peak_bytes", "bytes_per_state"
    }  # fmt: skip
    assert data["error"] is None
    assert data["limits"] == []
    assert [row["thread"] for row in data["trace"]] in (
        ["philosopher(0)", "philosopher(1)"],
        ["philosopher(1)", "philosopher(0)"],
    )
    for row in data["trace"]:
        assert row["file"] == "deadlock.py"
        assert row["source"] == "with left:"
        assert row["line"] == 9
        assert list(row["writes"].values()) == [row["thread"]]


def test_every_state_is_counted_when_asked(mazurka, model):
    """Each philosopher is before the first fork, between them, at the end of the inner block
    (holding both), or past one or two releases; states with a fork held twice are impossible."""
    first = mazurka("check", model("deadlock"), "--json").json["stats"]["states"]
    every = mazurka("check", model("deadlock"), "--json", "--explore-all").json
    assert every["verdict"] == "violated"
    assert every["stats"]["states"] > first


def test_definitions_reach_the_model(mazurka, model):
    data = mazurka("check", model("deadlock"), "-D", "N=3", "--json").json
    assert data["definitions"] == {"N": "3"}
    assert len(data["trace"]) == 3


def test_people_see_the_verdict_first(mazurka, model):
    answer = mazurka("check", model("deadlock"))
    first, second = answer.out.splitlines()[:2]
    assert first.startswith("violated: deadlock")
    assert second.startswith("  assertions, deadlocks and hangs")
    assert "waits for `forks[1]`, held by philosopher(1)" in answer.out
    assert mazurka("check", model("holds")).out.startswith("holds\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("check", "none.py"), "none.py"),
        (("check", "holds.py", "--engine", "syntactic"), "not known; there are: auto,"),
        (
            ("check", "holds.py", "--strategy", "best"),
            "there are: ample, auto, bdd, bmc, cartesian",
        ),
        (("check", "holds.py", "--order", "random"), "dfs, bfs"),
        (("check", "holds.py", "--movers", "guessed"), "inferred, static, declared"),
        (("compare", "holds.py", "--movers", "guessed"), "inferred, static, declared"),
        (("check", "holds.py", "--property", "liveness"), "assert, deadlock, hang, race"),
        (("check", "holds.py", "--property", ","), "at least one"),
        (("check", "holds.py", "-D", "N"), "NAME=VALUE"),
        (("check", "holds.py", "-D", "N=1", "-D", "N=2"), "two values"),
        (("check", "holds.py", "-D", "X=1"), "X"),
        (("check", "holds.py", "--limit-time", "-1"), "--limit-time"),
        (("check", "holds.py", "--limit-memory", "nan"), "--limit-memory"),
        (("check", "holds.py", "--max-threads", "0"), "--max-threads"),
        (("check", "holds.py", "--limit-time", "soon"), "--limit-time"),
        (("check", "holds.py", "--counterexample", "nice"), "auto, found, switches"),
        (("check", "holds.py", "--nonsense"), "--nonsense"),
        (("check", "holds.py", "--trace", "no/where.json"), "no such directory"),
        (("check", "holds.py", "--trace", "."), "is a directory"),
        (("check",), "FILE"),
        (("compar", "holds.py"), "Did you mean 'compare'? --help shows"),
        (("holds.py", "-D", "N=2"), "did you mean `mazurka check holds.py -D N=2`?"),
        (("five.py",), "'five.py' is not a command; did you mean `mazurka check five.py`?"),
        (("test_five.py",), "did you mean `mazurka test test_five.py`?"),
        (("five.py::adds",), "did you mean `mazurka test five.py::adds`?"),
        (("five",), "No such command 'five'"),
        (("check", "holds.py", "--property", "deadlok"), "did you mean 'deadlock'?"),
        (("check", "holds.py", "--strategy", "Ful"), "did you mean 'full'?"),
        (("check", "holds.py", "--store", "bitstat"), "did you mean 'bitstate'?"),
        (("check", "holds.py", "--engine", "statefull"), "did you mean 'stateful'?"),
        (("check", "holds.py", "--format", "jsn"), "did you mean 'json'?"),
        (("test", "holds.py", "--strategy", "dpr"), "did you mean 'dpor'?"),
        (("bench", "verdct"), "did you mean 'verdict'?"),
        (
            ("compare", "holds.py", "--strategies", "full,none"),
            "there are: ample, bdd, bmc, cartesian",
        ),
        (("bench", "nonsense"), "speed"),
        (("bench", "speed", "--repeat", "0"), "--repeat"),
        (("bench", "speed", "--order", "up"), "dfs, bfs"),
        (("bench", "speed", "--only", "nonsense"), "nonsense"),
        (("export", "holds.py", "--format", "promela"), "json, dot, aiger"),
        (("replay", "none.json"), "none.json"),
    ],
)
def test_mistakes_get_one_line_and_status_2(mazurka, model, arguments, words):
    model("holds")
    model("unsupported")
    answer = mazurka(*arguments)
    assert answer.status == 2
    assert answer.out == ""
    assert len(answer.err.splitlines()) == 1
    assert answer.err.startswith("mazurka: ")
    assert words in answer.err
    assert "Traceback" not in answer.err
    assert "internal error" not in answer.err


@pytest.mark.parametrize(
    "arguments", [("none.py",), ("unsupported.py",), ("holds.py", "--strategy", "best")]
)
def test_with_json_mistakes_are_objects_too(mazurka, model, arguments):
    model("holds")
    model("unsupported")
    answer = mazurka("check", *arguments, "--json")
    assert answer.status == 2
    data = answer.json
    assert set(data) >= KEYS
    assert data["verdict"] == "error"
    assert data["input"] == arguments[0]
    assert set(data["error"]) == {"message", "file", "line", "column"}
    told, *excerpt = answer.err.splitlines()
    assert told == f"mazurka: {told_place(data['error'])}{data['error']['message']}"
    assert bool(excerpt) == (data["error"]["column"] is not None)


def told_place(error):
    parts = [error["file"], error["line"], error["column"]]
    known = [str(part) for part in parts if part is not None]
    return f"{':'.join(known)}: " if known else ""


def test_the_error_object_names_line_and_column(mazurka, model):
    error = mazurka("check", model("unsupported"), "--json").json["error"]
    assert (error["file"], error["line"], error["column"]) == ("unsupported.py", 4, 5)


@pytest.mark.parametrize("command", ["check", "compare", "export"])
def test_an_error_with_a_column_shows_the_line_and_a_caret(mazurka, model, command):
    answer = mazurka(command, model("unsupported"))
    assert (answer.status, answer.out) == (2, "")
    told, line, caret = answer.err.splitlines()
    assert told.startswith("mazurka: unsupported.py:4:5: ")
    source = Path("unsupported.py").read_text().splitlines()[3]
    assert line.strip() == source.strip()
    assert line[caret.index("^") :] == source[4:]


@pytest.mark.parametrize(
    ("option", "values", "limit"),
    [("--limit-time", (SOON * 4**n for n in range(9)), "time"), ("--limit-memory", (1,), "memory")],
)
def test_limits_end_in_status_3_with_statistics(mazurka, model, option, values, limit):
    for value in map(str, values):
        answer = mazurka("check", model("large"), "--strategy", "full", option, value, "--json")
        assert answer.status == 3
        data = answer.json
        if "states" in data["stats"]:
            break  # on a slow machine the shorter limits pass before the search begins
    assert (data["verdict"], data["limits"]) == ("inconclusive", [limit])
    assert data["stats"]["states"] > 0
    assert data["violation"] is None
    shown = mazurka("check", "large.py", "--strategy", "full", option, value)
    assert shown.status == 3
    assert shown.out.startswith(f"inconclusive: {limit} limit\n")
    assert option in shown.out


@pytest.mark.parametrize("form", ["json", "dot", "aiger"])
def test_an_export_has_limits(mazurka, model, form):
    """A model that takes long to read could be stopped by Ctrl-C alone."""
    words = ("export", model("large"), "--format", form, "--limit-time")
    answer = mazurka(*words, "1e-9")
    assert (answer.status, answer.out) == (3, "")
    assert "the time limit was reached" in answer.err
    for wrong in ("-1", "nan", "1e30"):
        answer = mazurka(*words, wrong)
        assert answer.status == 2
        assert "--limit-time" in answer.err


def test_an_error_of_ours_asks_for_a_report(mazurka, model, monkeypatch):
    monkeypatch.setattr("mazurka.report.trace.examine_standstill", lambda interpreter, state: None)
    answer = mazurka("check", model("deadlock"))
    assert answer.status == 2
    assert "report this as a bug" in answer.err
    assert len(answer.err.splitlines()) == 1
    assert answer.out == ""


def test_counterexamples_can_be_chosen(mazurka, model):
    name = model("lost_update")
    found = mazurka("check", name, "--counterexample", "found", "--json").json
    fewest = mazurka("check", name, "--counterexample", "switches", "--json").json
    shortest = mazurka("check", name, "--order", "bfs", "--json").json
    assert found["counterexample"] == "found"
    assert fewest["counterexample"] == "switches"
    assert shortest["counterexample"] == "shortest"
    assert switches(fewest) <= switches(shortest)
    assert len(shortest["trace"]) <= len(fewest["trace"])


def switches(data):
    names = [row["thread"] for row in data["trace"]]
    return sum(one != other for one, other in pairwise(names))


def test_local_steps_can_be_kept_apart(mazurka, model):
    name = model("holds")
    merged = mazurka("check", name, "--json").json["stats"]["states"]
    apart = mazurka("check", name, "--json", "--no-merge").json["stats"]["states"]
    assert apart >= merged


def test_a_classification_is_shown_where_there_is_one(mazurka, model):
    answer = mazurka("check", model("holds"), "--strategy", "full", "--classification")
    assert answer.status == 0
    assert answer.out.endswith("strategy full does not classify data\n")


def test_optimistic_ends_with_how_data_are_shared(mazurka, model):
    """The philosophers share nothing but forks; the counter of `race` is used without a lock."""
    answer = mazurka("check", model("race"), "--strategy", "optimistic")
    assert answer.status == 0
    assert "reduced by optimistic" in " ".join(answer.out.split())
    _, _, table = answer.out.partition("how the threads share data\n")
    heading, *rows = table.split("\n\n")[0].splitlines()
    assert heading.split() == ["cell", "class", "lock", "round"]
    assert {row.split()[1] for row in rows} == {"unprotected"}
    assert "round 1 ended: " in table
    asked = ("check", model("deadlock"), "--strategy", "optimistic")
    nothing = mazurka(*asked, "--property", "assert")
    assert nothing.status == 0
    assert nothing.out.endswith("no thread uses shared data\n")
    cut_short = mazurka(*asked)
    assert cut_short.status == 1
    assert "the search ended at the violation" in " ".join(cut_short.out.split())


def test_a_classification_in_json(mazurka, model):
    data = mazurka("check", model("race"), "--strategy", "cpc", "--json").json
    assert {cell["class"] for cell in data["classification"]} == {"unprotected"}
    assert data["stats"]["rounds"] == len(data["rounds"]) > 1
    assert data["rounds"][-1]["states"] == data["stats"]["states"]
    assert data["rounds"][-1]["reason"] is None
    assert all(earlier["reason"] for earlier in data["rounds"][:-1])
    assert data["stats"]["total_seconds"] >= data["stats"]["seconds"]


def test_the_unsound_strategy_never_says_holds(mazurka, model):
    answer = mazurka("check", model("holds"), "--strategy", "transactions")
    assert answer.status == 3
    said = " ".join(answer.out.split())
    assert said.startswith("inconclusive: the strategy is unsound by design")
    assert "it cannot exclude them" in said
    assert mazurka("check", "holds.py", "--strategy", "transactions", "--json").json["limits"] == [
        "unsound-strategy"
    ]
    assert mazurka("check", model("deadlock"), "--strategy", "transactions").status == 1


def test_an_interrupt_while_the_model_is_read(mazurka, model, monkeypatch):
    def interrupted(path, reading):
        raise KeyboardInterrupt

    monkeypatch.setattr("mazurka.checking.load_program", interrupted)
    answer = mazurka("check", model("holds"), "--json")
    assert answer.status == 3
    assert (answer.json["verdict"], answer.json["limits"]) == ("inconclusive", ["interrupted"])
    assert answer.err == "mazurka: interrupted\n"


def test_too_little_memory_is_no_traceback(mazurka, model, monkeypatch):
    def greedy(path, reading):
        raise MemoryError

    monkeypatch.setattr("mazurka.checking.load_program", greedy)
    answer = mazurka("check", model("holds"))
    assert (answer.status, answer.err) == (3, "mazurka: out of memory\n")


def test_numbers_in_the_json_are_numbers(mazurka, model):
    answer = mazurka("check", model("holds"), "--limit-time", "inf", "--json")
    assert "Infinity" not in answer.out
    assert answer.json["options"]["limit_seconds"] is None
