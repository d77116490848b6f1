"""Explore a test, or replay a token on it: the ways into this room."""

from __future__ import annotations

import time
from _thread import RLock, get_ident
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from mazurka.report.answer import ERROR, HOLDS, INCONCLUSIVE, UNOBSERVED, VIOLATED
from mazurka.runtime.core.interruptions import LeaveAt
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.exploring.exploration import Exploration, describe_lost
from mazurka.runtime.exploring.guard import describe_end
from mazurka.runtime.exploring.losses import losses
from mazurka.runtime.exploring.observed_program import ObservedProgram
from mazurka.runtime.exploring.options import ExploreOptions, Test
from mazurka.runtime.exploring.races import RaceChecked
from mazurka.runtime.exploring.repeated_warnings import show_warnings_once
from mazurka.runtime.exploring.tokens import Token, replay
from mazurka.runtime.sharing.monitoring import unobserved
from mazurka.runtime.story.diagnosing import diagnose
from mazurka.runtime.story.failure import describe_failure
from mazurka.runtime.story.result import Result
from mazurka.stateless.explored import INTERRUPTED, Explored, Progress
from mazurka.supported_pythons import warn_if_newer

_turn: Final = RLock()


@contextmanager
def take_turn() -> Iterator[None]:
    """Let the explorations of several threads of a process follow each other: each patches what the
    process has once.  An exploration inside of another one is refused where it begins."""
    if session.current.ident == get_ident():
        yield
        return
    with _turn:
        yield


def explore_test(
    test: Test,
    options: ExploreOptions,
    progress: Progress | None = None,
    since: float | None = None,
) -> Result:
    """Explore a test.  What is wrong with it, or with us, becomes a result of its own.

    The time that the options allow begins now, or at `since`.
    """
    warn_if_newer()
    options = options.with_seed()
    result = begin_result(test, options)
    with take_turn(), show_warnings_once(), losses.of_one_exploration():
        started = time.perf_counter() if since is None else since
        if options.isolate:
            from mazurka.runtime.exploring.isolated import explore_isolated

            return explore_isolated(
                explore_test, test, options, replay_test, result, progress, started
            )
        if options.workers > 1:
            from mazurka.runtime.exploring.workers.parallel import ParallelExploration

            if ParallelExploration(test, options, result, progress, started).has_run():
                return result
        Exploration(test, options, result, progress, started).run()
    if result.violation is not None:
        from mazurka.runtime.exploring.plain_run import fails_plainly

        result.fails_plainly = fails_plainly(test, result)
    return result


def begin_result(test: Test, options: ExploreOptions) -> Result:
    """A result of which only the question is known."""
    replay = [f"--leave-out {name}" for name in options.leave_out]
    return Result(
        input=test.name,
        verdict=ERROR,
        strategy=options.strategy,
        preemptions=None if options.sampled else options.bound,
        seed=options.seed,
        races=options.races,
        semantics=options.semantics,
        replay_options=" ".join(replay if options.virtual_time else [*replay, "--real-time"]),
    )


def conclude_interrupted(test: Test, options: ExploreOptions, explored: Explored) -> Result:
    """Tell what is known of a test whose exploration somebody has ended."""
    explored.limit(INTERRUPTED)
    result = begin_result(test, options)
    Exploration(test, options, result).conclude(replace(explored, failures=[]), ())
    return result


def replay_test(test: Test, options: ExploreOptions, token: Token) -> Result:
    """Follow a token; the failure that it stands for is a violation, anything else is not."""
    warn_if_newer()
    options = replace(options, semantics=token.semantics)
    races = options.races or token.failure == "race"
    result = Result(input=test.name, verdict=HOLDS, strategy="replay", races=races)
    result.semantics = options.semantics

    def conduct(program: ObservedProgram) -> None:
        at = token.interruption
        with program.interrupted_by(None if at is None else LeaveAt(at)):
            story = replay(RaceChecked(program) if races else program, token)
        result.executions = result.runs = 1
        result.steps = len(story.steps)
        found = [failed for failed in story.ended.failures if failed.kind == token.failure]
        if found and losses.may_explain(found[0]):
            result.verdict, result.limits = INCONCLUSIVE, (UNOBSERVED,)
            result.scope = describe_lost(unobserved.lost, found[0])
            return
        if found:
            result.verdict = VIOLATED
            diagnosis = diagnose(found[0], story).diagnosis
            result.violation = describe_failure(found[0], story, diagnosis=diagnosis)
            result.story = story
            result.scope = "the recorded schedule, replayed"
            return
        instead = describe_end(story.ended)
        result.scope = f"the recorded schedule, replayed: the failure does not occur, {instead}"

    with take_turn(), losses.of_one_exploration():
        Exploration(test, options, result).control(conduct)
    return result
