"""The way of one exploration: guard, search, simplest failing schedule, recorded run, result."""

from __future__ import annotations

import linecache
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from mazurka.errors import InternalError, MazurkaError
from mazurka.report.answer import ERROR, HOLDS, INCONCLUSIVE, UNOBSERVED, UNSOUND, VIOLATED
from mazurka.report.words import counted
from mazurka.runtime.core.failures import ControlError, Skip
from mazurka.runtime.core.host import ControlSettings
from mazurka.runtime.core.interruptions import LeaveAt
from mazurka.runtime.core.sites import shown_path
from mazurka.runtime.exploring.busiest import describe_busiest
from mazurka.runtime.exploring.guard import (
    NondeterministicError,
    add_unobserved,
    check_deterministic,
    explain_contradiction,
    find_difference,
)
from mazurka.runtime.exploring.learning import learn_ahead
from mazurka.runtime.exploring.losses import losses
from mazurka.runtime.exploring.minimize import Minimal, fails_alike, minimize
from mazurka.runtime.exploring.observed_program import (
    ObservedProgram,
    RelearnError,
    observe_test,
    require_observed,
)
from mazurka.runtime.exploring.options import (
    ANY_TIME,
    FREE_THREADED,
    SAMPLES,
    SEARCHES,
    ExploreOptions,
    Test,
    Usual,
)
from mazurka.runtime.exploring.races import RaceChecked
from mazurka.runtime.exploring.schedules import Follow
from mazurka.runtime.exploring.tokens import Token, make_token
from mazurka.runtime.exploring.unseen import (
    UNSEEN_SCOPE,
    Unseen,
    diagnose_unseen,
    find_unseen,
)
from mazurka.runtime.program.blocked import UNEXPLORED as UNEXPLORED_WAIT
from mazurka.runtime.program.watchdog import UncontrolledCallError
from mazurka.runtime.rewrite.selection import named_modules, require_modules
from mazurka.runtime.sharing.monitoring import HIDDEN, IN_STEPS, LOST, UNEXPLORED, unobserved
from mazurka.runtime.story.diagnosing import diagnose
from mazurka.runtime.story.failure import describe_failure
from mazurka.runtime.story.recording import record
from mazurka.runtime.story.result import Result
from mazurka.runtime.story.story import Story
from mazurka.search import LOST_WORKER
from mazurka.stateless import iterative, randomized
from mazurka.stateless.explored import (
    INTERRUPTED,
    PROCESSOR_TIME,
    TIME,
    WAITING_TIME,
    DivergedError,
    Explored,
    Failing,
    Progress,
    RunOptions,
)
from mazurka.stateless.runs import Decider, Ended, Failed, OutOfTime, Runnable
from mazurka.system_limits import SystemLimit, find_limit

ENDLESS = (
    "probably in a loop that waits for other threads and takes a lock in each round; let it wait"
    " for a condition or an event, or call time.sleep in it. If the execution does end, allow more"
    " steps (--max-steps)"
)
TOO_DEEP = (
    "the test calls functions so deeply that no frames are left to observe them with: each call"
    " under observation takes some frames more. Allow more where the test's module begins"
    " (sys.setrecursionlimit(10_000)), or let the test go less deep"
)
PATIENT_RUNS = 1000
"""The most runs in which a failure is looked for that needs no early timeout."""


