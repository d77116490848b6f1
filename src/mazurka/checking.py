"""From a file to a verdict: load, prepare, choose a strategy, search, replay, judge.

The functions here are what the Python API and the command line share.  They raise
`MazurkaError` for everything the user can put right, and `ReplayMismatch` for what only the
authors of Mazurka can.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from mazurka.errors import MazurkaError, OptionError
from mazurka.ir.passes.granularity import GRANULARITIES, Granularity
from mazurka.ir.program import Check, Fault, Program
from mazurka.processors import refuse_many
from mazurka.report.confirm import confirm
from mazurka.report.outcome import HOLDS, INCONCLUSIVE, UNSOUND, VIOLATED, Finding
from mazurka.report.selection import CHOICES, Selection, select
from mazurka.report.subject import subject_of
from mazurka.report.trace import Trace
from mazurka.report.verdict import Verdict, scope_sentence
from mazurka.search.observer import Observer
from mazurka.search.options import PROPERTIES, Reading, SearchOptions
from mazurka.search.registry import load_strategy, require_known, strategy_names
from mazurka.search.result import SearchResult, Violation
from mazurka.search.strategy import Strategy

ENGINES = ("stateful",)
ORDERS = ("dfs", "bfs")
MOVERS = ("inferred", "static", "declared")
CYCLE_RULES = ("return", "literal", "table1")
PROVISOS = ("stack", "sticky")
AUTO = "auto"
SELF_CHECK = "self-check"
"""How the notes of a self-check begin."""
TUNING = ("cycle_rule", "workers", "proviso")
"""The options that only some strategies listen to."""
HIDDEN_DEADLOCKS = (
    "a thread that fails an assertion stops, and a state with a stopped thread is no deadlock;"
    " with --property assert,deadlock failing assertions are found, too"
)


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """Everything that can be asked of a check."""

    engine: str = "stateful"
    strategy: str = "auto"
    order: str = "dfs"
    properties: tuple[str, ...] = ("assert", "deadlock")
    reading: Reading = field(default_factory=Reading)
    limit_seconds: float | None = None
    limit_bytes: int | None = None
    explore_all: bool = False
    counterexample: str = "auto"
    movers: str = "inferred"
    self_check: bool = False
    cycle_rule: str = "return"
    workers: int = 1
    proviso: str = "stack"

    def to_json(self) -> dict[str, object]:
        return {
            "engine": self.engine,
            "strategy": self.strategy,
            **self.reading.to_json(),
            "movers": self.movers,
            "cycle_rule": self.cycle_rule,
            "workers": self.workers,
            "proviso": self.proviso,
            "explore_all": self.explore_all,
            "limit_seconds": self.limit_seconds,
            "limit_bytes": self.limit_bytes,
        }


def check_file(path: str, options: CheckOptions, observer: Observer) -> Verdict:
    """Load a file and check it."""
    validate(options)
    require_known(options.strategy, sorted((AUTO, *strategy_names())))
    strategy = None
    if options.strategy == AUTO:
        refuse_tuning(options)
    else:
        strategy = choose_strategy(options)
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
    search = search_options(options)
    choice = None
    if strategy is None:
        from mazurka.stateful import auto

        chosen = auto.search(program, search, observer)
        strategy, choice, result = chosen.strategy, chosen.reason, chosen.result
    else:
        result = strategy.run(program, search, observer)
    base = Verdict(
        input=path,
        verdict=INCONCLUSIVE,
        properties=ordered(options.properties),
        strategy=strategy.name,
        order=options.order,
        statistics=result.statistics,
        subject=subject_of(path, options.reading, program),
        notes=(*result.notes, *unchecked(result, options)),
        classification=result.classification,
        rounds=result.rounds,
        options=options.to_json(),
        choice=choice,
    )
    verdict = judge(base, program, strategy, result, options, observer)
    return replace(verdict, scope=options.reading.scope(verdict.scope))


def unchecked(result: SearchResult, options: CheckOptions) -> Iterator[str]:
    """Why there was no self-check, though it was asked for."""
    if options.self_check and not any(note.startswith(SELF_CHECK) for note in result.notes):
        yield f"{SELF_CHECK}: not done, since the search did not come to its end"


def judge(
    base: Verdict,
    program: Program,
    strategy: Strategy,
    result: SearchResult,
    options: CheckOptions,
    observer: Observer,
) -> Verdict:
    """Turn a search's result into a verdict; a violation counts only once it is confirmed."""
    limits = result.limits
    if result.violation is not None:
        shown = choose_counterexample(program, strategy, result.violation, options, observer)
        finding, trace = confirmed(program, shown.violation, observer)
        if finding.kind != Fault.BOUND:
            return _violated(base, result, finding, trace, shown)
        limits = tuple(dict.fromkeys((*limits, finding.message)))
    if not strategy.sound:
        limits = (*limits, UNSOUND)
    if "deadlock" in base.properties and "assert" not in base.properties and may_fail(program):
        base = replace(base, notes=(*base.notes, HIDDEN_DEADLOCKS))
    verdict = INCONCLUSIVE if limits else HOLDS
    scope = scope_sentence(verdict, base.properties, result.statistics, limits, strategy.name)
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
    search_again = replace(search_options(options), self_check=False)
    return select(program, found, wanted, search_again, observer, again)


