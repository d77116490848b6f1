"""From a file to a verdict: load, prepare, choose a strategy, search, replay, judge.

The functions here are what the Python API and the command line share.  They raise
`MazurkaError` for everything the user can put right, and `ReplayMismatch` for what only the
authors of Mazurka can.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TypeAlias

from mazurka.analysis.quiet_loops import may_hang
from mazurka.deadline import (
    TimeLimitError,
    bytes_left,
    check_time,
    interruptible,
    last_moment,
    memory_limit,
    seconds_left,
    time_limit,
)
from mazurka.errors import MazurkaError
from mazurka.extras import MODELS
from mazurka.frontend.registry import choose_language, load_frontend
from mazurka.interrupts import first_interrupt_waits
from mazurka.ir.passes.merge import Granularity
from mazurka.ir.passes.samples import take_samples
from mazurka.ir.passes.slicing import SlicedProgram, slice_program
from mazurka.ir.program import Check, Fault, Program
from mazurka.memory_model import find_assumptions, find_hidden_race
from mazurka.report.answer import HOLDS, INCONCLUSIVE, UNSOUND, VIOLATED, Finding
from mazurka.report.places import PLACE
from mazurka.report.selection import select
from mazurka.report.trace import Trace, confirm
from mazurka.report.verdict import Times, Verdict, always_checked, identify, scope_sentence
from mazurka.report.words import listed
from mazurka.search import (
    ExplainedPart,
    Observer,
    SearchOptions,
    SearchResult,
    Strategy,
    Violation,
)
from mazurka.search.reading import (
    ANY,
    REPORTED,
    UNDECIDED,
    UNWRITTEN,
    Reading,
    granularity_of,
)
from mazurka.search.registry import chooser
from mazurka.search.request import (
    INDISPENSABLE,
    USUAL,
    CheckOptions,
    choose_strategy,
    sort_properties,
    validate,
)
from mazurka.search.resources import default_limit_bytes, resident_bytes
from mazurka.search.sampled import NO_HANGS
from mazurka.search.sliced import SLICEABLE, tell_violation
from mazurka.stack import deep_stack

SELF_CHECK = "self-check"
"""How the notes of a self-check begin."""
UNENDED = "the search did not come to its end"
LEAST_SECONDS = 1e-9
NOT_COMPILED = f"searched in plain Python; native code is hundreds of times faster: {MODELS.advice}"
HIDDEN_DEADLOCKS = (
    "a thread that fails an assertion stops, and a state with such a thread is no deadlock;"
    " with --property assert,deadlock failing assertions are found, too"
)

ANY_VALUES = "memory that is read before it is written holds any value"
IDLE = "no thread takes a step: is something missing?"


FurtherCheck: TypeAlias = Callable[[Verdict], Verdict]
"""Something that is checked after the rest, whose verdict it is given."""

UNREAD_FORMULAS = "the temporal formulas of the model were not looked at"


def check_file(
    path: str,
    options: CheckOptions,
    observer: Observer,
    *,
    started: float | None = None,
    prepare_further: Callable[[Program, CheckOptions], FurtherCheck] | None = None,
) -> Verdict:
    """Load a file and check it; a time limit is for all of it.

    `started` is when the time that is told begins (`time.perf_counter`), if that is not now.
    `prepare_further` is called with the program before anything is searched, and says what else is
    to be checked: the program's formulas, too."""
    started = time.perf_counter() if started is None else started
    validate(options)
    strategy = choose_strategy(options)
    options = report_unwritten(name_language(path, options))
    with time_limit(options.limit_seconds):
        try:
            with limit_memory(options.limit_bytes), interruptible():
                program = load_program(path, options.reading)
                further: FurtherCheck | None = None
                if prepare_further is not None:
                    further = prepare_further(program, options)
                    program = replace(program, formulas=())
        except TimeLimitError as error:
            return give_up(start_verdict(path, strategy, options), error, started)
        verdict = check_program(path, program, strategy, options, observer, started=started)
        if options.reading.unwritten == REPORTED and reads_unwritten(verdict):
            observer.message("memory is read before it is written: it holds any value")
            options = replace(options, reading=replace(options.reading, unwritten=ANY))
            try:
                with limit_memory(options.limit_bytes), interruptible():
                    program = replace(load_program(path, options.reading), formulas=())
            except TimeLimitError as error:
                return give_up(start_verdict(path, strategy, options), error, started)
            verdict = check_program(path, program, strategy, options, observer, started=started)
            verdict = replace(verdict, notes=(*verdict.notes, ANY_VALUES))
        return verdict if further is None else further(verdict)