@dataclass
class Exploration:
    """One exploration of one test in this process; fills in a result."""

    is_shared: ClassVar[bool] = False
    """Whether other processes have to learn the same in the same order."""

    test: Test
    options: ExploreOptions
    result: Result
    progress: Progress | None = None
    started: float | None = None
    """When the time that the options allow began to pass; None where it does not."""

    def __post_init__(self) -> None:
        self.notes = self.result.notes
        self.allowance = self.options.find_allowance()
        self._checked_after: int | None = None
        """How often the search had begun anew when the test was seen to do the same again."""
        self._searched = 0
        """How many runs there had been when the last search began; 0 if none was cut short."""
        self._first_skip: Skip | None = None
        self._concluded = Explored()
        """The search that the verdict is about."""

    def run(self) -> None:
        self.control(self.conduct)
        self.tell_skips()

    # -- the program under control -----------------------------------------------------------

    def control(self, conduct: Callable[[ObservedProgram], None], *, timed: bool = True) -> None:
        """Do something with the test's program under control; errors are noted in the result."""
        test, options, result = self.test, self.options, self.result
        settings = self.choose_settings(timed=timed)
        linecache.checkcache()
        try:
            with limits_of_system(result):
                require_modules(options.leave_out)
                with observe_test(test.body, test.function, options.leave_out, settings) as program:
                    require_observed(program, test.function)
                    program.supervise(lambda: conduct(program))
        except UncontrolledCallError as error:
            if error.failed.kind == UNEXPLORED_WAIT:
                self.conclude_blocked(error)
            else:
                result.error = error.explain()
        except OutOfTime:
            self.conclude_late()
        except (InternalError, DivergedError) as error:
            result.error = explain_contradiction(error, test.place)
        except MazurkaError as error:
            result.error = error
        except (ControlError, RecursionError) as error:
            file, line = test.place
            text = TOO_DEEP if isinstance(error, RecursionError) else str(error)
            result.error = MazurkaError(text, file=file, line=line)
        if result.error is not None:
            result.error = add_unobserved(result.error)
            result.verdict = ERROR
            result.scope = ""

    def choose_settings(self, *, timed: bool = True) -> ControlSettings:
        """How the program is to be controlled; `timed` says whether the time limit counts."""
        options, started = self.options, self.started
        seconds = options.limit_seconds if timed else None
        return ControlSettings(
            deadline=None if started is None or seconds is None else started + seconds,
            patience=options.patience,
            virtual_time=options.virtual_time,
            free_threaded=options.semantics == FREE_THREADED,
            max_steps=max(options.max_steps * 10, 100_000),
            skips=self.test.skips,
            ends=self.test.ends,
        )

    # -- the search --------------------------------------------------------------------------

    def conduct(self, program: ObservedProgram) -> None:
        """Check that the test does the same again, search, and explain the first failure.

        This is done again from the start where a run shows that more is shared.  The check comes
        first until it has passed, and then again at the end if a search has begun anew since.
        """
        if self._checked_after is None or self.is_shared:
            self.check_repeated(program)
        elif self._searched and not self.options.sampled:
            runs = program.runs - self._searched
            learn_ahead(program, self.options.bound, runs, self.choose_limits())
        checked = self.check_races(program)
        self._searched = program.runs
        explored = self.search_observed(program, checked)
        self._first_skip = program.real.first_skip
        if program.restarts != self._checked_after and not explored.limits:
            self._searched = 0  # what this shows has cost no search
            self.check_repeated(program)
        if self.is_enough(explored):
            unseen = self.look_for_unseen(program, explored)
            self.conclude(explored, program.not_observed, program.unobserved_code)
            if program.long_run and any("more than" in one for one in explored.limits):
                self.result.notes += (f"{program.long_run}: {ENDLESS}",)
            if self.is_to_explain(explored):
                self.explain(explored.failures[0], program, checked)
            elif unseen is not None:
                self.explain_unseen(unseen, program)
            elif is_too_large(explored):
                self.tell_busiest(program)

    def is_to_explain(self, explored: Explored) -> bool:
        """Return whether a failure is shown here, or replayed by another process."""
        return self.result.verdict == VIOLATED or bool(explored.failures and losses.can_confirm)

    def tell_busiest(self, program: ObservedProgram) -> None:
        """Say what makes executions long, where there were too many of them."""
        program.real.forget_deadline()
        found = describe_busiest(partial(run_to_explain, program))
        if found is not None:
            self.result.notes += (found,)

    def check_repeated(self, program: ObservedProgram) -> None:
        """Check that the test does the same again, and note what differs all the same."""
        self.result.notes = (*self.notes, *check_deterministic(program))
        self._checked_after = program.restarts

    def may_miss(self, explored: Explored) -> bool:
        """Whether to look for failures that a search has not seen, which has found none.

        That takes one preemption.  Where modules are left out, these are accepted.
        """
        options = self.options
        wanted = options.bound != 0 and not (options.sampled or options.leave_out)
        return wanted and explored.complete and not explored.failures

    def look_for_unseen(self, program: ObservedProgram, explored: Explored) -> Unseen | None:
        """Look for a failure that the search has not seen."""
        found = find_unseen(program, self.choose_limits()) if self.may_miss(explored) else None
        return None if found is None or losses.may_explain(found.failed) else found

    def search_observed(self, program: ObservedProgram, checked: Runnable) -> Explored:
        """Search; where the search contradicts itself, find out which step is not done again."""
        try:
            return self.search(checked)
        except (InternalError, DivergedError):
            found = find_difference(program, program.last_schedule)
            if found is not None:
                raise found from None
            raise

    def check_races(self, program: ObservedProgram) -> Runnable:
        """The program, with races as failures where they are asked for."""
        return RaceChecked(program) if self.options.races else program

    def is_enough(self, explored: Explored) -> bool:
        """Whether what was seen is the answer."""
        return True

    def search(self, program: Runnable) -> Explored:
        options, limits = self.options, self.choose_limits()
        if options.sampled:
            return self.sample(program, options.executions or SAMPLES, limits)
        name = SEARCHES[options.strategy]
        return iterative.explore(program, options.bound, name, limits, self.progress)

    def sample(self, program: Runnable, count: int, limits: RunOptions) -> Explored:
        """Run random schedules."""
        options = self.options
        assert options.seed is not None
        kind = randomized.STRATEGIES[options.strategy]
        return kind(program, options.seed, limits, self.progress).sample(count)

    def search_patiently(self, program: Runnable) -> Explored:
        """Look for a failure that needs no early timeout, when one that does has been found.

        People believe such a failure sooner.  So it is worth some more runs, though not as many as
        there may be: within the same bound, or by as many random schedules.
        """
        options = self.options
        most = min(options.executions or PATIENT_RUNS, PATIENT_RUNS)
        limits = replace(self.choose_limits(), early_timeouts=False)
        if options.sampled:
            return self.sample(program, most, replace(limits, max_runs=None))
        bound = Usual.BOUND.value if options.strategy in iterative.REDUCTIONS else options.bound
        return iterative.explore(program, bound, options=replace(limits, max_runs=most))

    def choose_limits(self) -> RunOptions:
        """The limits of a search; all searches of an exploration share its time."""
        options, left = self.options, self.options.limit_seconds
        if left is not None and self.started is not None:
            left = max(left - (time.perf_counter() - self.started), 0.001)
        return RunOptions(
            max_runs=None if options.sampled else options.executions,
            limit_seconds=left,
            allowance=self.allowance,
            max_steps=options.max_steps,
            early_timeouts=options.timeouts == ANY_TIME,
        )

    # -- the result --------------------------------------------------------------------------

    def explain(self, failing: Failing, program: ObservedProgram, checked: Runnable) -> None:
        """Run the simplest schedule that fails in this way again, and tell what happens.

        Where that needs an early timeout, a failure that needs none is told instead, if there is
        one.
        """
        failed, needs_early = failing.failed, False
        simplest = _minimize(checked, failing)
        if simplest.early:
            patient = self.search_patiently(checked)
            if patient.failures and not losses.may_explain(patient.failures[0].failed):
                self.conclude(patient, self.result.not_observed)
                failing = patient.failures[0]
                failed = failing.failed
                simplest = _minimize(checked, failing)
            else:
                needs_early = patient.complete
                self.result.runs += patient.runs
                self.result.seconds += patient.seconds
                self.result.scope += f"; {_describe_patient(patient)}"
        program.real.forget_deadline()
        story = record(checked, Follow(simplest.schedule))
        failed = find_same_failure(failed, story)
        diagnosis, story = diagnose(failed, story, partial(run_to_explain, checked))
        failed = find_same_failure(failed, story)
        self.result.violation = describe_failure(
            failed, story, needs_early=needs_early, diagnosis=diagnosis
        )
        self.result.story = story
        self.result.token = self.make_token(failed, story).encode()

    def explain_unseen(self, unseen: Unseen, program: ObservedProgram) -> None:
        """Tell of a failure that needs a switch where the search sees nothing shared."""
        result = self.result
        program.real.forget_deadline()
        with program.interrupted_by(LeaveAt(unseen.at)):
            story = record(program, Follow(unseen.schedule))
        failed = find_same_failure(unseen.failed, story)
        result.verdict = VIOLATED
        result.limits = ()
        result.scope += f"; {UNSEEN_SCOPE}"
        result.violation = describe_failure(failed, story, diagnosis=diagnose_unseen(story))
        result.story = story
        result.token = replace(self.make_token(failed, story), interruption=unseen.at).encode()

    def make_token(self, failed: Failed, story: Story) -> Token:
        """Make a token of a run that fails, which is replayed in the same semantics."""
        token = make_token(self.test.name, failed.kind, story)
        return replace(token, semantics=self.options.semantics)

    def conclude(
        self,
        explored: Explored,
        not_observed: Sequence[str],
        unobserved_code: Sequence[str] = (),
    ) -> None:
        """Fill in the verdict, its scope, and what it cost."""
        result, options = self.result, self.options
        self._concluded = explored
        is_left_out = named_modules(options.leave_out)
        unobserved.lost.update(name for name in unobserved_code if name.endswith(_LOST))
        not_observed = sorted({*not_observed, *unobserved.lost})
        unobserved_code = sorted({*unobserved_code, *unobserved.lost})
        failed = explored.failures[0].failed if explored.failures else None
        doubted = failed if failed is not None and losses.may_explain(failed) else None
        unobserved_code = [one for one in unobserved_code if not is_left_out(one, "")]
        result.limits = explored.limits
        if doubted is not None:
            result.verdict, result.limits = INCONCLUSIVE, (*explored.limits, UNOBSERVED)
        elif explored.failures:
            result.verdict = VIOLATED
        elif options.sampled:
            result.verdict = INCONCLUSIVE
            result.limits = (*explored.limits, UNSOUND)
        else:
            holds = explored.complete and not unobserved_code
            result.verdict = HOLDS if holds else INCONCLUSIVE
        if unobserved_code and not explored.failures:
            result.limits = (*result.limits, UNOBSERVED)
        result.executions = explored.executions
        if options.strategy == "algorithm2" or options.strategy in iterative.REDUCTIONS:
            result.partial_orders = explored.executions
        result.runs, result.steps = explored.runs, explored.steps
        result.states, result.seconds = explored.states, explored.seconds
        result.levels = tuple(explored.levels)
        result.not_observed = tuple(one for one in not_observed if not is_left_out(one, ""))
        result.left_out = options.leave_out
        result.scope = describe_scope(
            result.verdict, explored, options, result.not_observed, unobserved_code, doubted
        )

    def tell_skips(self) -> None:
        """Say how many executions skip, if none fails; where all do, the test is skipped.

        That all do is not known where a limit has ended the search that nobody has set.
        """
        result, explored = self.result, self._concluded
        if not explored.skipped or result.verdict in (VIOLATED, ERROR):
            return
        is_over = explored.complete or self.options.is_limited
        if explored.skipped.total() == explored.executions and is_over:
            result.skip = self._first_skip
            result.verdict, result.limits = INCONCLUSIVE, (SKIPPED,)
            assert result.skip is not None
            result.scope = describe_skipped(result.skip.reason, result.skip.verb)
        else:
            result.notes += tuple(describe_skips(explored))

    def conclude_blocked(self, error: UncontrolledCallError) -> None:
        """Say that a thread waits for another one by what is not explored."""
        self.result.verdict, self.result.limits = INCONCLUSIVE, (UNOBSERVED,)
        explained = error.explain()
        where = f"{explained.file}:{explained.line}: " if explained.file else ""
        self.result.scope = (
            f"the order in which threads reach each other outside is not explored: {where}"
            f"{error.failed.message}; {error.failed.details[0]}"
        )

    def conclude_late(self) -> None:
        """Say that the time was over before there was anything to tell."""
        result, started = self.result, self.started
        result.seconds = 0.0 if started is None else time.perf_counter() - started
        result.verdict = INCONCLUSIVE
        result.limits = (TIME,)
        result.scope = (
            "nothing is known: the time limit was hit while the first executions showed what the"
            " threads share"
        )