def _violated(
    base: Verdict, result: SearchResult, finding: Finding, trace: Trace, shown: Selection
) -> Verdict:
    scope = scope_sentence(
        VIOLATED, base.properties, result.statistics, result.limits, base.strategy
    )
    return replace(
        base,
        verdict=VIOLATED,
        scope=scope,
        limits=result.limits,
        violation=finding,
        trace=trace,
        alternative=shown.alternative,
        counterexample=shown.how,
    )


def confirmed(program: Program, violation: Violation, observer: Observer) -> tuple[Finding, Trace]:
    """Replay a violation; a long one says how far it is."""
    total = len(violation.path)

    def told(number: int) -> None:
        observer.message(f"replaying the counterexample: step {number:,} of {total:,}")

    return confirm(program, violation, told=told)


def load_program(path: str, reading: Reading) -> Program:
    """Read a model, or the JSON that `mazurka export` writes, and make it ready to run."""
    if Path(path).suffix == ".json":
        return _load_exported(path, reading)
    from mazurka.frontend.python import load_model
    from mazurka.ir.passes.prepare import prepare

    raw = load_model(
        path,
        dict(reading.definitions),
        max_threads=reading.max_threads,
        max_depth=reading.max_depth,
    )
    return prepare(raw, merge=reading.merge, granularity=granularity_of(reading))


def granularity_of(reading: Reading) -> Granularity | None:
    if reading.granularity is None:
        return None
    one_of("granularity", reading.granularity, GRANULARITIES)
    return Granularity(reading.granularity)


def _load_exported(path: str, reading: Reading) -> Program:
    """An exported program is checked exactly as it stands in the file."""
    from mazurka.ir.deserialize import load_json
    from mazurka.ir.passes.prepare import prepare
    from mazurka.ir.passes.validate import validate as validate_program

    if reading.definitions:
        raise OptionError("-D changes constants of a model; an exported program has none left")
    if not reading.merge:
        raise OptionError("--no-merge is an option of `export` where a program has been exported")
    if reading.granularity is not None:
        raise OptionError("--granularity is for models; an exported program's steps are settled")
    if (reading.max_threads, reading.max_depth) != (Reading().max_threads, Reading().max_depth):
        raise OptionError(
            "--max-threads and --max-depth were settled when the program was exported"
        )
    program = load_json(path)
    try:
        if any(cell.inferred for cell in program.cells):
            return prepare(program)
        validate_program(program)
    except MazurkaError as error:
        if error.file is not None:
            raise
        raise MazurkaError(error.message, file=path) from error
    return program