def report_unwritten(options: CheckOptions) -> CheckOptions:
    """Let runs of C programs that read memory before it was written be reported, so that the check
    can begin anew with any value in such memory.

    Not where a search goes on behind what it finds."""
    reading = options.reading
    if reading.language != "c" or reading.unwritten != UNDECIDED:
        return options
    if options.explore_all or options.self_check:
        return options
    return replace(options, reading=replace(reading, unwritten=REPORTED))


def reads_unwritten(verdict: Verdict) -> bool:
    """Whether what was found is a run that reads memory before it was written."""
    return verdict.violation is not None and UNWRITTEN in verdict.violation.message


@deep_stack()
def check_program(
    path: str,
    program: Program,
    strategy: Strategy | None,
    options: CheckOptions,
    observer: Observer,
    *,
    started: float | None = None,
) -> Verdict:
    """Search a prepared program and judge what comes back; without a strategy choose one.

    `started` is when the preparation of the program began (`time.perf_counter`)."""
    started = time.perf_counter() if started is None else started
    base = start_verdict(path, strategy, options)
    choice = None
    try:
        with interruptible():
            check_time("analysing the model")
            properties = choose_properties(options, strategy, program)
            given_up = explain_no_hangs(options, strategy, properties, program)
            asked, options = options, replace(options, properties=properties)
            base = start_verdict(path, strategy, options)
            search = limit_to_rest(options.for_search())
            search = replace(search, dispensable=asked.for_search().dispensable)
            if not may_hang(program):
                search = replace(search, properties=search.properties - {"hang"})
            sliced = slice_for(program, options, search)
            searched = program if sliced is None else sliced.program
            if strategy is None:
                chosen = chooser(options.engine)(searched, search, observer)
                strategy, choice, result = chosen.strategy, chosen.reason, chosen.result
                properties = choose_properties(asked, strategy, program)
                given_up = explain_no_hangs(asked, strategy, properties, program)
                options = replace(options, properties=properties)
            else:
                result = strategy.run(searched, search, observer)
            if sliced is not None and result.violation is not None:
                result = replace(result, violation=tell_violation(sliced, result.violation))
            if "race" in properties and result.violation is None and not result.limits:
                hidden = find_hidden_race(program, strategy, search, observer)
                result = replace(result, limits=() if hidden is None else (hidden,))
    except TimeLimitError as error:
        return give_up(base, error, started)
    found = time.perf_counter()
    options = replace(options, order=result.order or options.order)
    base = replace(
        base,
        properties=properties,
        order=options.order,
        asked=options,
        engine=strategy.engine,
        strategy=strategy.name,
        statistics=result.statistics,
        subject=identify(path, options.reading, program),
        notes=(
            *result.notes,
            *(given_up if result.violation is None else ()),
            *explain_unchecked(result, options),
            *explain_plainness(strategy),
            *program.remarks,
            *((UNREAD_FORMULAS,) if program.formulas else ()),
        ),
        classification=result.classification,
        explanation=explain(program, result) if options.explain else (),
        interchangeable=result.interchangeable,
        rounds=result.rounds,
        choice=choice,
    )
    try:
        with interruptible():
            verdict = judge(base, program, strategy, result, options, observer)
    except TimeLimitError as error:
        return give_up(base, error, started)
    verdict = replace(verdict, scope=options.reading.scope(verdict.scope))
    from_c = options.reading.language == "c" or program.weak or bool(program.assumed)
    if verdict.verdict != VIOLATED and from_c:
        race_free = verdict.verdict == HOLDS and "race" in properties
        assumed = find_assumptions(program, race_free=race_free)
        scope = f"{verdict.scope}, if {listed(assumed)}" if assumed else verdict.scope
        verdict = replace(verdict, scope=scope, assumptions=assumed)
    if options.deterministic:
        return without_times(verdict)
    return replace(verdict, times=measure_times(base, started, found))


def slice_for(
    program: Program, options: CheckOptions, search: SearchOptions
) -> SlicedProgram | None:
    """Leave out of a C program what nothing depends on that is looked for; of models, whose counts
    are compared with those of papers, nothing is left out."""
    if options.reading.language != "c" or not search.properties <= SLICEABLE:
        return None
    whole = options.explore_all or options.self_check or options.explain
    return None if whole or not options.reading.merge else slice_program(program, derived=True)


