"""How a classification is told: rows for cells that came out alike, counts, rounds."""

from __future__ import annotations

from dataclasses import replace

import pytest
from reference_strategy import REFERENCE, reference_search
from small_programs import lost_update, two_locks

from mazurka.report.classification import (
    MOST_ROWS,
    describe_rounds,
    describe_sharing,
    make_class_rows,
)
from mazurka.report.summary import MOST_NOTES, Summary
from mazurka.search import CellClass, Round, SearchResult, Statistics


def protected(name: str, lock: str, since: int = 1) -> CellClass:
    return CellClass(name, "protected", lock, since)


def cells_of(*cells: CellClass) -> list[tuple[str, str]]:
    return [(row.cells, row.lock) for row in make_class_rows(cells)]


def test_elements_that_are_alike_are_one_row():
    cells = [protected(f"buffer[{i}]", "lock") for i in range(8)]
    assert cells_of(*cells) == [("buffer[0..7]", "lock")]


def test_the_row_stands_where_its_first_cell_stood():
    cells = (
        CellClass("a[0]", "unshared"),
        CellClass("b", "read-only"),
        CellClass("a[1]", "unshared"),
    )
    assert [row.cells for row in make_class_rows(cells)] == ["a[0..1]", "b"]


@pytest.mark.parametrize(
    "other",
    [
        protected("a[2]", "other"),
        protected("a[2]", "lock", since=2),
        CellClass("a[2]", "unprotected"),
    ],
)
def test_another_lock_class_or_round_is_another_row(other):
    rows = make_class_rows([protected("a[0]", "lock"), protected("a[1]", "lock"), other])
    assert [row.cells for row in rows] == ["a[0..1]", "a[2]"]


def test_gaps_are_shown():
    cells = [CellClass(f"a[{i}]", "unshared") for i in (0, 1, 2, 5, 7, 8)]
    assert cells_of(*cells) == [("a[0..2, 5, 7..8]", "")]


def test_a_grid_is_a_product_of_ranges_only_where_it_is_one():
    grid = [CellClass(f"g[{i}][{j}]", "unshared") for i in range(3) for j in range(2)]
    assert cells_of(*grid) == [("g[0..2][0..1]", "")]
    # without g[1][0] the middle row of the grid stands for itself
    del grid[2]
    assert cells_of(*grid) == [("g[0, 2][0..1]", ""), ("g[1][1]", "")]


def test_records_that_have_their_own_locks_are_one_row():
    cells = [protected(f"accounts[{i}].balance", f"accounts[{i}].lock") for i in range(3)]
    assert cells_of(*cells) == [("accounts[i].balance, i = 0..2", "accounts[i].lock")]


def test_the_same_number_is_no_pattern_by_itself():
    """`a[0]` is under `locks[0]` as all others are: nothing follows the index."""
    cells = [protected(f"a[{i}]", "locks[0]") for i in range(3)]
    assert cells_of(*cells) == [("a[0..2]", "locks[0]")]


def test_locks_that_do_not_follow_the_index_stay_apart():
    cells = [protected(f"a[{i}]", f"locks[{(i + 1) % 3}]") for i in range(3)]
    assert cells_of(*cells) == [("a[0]", "locks[1]"), ("a[1]", "locks[2]"), ("a[2]", "locks[0]")]


def test_fields_are_not_mixed_up():
    cells = [CellClass(f"r[{i}].{field}", "unshared") for i in range(2) for field in "xy"]
    assert cells_of(*cells) == [("r[0..1].x", ""), ("r[0..1].y", "")]


def test_classes_are_counted():
    cells = [
        CellClass("a", "unprotected", round=2),
        *(protected(f"b[{i}]", "m") for i in range(4)),
        CellClass("c", "read-only"),
    ]
    assert describe_sharing(cells, 2) == (
        "6 cells of shared data: 4 protected by a lock, 1 read-only, 1 unprotected; 2 rounds"
    )
    assert describe_sharing(cells[:1], 1) == "1 cell of shared data: 1 unprotected; 1 round"


def test_rounds_are_counted():
    searches = [Statistics(states=n) for n in (12, 40, 1204)]
    assert describe_rounds(searches) == "3 rounds: 12, 40 and 1,204 states"
    assert describe_rounds(searches[:2]) == "2 rounds: 12 and 40 states"
    assert describe_rounds([Statistics(states=1)]) == "1 round: 1 state"
    many = [Statistics(states=n) for n in range(1, 31)]
    assert describe_rounds(many) == "30 rounds: 1, 2, 3, 4, 5, 6, ..., 29 and 30 states"


CELLS = (protected("n", "m"), CellClass("done", "unprotected", round=2))
EARLIER = Round(
    Statistics(states=2, transitions=1, seconds=0.25, peak_bytes=5000),
    "`done` is written by adder(0) at line 2 and read by adder(1), with no lock in common",
)


def classifying(name: str, **changes: object):
    """A strategy that finds what the reference search finds, in a second round."""

    def run(program, options, observer):
        found = reference_search(program, options, observer)
        return replace(found, classification=CELLS, rounds=(EARLIER,), **changes)

    return replace(REFERENCE, name=name, run=run)


