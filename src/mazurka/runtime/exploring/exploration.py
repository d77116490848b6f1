"""A test, explored: guard, search, simplest failing schedule, recorded run, result."""

from __future__ import annotations

import linecache
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from mazurka.errors import InternalError, MazurkaError
from mazurka.report.outcome import ERROR, HOLDS, INCONCLUSIVE, UNSOUND, VIOLATED
from mazurka.runtime.core.failures import ControlError
from mazurka.runtime.core.sites import shown_path
from mazurka.runtime.exploring.guard import (
    NondeterministicError,
    check_deterministic,
    unseen,
    with_reason,
)
from mazurka.runtime.exploring.minimize import is_same, minimize
from mazurka.runtime.exploring.observed_program import (
    ObservedProgram,
    observe_test,
    require_observed,
)
from mazurka.runtime.exploring.options import SAMPLES, SEARCHES, ExploreOptions, Test
from mazurka.runtime.exploring.races import RaceChecked
from mazurka.runtime.exploring.repeated_warnings import each_warning_once
from mazurka.runtime.exploring.replaying import replay
from mazurka.runtime.exploring.schedules import Follow
from mazurka.runtime.exploring.scope import scope_of
from mazurka.runtime.exploring.tokens import Token, token_of
from mazurka.runtime.program.program import ControlSettings
from mazurka.runtime.program.watchdog import UncontrolledCallError
from mazurka.runtime.rewrite.selection import require_modules
from mazurka.runtime.story.recording import record
from mazurka.runtime.story.result import Result, describe_failure
from mazurka.runtime.story.story import Story
from mazurka.stateless import iterative, randomized
from mazurka.stateless.explored import (
    INTERRUPTED,
    TIME,
    DivergedError,
    Explored,
    Failing,
    Progress,
    RunOptions,
)
from mazurka.stateless.runs import Failed, OutOfTime, Runnable


def explore_test(test: Test, options: ExploreOptions, progress: Progress | None = None) -> Result:
    """Explore a test.  What is wrong with it, or with us, becomes a result of its own."""
    options = options.with_seed()
    result = Result(
        input=test.name,
        verdict=ERROR,
        strategy=options.strategy,
        preemptions=None if options.sampled else options.preemptions,
        seed=options.seed,
        races=options.races,
        replay_options=replay_options(options),
    )

    started = time.perf_counter()

    def conduct(program: ObservedProgram) -> None:
        Exploration(test, options, program, result, progress, started).conduct()

    with each_warning_once():
        if options.workers > 1:
            from mazurka.runtime.exploring.workers.parallel import explore_by_workers

            if explore_by_workers(test, options, result, progress, started):
                return result
        under_control(test, options, result, conduct, started)
    return result


def interrupted(test: Test, options: ExploreOptions, explored: Explored) -> Result:
    """What is known of a test whose exploration somebody has ended."""
    explored.limit(INTERRUPTED)
    result = Result(input=test.name, verdict=INCONCLUSIVE, strategy=options.strategy)
    result.preemptions = None if options.sampled else options.preemptions
    result.seed, result.races = options.seed, options.races
    conclude(result, options, replace(explored, failures=[]), ())
    return result


def replay_options(options: ExploreOptions) -> str:
    """What `mazurka replay` has to be told besides the token."""
    parts = [f"--instrument {name}" for name in options.instrument]
    if not options.virtual_time:
        parts.append("--real-time")
    return " ".join(parts)


def replay_test(test: Test, options: ExploreOptions, token: Token) -> Result:
    """Follow a token; the failure that it stands for is a violation, anything else is not."""
    races = options.races or token.failure == "race"
    result = Result(input=test.name, verdict=HOLDS, strategy="replay", races=races)

    def conduct(program: ObservedProgram) -> None:
        story = replay(RaceChecked(program) if races else program, token)
        result.executions = result.runs = 1
        result.steps = len(story.steps)
        found = [failed for failed in story.ended.failures if failed.kind == token.failure]
        if found:
            result.verdict = VIOLATED
            result.violation, result.story = describe_failure(found[0], story), story
            result.scope = "the recorded schedule, replayed"
            return
        instead = story.ended.failures[0].message if story.ended.failures else "it passes"
        result.scope = f"the recorded schedule, replayed: the failure does not occur, {instead}"

    under_control(test, options, result, conduct)
    return result


def settings_of(
    test: Test, options: ExploreOptions, started: float | None = None
) -> ControlSettings:
    """`started` is when the time that the options allow began to pass, if it does."""
    seconds = options.seconds
    return ControlSettings(
        deadline=None if started is None or seconds is None else started + seconds,
        patience=options.patience,
        virtual_time=options.virtual_time,
        max_steps=max(options.max_steps * 10, 100_000),
        skips=test.skips,
    )


