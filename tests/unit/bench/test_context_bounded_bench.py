"""The benchmark of paper 001: what is asked for, held against what is right, and printed.

What the table claims is tested in `tests/papers`, the programs in `tests/unit/runtime`.  Nothing
here depends on how long anything takes.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from mazurka.bench import contest, contestant, context_bounded
from mazurka.bench.contest import MAZURKA, PEERS, play
from mazurka.bench.contestant import UNNAMED
from mazurka.bench.context_bounded import (
    CB_DFS,
    CB_POR,
    PROGRAM_CASES,
    ContextBoundedTable,
    ProgramCase,
    QueueCase,
    figures_by_bound,
    is_right,
    judge,
    make_queue,
)
from mazurka.bench.figures import Figures
from mazurka.bench.harness import BenchOptions, Measured
from mazurka.bench.programs import DIRECTORY, copy_program
from mazurka.errors import OptionError
from mazurka.report.terminal import make_console
from mazurka.stateless.explored import INTERRUPTED, TIME, Level

LOCK_ORDER, SPIN_LOOP = PROGRAM_CASES["lock_order"], PROGRAM_CASES["spin_loop"]
SPIN_LOOP_FILE = DIRECTORY / "spin_loop.py"
FRONTRUN, INTERLEAVE_TEST = PEERS


Row = Measured[QueueCase | ProgramCase]


def table(**options: Any) -> ContextBoundedTable:
    return ContextBoundedTable(BenchOptions(**options))


def answer(seconds: float = 0.5, **said: Any) -> Figures:
    return Figures(seconds=seconds, **said)


def said(case: ProgramCase, ours: Figures, frontrun: Figures | None = None) -> Row:
    figures = {MAZURKA: ours} | ({} if frontrun is None else {FRONTRUN: frontrun})
    return Measured(case=case, figures=figures)


def column(algorithm: str, *executions: int | None) -> Row:
    figures = {
        f"bound {bound}": Figures(executions=count, seconds=0.1, limits=() if count else (TIME,))
        for bound, count in enumerate(executions)
    }
    return Measured(case=make_queue("model", 3, algorithm), figures=figures)


def results(*rows: Row, **others: Any) -> ContextBoundedTable:
    empty = ContextBoundedTable(BenchOptions(limit_seconds=60.0), list(rows))
    return replace(empty, tools=dict.fromkeys(PEERS), **others)


def rendered(shown: ContextBoundedTable) -> str:
    stream = io.StringIO()
    shown.print(make_console(stream, width=120))
    return stream.getvalue()


# ---- what is asked for


def test_everything_unless_told_otherwise() -> None:
    everything = table().select()
    assert everything[-20:] == list(PROGRAM_CASES.values())
    assert [case.name for case in everything[:-20]] == [
        f"{subject}-{size}-{algorithm}"
        for subject in ("model", "code")
        for size in (3, 4, 5)
        for algorithm in (CB_DFS, CB_POR)
    ]


@pytest.mark.parametrize(
    ("only", "groups", "cases"),
    [
        ("model", {"model"}, 6),
        ("code", {"code"}, 6),
        ("programs", {"programs"}, 20),
        ("lock_order", {"programs"}, 1),
    ],
)
def test_one_subject(only: str, groups: set[str], cases: int) -> None:
    selected = table(only=only).select()
    assert {case.group for case in selected} == groups
    assert len(selected) == cases


def test_the_named_program() -> None:
    assert table(only="lock_order").select() == [LOCK_ORDER]


def test_an_unknown_subject_is_refused() -> None:
    with pytest.raises(
        OptionError, match="unknown subject 'queue' for --only; there are: model, co"
    ):
        table(only="queue").select()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"repeat": 0}, "--repeat 0"),
        ({"order": "bfs"}, "depth-first"),
        ({"limit_seconds": 0.0}, "--limit-time"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        table(**options).measure()


# ---- levels and cells


def level(bound: int, executions: int, *, complete: bool = True) -> Level:
    return Level(bound=bound, executions=executions, complete=complete, seconds=1.0)


def test_a_level_that_was_not_completed_has_no_number() -> None:
    levels = [level(0, 2), level(1, 17, complete=False)]
    cells = figures_by_bound(levels, (TIME,), 2).values()
    assert [cell.executions for cell in cells] == [2, None, None]
    assert [cell.limits for cell in cells] == [(), (TIME,), (TIME,)]


def test_after_everything_was_seen_the_numbers_stay() -> None:
    cells = figures_by_bound([level(0, 2), level(1, 6)], (), 3)
    assert list(cells) == ["bound 0", "bound 1", "bound 2", "bound 3"]
    assert [cell.executions for cell in cells.values()] == [2, 6, 6, 6]


def test_an_interrupt_in_a_search_ends_the_benchmark() -> None:
    with pytest.raises(KeyboardInterrupt):
        figures_by_bound([level(0, 1, complete=False)], (INTERRUPTED,), 2)


# ---- right and wrong


@pytest.mark.parametrize(
    ("case", "told", "outcome", "right"),
    [
        (LOCK_ORDER, {"failure": "deadlock"}, "found", True),
        (LOCK_ORDER, {"failure": UNNAMED}, "found", True),
        (LOCK_ORDER, {"failure": "assert"}, "other failure", False),
        (LOCK_ORDER, {}, "missed", False),
        (LOCK_ORDER, {"error": "no answer within 10 s"}, "no answer", False),
        (SPIN_LOOP, {}, "right", True),
        (SPIN_LOOP, {"failure": "livelock"}, "false alarm", False),
        (SPIN_LOOP, {"error": "inconclusive"}, "no answer", False),
    ],
)
def test_outcomes(case: ProgramCase, told: dict[str, Any], outcome: str, right: bool) -> None:
    assert (judge(case, answer(**told)), is_right(case, answer(**told))) == (outcome, right)


def test_a_wrong_answer_of_ours_is_wrong() -> None:
    (sentence,) = results(said(LOCK_ORDER, answer()), said(SPIN_LOOP, answer())).wrong
    assert sentence == "lock_order: missed, found nothing; it should be deadlock."


def test_a_wrong_answer_of_a_peer_is_not_ours() -> None:
    right = said(LOCK_ORDER, answer(failure="deadlock"), answer())
    assert not results(said(SPIN_LOOP, answer()), right).wrong


def test_more_partial_orders_than_schedules_cannot_be() -> None:
    (sentence,) = results(column(CB_DFS, 2, 43), column(CB_POR, 2, 44)).wrong
    assert sentence == "model, size 3, bound 1: cb-por runs 44 executions, and there are 43."


def test_numbers_that_are_not_known_are_not_compared() -> None:
    assert not results(column(CB_DFS, 2, None), column(CB_POR, 2, 23)).wrong


def test_peers_are_compared_where_both_are_right() -> None:
    spin_loop = said(SPIN_LOOP, answer(0.5, executions=100), answer(2.0, executions=50))
    ours = answer(0.5, failure="deadlock", executions=3)
    lock_order = said(LOCK_ORDER, ours, answer(0.1, executions=2))
    (compared,) = results(spin_loop, lock_order).compared
    assert (compared.programs, compared.seconds, compared.executions) == (1, (0.5, 2.0), (100, 50))
    assert compared.faster == pytest.approx(8.0)
    assert compared.sooner == pytest.approx(4.0)


def test_a_peer_that_is_right_nowhere_has_no_ratios() -> None:
    played = said(SPIN_LOOP, answer(executions=1), answer(error="hangs"))
    (compared,) = results(played).compared
    assert (compared.programs, compared.faster, compared.sooner) == (0, None, None)


# ---- printed


def test_the_page() -> None:
    spin_loop = said(SPIN_LOOP, answer(0.5, executions=100), answer(2.0, executions=50))
    ours, theirs = answer(failure="deadlock", executions=3), answer(error="no answer within 10 s")
    measured = results(
        column(CB_DFS, 2, 43, None),
        column(CB_POR, 2, 23, 137),
        spin_loop,
        said(LOCK_ORDER, ours, theirs),
    )
    measured.tools = {FRONTRUN: "0.7.0", INTERLEAVE_TEST: None}
    shown = rendered(measured)
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    assert "model bound 0 2 2" in lines
    assert "bound 2 > 60 s 137" in lines
    assert "the paper bound 0 2 2" in lines
    assert "lock_order deadlock found 3 0.500 no answer 0.50" in lines
    assert "interleave-test: not installed; left out." in lines
    assert "mazurka: 2 of 2 answers are right." in lines
    assert "frontrun: 1 of 2 answers are right." in lines
    assert any("executions a second: 8.0 times as many." in line for line in lines)


def test_the_object_for_programs() -> None:
    played = said(LOCK_ORDER, answer(failure="deadlock", executions=3))
    shown = results(column(CB_DFS, 2, None), column(CB_POR, 2, 23), played).to_json()
    table, programs = shown["table"], shown["programs"]
    assert isinstance(table, list)
    assert isinstance(programs, list)
    assert json.loads(json.dumps(shown)) == shown
    assert [cell["executions"] for cell in table] == [2, None, 2, 23]
    assert [cell["paper"] for cell in table] == [2, 46, 2, 46]
    assert table[1]["limits"] == [TIME]
    assert programs[0]["outcome"] == "found"
    assert programs[0]["expected"] == programs[0]["failure"] == "deadlock"


@pytest.mark.parametrize(
    ("shown", "status"),
    [
        (results(said(SPIN_LOOP, answer(executions=1))), 0),
        (results(said(LOCK_ORDER, answer(executions=1))), 1),
        (results(said(SPIN_LOOP, answer(executions=1)), interrupted=True), 3),
    ],
)
def test_exit_status(
    shown: ContextBoundedTable, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shown.publish(as_json=True) == status
    assert json.loads(capsys.readouterr().out)["interrupted"] is (status == 3)


# ---- measured


def test_a_small_table(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(context_bounded, "QUICK_BOUND", 1)
    shown = table(quick=True, only="model", limit_seconds=1e6)
    shown.measure(told.append)
    assert list(shown.queues) == [("model", 3, CB_DFS), ("model", 3, CB_POR)]
    assert not shown.wrong
    assert not shown.programs
    assert len(told) == 2


def test_an_interrupt_shows_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [answer(failure="deadlock", executions=1)]

    def once(*_: object) -> Figures:
        if not answers:
            raise KeyboardInterrupt
        return answers.pop()

    monkeypatch.setattr(context_bounded, "play", once)
    monkeypatch.setattr(context_bounded, "find_peers", lambda: dict.fromkeys(PEERS))
    shown = table(only="programs")
    assert len(shown.measure()) == 1
    assert shown.interrupted
    with pytest.raises(KeyboardInterrupt):
        table(only="programs").measure()


def test_the_median_run_counts_and_a_wrong_one_first(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [answer(seconds) for seconds in (3.0, 1.0, 2.0)]
    monkeypatch.setattr(context_bounded, "find_peers", lambda: dict.fromkeys(PEERS))
    monkeypatch.setattr(context_bounded, "play", lambda *_: runs.pop())
    (row,) = table(only="spin_loop", repeat=3).measure()
    assert row[MAZURKA].seconds == 2.0
    runs += [answer(1.0), answer(error="hangs")]
    (row,) = table(only="spin_loop", repeat=3).measure()
    assert row[MAZURKA].error == "hangs"


# ---- processes


def test_mazurka_in_a_process_of_its_own() -> None:
    played = play(MAZURKA, DIRECTORY / "lock_order.py", 1e6)
    assert played.error is None
    assert judge(LOCK_ORDER, played) == "found"
    assert played.executions


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="there are no process groups")
def test_a_tool_that_hangs_is_ended_with_its_children(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    note = tmp_path / "child"
    script = tmp_path / "hangs.py"
    script.write_text(
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1e6)'])\n"
        f"open({str(note)!r}, 'w').write(str(child.pid))\n"
        "time.sleep(1e6)\n"
    )
    monkeypatch.setattr(contest, "command_for", lambda tool, file: [sys.executable, str(script)])
    for starting in (0.5, 5.0):  # the latter is for machines that are busy
        monkeypatch.setattr(contest, "STARTING", starting)
        played = play(FRONTRUN, SPIN_LOOP_FILE, 0.1)
        assert played.error == "no answer within 0.1 s"
        if note.exists() and note.read_text():
            break
    assert not is_running(int(note.read_text()))


def is_running(pid: int) -> bool:
    """A process that was ended and that nobody has asked about yet is not running."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not (stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z")