def validate(options: CheckOptions) -> None:
    """Refuse options that make no sense before any work is done."""
    one_of("engine", options.engine, ENGINES, "is not available yet; there is")
    one_of("order", options.order, ORDERS)
    one_of("counterexample", options.counterexample, CHOICES)
    one_of("movers", options.movers, MOVERS)
    one_of("cycle rule", options.cycle_rule, CYCLE_RULES)
    one_of("proviso", options.proviso, PROVISOS)
    for name in options.properties:
        one_of("property", name, PROPERTIES)
    validate_granularity(options)
    for name, value in (
        ("--limit-time", options.limit_seconds),
        ("--limit-memory", options.limit_bytes),
        ("--max-threads", options.reading.max_threads),
        ("--max-depth", options.reading.max_depth),
        ("--workers", options.workers),
    ):
        if value is not None and not value > 0:
            raise OptionError(f"{name} must be greater than 0, not {value}")
    refuse_many("--workers", options.workers)


def validate_granularity(options: CheckOptions) -> None:
    """A race is between two accesses; whole lines have others, and may exclude each other."""
    granularity = granularity_of(options.reading)
    if granularity is None:
        return
    if not options.reading.merge:
        raise OptionError("--no-merge and --granularity both say what a step is; give one of them")
    if granularity is Granularity.LINE and "race" in options.properties:
        raise OptionError("data races cannot be looked for with --granularity line")


def one_of(
    what: str, value: str, known: tuple[str, ...], saying: str = "is not known; there are"
) -> None:
    if value not in known:
        raise OptionError(f"{what} {value!r} {saying}: {', '.join(known)}")


def choose_strategy(options: CheckOptions) -> Strategy:
    """The strategy asked for, if it can answer what is asked."""
    strategy = load_strategy(options.strategy)
    missing = [name for name in ordered(options.properties) if name not in strategy.preserves]
    if missing:
        able = ", ".join(strategies_for(options.properties)) or "none"
        raise OptionError(
            f"strategy {strategy.name!r} does not preserve {', '.join(missing)};"
            f" strategies that do: {able}"
        )
    refuse_idle_options(strategy, options)
    if options.order not in strategy.orders:
        orders = ", ".join(strategy.orders)
        raise OptionError(
            f"strategy {strategy.name!r} cannot search in order {options.order!r};"
            f" it knows: {orders}; --strategy full knows all"
        )
    return strategy


def refuse_idle_options(strategy: Strategy, options: CheckOptions) -> None:
    """An option that changes nothing is a misunderstanding."""
    for name in tuned(options):
        if name not in strategy.tuned_by:
            able = " or ".join(listening_to(name))
            raise OptionError(
                f"{option_of(name)} means nothing to strategy {strategy.name!r};"
                f" it is for --strategy {able}"
            )


def refuse_tuning(options: CheckOptions) -> None:
    """Whoever lets `auto` choose cannot say how the strategy is to work."""
    for name in tuned(options):
        able = " or ".join(listening_to(name))
        raise OptionError(f"{option_of(name)} needs --strategy {able}")


def listening_to(option: str) -> list[str]:
    return [name for name in strategy_names() if option in load_strategy(name).tuned_by]


def tuned(options: CheckOptions) -> list[str]:
    """Those of `TUNING` that are not as usual."""
    usual = CheckOptions()
    return [name for name in TUNING if getattr(options, name) != getattr(usual, name)]


def option_of(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def strategies_for(properties: Iterable[str]) -> list[str]:
    asked = set(properties)
    known = {name: load_strategy(name) for name in strategy_names()}
    return [name for name, each in known.items() if each.sound and asked <= each.preserves]


def search_options(options: CheckOptions) -> SearchOptions:
    return SearchOptions(
        properties=frozenset(options.properties),
        order=options.order,
        stop_at_first=not options.explore_all,
        limit_seconds=options.limit_seconds,
        limit_bytes=options.limit_bytes,
        movers=options.movers,
        self_check=options.self_check,
        cycle_rule=options.cycle_rule,
        workers=options.workers,
        proviso=options.proviso,
    )


def ordered(properties: Iterable[str]) -> tuple[str, ...]:
    asked = set(properties)
    return tuple(name for name in PROPERTIES if name in asked)
