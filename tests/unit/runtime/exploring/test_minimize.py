"""Minimization: fewer switches, the same failure, every candidate really run."""

from __future__ import annotations

from tests.unit.runtime.concurrent_programs import lock_order, module_lock_kept

from mazurka.runtime.exploring.minimize import PlannedRun, fails_alike, minimize, propose_simpler
from mazurka.runtime.exploring.schedules import Follow, split_segments
from mazurka.runtime.program.program import RealProgram
from mazurka.runtime.story.recording import record
from mazurka.stateless.explored import RunOptions
from mazurka.stateless.randomized import RandomWalk
from mazurka.stateless.runs import Decider, Ended, Failed


def test_segments_join_steps_of_one_thread() -> None:
    assert split_segments([0, 0, 1, 0]) == [(0, 2), (1, 1), (0, 1)]
    assert split_segments([]) == []


def test_candidates_are_never_longer() -> None:
    schedule = [0, 1, 0, 2, 1, 0]
    for plan in propose_simpler(schedule):
        assert len(plan) < len(split_segments(schedule))


def test_a_wild_schedule_is_reduced_to_one_preemption() -> None:
    with RealProgram(lock_order) as program:

        def conduct() -> tuple[int, int, int]:
            search = RandomWalk(program, 3, RunOptions(stop_at_first=True))
            failing = search.sample(500).failures[0]
            found = minimize(program, failing.failed, failing.schedule, failing.preemptions)
            story = record(program, Follow(found.schedule))
            assert any(fails_alike(failing.failed, failed) for failed in story.ended.failures)
            return found.preemptions, story.preemptions, len(split_segments(found.schedule))

        assert program.supervise(conduct) == (1, 1, 3)


def test_no_schedule_is_run_twice() -> None:
    with RealProgram(lock_order) as program:
        run, schedules = program.run, []

        def note(decider: Decider) -> Ended:
            ended = run(decider)
            if isinstance(decider, PlannedRun):
                schedules.append(tuple(decider.schedule))
            return ended

        def conduct() -> int:
            search = RandomWalk(program, 3, RunOptions(stop_at_first=True))
            failing = search.sample(500).failures[0]
            program.run = note  # type: ignore[method-assign]
            found = minimize(program, failing.failed, failing.schedule, failing.preemptions)
            return found.runs

        assert program.supervise(conduct) == len(schedules) == len(set(schedules)) > 1


def test_a_schedule_that_does_not_fit_is_followed_as_far_as_it_goes() -> None:
    with RealProgram(module_lock_kept) as program:
        attempt = PlannedRun([(7, 3), (0, 1), (5, 2)])
        ended = program.run(attempt)
    assert not ended.failures
    assert attempt.schedule[0] == 0
    assert attempt.preemptions == 0


def test_the_same_failure_is_one_of_the_same_sort_at_the_same_place() -> None:
    one = Failed(kind="exception", message="ValueError: 1", file="a.py", line=3)
    assert fails_alike(one, Failed(kind="exception", message="ValueError: 2", file="a.py", line=3))
    assert not fails_alike(
        one, Failed(kind="exception", message="KeyError: 1", file="a.py", line=3)
    )
    assert not fails_alike(
        one, Failed(kind="exception", message="ValueError: 1", file="a.py", line=4)
    )
    assert not fails_alike(one, Failed(kind="assert", message="ValueError: 1", file="a.py", line=3))
