"""Deliberately broken circuits: each change is noticed by some program."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest

from mazurka.checking import load_program
from mazurka.errors import InternalError
from mazurka.ir.program import Program
from mazurka.search import Move, SearchOptions, Silent
from mazurka.search.reading import Reading
from mazurka.search.registry import load_strategy
from mazurka.symbolic import encoding
from mazurka.symbolic.circuit import Interleaving
from mazurka.symbolic.environment import Places
from mazurka.symbolic.graphs.graph import FALSE, Aig
from mazurka.symbolic.graphs.words import Word, Words
from mazurka.symbolic.interleavings import earliest, peephole, stubborn, sweeps
from mazurka.symbolic.interleavings.earliest import Accesses, EarliestTurns
from mazurka.symbolic.interleavings.frame import Frame
from mazurka.symbolic.interleavings.stubborn import (
    AttemptLiterals,
    StaticTouches,
    StubbornSets,
)
from mazurka.symbolic.interleavings.transactions import TransactionFrame
from mazurka.symbolic.later import LaterTouches
from mazurka.symbolic.outlook import StepOutlook, _Judge
from mazurka.symbolic.record import StepRecord
from mazurka.symbolic.schedules import ScheduleReader
from mazurka.symbolic.steps import StepEncoder
from tests.limits import ENOUGH

JOINED = """
from threading import Thread
x = 0
def work():
    global x
    x = 1
def main():
    first = Thread(target=work)
    first.start()
    first.join()
    second = Thread(target=work)
    second.start()
    second.join()
    assert x == 0
threads = [main()]
"""
TURNS = """
from mazurka.model import Int, await_
x: Int[0, 4] = 0
def even():
    global x
    x = 1
    await_(x == 2)
    x = 3
    await_(x == 4)
    assert False
def odd():
    global x
    await_(x == 1)
    x = 2
    await_(x == 3)
    x = 4
threads = [even(), odd()]
"""
LOOP = """
from mazurka.model import Int
x: Int[0, 5] = 0
def counts():
    global x
    while x < 3:
        x = x + 1
    assert False
threads = [counts()]
"""
CHOICES = """
from mazurka.model import Queue, select
a = Queue(1)
b = Queue(1)
done: bool = False
def gets():
    global done
    select(a, b)
    done = True
def puts():
    b.put(1)
threads = [gets(), puts()]
"""
SEEN = """
from mazurka.model import Int
x: Int[0, 1] = 0
def writes():
    global x
    x = 1
def reads():
    assert x == 1
threads = [writes(), reads()]
"""
STOPPED = """
from mazurka.model import Mutex, assume
m = Mutex()
x: bool = False
def holds():
    with m:
        assume(x)
def waits():
    with m:
        pass
threads = [holds(), waits()]
"""
READS_BEFORE = """
from mazurka.model import Int
x: Int[0, 1] = 0
def writes():
    global x
    x = 1
def reads():
    before = x
    assert before == 1
threads = [writes(), reads()]
"""
READS_TWICE = """
from mazurka.model import Int
x: Int[0, 1] = 0
def writes():
    global x
    x = 1
def reads():
    before = x
    after = x
    assert before == after
threads = [writes(), reads()]
"""
READS_UNLOCKED = """
from mazurka.model import Int, Mutex
m = Mutex()
x: Int[0, 1] = 0
def writes():
    global x
    with m:
        x = 1
def reads():
    with m:
        pass
    before = x
    after = x
    assert before == after
threads = [writes(), reads()]
"""
WAITS_FOR_A_THIRD = """
from mazurka.model import Int, await_
x: Int[0, 1] = 0
y: Int[0, 1] = 0
def writes():
    global y
    y = 1
def reads():
    await_(x == 1)
    before = y
    assert before == 1
def lets_it():
    global x
    x = 1
threads = [writes(), reads(), lets_it()]
"""
HELD_BY_A_THIRD = """
from mazurka.model import Int, Mutex, await_
m = Mutex()
x: Int[0, 1] = 0
held: Int[0, 1] = 0
def writes():
    global x
    x = 1
def reads():
    await_(held == 1)
    with m:
        before = x
    assert before == 1
def holds():
    global held
    with m:
        held = 1
threads = [writes(), reads(), holds()]
"""
WRITE_APART = """
from mazurka.model import Int
x: Int[0, 1] = 0
y: Int[0, 1] = 0
def writes():
    global x
    x = 1
def writes_apart():
    global y
    y = 1
threads = [writes(), writes_apart()]
"""
GOES_ROUND = """
from mazurka.model import Int
x: Int[0, 1] = 0
y: Int[0, 1] = 0
def goes_round():
    global y
    while True:
        y = 1 - y
def fails():
    global x
    x = 1
    assert False
