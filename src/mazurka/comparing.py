"""Every strategy on one program, side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mazurka.checking import (
    ANY_VALUES,
    UNREAD_FORMULAS,
    check_program,
    explain_plainness,
    load_program,
    name_language,
    reads_unwritten,
)
from mazurka.deadline import interruptible, time_limit
from mazurka.errors import OptionError, UnsupportedError
from mazurka.ir.program import Program
from mazurka.report.answer import HEAD
from mazurka.report.verdict import UNREDUCED, Verdict
from mazurka.search import Observer, Strategy
from mazurka.search.options import one_of
from mazurka.search.reading import ANY, REPORTED, UNDECIDED
from mazurka.search.registry import AUTO, ENGINES, load_strategy, strategy_names
from mazurka.search.request import (
    CheckOptions,
    list_tuned,
    require_able,
    sort_properties,
    strategies_for,
    validate,
)

INTERRUPTED = "interrupted"
COUNTLESS = ("symbolic",)
"""The engines whose strategies are compared only where they are named: they count neither states
nor executions."""
ENDLESS_SECONDS = 10.0
"""What a search that may take for ever has where nobody says: the number of schedules is
exponential, and so are solvers; a comparison should come to an end."""


@dataclass(frozen=True)
class Comparison:
    """One verdict a strategy; `left_out` says why a strategy has none."""

    input: str | None
    properties: tuple[str, ...]
    """What was looked for; a verdict names its own properties, which may be fewer."""
    verdicts: tuple[Verdict, ...]
    left_out: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    """What is to be said about the program, whichever strategy searches it."""

    @property
    def interrupted(self) -> bool:
        """Whether somebody has put an end to it, so that it does not say what was asked."""
        return any(INTERRUPTED in verdict.limits for verdict in self.verdicts)

    def to_json(self) -> dict[str, object]:
        return {
            **HEAD,
            "input": self.input,
            "property": list(self.properties),
            "results": [verdict.to_json() for verdict in self.verdicts],
            "left_out": [{"strategy": name, "reason": why} for name, why in self.left_out],
            "notes": list(self.notes),
            "error": None,
        }


def compare_file(
    path: str,
    names: tuple[str, ...] | None,
    options: CheckOptions,
    observer: Observer,
    *,
    engines: tuple[str, ...] | None = None,
    started: float | None = None,
) -> Comparison:
    """Run the strategies named, or all that can answer; each explores everything.

    `engines` names those whose strategies are meant, where these are not one or the usual ones.

    A time limit is for reading the file, counted from `started` (`time.perf_counter`) if that is
    given, and for each strategy."""
    validate(options)
    engines = choose_engines(engines, options.engine)
    left_out: list[tuple[str, str]] = []
    chosen: list[Strategy] = []
    for name in names if names is not None else every_strategy(engines):
        strategy = load_strategy(name)
        try:
            chosen.append(require_able(strategy, options_for(strategy, options)))
            require_among(strategy, engines)
        except OptionError as error:
            if names is not None:
                raise
            left_out.append((name, error.message))
    if not chosen:
        able = ", ".join(strategies_for(options.required)) or "none"
        raise OptionError(f"no strategy can answer this; for these properties there are: {able}")
    refuse_what_none_listens_to(chosen, options)
    options = name_language(path, options)
    reading = replace(options.reading, unwritten=REPORTED)
    reported = options.reading.language == "c" and options.reading.unwritten == UNDECIDED
    rounds = [reading, replace(reading, unwritten=ANY)] if reported else [options.reading]
    for reading in rounds:
        with time_limit(options.limit_seconds, since=started), interruptible():
            program = load_program(path, reading)
        remarks = (*program.remarks, *((UNREAD_FORMULAS,) if program.formulas else ()))
        program = replace(program, remarks=(), formulas=())
        compared = ComparedProgram(path, program, replace(options, reading=reading), observer)
        verdicts, without = compared.run(chosen, named=names is not None)
        if reading.unwritten != REPORTED or not any(map(reads_unwritten, verdicts)):
            break
        observer.message("memory is read before it is written: it holds any value")
        started = None
    if reported and reading.unwritten == ANY:
        remarks = (*remarks, ANY_VALUES)
    remarks = (*remarks, *explain_plainness(*chosen))
    looked_for = sort_properties(name for verdict in verdicts for name in verdict.properties)
    return Comparison(path, looked_for, tuple(verdicts), (*left_out, *without), remarks)


@dataclass(frozen=True)
class ComparedProgram:
    """A program that strategies search one after the other."""

    path: str
    program: Program
    options: CheckOptions
    observer: Observer

    def run(
        self, chosen: list[Strategy], *, named: bool
    ) -> tuple[list[Verdict], list[tuple[str, str]]]:
        """The verdicts of strategies, which were asked for by name or not, and why some have none.

        Where memory is read before it is written the others are not asked: the program is read in
        another way then."""
        verdicts: list[Verdict] = []
        left_out: list[tuple[str, str]] = []
        for strategy in chosen:
            if verdicts and INTERRUPTED in verdicts[-1].limits:
                left_out.append((strategy.name, INTERRUPTED))
                continue
            wanted = options_for(strategy, self.options)
            try:
                with time_limit(wanted.limit_seconds):
                    verdict = check_program(
                        self.path, self.program, strategy, wanted, self.observer
                    )
            except (OptionError, UnsupportedError) as error:  # no solver, or too many threads
                if named or (strategy is chosen[-1] and not verdicts):
                    raise
                left_out.append((strategy.name, error.message))
                continue
            verdicts.append(verdict)
            if self.options.reading.unwritten == REPORTED and reads_unwritten(verdict):
                break
        return verdicts, left_out


def choose_engines(named: tuple[str, ...] | None, engine: str) -> tuple[str, ...] | None:
    """The engines whose strategies are compared; None for the usual ones."""
    if named is None:
        return None if engine == AUTO else (engine,)
    if engine != AUTO:
        raise OptionError("--engine and --engines both say which engines; give one of them")
    for name in named:
        one_of("engine", name, ENGINES)
    return named


def require_among(strategy: Strategy, engines: tuple[str, ...] | None) -> None:
    """Refuse a strategy that is asked for by name, but not its engine."""
    if engines is not None and strategy.engine not in engines:
        raise OptionError(
            f"strategy {strategy.name!r} belongs to engine {strategy.engine},"
            f" which --engines does not name"
        )


def options_for(strategy: Strategy, options: CheckOptions) -> CheckOptions:
    """What is asked of one strategy among others: an option that means nothing to it is left as it
    usually is, and a search over schedules or by a solver, which may take for ever, has an end."""
    own = {option.name for option in strategy.options}
    ignored = {option.name for option in list_tuned(options)} - own
    tuning = {name: value for name, value in options.tuning.items() if name not in ignored}
    seconds = options.limit_seconds
    if seconds is None and (strategy.over_schedules or strategy.engine in COUNTLESS):
        seconds = ENDLESS_SECONDS
    return replace(options, strategy=strategy.name, limit_seconds=seconds, tuning=tuning)


def refuse_what_none_listens_to(chosen: list[Strategy], options: CheckOptions) -> None:
    for option in list_tuned(options):
        if not any(option in strategy.options for strategy in chosen):
            compared = ", ".join(strategy.name for strategy in chosen)
            raise OptionError(f"{option.flag} means nothing to the strategies compared: {compared}")


def every_strategy(engines: tuple[str, ...] | None = None) -> list[str]:
    """The strategies of these engines, or of all, the unreduced one first, as the others are
    measured against it; those over schedules, and then those that count nothing, last.

    Strategies without states to count are compared only where they are asked for."""
    if engines is None:
        engines = tuple(engine for engine in ENGINES if engine not in COUNTLESS)
    names = {name for engine in engines for name in strategy_names(engine)}
    strategies = [load_strategy(name) for name in names]

    def place(strategy: Strategy) -> tuple[bool, bool, bool, str]:
        countless = strategy.engine in COUNTLESS
        return (strategy.name != UNREDUCED, countless, strategy.over_schedules, strategy.name)

    return [strategy.name for strategy in sorted(strategies, key=place)]