@contextmanager
def limits_of_system(result: Result) -> Iterator[None]:
    """Leave the verdict open if a limit of the system is reached inside."""
    try:
        yield
    except Exception as error:
        limit = find_limit(error)
        if limit is None:
            raise
        leave_open(result, limit)


def leave_open(result: Result, limit: SystemLimit) -> None:
    """Say that a limit of the system has ended an exploration."""
    result.verdict, result.limits = INCONCLUSIVE, (limit.name,)
    result.violation = result.story = result.token = None
    result.scope = f"nothing is known: {limit.message}"


SKIPPED = "skipped"
"""The limit of a test that is not to be run."""
MOST_REASONS = 3


def describe_skipped(reason: object, verb: str = "skip") -> str:
    """Say that a whole test is skipped, or expected to fail, and why."""
    return f"{'skipped' if verb == 'skip' else verb}: {reason}".rstrip(": ")


def describe_skips(explored: Explored) -> Iterator[str]:
    """Say how many executions skip, and why."""
    counts = (+explored.skipped).most_common()
    for text, count in counts[:MOST_REASONS]:
        yield f"{count:,} of {counted(explored.executions, 'execution')} {text}"
    others = sum(count for _, count in counts[MOST_REASONS:])
    if others:
        yield f"{others:,} of {counted(explored.executions, 'execution')} skip for other reasons"