def test_a_tool_that_dies_has_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    dies = [sys.executable, "-c", "raise SystemExit('out of luck')"]
    monkeypatch.setattr(contest, "command_for", lambda tool, file: dies)
    played = play(FRONTRUN, SPIN_LOOP_FILE, 60.0)
    assert played.error == "the process ended with status 1: out of luck"


def test_peers_that_are_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert contest.find_peers() == dict.fromkeys(PEERS)


# ---- peers, as far as they can be imitated


@pytest.fixture
def transfer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A program that is imported, and then forgotten."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield copy_program(DIRECTORY / "bank_transfer.py", tmp_path)
    for name in ("program", "starting"):
        sys.modules.pop(name, None)


class HangError(Exception):
    result = SimpleNamespace(schedules_run=2)


class ReplayDivergence(Exception):  # noqa: N818 - its name
    result = SimpleNamespace(schedules_run=2)


def interleave_test_that(explore: Any) -> ModuleType:
    module: Any = ModuleType("interleave_test")
    module.InterleaveError = Exception
    module.HangError, module.ReplayDivergence = HangError, ReplayDivergence
    module.explore = explore
    return module  # type: ignore[no-any-return]


def test_interleave_test_gets_the_test_function(
    transfer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explore(model: Any, **options: Any) -> SimpleNamespace:
        assert options["strategy"] == "dfs"
        assert options["max_preemptions"] == contestant.PREEMPTIONS
        model()
        return SimpleNamespace(schedules_run=7)

    monkeypatch.setitem(sys.modules, "interleave_test", interleave_test_that(explore))
    told = contestant.answer(INTERLEAVE_TEST, transfer)
    assert (told.failure, told.executions, told.error) == (None, 7, None)


@pytest.mark.parametrize(
    ("kind", "cause", "failure"),
    [("deadlock", None, "deadlock"), ("exception", AssertionError(), "assert")],
)
def test_what_interleave_test_finds(
    kind: str,
    cause: Exception | None,
    failure: str,
    transfer: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def explore(model: Any, **options: Any) -> None:
        error: Any = Exception()
        error.failure = SimpleNamespace(kind=kind, exception=cause)
        error.result = SimpleNamespace(schedules_run=4)
        raise error

    monkeypatch.setitem(sys.modules, "interleave_test", interleave_test_that(explore))
    told = contestant.answer(INTERLEAVE_TEST, transfer)
    assert (told.failure, told.executions) == (failure, 4)


@pytest.mark.parametrize("error", [HangError, ReplayDivergence])
def test_interleave_test_may_give_up(
    error: type[Exception], transfer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explore(model: Any, **options: Any) -> None:
        raise error

    monkeypatch.setitem(sys.modules, "interleave_test", interleave_test_that(explore))
    told = contestant.answer(INTERLEAVE_TEST, transfer)
    assert (told.failure, told.executions, told.error) == (None, 2, error.__name__)


@pytest.mark.parametrize(
    ("holds", "failure", "error"),
    [(True, None, None), (False, UNNAMED, None), (None, None, "inconclusive: too slow")],
)
def test_frontrun_gets_the_parts(
    holds: bool | None,
    failure: str | None,
    error: str | None,
    transfer: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    patched: list[bool] = []

    def explore(*, setup: Any, workers: Any, invariant: Any, **options: Any) -> SimpleNamespace:
        assert patched
        assert options["preemption_bound"] == contestant.PREEMPTIONS
        state = setup()
        for worker in workers:
            worker(state)
        assert invariant(state)
        return SimpleNamespace(property_holds=holds, num_explored=5, inconclusive_reason="too slow")

    package: Any = ModuleType("frontrun")
    package.explore = explore
    cooperative: Any = ModuleType("frontrun._cooperative")
    cooperative.patch_locks = lambda: patched.append(True)
    monkeypatch.setitem(sys.modules, "frontrun", package)
    monkeypatch.setitem(sys.modules, "frontrun._cooperative", cooperative)
    told = contestant.answer(FRONTRUN, transfer)
    assert (told.failure, told.executions, told.error) == (failure, 5, error)


def test_a_tool_that_raises_has_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "interleave_test", None)
    told = contestant.answer(INTERLEAVE_TEST, SPIN_LOOP_FILE)
    assert told.error is not None
    assert "interleave_test" in told.error
