"""Check a model and temporal formulas of it: those that it declares, and those that are asked.

A formula is about runs without faults, so the usual check comes first, and assertions must be a
part of it.  A formula is said to hold only where that holds.  A run that violates a formula is one
whatever else is known: it is also looked for where the usual check has come to no answer, unless
a limit of the whole check has ended it.

Who searches: the back end that has made the usual check, if the symbolic engine has; else the
nested search of the stateful engine.  Both go by single steps, and reduce nothing.  The usual check
may have stored states where the nested search cannot: among a million outcomes of a choice a few
stand for the others as far as the program can tell, but the formula may tell more.  Where nobody
has named an engine, a circuit is searched then.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mazurka.checking import FurtherCheck, check_file, limit_to_rest, load_program
from mazurka.deadline import TimeLimitError, interruptible, last_moment
from mazurka.errors import MazurkaError, OptionError, UnsupportedError
from mazurka.frontend.registry import choose_language, load_frontend
from mazurka.interrupts import first_interrupt_waits
from mazurka.ir.passes.process_end import end_with_process
from mazurka.ir.program import DeclaredFormula, Mode, Program, Span
from mazurka.ltl.formulas import Formula
from mazurka.ltl.lassos import shorten_lasso
from mazurka.ltl.parsing import parse_formula
from mazurka.ltl.propositions import ProgramNames, may_merge
from mazurka.report.answer import HOLDS, INCONCLUSIVE, VIOLATED
from mazurka.report.trace import confirm
from mazurka.report.verdict import CheckedFormula, Verdict, identify
from mazurka.report.words import counted
from mazurka.search import CUT_SHORT, Observer, SearchOptions, SearchResult, Statistics
from mazurka.search.reading import Reading, granularity_of
from mazurka.search.registry import AUTO, load_strategy
from mazurka.search.request import CheckOptions, choose_strategy
from mazurka.symbolic.temporal.options import FORMULA_STRATEGIES, require_able

SYMBOLIC = "symbolic"
NOWHERE = Span("", 0)


@dataclass(frozen=True)
class FormulaSubject:
    """A formula, and the program that it is judged over."""

    asked: DeclaredFormula
    formula: Formula
    program: Program
    reading: Reading
    """How that program is read."""

    @property
    def name(self) -> str:
        return repr(self.asked.text)


def check_temporal(
    path: str,
    options: CheckOptions,
    observer: Observer,
    *,
    ltl: str | None = None,
    fair: bool = False,
    started: float | None = None,
) -> Verdict:
    """Check a file as usual, and then whether all its runs satisfy its formulas, and `ltl`."""
    asked = () if ltl is None else (DeclaredFormula(ltl, fair, NOWHERE),)

    def prepare(program: Program, named: CheckOptions) -> FurtherCheck:
        wanted = (*asked, *program.formulas)
        if not wanted:
            return lambda verdict: verdict
        refuse_options(named, declared=not asked)
        subjects = [read_subject(path, named.reading, each) for each in wanted]
        return lambda usual: check_formulas(path, usual, subjects, named, observer)

    return check_file(path, options, observer, started=started, prepare_further=prepare)


def refuse_options(options: CheckOptions, *, declared: bool) -> None:
    """Refuse what makes no sense for formulas."""
    what = "a formula of the model" if declared else "--ltl"
    if granularity_of(options.reading) is not None:
        raise OptionError(f"{what} goes by the steps of the program; leave out --granularity")
    if "assert" not in options.required:
        raise OptionError(f"{what} is about runs without failures; --property needs assert as well")
    strategy = choose_strategy(options)
    if strategy is not None and strategy.engine == SYMBOLIC:
        require_able(strategy.name)


def check_formulas(
    path: str,
    usual: Verdict,
    subjects: Sequence[FormulaSubject],
    options: CheckOptions,
    observer: Observer,
) -> Verdict:
    """Check formulas one after the other, up to the first that is violated."""
    verdict = usual
    for number, subject in enumerate(subjects):
        if verdict.verdict == VIOLATED or not CUT_SHORT.isdisjoint(verdict.limits):
            rest = [each.name for each in subjects[number:]]
            word = "formula" if len(rest) == 1 else "formulas"
            note = f"not looked at: {word} {', '.join(rest)}, since the rest comes first"
            return replace(verdict, notes=(*verdict.notes, note))
        verdict = check_one(path, verdict, subject, options, observer)
    return verdict


def check_one(
    path: str,
    usual: Verdict,
    subject: FormulaSubject,
    options: CheckOptions,
    observer: Observer,
) -> Verdict:
    """Check one formula; `usual` is what is known of everything else."""
    began = time.perf_counter()
    try:
        with interruptible():
            result = search(usual, subject, options, observer)
    except TimeLimitError:
        limits = tuple(dict.fromkeys((*usual.limits, "time")))
        note = f"the time was up before the formula {subject.name} could be judged"
        base = add_figures(usual, subject, Statistics(seconds=time.perf_counter() - began))
        return replace(base, verdict=INCONCLUSIVE, limits=limits, notes=(*usual.notes, note))
    seconds = 0.0 if options.deterministic else time.perf_counter() - began
    base = add_figures(usual, subject, replace(result.statistics, seconds=seconds))
    scope = describe_scope(subject, result)
    notes = tuple(f"formula {subject.name}: {note}" for note in result.notes)
    base = replace(base, scope=f"{usual.scope}; {scope}", notes=(*usual.notes, *notes))
    if result.violation is None:
        limits = tuple(dict.fromkeys((*usual.limits, *result.limits)))
        return replace(base, verdict=INCONCLUSIVE if limits else HOLDS, limits=limits)
    with last_moment(), first_interrupt_waits():
        violation = shorten_lasso(
            subject.program, subject.formula, result.violation, fair=subject.asked.fair
        )
        finding, trace = confirm(subject.program, violation)
    message = f"{subject.name} is violated: {finding.message}"
    place = subject.asked.span
    return replace(
        base,
        verdict=VIOLATED,
        limits=(),
        violation=replace(
            finding,
            message=message,
            file=place.file or finding.file,
            line=place.line or finding.line,
        ),
        trace=trace,
        counterexample="found",
        subject=identify(path, subject.reading, subject.program),
        formula=subject.asked,
    )


def add_figures(usual: Verdict, subject: FormulaSubject, figures: Statistics) -> Verdict:
    """Say in a verdict what the search for a violation of a formula has taken."""
    formulas = (*usual.formulas, CheckedFormula(subject.asked.text, figures))
    times = usual.times
    if times is not None:
        times = replace(times, searching=times.searching + figures.seconds)
    return replace(usual, formulas=formulas, times=times)


def search(
    usual: Verdict, subject: FormulaSubject, options: CheckOptions, observer: Observer
) -> SearchResult:
    """Look for a run that violates a formula, with the engine of the usual check."""
    limited, fair = limit_to_rest(options.for_search()), subject.asked.fair
    if usual.engine != SYMBOLIC:
        from mazurka.stateful.searches.nested import NestedSearch

        try:
            stored = NestedSearch(subject.program, subject.formula, limited, observer, fair=fair)
        except UnsupportedError as error:
            return replace_states(error, subject, options, limited, observer)
        return stored.run()
    strategy = usual.strategy if usual.strategy in FORMULA_STRATEGIES else FORMULA_STRATEGIES[-1]
    return search_circuit(strategy, subject, limited, observer)


def replace_states(
    refused: UnsupportedError,
    subject: FormulaSubject,
    options: CheckOptions,
    limited: SearchOptions,
    observer: Observer,
) -> SearchResult:
    """Search a circuit where states cannot be stored, unless the user has named an engine."""
    from mazurka.auto import find_missing

    strategy, why = FORMULA_STRATEGIES[-1], f"formula {subject.name}: {refused.message}"
    if options.engine != AUTO or choose_strategy(options) is not None:
        raise UnsupportedError(f"{why}; --engine symbolic may check it") from None
    missing = find_missing(load_strategy(strategy), limited)
    if missing is not None:
        raise UnsupportedError(f"{why}; {missing}") from None
    reason = f"states cannot be stored: {refused.message.partition(';')[0]}"
    observer.message(f"{strategy}: {reason}")
    result = search_circuit(strategy, subject, limited, observer)
    return replace(result, notes=(reason, *result.notes))


def search_circuit(
    strategy: str, subject: FormulaSubject, limited: SearchOptions, observer: Observer
) -> SearchResult:
    """Look for a run that violates a formula in a circuit."""
    from mazurka.symbolic.temporal.searches import search_formula

    program, formula, fair = subject.program, subject.formula, subject.asked.fair
    return search_formula(strategy, program, formula, limited, observer, fair=fair)


def describe_scope(subject: FormulaSubject, result: SearchResult) -> str:
    """What a search says about a formula, and over which runs."""
    figures, fair = result.statistics, "fair " if subject.asked.fair else ""
    done = result.violation is None and not result.limits
    runs = f"{'all ' if done else ''}{fair}runs"
    if figures.proof is not None:
        size = f"no violation, by {figures.proof}"
    elif figures.unrolled is None or figures.states:
        size = f"{counted(figures.states, 'state')} of the product examined"
    elif done:
        many = counted(figures.unrolled, "step")
        size = f"none that could violate it goes on for more than {many}"
    else:
        size = f"loops that close within {counted(figures.unrolled, 'step')} examined"
    return f"formula {subject.name}, {runs}, unreduced, step by step: {size}"


def read_subject(path: str, reading: Reading, asked: DeclaredFormula) -> FormulaSubject:
    """The program that a formula is judged over, and the formula.

    One that could tell is judged over single steps, and dead locals keep their values.
    """
    complete = load_frontend(choose_language(path, reading.language)).complete
    single = reading if complete else replace(reading, merge=False)
    plain = end_with_process(load_program(path, single))
    formula = _parse(asked, plain)
    if may_merge(plain, formula, fair=asked.fair):
        program = end_with_process(load_program(path, reading))
        return FormulaSubject(asked, _parse(asked, program), program, reading)
    if any(each.mode is Mode.MERGED for thread in plain.threads for each in thread.locations):
        raise UnsupportedError(
            "a formula with X, locations or local variables, or about assumptions without --fair,"
            " needs single steps, and this program has merged ones; export it with --no-merge",
            file=path,
        )
    return FormulaSubject(asked, formula, keep_dead_locals(plain), single)


def _parse(asked: DeclaredFormula, program: Program) -> Formula:
    """Read a formula; what is wrong with one that a model declares is wrong in the model."""
    try:
        return parse_formula(asked.text, ProgramNames(program))
    except OptionError as error:
        if asked.span == NOWHERE:
            raise
        raise MazurkaError.at(asked.span, error.message) from None


def keep_dead_locals(program: Program) -> Program:
    """The same program without resets of local cells that nobody will read."""
    threads = tuple(
        replace(thread, locations=tuple(replace(each, resets=()) for each in thread.locations))
        for thread in program.threads
    )
    return replace(program, threads=threads)