def explain(program: Program, result: SearchResult) -> tuple[ExplainedPart, ...]:
    """What was made of the program, whoever has searched it, and what the search adds; less where
    the time is up for that, too."""
    from mazurka.report.explaining import describe_program

    try:
        with last_moment(), interruptible():
            return (describe_program(program), *result.explanation)
    except TimeLimitError:
        return result.explanation


def limit_to_rest(options: SearchOptions) -> SearchOptions:
    """Preparing the program has taken some of the time."""
    left = seconds_left()
    return options if left is None else replace(options, limit_seconds=max(left, LEAST_SECONDS))


def start_verdict(path: str, strategy: Strategy | None, options: CheckOptions) -> Verdict:
    """What is known of a verdict before anything has been searched."""
    return Verdict(
        input=path,
        verdict=INCONCLUSIVE,
        properties=sort_properties(options.required),
        engine=strategy.engine if strategy is not None else None,
        strategy=strategy.name if strategy is not None else None,
        order=options.order,
        asked=options,
    )


def give_up(base: Verdict, error: TimeLimitError, started: float) -> Verdict:
    """The verdict where the time was up before a search could come to its own end."""
    times = measure_times(base, started, time.perf_counter())
    notes = base.notes
    if base.asked is not None and base.asked.self_check and base.statistics is None:
        notes = (*notes, f"{SELF_CHECK}: not done, since {UNENDED}")
    scope = f"{error.message}: nothing is known"
    return replace(base, limits=(error.limit,), scope=scope, notes=notes, times=times)


def without_times(verdict: Verdict) -> Verdict:
    """The same verdict, in which nothing took any time."""
    rounds = tuple(
        replace(earlier, statistics=replace(earlier.statistics, seconds=0.0))
        for earlier in verdict.rounds
    )
    assert verdict.statistics is not None
    return replace(verdict, statistics=replace(verdict.statistics, seconds=0.0), rounds=rounds)


def measure_times(base: Verdict, started: float, found: float) -> Times:
    """Divide the time: what was not spent searching before the answer was found is preparation."""
    searching = base.total_seconds
    preparing = max(found - started - searching, 0.0)
    return Times(preparing, searching, time.perf_counter() - found)


def choose_properties(
    options: CheckOptions, strategy: Strategy | None, program: Program
) -> tuple[str, ...]:
    """What a check is about: what was asked for, or what is usual.

    Hangs are left out of what is usual where they cannot be looked for, unless the program's text
    shows that there are none.
    """
    asked = USUAL if options.properties is None else options.properties
    if options.properties is None and may_hang(program):
        in_lines = granularity_of(options.reading) is Granularity.LINE
        sampled = take_samples(program) is not None
        kept = strategy is None or "hang" in strategy.preserves
        if in_lines or sampled or not kept or ends_lives_in_loops(program):
            asked = INDISPENSABLE
    return sort_properties(asked)


def ends_lives_in_loops(program: Program) -> bool:
    """Whether a loop may open a block of C again whose variables pointers may outlive: the cells
    that say so change in each round, so a thread that only waits there does not look like one."""
    return any(cell.name.startswith(PLACE) for cell in program.cells)


def explain_no_hangs(
    options: CheckOptions,
    strategy: Strategy | None,
    properties: tuple[str, ...],
    program: Program,
) -> tuple[str, ...]:
    """Why hangs, which are usual, are not looked for; nothing where they are, or were not asked."""
    if options.properties is not None or "hang" in properties:
        return ()
    if granularity_of(options.reading) is Granularity.LINE:
        return ("hangs were not looked for: with --granularity line they cannot be told",)
    if ends_lives_in_loops(program):
        return ("hangs were not looked for: a loop opens a block whose variables may be outlived",)
    if strategy is None or "hang" in strategy.preserves:
        return (NO_HANGS,)
    return (f"hangs were not looked for: strategy {strategy.name} does not preserve them",)


def explain_plainness(*strategies: Strategy) -> tuple[str, ...]:
    """Say how to make searches fast that are made for native code, where there is none."""
    needed = any(strategy.engine == "stateful" for strategy in strategies)
    return (NOT_COMPILED,) if needed and not MODELS.is_installed else ()


