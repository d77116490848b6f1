"""Saved traces: they read back, and nothing malformed is believed."""

from __future__ import annotations

import inspect
import json
from dataclasses import replace

import pytest
from small_programs import FILE, lost_update, straight_line, two_locks

from mazurka.errors import MazurkaError
from mazurka.ir.expressions import Const
from mazurka.ir.program import Assign
from mazurka.report.trace import confirm, run_schedule
from mazurka.report.tracefile import SavedTrace, load, replay_saved, save
from mazurka.search import Move, Violation
from mazurka.search.reading import Reading


@pytest.fixture
def saved(judge, tmp_path):
    path = tmp_path / "trace.json"
    save(str(path), judge(lost_update()))
    return path


def test_the_same_program_reproduces_the_violation(saved):
    report = replay_saved(load(str(saved)), lost_update())
    assert (report.outcome, report.exit_status) == ("reproduced", 1)
    assert report.finding.kind == "assert"


@pytest.mark.parametrize("properties", [("deadlock",), ("race",)])
def test_every_kind_of_violation_can_be_saved(judge, tmp_path, properties):
    program = two_locks() if properties == ("deadlock",) else lost_update()
    path = tmp_path / "trace.json"
    save(str(path), judge(program, *properties))
    assert replay_saved(load(str(path)), program).outcome == "reproduced"


def test_a_changed_comment_does_not_matter(saved):
    program = lost_update()
    program = replace(program, sources={FILE: "# a comment\n" + program.sources[FILE]})
    report = replay_saved(load(str(saved)), program)
    assert report.outcome == "reproduced"
    assert "the text has changed" in report.message


def test_a_changed_program_is_named_with_its_first_difference(saved):
    program = lost_update()
    writer = program.threads[0]
    other = replace(writer.edges[1], operations=(Assign(Const(1), Const(5)),))
    writer = replace(writer, edges=(writer.edges[0], other, writer.edges[2]))
    program = replace(program, threads=(writer, program.threads[1]))
    report = replay_saved(load(str(saved)), program)
    assert (report.outcome, report.exit_status) == ("changed", 2)
    assert report.first_difference == 2
    assert "step 2 was (adder(0), line 2: n = t + 1)" in report.message


def test_a_changed_program_whose_steps_are_the_same(saved):
    program = lost_update()
    cell = replace(program.cells[1], high=5)
    program = replace(program, cells=(program.cells[0], cell, *program.cells[2:]))
    report = replay_saved(load(str(saved)), program)
    assert (report.outcome, report.first_difference) == ("changed", None)
    assert "still there" in report.message


def test_moves_that_lead_elsewhere_reproduce_nothing(saved):
    data = json.loads(saved.read_text())
    data["moves"] = data["moves"][:-1]
    saved.write_text(json.dumps(data))
    report = replay_saved(load(str(saved)), lost_update())
    assert (report.outcome, report.exit_status) == ("not reproduced", 0)


def test_a_trace_without_a_granularity_still_reads(saved):
    data = json.loads(saved.read_text())
    del data["options"]["granularity"]
    saved.write_text(json.dumps(data))
    assert load(str(saved)).reading.granularity is None


def broken(**changes):
    return lambda data: {**data, **changes}


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: [],
        lambda data: None,
        lambda data: {key: value for key, value in data.items() if key != "moves"},
        broken(format="something else"),
        broken(format_version=99),
        broken(format_version=True),
        broken(moves="all of them"),
        broken(moves=[[0]]),
        broken(moves=[[-1, 0]]),
        broken(moves=[["0", 0]]),
        broken(moves=[[0, 2**70]]),
        broken(racing=[[0, 0]]),
        broken(definitions={"N": 3}),
        broken(definitions=[]),
        broken(options={"merge": 1, "max_threads": 8, "max_depth": 8}),
        broken(options={"merge": True, "max_threads": -1, "max_depth": 8}),
        broken(options={"merge": True, "granularity": 1, "max_threads": 8, "max_depth": 8}),
        broken(options={"merge": True, "granularity": "page", "max_threads": 8, "max_depth": 8}),
        broken(fingerprint={}),
        broken(violation={"kind": 3, "message": ""}),
        broken(rows=[1]),
        broken(input=None),
    ],
)
def test_malformed_files_are_refused(saved, damage):
    saved.write_text(json.dumps(damage(json.loads(saved.read_text()))))
    with pytest.raises(MazurkaError, match="not a valid trace") as caught:
        load(str(saved))
    assert caught.value.file == str(saved)


@pytest.mark.parametrize("content", [b"", b"hello", b"\xff\xfe", b"[" * 100_000])
def test_files_that_are_not_json_are_refused(tmp_path, content):
    path = tmp_path / "trace.json"
    path.write_bytes(content)
    with pytest.raises(MazurkaError, match="not JSON"):
        load(str(path))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(MazurkaError, match="no such file"):
        load(str(tmp_path / "none.json"))


def test_a_trace_that_cannot_be_written(judge, tmp_path):
    with pytest.raises(MazurkaError, match="cannot be written"):
        save(str(tmp_path / "no" / "trace.json"), judge(two_locks()))


def test_rows_beyond_the_threads_are_no_crash(saved):
    data = json.loads(saved.read_text())
    data["moves"] = [[17, 0]]
    saved.write_text(json.dumps(data))
    report = replay_saved(load(str(saved)), lost_update())
    assert report.outcome == "not reproduced"


def test_a_long_trace_is_compared_where_it_was_saved(monkeypatch):
    """The first and the last rows are kept of a long trace; a change behind the first is found."""
    for function in (confirm, run_schedule):
        monkeypatch.setitem(inspect.unwrap(function).__kwdefaults__, "kept", 2_000)
    steps = 2_050
    violation = Violation("exception", (Move(0),) * (steps + 1))
    finding, trace = confirm(straight_line(steps), violation)
    assert trace.omitted == 51
    saved = SavedTrace(
        input=FILE,
        reading=Reading(),
        source_digest="",
        program_digest="another",
        violation=violation,
        message=finding.message,
        rows=tuple(row.to_json() for row in trace.rows),
        omitted=trace.omitted,
    )
    program = straight_line(steps)
    thread = program.threads[0]
    edges = list(thread.edges)
    edges[1_500] = replace(edges[1_500], operations=())
    program = replace(program, threads=(replace(thread, edges=tuple(edges)),))
    assert replay_saved(saved, program).first_difference == 1_501
    edges = edges[:2_000]
    program = replace(program, threads=(replace(thread, edges=tuple(edges)),))
    report = replay_saved(saved, program)
    assert report.first_difference == 1_501
    same = replay_saved(saved, straight_line(steps))
    assert (same.first_difference, same.outcome) == (None, "changed")
