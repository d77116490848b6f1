"""`mazurka test`: run tests with real threads under every schedule."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Annotated, Any

from mazurka.cli import arguments as args
from mazurka.cli.commands import CommandArgument, CommandOption
from mazurka.cli.completion import complete_among, strategies_of_tests
from mazurka.cli.failures import Failure, guarded, print_json
from mazurka.errors import OptionError, read_number

if TYPE_CHECKING:
    from mazurka.runtime.story.result import Result
    from mazurka.runtime.testing.cluster.exploration import ClusterRequest

EPILOG = "Example: mazurka test tests/test_bank.py::test_transfer --preemptions 2"

LeaveOut = Annotated[
    list[str] | None,
    args.option(
        "--leave-out NAME",
        "Do not observe this module or package; the verdict names it; repeatable.",
    ),
]
Instrument = Annotated[list[str] | None, CommandOption(("--instrument",), None, "", hidden=True)]
"""An option of former times, which is refused with the reason."""
Semantics = Annotated[
    str | None,
    args.option(
        "--semantics gil|free-threaded",
        "Whether threads run with a global lock; unless given, as on this interpreter.",
    ),
]
RealTime = Annotated[
    bool,
    args.option("--real-time", "Let time.sleep and the clocks follow the world, not the schedule."),
]


def explore_tests(
    target: Annotated[
        str,
        CommandArgument("PATH[::NAME]", "A Python file, one of its tests, or a class."),
    ],
    preemptions: Annotated[
        str | None,
        args.option(
            "--preemptions K|none",
            "The most preemptions of an execution; 2 unless given, none for any number.",
        ),
    ] = None,
    strategy: Annotated[
        str | None,
        args.option(
            "--strategy NAME",
            "How to search: algorithm2 (the default), algorithm1, cb-dfs, optimal-dpor,"
            " source-dpor, dpor, sleep-sets, random, pct.",
            complete_among(strategies_of_tests),
        ),
    ] = None,
    seed: Annotated[int | None, args.option("--seed N", "For random and pct schedules.")] = None,
    executions: Annotated[
        int | None, args.option("--executions N", "The most runs; for random schedules, how many.")
    ] = None,
    races: Annotated[
        bool, args.option("--races", "Report data races, even where the test passes.")
    ] = False,
    leave_out: LeaveOut = None,
    workers: Annotated[
        int | None, args.option("--workers N", "Processes that search together; 1 unless given.")
    ] = None,
    cluster: Annotated[
        str | None,
        args.option(
            "--cluster auto|ADDRESS",
            "Explore on a Ray cluster: its address, or auto for the one that runs, or else one of"
            " this machine alone. By source-dpor, unless --strategy is dpor or sleep-sets.",
        ),
    ] = None,
    max_steps: Annotated[
        int | None,
        args.option(
            "--max-steps N",
            "The most steps of an execution; 10,000 unless given. A run that goes on for ten times"
            " as many, and for 100,000 at least, is an error.",
        ),
    ] = None,
    real_time: RealTime = False,
    patience: Annotated[
        float | None,
        args.option(
            "--patience S",
            "Report a call that nobody controls after this many seconds; 5 unless given.",
        ),
    ] = None,
    timeouts: Annotated[
        str | None,
        args.option(
            "--timeouts any|last-resort",
            "Whether sleeps and timeouts may end while other threads could move; any unless given.",
        ),
    ] = None,
    semantics: Semantics = None,
    isolate: Annotated[
        bool,
        args.option(
            "--isolate", "Explore each test in a separate process, so that it can end no other."
        ),
    ] = False,
    full_trace: Annotated[
        bool,
        args.option("--full-trace", "Show rows of set-up and of libraries that are folded."),
    ] = False,
    json: args.Json = False,
    limit_time: Annotated[
        float | None,
        args.option("--seconds --limit-time S", "Stop after this many seconds, for each test."),
    ] = None,
    instrument: Instrument = None,
) -> int:
    """Run tests with real threads under every schedule with few preemptions.

    Exit status: 0 holds, 1 violated, 2 bad input, 3 inconclusive; of several tests the worst.
    """

    def action() -> int:
        given: dict[str, Any] = {
            "strategy": strategy,
            "seed": seed,
            "executions": executions,
            "seconds": args.seconds(limit_time),
            "races": races or None,
            "leave_out": tuple(leave_out) if leave_out else None,
            "instrument": instrument,
            "workers": workers,
            "max_steps": max_steps,
            "patience": patience,
            "virtual_time": False if real_time else None,
            "isolate": isolate or None,
            "timeouts": timeouts,
            "semantics": semantics,
        }
        chosen: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        if preemptions is not None:
            chosen["preemptions"] = bound_of(preemptions)
        return run_tests(target, chosen, cluster, as_json=json, full_trace=full_trace)

    return guarded(action, as_json=json, path=target)


def bound_of(text: str | None) -> int | None:
    if text is None or text == "none":
        return None
    if not text.isdecimal():
        raise OptionError(f"--preemptions needs a number or none, not {text!r}")
    return read_number(text)


def run_tests(
    target: str,
    given: dict[str, Any],
    cluster: str | None = None,
    *,
    as_json: bool,
    full_trace: bool = False,
) -> int:
    """Explore the tests one after the other; returns the exit status."""
    from mazurka.deadline import command_start
    from mazurka.report.answer import HEAD, worst_status
    from mazurka.runtime.exploring.options import refuse_useless
    from mazurka.runtime.testing.collecting import collect
    from mazurka.stateless.explored import INTERRUPTED

    request = None
    if cluster is not None:
        from mazurka.runtime.testing.cluster.exploration import ClusterRequest

        workers = given.pop("workers", None)
        request = ClusterRequest(cluster, workers, target, given)
    refuse_useless(given)
    with silent():
        found = collect(target)
    if "seed" in given and "strategy" not in given:
        require_random(found)
    results: list[Result] = []
    for one in found:
        result = explore_one(one, given, None if results else command_start(), request)
        results.append(result)
        if not as_json:
            show(result, several=len(found) > 1, full_trace=full_trace)
        if INTERRUPTED in result.limits:
            break
    for result in results:
        if as_json and result.error is not None:
            print("\n".join(Failure(result.error).told()), file=sys.stderr)
    if as_json and len(found) > 1:
        print_json({**HEAD, "results": [result.to_json() for result in results]})
    elif as_json:
        print_json(results[0].to_json())
    return worst_status(results)


def require_random(found: list[Any]) -> None:
    """A seed is given, and no strategy: some test has to say that its schedules are random."""
    if not any(one.options is not None and one.options.sampled for one in found):
        raise OptionError(
            "--seed is for random schedules, and no test here has them: add --strategy random or"
            " --strategy pct, or leave --seed out"
        )


@contextmanager
def silent() -> Iterator[None]:
    """What tests print, hundreds of times, is not shown; `mazurka replay` shows it."""
    with (
        open(os.devnull, "w", encoding="utf-8") as nowhere,
        redirect_stdout(nowhere),
        redirect_stderr(nowhere),
    ):
        yield


def skip(found: Any, reason: object) -> Result:
    """Make the result of a test that is not run."""
    from mazurka.report.answer import INCONCLUSIVE
    from mazurka.runtime.exploring.exploration import SKIPPED, describe_skipped
    from mazurka.runtime.story.result import Result

    scope = describe_skipped(reason)
    return Result(input=found.test.name, verdict=INCONCLUSIVE, scope=scope, limits=(SKIPPED,))


def explore_one(
    found: Any,
    given: dict[str, Any],
    since: float | None,
    cluster: ClusterRequest | None = None,
) -> Result:
    """Explore a test; its time begins now, or at `since`."""
    from mazurka.report.answer import ERROR
    from mazurka.runtime.exploring.entry import conclude_interrupted, explore_test
    from mazurka.runtime.exploring.options import ExploreOptions, override_options
    from mazurka.runtime.exploring.progress import ExplorationProgress
    from mazurka.runtime.story.result import Result
    from mazurka.runtime.testing.decorator import skip_exceptions

    if found.skipped is not None:
        return skip(found, found.skipped)
    if found.problem is not None:
        return Result(input=found.test.name, verdict=ERROR, error=found.problem)
    progress = ExplorationProgress()
    options = override_options(found.options or ExploreOptions(), given).with_seed()
    if cluster is not None:
        cluster, options = cluster.choose(options)
    try:
        with silent(), found.surroundings():
            if cluster is not None:
                from mazurka.runtime.testing.cluster.exploration import explore_on_cluster

                return explore_on_cluster(cluster, found.test, options, progress, since)
            return explore_test(found.test, options, progress, since)
    except KeyboardInterrupt:
        if progress.last is None:
            raise
        return conclude_interrupted(found.test, options, progress.last)
    except tuple(skip_exceptions()) as skipped:  # the set-up of a class
        return skip(found, skipped)
    finally:
        progress.clear()


def show(result: Result, *, several: bool, full_trace: bool) -> None:
    from mazurka.report.terminal import safe
    from mazurka.runtime.story.report import print_result

    if several:
        print(safe(str(result.input)))
    print_result(result, full=full_trace)
    if several:
        print()