threads = [goes_round(), fails()]
"""


@lru_cache
def load(text: str, folder: Path) -> Program:
    path = folder / "model.py"
    path.write_text(text, encoding="utf-8")
    return load_program(str(path), Reading(merge=False))


def find(text: str, folder: Path, interleaving: str = "sweeps", strategy: str = "bmc") -> str:
    """The verdict on a model: what is violated, or whether it holds."""
    options = SearchOptions(
        tuning={"rounds": 12, "interleaving": interleaving}, limit_seconds=ENOUGH
    )
    try:
        result = load_strategy(strategy).run(load(text, folder), options, Silent())
    except (InternalError, AssertionError, ValueError):
        return "circuit and interpreter disagree"
    if result.violation is not None:
        return result.violation.kind
    return "inconclusive" if result.limits else "holds"


def stay_where_it_was(patch: pytest.MonkeyPatch) -> None:
    """A thread that takes a step is still where it was, so that it can take it again."""
    plain = Aig.both

    def take_turn(frame: Frame, *rest: object) -> None:
        def both(graph: Aig, first: int, second: int) -> int:
            passed = {event.literal ^ 1 for event in frame.events}
            return first if second in passed else plain(graph, first, second)

        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(Aig, "both", both)
            original(frame, *rest)  # type: ignore[arg-type]

    original = sweeps.take_turn
    patch.setattr(sweeps, "take_turn", take_turn)


def pick_first(patch: pytest.MonkeyPatch) -> None:
    original = Words.select

    def select(words: Words, condition: int, then: Word, otherwise: Word) -> Word:
        return original(words, condition, then, then if then.is_constant else otherwise)

    patch.setattr(Words, "select", select)


def forget_own_cells(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(earliest, "find_own_cells", lambda program, thread: set())


def forget_last_round(patch: pytest.MonkeyPatch) -> None:
    def since(turns: EarliestTurns, kind: int, cell: int) -> int:
        return turns.graph.some(done[kind].get(cell, FALSE) for done in turns.done)

    patch.setattr(EarliestTurns, "_since", since)


def forget_steps_back(patch: pytest.MonkeyPatch) -> None:
    original = EarliestTurns.end
    patch.setattr(EarliestTurns, "end", lambda turns, led_back: original(turns, FALSE))


def take_one_choice_for_all(patch: pytest.MonkeyPatch) -> None:
    def keep(outlook: StepOutlook, record: StepRecord, found: list[int]) -> list[int]:
        return found

    patch.setattr(StepOutlook, "quantify", keep)


def excuse_nobody(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_Judge, "remove_helped", lambda judge, deadlocked, reads: deadlocked)


def begin_anywhere(patch: pytest.MonkeyPatch) -> None:
    def only(places: Places, location: int) -> Places:
        return dict.fromkeys(places, FALSE) | {min(places): 1}

    patch.setattr(StepEncoder, "_only", staticmethod(only))


def drop_a_conflict(patch: pytest.MonkeyPatch) -> None:
    original = StubbornSets.disturb

    def disturb(sets: StubbornSets, one: int, other: int) -> int:
        return FALSE if (one, other) == (0, 1) else original(sets, one, other)

    patch.setattr(StubbornSets, "disturb", disturb)


def need_no_help(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(StubbornSets, "_find_helps", lambda sets, one, other: [])


def ignore_who_holds_a_lock(patch: pytest.MonkeyPatch) -> None:
    def holds(later: LaterTouches, thread: int, lock: int) -> int:
        return later.words.equals(later.environment.cells[lock], 0) ^ 1

    patch.setattr(LaterTouches, "holds", holds)


def run_on_over_conflicts(patch: pytest.MonkeyPatch) -> None:
    def find_none(*given: object) -> frozenset[int]:
        return frozenset()

    patch.setattr(TransactionFrame, "_find_rivals", find_none)


def hold_locks_everywhere(patch: pytest.MonkeyPatch) -> None:
    plain = TransactionFrame._find_rivals

    def find_rivals(
        frame: TransactionFrame, thread: int, place: int, other: int, held: frozenset[int]
    ) -> frozenset[int]:
        return plain(frame, thread, place, other, frame.locks)

    patch.setattr(TransactionFrame, "_find_rivals", find_rivals)


def forget_what_places_write(patch: pytest.MonkeyPatch) -> None:
    original = AttemptLiterals.group_places

    def group_places(attempt: AttemptLiterals) -> dict[StaticTouches, frozenset[int]]:
        groups = original(attempt).items()
        return {StaticTouches(touches.reads): places for touches, places in groups}

    patch.setattr(AttemptLiterals, "group_places", group_places)


def forget_sticky_locations(patch: pytest.MonkeyPatch) -> None:
    def find_none(program: Program) -> list[frozenset[int]]:
        return [frozenset() for _ in program.threads]

    patch.setattr(stubborn, "find_sticky_locations", find_none)


def forget_reads(patch: pytest.MonkeyPatch) -> None:
    def find(graph: Aig, record: StepRecord, static: tuple[set[int], set[int]]) -> Accesses:
        return {}, earliest.find_accesses(graph, record, static)[1]

    patch.setattr(peephole, "find_accesses", find)


def take_steps_where_nothing_counts(patch: pytest.MonkeyPatch) -> None:
    original = encoding.let_idle

    def let_idle(frame: Frame) -> None:
        events = frame.events
        original(frame)
        frame.events = events

    patch.setattr(encoding, "let_idle", let_idle)


# name, what is broken, the model, its verdict
MUTANTS: list[tuple[str, Callable[[pytest.MonkeyPatch], None], str, str]] = [
    ("a sweep lets a thread pass twice", stay_where_it_was, LOOP, "assert"),
    ("a multiplexer has a wrong default", pick_first, SEEN, "assert"),
    ("own cells that others ask for are no conflict", forget_own_cells, JOINED, "assert"),
    ("what others did in the last round is forgotten", forget_last_round, TURNS, "assert"),
    ("a step back frees no next turn", forget_steps_back, LOOP, "assert"),
    ("one choice that waits is a deadlock", take_one_choice_for_all, CHOICES, "holds"),
    ("an assumption excuses nobody in the circuit", excuse_nobody, STOPPED, "holds"),
    ("a step ends anywhere", begin_anywhere, LOOP, "assert"),
]


@pytest.mark.parametrize(
    ("break_it", "text", "verdict"),
    [mutant[1:] for mutant in MUTANTS],
    ids=[mutant[0] for mutant in MUTANTS],
)
def test_a_broken_circuit_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    break_it: Callable[[pytest.MonkeyPatch], None],
    text: str,
    verdict: str,
) -> None:
    assert find(text, tmp_path) == verdict
    break_it(monkeypatch)
    assert find(text, tmp_path) != verdict


# name, what is broken, the interleaving, the model, which fails
ORDER_MUTANTS: list[tuple[str, Callable[[pytest.MonkeyPatch], None], str, str]] = [
    ("a conflict of two threads is dropped", drop_a_conflict, "transactions", READS_BEFORE),
    ("a blocked thread needs nobody", need_no_help, "partial-order", WAITS_FOR_A_THIRD),
    ("a lock that somebody holds is everybody's", ignore_who_holds_a_lock, "transactions",
     HELD_BY_A_THIRD),
    ("a transaction runs on over a conflict", run_on_over_conflicts, "transactions", READS_TWICE),
    ("a transaction holds its locks for ever", hold_locks_everywhere, "transactions",
     READS_UNLOCKED),
    ("a group of places writes nothing", forget_what_places_write, "partial-order", READS_BEFORE),
    ("no location of a circuit is sticky", forget_sticky_locations, "partial-order", GOES_ROUND),
    ("the last step has read nothing", forget_reads, "peephole", READS_TWICE),
]  # fmt: skip


@pytest.mark.parametrize(
    ("break_it", "interleaving", "text"),
    [mutant[1:] for mutant in ORDER_MUTANTS],
    ids=[mutant[0] for mutant in ORDER_MUTANTS],
)
def test_a_broken_order_of_steps_loses_the_violation(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    break_it: Callable[[pytest.MonkeyPatch], None],
    interleaving: str,
    text: str,
) -> None:
    assert find(text, tmp_path, interleaving) == "assert"
    break_it(monkeypatch)
    assert find(text, tmp_path, interleaving) in ("holds", "inconclusive")


@pytest.mark.parametrize("strategy", ["pdr", "bdd"])
def test_a_thread_that_is_put_off_for_ever_is_noticed_in_proofs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, strategy: str
) -> None:
    assert find(GOES_ROUND, tmp_path, "partial-order", strategy) == "assert"
    forget_sticky_locations(monkeypatch)
    assert find(GOES_ROUND, tmp_path, "partial-order", strategy) == "holds"


def test_a_step_of_a_frame_that_does_not_count_is_noticed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The stubborn set of the first state is the first thread: a frame in which the input chooses
    the second one changes nothing, and is no step of the schedule."""

    def follow(mover: int) -> list[Move]:
        program = load(WRITE_APART, tmp_path)
        circuit = encoding.encode(program, Interleaving.PARTIAL_ORDER, idling=True)
        reader = ScheduleReader(circuit)
        reader.follow([[mover]])
        return reader.path

    assert (follow(0), follow(1)) == ([Move(0)], [])
    take_steps_where_nothing_counts(monkeypatch)
    with pytest.raises(InternalError, match="the state is another one"):
        follow(1)