def test_the_optimistic_strategy_ends_with_the_table(judge, printed):
    verdict = judge(lost_update(threads=1), strategy=classifying("optimistic"))
    out = printed(lambda console: Summary(console, verdict).print())
    _, _, table = out.partition("how the threads share data\n")
    assert [line.split() for line in table.splitlines()[:3]] == [
        ["cell", "class", "lock", "round"],
        ["n", "protected", "m", "1"],
        ["done", "unprotected", "2"],
    ]
    assert "2 rounds: 2 and 4 states\n" in table
    assert "round 1 ended: `done` is written by adder(0)" in table


def test_other_strategies_sum_up_unless_asked(judge, printed):
    verdict = judge(lost_update(threads=1), strategy=classifying("cpc"))
    short = printed(lambda console: Summary(console, verdict).print())
    summed = "2 cells of shared data: 1 protected by a lock, 1 unprotected; 2 rounds"
    assert summed in " ".join(short.split())
    assert "how the threads share data" not in short
    long = printed(lambda console: Summary(console, verdict, classification=True).print())
    assert "how the threads share data" in long
    assert "round 1 ended" in long


def test_a_strategy_without_a_classification_says_so_when_asked(judge, printed):
    verdict = judge(lost_update(threads=1))
    out = printed(lambda console: Summary(console, verdict, classification=True).print())
    assert out.endswith("strategy full does not classify data\n")
    assert "classification" not in printed(lambda console: Summary(console, verdict).print())
    nothing = judge(lost_update(threads=1), strategy=replace(REFERENCE, name="optimistic"))
    out = printed(lambda console: Summary(console, nothing).print())
    assert out.endswith("there is no classification to show: no thread uses shared data\n")


def test_what_a_cut_search_has_seen_is_not_all(judge, printed):
    verdict = judge(two_locks(), strategy=classifying("optimistic"))
    assert verdict.verdict == "violated"
    out = printed(lambda console: Summary(console, verdict).print())
    assert "how the threads share data, as far as the search went\n" in out


def test_a_long_table_is_cut_unless_asked_for(judge, printed):
    cells = tuple(protected(f"x{i}", f"m{i}") for i in range(MOST_ROWS + 3))
    result = SearchResult(Statistics(states=1), classification=cells)
    strategy = replace(REFERENCE, name="optimistic", run=lambda *_: result)
    verdict = judge(lost_update(threads=1), strategy=strategy)
    short = printed(lambda console: Summary(console, verdict).print())
    assert "3 more; --classification shows them" in short
    assert f"x{MOST_ROWS - 1} " in short
    assert f"x{MOST_ROWS} " not in short
    long = printed(lambda console: Summary(console, verdict, classification=True).print())
    assert f"x{MOST_ROWS + 2} " in long


@pytest.mark.parametrize("width", [40, 80, 120])
def test_long_names_fold(judge, printed, width):
    name = "_".join(["quite"] * 12)
    result = SearchResult(Statistics(states=1), classification=(protected(name, name + "_lock"),))
    strategy = replace(REFERENCE, name="optimistic", run=lambda *_: result)
    verdict = judge(lost_update(threads=1), strategy=strategy)
    out = printed(lambda console: Summary(console, verdict).print(), width=width)
    assert max(map(len, out.splitlines())) <= width
    assert "…" not in out


def test_nothing_in_a_name_reaches_the_terminal(judge, printed):
    result = SearchResult(Statistics(states=1), classification=(protected("a\x1b[2J", "[red]m"),))
    strategy = replace(REFERENCE, name="optimistic", run=lambda *_: result)
    verdict = judge(lost_update(threads=1), strategy=strategy)
    out = printed(lambda console: Summary(console, verdict).print())
    assert "\x1b" not in out
    assert "[red]m" in out


def test_notes_are_paragraphs(judge, printed):
    long = "a candidate for a race: " + "adder(0) writes `n` at line 2, " * 5
    notes = (long, *(f"remark {i}" for i in range(MOST_NOTES + 1)))
    verdict = judge(lost_update(threads=1), strategy=classifying("cpc", notes=notes))
    out = printed(lambda console: Summary(console, verdict).print())
    lines = out.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("note: a candidate"))
    assert lines[first + 1].startswith("      ")
    assert "note: remark 0" in lines
    assert out.count("note: ") == MOST_NOTES
    assert "2 more; --json has all notes" in out


def test_time_and_memory_are_those_of_all_rounds(judge, printed):
    """The reference search says 0.5 s and 1 kB; the round before took 0.25 s and 5 kB."""
    verdict = judge(lost_update(threads=1), strategy=classifying("cpc"))
    data = verdict.to_json()
    stats = data["stats"]
    assert (stats["states"], stats["seconds"]) == (4, 0.5)
    assert (stats["rounds"], stats["total_seconds"], stats["peak_bytes"]) == (2, 0.75, 5000)
    assert [r["states"] for r in data["rounds"]] == [2, 4]
    assert [r["reason"] for r in data["rounds"]] == [EARLIER.reason, None]
    assert data["classification"] == [
        {"cell": "n", "class": "protected", "lock": "m", "round": 1},
        {"cell": "done", "class": "unprotected", "lock": None, "round": 2},
    ]
    out = printed(lambda console: Summary(console, verdict).print())
    assert "4 states  3 transitions  0.75 s in 2 rounds  5 kB  strategy cpc" in out


def test_one_round_is_not_worth_a_word(judge, printed):
    verdict = judge(lost_update(threads=1))
    data = verdict.to_json()
    assert data["classification"] is None
    assert (data["stats"]["rounds"], data["stats"]["total_seconds"]) == (1, 0.5)
    assert "round" not in printed(lambda console: Summary(console, verdict).print())