def is_too_large(explored: Explored) -> bool:
    """Whether a search ended because there was too much to run."""
    return any(one in (TIME, PROCESSOR_TIME) or one.endswith(" states") for one in explored.limits)


def _minimize(program: Runnable, failing: Failing) -> Minimal:
    """Find the simplest schedule that fails as the one that was found."""
    return minimize(program, failing.failed, failing.schedule, failing.preemptions, failing.taken)


def run_to_explain(program: Runnable, decider: Decider) -> Ended | None:
    """Run a test whose failure is known; None where that cannot be done.

    That more is shared than was known does not matter here: the run has taken place.
    """
    try:
        return program.run(decider)
    except RelearnError as error:
        return error.ended
    except (OutOfTime, MazurkaError, ControlError):
        return None


def find_same_failure(failed: Failed, story: Story) -> Failed:
    """Find the failure of the recorded run that is the one that was found."""
    for again in story.ended.failures:
        if fails_alike(failed, again):
            return again
    raise NondeterministicError(
        f"a failure could not be reproduced under its own schedule: {failed.message}. The test does"
        " not do the same again.",
        file=shown_path(failed.file) if failed.file else None,
        line=failed.line,
    )


NAMED = {
    TIME: "the time limit was hit",
    PROCESSOR_TIME: (
        f"the {Usual.PROCESSOR_SECONDS.value} s of processor time were over that a test has unless"
        " told otherwise (seconds=60 allows more)"
    ),
    WAITING_TIME: (
        f"{Usual.SECONDS.value} s had passed, in most of which the test waits for something that"
        " Mazurka does not control, such as a disk (seconds=300 allows more)"
    ),
    INTERRUPTED: "it was interrupted",
    LOST_WORKER: "a worker of the cluster was lost",
}


