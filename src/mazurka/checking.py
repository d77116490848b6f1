"""From a file to a verdict: load, prepare, choose a strategy, search, replay, judge.

The functions here are what the Python API and the command line share.  They raise
`MazurkaError` for everything the user can put right, and `ReplayMismatch` for what only the
authors of Mazurka can.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mazurka.analysis.quiet_loops import may_hang
from mazurka.errors import MazurkaError
from mazurka.frontend.registry import choose_language, load_frontend
from mazurka.ir.passes.merge import Granularity
from mazurka.ir.program import Check, Fault, Program
from mazurka.report.answer import HOLDS, INCONCLUSIVE, UNSOUND, VIOLATED, Finding
from mazurka.report.selection import Selection, select
from mazurka.report.trace import Trace, confirm
from mazurka.report.verdict import Verdict, identify, scope_sentence
from mazurka.search import Observer, SearchOptions, SearchResult, Strategy, Violation
from mazurka.search.reading import Reading, granularity_of
from mazurka.search.registry import chooser
from mazurka.search.request import (
    INDISPENSABLE,
    USUAL,
    CheckOptions,
    choose_strategy,
    sort_properties,
    validate,
)

SELF_CHECK = "self-check"
"""How the notes of a self-check begin."""
HIDDEN_DEADLOCKS = (
    "a thread that fails an assertion stops, and a state with a stopped thread is no deadlock;"
    " with --property assert,deadlock failing assertions are found, too"
)


def check_file(path: str, options: CheckOptions, observer: Observer) -> Verdict:
    """Load a file and check it."""
    validate(options)
    strategy = choose_strategy(options)
    options = name_language(path, options)
    program = load_program(path, options.reading)
    return check_program(path, program, strategy, options, observer)


def check_program(
    path: str,
    program: Program,
    strategy: Strategy | None,
    options: CheckOptions,
    observer: Observer,
) -> Verdict:
    """Search a prepared program and judge what comes back; without a strategy choose one."""
    properties = choose_properties(options, strategy, program)
    options = replace(options, properties=properties)
    search = options.for_search()
    if not may_hang(program):
        search = replace(search, properties=search.properties - {"hang"})
    choice = None
    if strategy is None:
        chosen = chooser(options.engine)(program, search, observer)
        strategy, choice, result = chosen.strategy, chosen.reason, chosen.result
    else:
        result = strategy.run(program, search, observer)
    options = replace(options, order=result.order or options.order)
    base = Verdict(
        input=path,
        verdict=INCONCLUSIVE,
        properties=properties,
        engine=strategy.engine,
        strategy=strategy.name,
        order=options.order,
        statistics=result.statistics,
        subject=identify(path, options.reading, program),
        notes=(*result.notes, *explain_unchecked(result, options)),
        classification=result.classification,
        rounds=result.rounds,
        asked=options,
        choice=choice,
    )
    verdict = judge(base, program, strategy, result, options, observer)
    return replace(verdict, scope=options.reading.scope(verdict.scope))


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
        if in_lines or (strategy is not None and "hang" not in strategy.preserves):
            asked = INDISPENSABLE
    return sort_properties(asked)


def explain_unchecked(result: SearchResult, options: CheckOptions) -> Iterator[str]:
    """Why there was no self-check, though it was asked for."""
    if options.self_check and not any(note.startswith(SELF_CHECK) for note in result.notes):
        ended = result.violation is None and not result.limits
        why = "this strategy has none" if ended else "the search did not come to its end"
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
    if result.violation is not None:
        shown = choose_counterexample(program, strategy, result.violation, options, observer)
        finding, trace = replay_violation(program, shown.violation, observer)
        if finding.kind != Fault.BOUND:
            scope = scope_sentence(VIOLATED, base.properties, result.statistics, limits, reduction)
            return replace(
                base,
                verdict=VIOLATED,
                scope=scope,
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
    scope = scope_sentence(verdict, base.properties, result.statistics, limits, reduction)
    return replace(base, verdict=verdict, limits=limits, scope=scope)


def may_fail(program: Program) -> bool:
    """Whether any assertion is left that could fail."""
    return any(
        isinstance(operation, Check) and operation.fault is Fault.ASSERT
        for edge in program.edges
        for operation in edge.operations
    )


def choose_counterexample(
    program: Program,
    strategy: Strategy,
    found: Violation,
    options: CheckOptions,
    observer: Observer,
) -> Selection:
    def search(wanted: SearchOptions) -> SearchResult:
        return strategy.run(program, wanted, observer)

    again = search if "bfs" in strategy.orders else None
    wanted = options.counterexample
    search_again = replace(options.for_search(), self_check=False)
    return select(program, found, wanted, search_again, observer, again)


def replay_violation(
    program: Program, violation: Violation, observer: Observer
) -> tuple[Finding, Trace]:
    """Replay a violation; a long one says how far it is."""
    total = len(violation.path)

    def told(number: int) -> None:
        observer.message(f"replaying the counterexample: step {number:,} of {total:,}")

    return confirm(program, violation, told=told)


def load_program(path: str, reading: Reading) -> Program:
    """Read a file in its language, and make the program ready to run."""
    try:
        return _load_program(path, reading)
    except RecursionError as error:
        raise MazurkaError("the input is nested too deeply", file=path) from error


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
