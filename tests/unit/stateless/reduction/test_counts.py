"""How many executions each search makes of programs whose traces can be counted by hand."""

from __future__ import annotations

import pytest
from tests.unit.ir.programs import crossed_locks
from tests.unit.stateless.schedule_programs import (
    choice_that_others_enable,
    choices_beside_a_write,
    critical_sections,
    file_system,
    guard_of_two,
    indexer,
    own_variables,
    read_modify_write,
    same_variable,
)

from mazurka.ir.program import Program
from mazurka.stateless.explored import Explored, RunOptions
from mazurka.stateless.models.execution import IRExecution
from mazurka.stateless.reduction.dpor import DynamicReduction, SleepingReduction
from mazurka.stateless.reduction.optimal_dpor import WakeupTrees
from mazurka.stateless.reduction.sleep_sets import ScheduleSearch, SleepSets
from mazurka.stateless.reduction.source_dpor import SourceSets
from mazurka.stateless.runs import Decider, Ended

ONE_EACH = (SleepSets, SleepingReduction, SourceSets, WakeupTrees)
"""The searches that complete each trace exactly once."""
EACH = (DynamicReduction, *ONE_EACH)
ALL = RunOptions(stop_at_first=False)

once = pytest.mark.parametrize("search", ONE_EACH)
every = pytest.mark.parametrize("search", EACH)


class Deadlocks(IRExecution):
    """Counts the runs that end in a deadlock."""

    deadlocks = 0

    def run(self, decider: Decider) -> Ended:
        end = super().run(decider)
        self.deadlocks += any(failed.kind == "deadlock" for failed in end.failures)
        return end


def result_of(program: Program, search: type[ScheduleSearch]) -> Explored:
    found = search(IRExecution(program), ALL).run()
    assert found.limits == ()
    return found


@every
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_that_never_meet_run_once(search: type[ScheduleSearch], threads: int) -> None:
    found = result_of(own_variables(threads), search)
    assert found.executions == 1
    assert found.steps == threads or search is SleepSets


@every
@pytest.mark.parametrize(("threads", "orders"), [(2, 2), (3, 6), (4, 24)])
def test_writes_of_one_variable_come_in_every_order(
    search: type[ScheduleSearch], threads: int, orders: int
) -> None:
    assert result_of(same_variable(threads), search).executions == orders


@once
@pytest.mark.parametrize(
    ("threads", "rounds", "orders"),
    [
        (2, 1, 2),
        (3, 1, 6),  # 3! orders of three sections
        (2, 2, 6),  # 4! / (2! 2!)
        (3, 2, 90),  # 6! / (2! 2! 2!)
    ],
)
def test_critical_sections_come_in_every_order(
    search: type[ScheduleSearch], threads: int, rounds: int, orders: int
) -> None:
    """A thread that waits for the lock takes no step: only the order of the sections counts."""
    assert result_of(critical_sections(threads, rounds), search).executions == orders


class EverySchedule(SleepSets):
    """All schedules, one by one."""

    uses_sleep_sets = False


def test_schedules_of_one_round() -> None:
    """Two threads, two steps each: 4! / (2! 2!) schedules."""
    assert result_of(read_modify_write(2, 1), EverySchedule).executions == 6


@once
@pytest.mark.parametrize(
    ("rounds", "traces"),
    [
        # R and W of one thread, r and w of the other.  Of the 6 schedules RWrw, rwRW stand alone,
        # and among RrWw, RrwW, rRWw, rRwW the two reads commute, which leaves 2.
        (1, 4),
        (2, 34),  # by enumeration of all C(8, 4) = 70 schedules
    ],
)
def test_lost_updates(search: type[ScheduleSearch], rounds: int, traces: int) -> None:
    assert result_of(read_modify_write(2, rounds), search).executions == traces


@once
def test_crossed_locks_deadlock_in_one_trace(search: type[ScheduleSearch]) -> None:
    """One thread after the other, the other way round, or each with its first lock."""
    program = Deadlocks(crossed_locks())
    assert search(program, ALL).run().executions == 3
    assert program.deadlocks == 1


@once
@pytest.mark.parametrize("count", [1, 2, 3])
def test_each_choice_is_an_execution_of_its_own(search: type[ScheduleSearch], count: int) -> None:
    """The write that follows comes before or after the read."""
    assert result_of(choices_beside_a_write(count), search).executions == 2 * count


@every
def test_a_choice_that_another_thread_makes_possible(search: type[ScheduleSearch]) -> None:
    """0 before x is set, 0 after it, 1 after it."""
    assert result_of(choice_that_others_enable(), search).executions == 3


@every
@pytest.mark.parametrize("first", [False, True])
def test_a_thread_that_only_the_first_node_lets_through(
    search: type[ScheduleSearch], first: bool
) -> None:
    """Either of the two others keeps it waiting for ever, so it has to come before both."""
    assert result_of(guard_of_two(first), search).kinds == {"assert", "deadlock"}


@pytest.mark.parametrize("search", [each for each in EACH if each is not SleepSets])
@pytest.mark.parametrize("threads", [2, 11])
def test_indexer_without_collisions(search: type[ScheduleSearch], threads: int) -> None:
    """Up to eleven threads no two words have one slot.  (Sleep sets alone visit all 5 ** 11
    states.)"""
    assert result_of(indexer(threads), search).executions == 1


@pytest.mark.parametrize("search", [SleepingReduction, SourceSets, WakeupTrees])
def test_indexer_with_collisions(search: type[ScheduleSearch]) -> None:
    """Word m of thread 11 is word m + 1 of thread 0, for m = 1, 2, 3: three collisions."""
    assert result_of(indexer(12), search).executions == 2**3


@pytest.mark.parametrize("search", [SleepingReduction, SourceSets, WakeupTrees])
@pytest.mark.parametrize("threads", [13, 14, 16])
def test_file_system(search: type[ScheduleSearch], threads: int) -> None:
    """Threads t and t + 13 begin with the same block, 2t modulo 26; whoever comes second goes on to
    the next one, which is odd, and nobody else's.  So each such pair has two orders."""
    assert result_of(file_system(threads), search).executions == 2 ** max(0, threads - 13)


@pytest.mark.parametrize("threads", [12, 13])
def test_optimal_search_makes_no_run_in_vain(threads: int) -> None:
    assert result_of(indexer(threads), WakeupTrees).abandoned == 0