def describe_bound(bound: int | None, *, patient: bool = False) -> str:
    """Say which executions were run; those with early timeouts were not, if `patient`."""
    if bound is None:
        return f"all executions{' without early timeouts' if patient else ''}"
    if bound == 0:
        return f"all executions without preemptions{' and early timeouts' if patient else ''}"
    early = " and no early timeouts" if patient else ""
    return f"all executions with at most {counted(bound, 'preemption')}{early}"


def _describe_patient(explored: Explored) -> str:
    """Say that nothing was found without early timeouts."""
    done = [level for level in explored.levels if level.complete]
    if explored.complete and explored.exhaustive:
        return f"nothing found among {describe_bound(None, patient=True)}"
    if done and done[-1].bound is not None:
        return f"nothing found among {describe_bound(done[-1].bound, patient=True)}"
    return f"nothing found in {counted(explored.executions, 'execution')} without early timeouts"


WITHOUT_LOCK = "threads run without a global lock (semantics free-threaded)"
_LOST = f" ({LOST})"
_UNEXPLORED = f" ({UNEXPLORED})"
_IN_STEPS = f" ({IN_STEPS})"


def describe_scope(
    verdict: str,
    explored: Explored,
    options: ExploreOptions,
    not_observed: Sequence[str],
    unobserved_code: Sequence[str] = (),
    doubted: Failed | None = None,
) -> str:
    """Say what a verdict covers: `all executions with at most 2 preemptions; 46 partial orders`."""
    parts = [_describe_extent(verdict, explored, options)]
    hidden = [name for name in unobserved_code if name.endswith(f"({HIDDEN})")]
    lost = [name for name in unobserved_code if name.endswith(_LOST)]
    unexplored = [
        name.removesuffix(_UNEXPLORED) for name in unobserved_code if name.endswith(_UNEXPLORED)
    ]
    in_steps = [
        name.removesuffix(_IN_STEPS) for name in unobserved_code if name.endswith(_IN_STEPS)
    ]
    told = (f"({HIDDEN})", _LOST, _UNEXPLORED, _IN_STEPS)
    code = [name for name in unobserved_code if not name.endswith(told)]
    if code:
        parts.append(
            f"Python code has run that cannot be observed: {', '.join(code)}; its"
            " accesses are no scheduling points, so failures may have been missed (--leave-out NAME"
            " accepts that for a module)"
        )
    if hidden:
        parts.append(
            f"while other threads ran: {', '.join(hidden)}; nobody sees who uses that, so failures"
            " may have been missed (--leave-out NAME accepts that for a module)"
        )
    if lost or doubted is not None:
        parts.append(describe_lost(lost or unobserved.lost, doubted))
    if unexplored:
        parts.append(
            f"the order of {', '.join(unexplored)} is not explored, so failures may have been"
            " missed (--leave-out NAME accepts that for a module)"
        )
    if in_steps and verdict != VIOLATED:
        parts.append(
            f"without a global lock, C code takes several steps: {', '.join(in_steps)}; their order"
            " is not explored, so failures may have been missed"
        )
    others = [name for name in not_observed if name not in unobserved_code]
    if others:
        parts.append(f"not observed: {', '.join(others)}")
    if options.leave_out:
        parts.append(f"left out: {', '.join(options.leave_out)}")
    if options.semantics == FREE_THREADED:
        parts.append(WITHOUT_LOCK)
    return "; ".join(parts)


