"""Check a model and a temporal formula of it.

The formula is about runs without faults, so the usual check comes first, and assertions must be a
part of it.  The formula is judged only where that holds.
"""

from __future__ import annotations

from dataclasses import replace

from mazurka.checking import check_file, limit_to_rest, load_program
from mazurka.deadline import interruptible, last_moment, time_limit
from mazurka.errors import OptionError, UnsupportedError
from mazurka.frontend.registry import choose_language, load_frontend
from mazurka.ir.program import Mode, Program
from mazurka.ltl.formulas import Formula
from mazurka.ltl.parsing import parse_formula
from mazurka.ltl.propositions import ProgramNames, may_merge
from mazurka.report.answer import HOLDS, INCONCLUSIVE, VIOLATED
from mazurka.report.trace import confirm
from mazurka.report.verdict import Verdict
from mazurka.report.words import counted
from mazurka.search import Observer
from mazurka.search.reading import Reading, granularity_of
from mazurka.search.request import CheckOptions
from mazurka.stateful.searches.nested import NestedSearch


def check_temporal(
    path: str,
    options: CheckOptions,
    text: str,
    observer: Observer,
    *,
    fair: bool = False,
    started: float | None = None,
) -> Verdict:
    """Check a file as usual, and then whether all its runs satisfy a formula."""
    if granularity_of(options.reading) is not None:
        raise OptionError("--ltl goes by the steps of the program; leave out --granularity")
    if "assert" not in options.required:
        raise OptionError("--ltl is about runs without failures; --property needs assert as well")
    with time_limit(options.limit_seconds):
        program, formula = read_subject(path, options.reading, text, fair=fair)
        usual = check_file(path, options, observer, started=started)
        if usual.verdict != HOLDS:
            note = f"the formula {text!r} was not looked at: the rest comes first"
            return replace(usual, notes=(*usual.notes, note))
        search = limit_to_rest(options.for_search())
        with interruptible():
            result = NestedSearch(program, formula, search, observer, fair=fair).run()
        done = result.violation is None and not result.limits
        runs = f"{'all ' if done else ''}{'fair ' if fair else ''}runs"
        size = counted(result.statistics.states, "state")
        scope = f"formula {text!r}, {runs}, unreduced: {size} of the product examined"
        base = replace(usual, scope=f"{usual.scope}; {scope}")
        if result.violation is None:
            if result.limits:
                return replace(base, verdict=INCONCLUSIVE, limits=result.limits)
            return base
        with last_moment():
            finding, trace = confirm(program, result.violation)
        return replace(
            base,
            verdict=VIOLATED,
            violation=replace(finding, message=f"{text!r} is violated: {finding.message}"),
            trace=trace,
            counterexample="found",
        )


def read_subject(path: str, reading: Reading, text: str, *, fair: bool) -> tuple[Program, Formula]:
    """The program that a formula is judged over, and the formula.

    One that could tell is judged over single steps, and dead locals keep their values.
    """
    complete = load_frontend(choose_language(path, reading.language)).complete
    plain = load_program(path, reading if complete else replace(reading, merge=False))
    formula = parse_formula(text, ProgramNames(plain))
    if may_merge(plain, formula, fair=fair):
        program = load_program(path, reading)
        return program, parse_formula(text, ProgramNames(program))
    if any(each.mode is Mode.MERGED for thread in plain.threads for each in thread.locations):
        raise UnsupportedError(
            "a formula with X, locations or local variables, or about assumptions without --fair,"
            " needs single steps, and this program has merged ones; export it with --no-merge",
            file=path,
        )
    return keep_dead_locals(plain), formula


def keep_dead_locals(program: Program) -> Program:
    """The same program without resets of local cells that nobody will read."""
    threads = tuple(
        replace(thread, locations=tuple(replace(each, resets=()) for each in thread.locations))
        for thread in program.threads
    )
    return replace(program, threads=threads)
