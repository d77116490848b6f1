"""`mazurka check`: does the model do what it promises?"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import click

from mazurka.cli import arguments as args
from mazurka.cli.completion import complete_among, strategies_or_auto
from mazurka.cli.failures import guarded, print_json
from mazurka.errors import OptionError

if TYPE_CHECKING:
    from mazurka.report.verdict import Verdict

EPILOG = "Example: mazurka check examples/philosophers.py -D N=3 --property assert,deadlock"


def check(
    context: click.Context,
    file: args.File,
    engine: args.Engine = "auto",
    strategy: Annotated[
        str,
        args.option(
            "--strategy NAME|auto",
            "How to search, see below; auto chooses, and says why; mazurka compare FILE runs all.",
            complete_among(strategies_or_auto),
        ),
    ] = "auto",
    order: args.Order = "dfs",
    properties: args.UsualProperty = None,
    language: args.Language = None,
    define: args.Define = None,
    json: args.Json = False,
    form: args.Form = "text",
    limit_time: args.LimitTime = None,
    limit_memory: args.LimitMemory = None,
    trace: Annotated[
        str | None, args.option("--trace FILE", "Save the counterexample for mazurka replay.")
    ] = None,
    witness: Annotated[
        str | None,
        args.option(
            "--witness FILE", "For C: save the counterexample as an SV-COMP witness (YAML, 2.2)."
        ),
    ] = None,
    full_trace: Annotated[
        bool, args.option("--full-trace", "Print every step of a long counterexample.")
    ] = False,
    classification: Annotated[
        bool,
        args.option(
            "--classification",
            "Print how the threads share each cell, where the strategy finds out.",
        ),
    ] = False,
    explain: Annotated[
        bool,
        args.option(
            "--explain",
            "Print what was made of the model: threads, the bits of a state, and the circuit where"
            " the strategy has one.",
        ),
    ] = False,
    counterexample: Annotated[
        str,
        args.option(
            "--counterexample auto|found|switches",
            "Which counterexample to show: as found, or with the fewest context switches.",
        ),
    ] = "auto",
    explore_all: Annotated[
        bool, args.option("--explore-all", "Go on after a violation, for full counts.")
    ] = False,
    self_check: Annotated[
        bool,
        args.option(
            "--self-check", "Repeat the search on the interpreter, invariants asserted (slow)."
        ),
    ] = False,
    deterministic: Annotated[
        bool,
        args.option(
            "--deterministic", "Answer with the same counts and text every time, without times."
        ),
    ] = False,
    ltl: Annotated[
        str | None,
        args.option("--ltl FORMULA", "A temporal formula that all runs satisfy: G (req -> F ack)."),
    ] = None,
    fair: Annotated[
        bool,
        args.option("--fair", "With --ltl: no thread that could always move is passed over."),
    ] = False,
    no_symmetry: args.NoSymmetry = False,
    no_merge: args.NoMerge = False,
    granularity: args.Granularity = None,
    max_threads: args.MaxThreads = 8,
    max_depth: args.MaxDepth = 8,
    model: args.Model = "lp64",
    heap: args.Heap = 8,
    overflow: args.Overflow = False,
) -> int:
    """Check assertions, deadlocks, hangs and data races of a model.

    Exit status: 0 holds, 1 violated, 2 bad input, 3 inconclusive.
    """

    def action() -> int:
        from mazurka.deadline import command_start, time_limit
        from mazurka.report.observer import finish, observer_for
        from mazurka.report.outputs import require_writable
        from mazurka.report.summary import Summary
        from mazurka.report.terminal import make_console
        from mazurka.report.tracefile import FORMAT, save
        from mazurka.search.reading import Reading
        from mazurka.search.request import CheckOptions
        from mazurka.temporal import check_temporal

        options = CheckOptions(
            engine=engine,
            strategy=strategy,
            order=order,
            self_check=self_check,
            deterministic=deterministic,
            properties=(None if properties is None else args.parse_list(properties, "--property")),
            reading=Reading(
                language=language,
                definitions=args.parse_definitions(define, file),
                merge=not no_merge,
                granularity=granularity,
                max_threads=max_threads,
                max_depth=max_depth,
                model=model,
                heap=heap,
                overflow=overflow,
            ),
            limit_seconds=args.seconds(limit_time),
            limit_bytes=args.megabytes(limit_memory),
            explore_all=explore_all,
            explain=explain,
            counterexample=counterexample,
            symmetry=not no_symmetry,
            tuning=context.obj,
        )
        printed = args.choose_form(form, json)
        if trace is not None:
            require_writable(trace, "--trace", mark=FORMAT, reads=file)
        if witness is not None:
            prepare_witness(file, language, witness)
        if fair and ltl is None:
            raise OptionError("--fair is for --ltl")
        observer = observer_for()
        try:
            started = command_start()
            with time_limit(options.limit_seconds, since=started):
                verdict = check_temporal(
                    file, options, observer, ltl=ltl, fair=fair, started=started
                )
        finally:
            finish(observer)
        saved = trace if verdict.trace is not None else None
        if saved is not None:
            save(saved, verdict)
        if witness is not None and verdict.trace is not None:
            verdict = write_witness(witness, verdict)
        if printed == "json":
            print_json(verdict.to_json())
        elif printed == "svg" and verdict.trace is not None:
            print_chart(file, verdict, full_trace)
        else:
            console = make_console(sys.stderr if printed == "svg" else None)
            summary = Summary(
                console, verdict, full_trace=full_trace, classification=classification
            )
            summary.print(saved=saved, asked=trace)
        return verdict.exit_status

    return guarded(action, as_json=json or form == "json", path=file)


def prepare_witness(file: str, language: str | None, witness: str) -> None:
    """Refuse a witness that could not be written, before a long search."""
    from mazurka.frontend.registry import choose_language
    from mazurka.report.outputs import require_writable
    from mazurka.witness import MARK

    if choose_language(file, language) != "c":
        raise OptionError("--witness is for C programs; --trace saves every counterexample")
    require_writable(witness, "--witness", mark=MARK, reads=file)


def write_witness(path: str, verdict: Verdict) -> Verdict:
    """Write the witness of a counterexample, and say that in the verdict."""
    from mazurka.checking import load_program
    from mazurka.frontend.c.positions import find_positions
    from mazurka.witness import find_specification, save_witness

    assert verdict.subject is not None
    assert verdict.violation is not None
    if find_specification(verdict) is None:
        note = (
            f"no witness: the format has none for this kind of violation, {verdict.violation.kind}"
        )
    else:
        file, reading = verdict.subject.input, verdict.subject.reading
        program = load_program(file, reading)
        save_witness(path, verdict, program, find_positions(file, reading))
        note = f"the witness is in {path}"
    return replace(verdict, notes=(*verdict.notes, note))


def print_chart(file: str, verdict: Verdict, full: bool) -> None:
    """Print the counterexample as a drawing, and the verdict where it does not disturb."""
    from mazurka.checking import load_program
    from mazurka.report.chart import draw_chart
    from mazurka.report.terminal import safe

    assert verdict.trace is not None
    assert verdict.violation is not None
    assert verdict.subject is not None
    program = load_program(file, verdict.subject.reading)
    sys.stdout.write(draw_chart(program, verdict.trace, verdict.violation, full=full))
    found = verdict.violation
    print(safe(f"{verdict.verdict}: {found.kind}: {found.message}"), file=sys.stderr)
