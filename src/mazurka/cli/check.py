"""`mazurka check`: does the model do what it promises?"""

from __future__ import annotations

from typing import Annotated

import typer

from mazurka.cli import arguments as args
from mazurka.cli.failures import guarded, print_json

EPILOG = "Example: mazurka check examples/philosophers.py -D N=3 --property assert,deadlock"


def check(
    context: typer.Context,
    file: args.File,
    engine: args.Engine = "auto",
    strategy: Annotated[
        str,
        args.option(
            "--strategy NAME|auto",
            "How to search, see below; auto chooses, and says why; mazurka compare FILE runs all.",
        ),
    ] = "auto",
    order: args.Order = "dfs",
    properties: args.Property = "assert,deadlock",
    language: args.Language = None,
    define: args.Define = None,
    json: args.Json = False,
    limit_time: args.LimitTime = None,
    limit_memory: args.LimitMemory = None,
    trace: Annotated[
        str | None, args.option("--trace FILE", "Save the counterexample for mazurka replay.")
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
    no_merge: args.NoMerge = False,
    granularity: args.Granularity = None,
    max_threads: args.MaxThreads = 8,
    max_depth: args.MaxDepth = 8,
) -> int:
    """Check assertions, deadlocks and data races of a model.

    Exit status: 0 holds, 1 violated, 2 bad input, 3 inconclusive.
    """

    def action() -> int:
        from mazurka.checking import check_file
        from mazurka.report.observer import finish, observer_for
        from mazurka.report.outputs import require_writable
        from mazurka.report.summary import Summary
        from mazurka.report.terminal import make_console
        from mazurka.report.tracefile import FORMAT, save
        from mazurka.search.reading import Reading
        from mazurka.search.request import CheckOptions

        options = CheckOptions(
            engine=engine,
            strategy=strategy,
            order=order,
            self_check=self_check,
            properties=args.parse_list(properties, "--property"),
            reading=Reading(
                language=language,
                definitions=args.parse_definitions(define),
                merge=not no_merge,
                granularity=granularity,
                max_threads=max_threads,
                max_depth=max_depth,
            ),
            limit_seconds=args.seconds(limit_time),
            limit_bytes=args.megabytes(limit_memory),
            explore_all=explore_all,
            counterexample=counterexample,
            tuning=context.obj,
        )
        if trace is not None:
            require_writable(trace, "--trace", mark=FORMAT, reads=file)
        observer = observer_for()
        try:
            verdict = check_file(file, options, observer)
        finally:
            finish(observer)
        saved = trace if verdict.trace is not None else None
        if saved is not None:
            save(saved, verdict)
        if json:
            print_json(verdict.to_json())
        else:
            console = make_console()
            summary = Summary(
                console, verdict, full_trace=full_trace, classification=classification
            )
            summary.print(saved=saved, asked=trace)
        return verdict.exit_status

    return guarded(action, as_json=json, path=file)
