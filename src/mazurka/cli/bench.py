"""`mazurka bench`: measurements, each in a module that is loaded when it is asked for."""

from __future__ import annotations

import importlib
from typing import Annotated

import typer

from mazurka.cli import arguments as args
from mazurka.cli.completion import complete_among
from mazurka.cli.failures import guarded
from mazurka.errors import OptionError, suggest

EPILOG = "Examples: mazurka bench speed --quick, mazurka bench scale --svg scale.svg"

NAMES = (
    "speed", "scale", "verdict", "cpc", "optimistic", "cartesian", "context-bounded", "symbolic",
)  # fmt: skip
"""Each is a module of `mazurka.bench`, whose `TABLE` is the benchmark."""


def bench(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help=f"What to measure: {', '.join(NAMES)}.",
            autocompletion=complete_among(lambda: NAMES),
        ),
    ],
    quick: Annotated[
        bool, args.option("--quick", "Small instances: a look, not a measurement.")
    ] = False,
    only: Annotated[str | None, args.option("--only SUBJECT", "Measure this subject only.")] = None,
    repeat: Annotated[int, args.option("--repeat N", "Rounds; the typical one is shown.")] = 1,
    order: args.Order = "dfs",
    limit_time: Annotated[
        float | None,
        args.option(
            "--limit-time S",
            "Stop each search after S seconds (context-bounded, verdict: 300, others: 60).",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        args.option(
            "--workers N",
            "Workers of the concurrent search (cartesian: 2); the most there are (scale: all"
            " processors).",
        ),
    ] = None,
    svg: Annotated[
        str | None,
        args.option(
            "--svg FILE", "Draw the times into this file (symbolic), or the speeds (scale)."
        ),
    ] = None,
    json: args.Json = False,
) -> int:
    """Run a benchmark; speed, scale and verdict compare with SPIN where it is installed."""

    def action() -> int:
        if name not in NAMES:
            known = f"{', '.join(NAMES)}{suggest(name, NAMES)}"
            raise OptionError(f"unknown benchmark {name!r}; there are: {known}")
        from mazurka.bench.harness import BenchOptions

        table = importlib.import_module(f"mazurka.bench.{name.replace('-', '_')}").TABLE
        options = BenchOptions(
            quick=quick,
            only=only,
            repeat=repeat,
            order=order,
            limit_seconds=limit_time,
            workers=workers,
            svg=svg,
        )
        return int(table(options).run(as_json=json))

    return guarded(action, as_json=json)
