"""`mazurka compare`: every strategy side by side."""

from __future__ import annotations

from typing import Annotated

import click

from mazurka.cli import arguments as args
from mazurka.cli import completion
from mazurka.cli.failures import guarded, print_json
from mazurka.report.answer import ERROR, EXIT_STATUS, INCONCLUSIVE

EPILOG = "Example: mazurka compare examples/philosophers.py -D N=8 --strategies full"


def compare(
    context: click.Context,
    file: args.File,
    strategies: Annotated[
        str | None,
        args.option(
            "--strategies A,B,C",
            "The strategies; all unless given.",
            completion.complete_list(completion.strategies),
        ),
    ] = None,
    engine: args.Engine = "auto",
    engines: Annotated[
        str | None,
        args.option(
            "--engines A,B",
            "The engines whose strategies are compared.",
            completion.complete_list(completion.named_engines),
        ),
    ] = None,
    order: args.Order = "dfs",
    properties: args.UsualProperty = None,
    language: args.Language = None,
    define: args.Define = None,
    json: args.Json = False,
    limit_time: args.LimitTime = None,
    limit_memory: args.LimitMemory = None,
    no_symmetry: args.NoSymmetry = False,
    no_merge: args.NoMerge = False,
    granularity: args.Granularity = None,
    max_threads: args.MaxThreads = 8,
    max_depth: args.MaxDepth = 8,
    model: args.Model = "lp64",
    heap: args.Heap = 8,
    overflow: args.Overflow = False,
) -> int:
    """Run every strategy on one model and compare states, time and memory.

    Each strategy explores everything, also after a violation.  Exit status: 0, 3 if it was
    interrupted, or 2 for bad input, and if two strategies disagree.
    """

    def action() -> int:
        from mazurka.comparing import compare_file
        from mazurka.deadline import command_start
        from mazurka.report.comparison import find_disagreement, print_comparison
        from mazurka.report.observer import finish, observer_for
        from mazurka.report.terminal import make_console
        from mazurka.search.reading import Reading
        from mazurka.search.request import CheckOptions

        names = args.parse_list(strategies, "--strategies") if strategies else None
        among = args.parse_list(engines, "--engines") if engines else None
        options = CheckOptions(
            engine=engine,
            order=order,
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
            explore_all=True,
            symmetry=not no_symmetry,
            tuning=context.obj,
        )
        observer = observer_for()
        try:
            comparison = compare_file(
                file, names, options, observer, engines=among, started=command_start()
            )
        finally:
            finish(observer)
        if json:
            print_json(comparison.to_json())
        else:
            print_comparison(
                make_console(),
                file,
                comparison.properties,
                comparison.verdicts,
                comparison.left_out,
                comparison.notes,
            )
        if find_disagreement(comparison.verdicts) is not None:
            return EXIT_STATUS[ERROR]
        return EXIT_STATUS[INCONCLUSIVE] if comparison.interrupted else 0

    return guarded(action, as_json=json, path=file, several=True)