def describe_lost(names: Iterable[str], failed: Failed | None = None) -> str:
    """Say what executions change that cannot be put back, and which failure may come of that."""
    lost = ", ".join(sorted(name.removesuffix(_LOST) for name in names))
    what = "failures may have been missed"
    if failed is not None:
        where = f" at {shown_path(failed.file)}:{failed.line}" if failed.file else ""
        what = f"the failure of one of these may come of that ({failed.message}{where})"
    isolate = "" if failed is None or losses.can_confirm else ", or explore it with isolate=True"
    return (
        f"executions change what cannot be put back: {lost}; later ones begin with what earlier"
        f" ones have left there, so {what}: make it inside the test, or in a fixture of function"
        f" scope{isolate}"
    )


def _describe_extent(verdict: str, explored: Explored, options: ExploreOptions) -> str:
    count = explored.executions
    if options.sampled:
        random = counted(count, "random schedule")
        without = " without early timeouts" if explored.left_out else ""
        return f"{random}{without} run, seed {options.seed}; nothing is claimed of others"
    what = counted(count, "schedule" if options.strategy == "cb-dfs" else "partial order")
    once = f"{what}, {'run once' if count == 1 else 'each run once'}"
    level = explored.levels[-1] if explored.levels else None
    if verdict == HOLDS or (explored.complete and not explored.failures):
        bound = None if level is None or explored.exhaustive else level.bound
        return f"{describe_bound(bound, patient=explored.left_out)}; {once}"
    before = [level for level in explored.levels if level.complete]
    done = ""
    if before:
        all_run = describe_bound(before[-1].bound, patient=explored.left_out)
        done = f"; nothing found among {all_run}"
    if explored.failures:
        return f"{once} until the failure{done}"
    why = " and ".join(_describe_limit(limit) for limit in explored.limits)
    return f"{once}, then {why}{done}"


def _describe_limit(name: str) -> str:
    """Say which limit has ended a search."""
    number, _, unit = name.partition(" ")
    if unit in ("run", "runs"):
        most = "execution" if number == "1" else "executions"
        return f"the limit of {number} {most} was hit"
    return NAMED.get(name, name)