def under_control(
    test: Test,
    options: ExploreOptions,
    result: Result,
    conduct: Callable[[ObservedProgram], None],
    started: float | None = None,
) -> None:
    """Do something with a test's program under control; errors are noted in the result."""
    settings = settings_of(test, options, started)
    linecache.checkcache()
    try:
        require_modules(options.instrument)
        with observe_test(test.body, test.function, options.instrument, settings) as program:
            require_observed(program, test.function)
            program.supervise(lambda: conduct(program))
    except UncontrolledCallError as error:
        failed = error.failed
        result.error = MazurkaError(
            "\n  ".join((failed.message, *failed.details)),
            file=shown_path(failed.file) if failed.file else None,
            line=failed.line,
        )
    except OutOfTime:
        run_out(result, started)
    except (InternalError, DivergedError) as error:
        result.error = unseen(error, test.place)
    except MazurkaError as error:
        result.error = error
    except ControlError as error:
        file, line = test.place
        result.error = MazurkaError(str(error), file=file, line=line)
    if result.error is not None:
        result.error = with_reason(result.error)
        result.verdict = ERROR
        result.scope = ""


def run_out(result: Result, started: float | None) -> None:
    """The time was over before there was anything to record."""
    result.seconds = 0.0 if started is None else time.perf_counter() - started
    result.verdict = INCONCLUSIVE
    result.limits = (TIME,)
    result.scope = (
        "nothing is known: the time limit was hit while the first executions showed what the"
        " threads share"
    )


class Exploration:
    """One exploration of one program under control; fills in a result."""

    def __init__(
        self,
        test: Test,
        options: ExploreOptions,
        program: ObservedProgram,
        result: Result,
        progress: Progress | None,
        started: float,
    ) -> None:
        self.test = test
        self.options = options
        self.program = program
        self.result = result
        self.progress = progress
        self.started = started
        self.notes = result.notes

    def conduct(self) -> None:
        """All of it; done again from the start where a run shows that more is shared."""
        self.result.notes = (*self.notes, *check_deterministic(self.program))
        watched: Runnable = RaceChecked(self.program) if self.options.races else self.program
        explored = self.search(watched)
        if not self.is_enough(explored):
            return
        conclude(self.result, self.options, explored, self.program.not_observed)
        if explored.failures:
            self.explain(explored.failures[0], watched)

    def is_enough(self, explored: Explored) -> bool:
        """Whether what was seen is the answer."""
        return True

    def limits(self) -> RunOptions:
        options = self.options
        return RunOptions(
            max_runs=None if options.sampled else options.executions,
            limit_seconds=self.time_left(),
            max_steps=options.max_steps,
        )

    def search(self, program: Runnable) -> Explored:
        options, limits = self.options, self.limits()
        if options.sampled:
            assert options.seed is not None
            kind = randomized.STRATEGIES[options.strategy]
            sampler = kind(program, options.seed, limits, self.progress)
            return sampler.sample(options.executions or SAMPLES)
        name = SEARCHES[options.strategy]
        return iterative.explore(program, options.preemptions, name, limits, self.progress)

    def time_left(self) -> float | None:
        """Of the time limit, which all searches share."""
        if self.options.seconds is None:
            return None
        return max(self.options.seconds - (time.perf_counter() - self.started), 0.001)

    def explain(self, failing: Failing, program: Runnable) -> None:
        """Run the simplest schedule that fails in this way again, and record what happens."""
        schedule = self.simplest(failing, program)
        self.program.real.forget_deadline()
        story = record(program, Follow(schedule))
        failed = the_same(failing.failed, story)
        self.result.violation = describe_failure(failed, story)
        self.result.story = story
        self.result.token = token_of(self.test.name, failed.kind, story).encode()

    def simplest(self, failing: Failing, program: Runnable) -> tuple[int, ...]:
        found = minimize(program, failing.failed, failing.schedule, failing.preemptions)
        return found.schedule


def conclude(
    result: Result, options: ExploreOptions, explored: Explored, not_observed: Sequence[str]
) -> None:
    """The verdict, its scope, and what it cost."""
    result.limits = explored.limits
    if explored.failures:
        result.verdict = VIOLATED
    elif options.sampled:
        result.verdict = INCONCLUSIVE
        result.limits = (*explored.limits, UNSOUND)
    else:
        result.verdict = HOLDS if explored.complete else INCONCLUSIVE
    result.executions = explored.executions
    if options.strategy == "algorithm2":
        result.partial_orders = explored.executions
    result.runs, result.steps = explored.runs, explored.steps
    result.states, result.seconds = explored.states, explored.seconds
    result.levels = tuple(explored.levels)
    result.not_observed = tuple(not_observed)
    result.scope = scope_of(
        result.verdict,
        explored,
        each_once=options.strategy != "cb-dfs",
        sampled=options.sampled,
        seed=options.seed,
        not_observed=result.not_observed,
    )


def the_same(failed: Failed, story: Story) -> Failed:
    """The failure of the recorded run that is the one that was found."""
    for again in story.ended.failures:
        if is_same(failed, again):
            return again
    raise NondeterministicError(
        f"a failure could not be reproduced under its own schedule: {failed.message}. The test does"
        " not do the same again.",
        file=shown_path(failed.file) if failed.file else None,
        line=failed.line,
    )
