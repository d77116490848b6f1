"""Counterexamples on a terminal, at several widths and in several encodings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console
from small_programs import FILE, lost_update, straight_line, two_locks

import mazurka
from mazurka.report.columns import Columns, plan
from mazurka.report.operations import Told
from mazurka.report.summary import Summary
from mazurka.report.trace import confirm
from mazurka.report.words import counted
from mazurka.search import Move, Violation


@pytest.mark.parametrize("width", [60, 100, 160])
@pytest.mark.parametrize("threads", [2, 3, 4])
def test_no_line_is_wider_than_the_terminal(judge, printed, width, threads):
    verdict = judge(lost_update(threads=threads))
    text = printed(lambda console: Summary(console, verdict).print(), width)
    assert max(map(cell_len, text.splitlines()[1:])) <= width  # the first is for scripts


def test_each_thread_has_its_column(judge, printed):
    trace = judge(lost_update()).trace
    lines = printed(lambda console: Columns(console, trace).draw(), 100).splitlines()
    header = lines[0]
    for row in trace.rows:
        start = header.index(row.name)
        shown = next(line for line in lines if line.strip().startswith(f"{row.number} "))
        assert shown[start:].startswith(f"{row.line} ")


def test_values_stand_beside_the_source(judge, printed):
    trace = judge(lost_update()).trace
    text = printed(lambda console: Columns(console, trace).draw(), 100)
    assert "1 t = n   n ➜ 0  t = 0" in text
    assert "2 n = t + 1   n = 1" in text


def test_steps_inside_functions_that_come_with_mazurka_are_counted_instead_of_shown(judge):
    """Such as those of `strcmp` in a C program, which look at one letter after the other."""
    verdict = judge(lost_update())
    header = str(Path(mazurka.__file__).parent / "frontend/c/headers/string.h")
    second = verdict.trace.rows[1]
    rows = (verdict.trace.rows[0], replace(second, file=header), *verdict.trace.rows[2:])
    trace = replace(verdict.trace, rows=rows)
    columns = Columns(Console(), trace)
    assert second.number not in [row.number for row in columns.told_rows]
    assert columns.explain_untold().endswith("not shown; --full-trace shows it")
    assert Columns(Console(), trace, full=True).told_rows == rows


def test_steps_that_tell_nothing_are_counted_instead_of_shown(judge, printed):
    verdict = judge(lost_update())
    nothing = {"is_local": True, "reads": {}, "writes": {}, "locals": {}, "told": ()}
    rows = [replace(row, **nothing) if row.number <= 2 else row for row in verdict.trace.rows]
    told = replace(verdict, trace=replace(verdict.trace, rows=tuple(rows)))
    short = printed(lambda console: Summary(console, told).print(), 100)
    assert "2 local steps are not shown; --full-trace shows them" in short
    whole = printed(lambda console: Summary(console, told, full_trace=True).print(), 100)
    assert "not shown" not in whole
    assert "not shown" not in printed(lambda console: Summary(console, verdict).print(), 100)


@pytest.mark.parametrize(("width", "head"), [(100, 2), (40, 0)], ids=["columns", "list"])
def test_a_context_switch_leaves_a_gap(judge, printed, width, head):
    trace = judge(two_locks()).trace  # each thread takes one step
    lines = printed(lambda console: Columns(console, trace).draw(), width).splitlines()
    lines = [line for line in lines[head:] if not line.startswith("    ")]
    assert lines[0].startswith(" 1")
    assert lines[1] == ""
    assert lines[2].startswith(" 2")


def test_many_threads_on_a_narrow_terminal_become_a_list(printed):
    program = lost_update(threads=14, most=20, prefix="philosopher")
    path = tuple(Move(thread) for thread in range(14))
    _, trace = confirm(program, Violation("race", path, (Move(0), Move(1))))
    assert plan(trace, 80).threads == ()
    text = printed(lambda console: Columns(console, trace).draw(), 80)
    assert "philosopher(13)" in text
    assert max(map(cell_len, text.splitlines())) <= 80
    assert len(plan(trace, 600).threads) == 14


def test_threads_that_take_no_part_get_no_column():
    program = lost_update(threads=6, most=20)
    _, trace = confirm(program, Violation("race", (Move(4),), (Move(4), Move(0))))
    assert plan(trace, 80).threads == (4,)


def test_a_long_trace_is_shortened_unless_asked_for(printed):
    _, trace = confirm(straight_line(300), Violation("exception", (Move(0),) * 301))
    short = printed(lambda console: Columns(console, trace).draw())
    assert "101 steps left out; --full-trace shows them, --trace FILE saves them" in short
    assert len(short.splitlines()) == 2 + 200 + 1
    full = printed(lambda console: Columns(console, trace, full=True).draw())
    assert "left out" not in full
    assert len(full.splitlines()) == 2 + 301


def test_plain_ascii_where_the_terminal_knows_no_better(judge, printed):
    for program in (lost_update(), two_locks()):
        verdict = judge(program)
        text = printed(lambda console, v=verdict: Summary(console, v).print(), 100, "ascii")
        assert text.isascii()
    assert "n -> 0" in printed(
        lambda console: Summary(console, judge(lost_update())).print(), 100, "ascii"
    )


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_the_input_cannot_speak_to_the_terminal(judge, printed, encoding):
    evil = "x = '\x1b[2J\x07' # [bold red]markup[/] \u202e\x9b31m é"
    program = lost_update(prefix="[blink]t\x1b]0;title\x07")
    program = replace(program, sources={FILE: "\n".join([evil] * 3)})
    verdict = judge(program)
    text = printed(lambda console: Summary(console, verdict).print(), 120, encoding)
    assert all(c == "\n" or c.isprintable() for c in text)
    assert "\\x1b[2J" in text
    assert "[bold red]" in text
    assert "[blink]t" in text


def test_wide_characters_keep_the_columns_straight(printed, judge):
    program = lost_update()
    program = replace(program, sources={FILE: "値 = 読む(値)  # " + "漢字" * 40 + "\n" * 3})
    verdict = judge(program)
    text = printed(lambda console: Summary(console, verdict).print(), 60)
    assert max(map(cell_len, text.splitlines()[1:])) <= 60


def test_no_colour_in_a_pipe(judge, printed):
    verdict = judge(two_locks())
    assert "\x1b" not in printed(lambda console: Summary(console, verdict).print())


def test_numbers_agree_with_their_nouns():
    assert counted(1, "step") == "1 step"
    assert counted(1200, "state") == "1,200 states"
    assert counted(2, "context switch") == "2 context switches"


def test_what_the_source_says_already_is_not_repeated(judge, printed):
    program = replace(lost_update(), sources={FILE: "t = n\nn = 1\nassert n == t + 1\n"})
    trace = judge(program).trace
    text = printed(lambda console: Columns(console, trace).draw(), 100)
    assert "2 n = 1\n" in text
    assert "2 n = 1   n = 2" in text


@pytest.mark.parametrize(("encoding", "cut"), [("utf-8", "xxxxxxxxx…"), ("ascii", "xxxxxxx...")])
def test_what_does_not_fit_is_cut_to_the_width(judge, printed, encoding, cut):
    trace = judge(two_locks()).trace
    shown = []
    printed(lambda console: shown.append(Columns(console, trace).fit("x" * 50, 10)), 80, encoding)
    assert shown == [cut]


def test_the_verdict_is_one_line_where_nobody_watches(printed, judge):
    text = printed(lambda console: Summary(console, judge(lost_update())).print(), 40)
    assert text.splitlines()[0].endswith("somebody else has counted (n is 2, t is 0)")


def test_an_operation_that_is_too_long_goes_on_in_the_next_line(judge, printed):
    trace = judge(lost_update(threads=3)).trace
    told = Told("notify_all condition", remark=": wakes consumer(1) and consumer(2)")
    trace = replace(trace, rows=(replace(trace.rows[0], told=(told,)), *trace.rows[1:]))
    text = printed(lambda console: Columns(console, trace).draw(), 90)
    lines = [line[4:].strip() for line in text.splitlines()]
    start = next(number for number, line in enumerate(lines) if "notify_all" in line)
    whole = " ".join(lines[start : start + 3])
    assert whole.startswith("notify_all condition: wakes consumer(1) and consumer(2)")
    assert max(map(cell_len, text.splitlines())) <= 90


def test_local_steps_that_show_nothing_are_left_out(judge, printed):
    trace = judge(lost_update()).trace
    first, *rest = trace.rows
    silent = replace(first, reads={}, writes={}, locals={}, told=(), is_local=True)
    trace = replace(trace, rows=(silent, *rest))
    text = printed(lambda console: Columns(console, trace).draw(), 100)
    assert not any(line.startswith(" 1 ") for line in text.splitlines())
    for shown in (replace(trace, loop_start=0), trace):
        full = shown.loop_start is None
        text = printed(lambda console, t=shown, f=full: Columns(console, t, full=f).draw(), 100)
        assert any(line.startswith(" 1 ") for line in text.splitlines())
