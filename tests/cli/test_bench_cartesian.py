"""`mazurka bench cartesian` from the command line: its options, its answer, its status."""

import pytest


def test_a_row_as_json(mazurka):
    answer = mazurka("bench", "cartesian", "--only", "indexer-3", "--workers", "2", "--json")
    assert answer.status == 0
    assert answer.json["benchmark"] == "cartesian"
    found = {entry["mode"]: entry for entry in answer.json["results"]}
    assert list(found) == ["standard", "table1", "default", "concurrent", "dpor"]
    assert {entry["row"] for entry in found.values()} == {"indexer-3"}
    assert (found["standard"]["states"], found["standard"]["transitions"]) == (125, 300)
    assert (found["table1"]["states"], found["table1"]["transitions"]) == (1, 12)
    assert [found[mode]["equal"] for mode in ("standard", "table1", "concurrent")] == [True] * 3


def test_a_row_as_a_table(mazurka):
    answer = mazurka("bench", "cartesian", "--only", "indexer-3", "--limit-time", "5")
    assert answer.status == 0
    assert "paper 003, Table 1" in answer.out
    assert "Limits: 5 s" in answer.out
    assert answer.err == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("cartesian", "--only", "sudoku"), "unknown row 'sudoku'"),
        (("cartesian", "--workers", "0"), "--workers must be at least 1"),
        (("cartesian", "--workers", "999"), "--workers must be 256 or less, not 999"),
        (("cartesian", "--order", "bfs"), "order 'bfs'"),
        (("speed", "--workers", "2"), "the searches of 'speed' have one worker each"),
        (("cpc", "--limit-time", "2"), "the searches of 'cpc' always run to their end"),
    ],
)
def test_options_that_make_no_sense(mazurka, arguments, words):
    answer = mazurka("bench", *arguments)
    assert (answer.status, answer.out) == (2, "")
    assert words in answer.err