def explain_unchecked(result: SearchResult, options: CheckOptions) -> Iterator[str]:
    """Why there was no self-check, though it was asked for."""
    if options.self_check and not any(note.startswith(SELF_CHECK) for note in result.notes):
        ended = result.violation is None and not result.limits
        why = "this strategy has none" if ended else UNENDED
        yield f"{SELF_CHECK}: not done, since {why}"


def judge(
    base: Verdict,
    program: Program,
    strategy: Strategy,
    result: SearchResult,
    options: CheckOptions,
    observer: Observer,
) -> Verdict:
    """Turn a search's result into a verdict; a violation counts only once it is confirmed."""
    limits, reduction = result.limits, strategy.name if strategy.reduces else None

    def describe(verdict: str, limits: tuple[str, ...]) -> str:
        figures, alike = result.statistics, result.interchangeable
        always = always_checked(options.reading, program.sources)
        return scope_sentence(
            verdict, base.properties, figures, limits, reduction, alike, always=always
        )

    if result.violation is not None:
        again = replace(options.for_search(), self_check=False)
        shown = select(program, result.violation, options.counterexample, again, observer)
        with last_moment(), first_interrupt_waits():
            finding, trace = replay_violation(program, shown.violation, observer)
        if finding.kind != Fault.BOUND:
            return replace(
                base,
                verdict=VIOLATED,
                scope=describe(VIOLATED, limits),
                limits=limits,
                violation=finding,
                trace=trace,
                alternative=shown.alternative,
                counterexample=shown.how,
            )
        limits = tuple(dict.fromkeys((*limits, finding.message)))
    if not strategy.sound:
        limits = (*limits, UNSOUND)
    if "deadlock" in base.properties and "assert" not in base.properties and may_fail(program):
        base = replace(base, notes=(*base.notes, HIDDEN_DEADLOCKS))
    verdict = INCONCLUSIVE if limits or result.statistics.coverage is not None else HOLDS
    if verdict == HOLDS and is_idle(result):
        base = replace(base, notes=(*base.notes, IDLE))
    return replace(base, verdict=verdict, limits=limits, scope=describe(verdict, limits))


def is_idle(result: SearchResult) -> bool:
    """Whether no thread has taken a step; a search that unrolls the model does not count them."""
    figures = result.statistics
    searched = figures.states or figures.executions
    return bool(searched) and figures.unrolled is None and not figures.transitions


def may_fail(program: Program) -> bool:
    """Whether any assertion is left that could fail."""
    return any(
        isinstance(operation, Check) and operation.fault is Fault.ASSERT
        for edge in program.edges
        for operation in edge.operations
    )


def replay_violation(
    program: Program, violation: Violation, observer: Observer
) -> tuple[Finding, Trace]:
    """Replay a violation; a long one says how far it is."""
    total = len(violation.path)

    def told(number: int) -> None:
        observer.message(f"replaying the counterexample: step {number:,} of {total:,}")

    return confirm(program, violation, told=told)


LEAST_FOR_READING = 200_000_000
"""Bytes that reading a model may take whatever the limit of its search is."""


@deep_stack()
def load_program(path: str, reading: Reading) -> Program:
    """Read a file in its language, and make the program ready to run."""
    try:
        with nullcontext() if bytes_left() is not None else limit_memory(None):
            return _load_program(path, reading)
    except RecursionError as error:
        raise MazurkaError("the input is nested too deeply", file=path) from error


def limit_memory(most: int | None) -> AbstractContextManager[None]:
    """Limit the memory for what comes before a search; None is the usual limit of a search.

    Less than `LEAST_FOR_READING` is no limit here: the modules that read a model need that much."""
    return memory_limit(max(most or default_limit_bytes(), LEAST_FOR_READING), resident_bytes)


def _load_program(path: str, reading: Reading) -> Program:
    frontend = load_frontend(choose_language(path, reading.language))
    program = frontend.load(path, reading)
    if frontend.complete:
        return program
    from mazurka.ir.passes.prepare import prepare

    return prepare(program, merge=reading.merge, granularity=granularity_of(reading))


def name_language(path: str, options: CheckOptions) -> CheckOptions:
    """The same options, which say in which language the file is read."""
    language = choose_language(path, options.reading.language)
    return replace(options, reading=replace(options.reading, language=language))
