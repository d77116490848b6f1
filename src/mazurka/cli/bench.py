"""`mazurka bench`: measurements, each in a module that is loaded when it is asked for."""

from __future__ import annotations

import importlib
from typing import Annotated

import typer

from mazurka.cli import arguments as args
from mazurka.cli.failures import guarded
from mazurka.errors import OptionError

EPILOG = "Example: mazurka bench speed --quick"

BENCHMARKS = {
    "speed": "mazurka.bench.speed",
    "cpc": "mazurka.bench.cpc",
    "optimistic": "mazurka.bench.optimistic",
    "cartesian": "mazurka.bench.cartesian",
    "context-bounded": "mazurka.bench.context_bounded",
}
LIMITED = frozenset({"optimistic", "cartesian", "context-bounded"})
"""Benchmarks that know what to say of a search that was stopped by a time limit."""
CONCURRENT = frozenset({"cartesian"})
"""Benchmarks with a search by several workers."""


def register(app: typer.Typer) -> None:
    app.command("bench", epilog=EPILOG)(bench)


def bench(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help=f"What to measure: {', '.join(BENCHMARKS)}.")
    ],
    quick: Annotated[
        bool, typer.Option("--quick", help="Small instances: a look, not a measurement.")
    ] = False,
    only: Annotated[
        str | None, typer.Option("--only", metavar="SUBJECT", help="Measure this subject only.")
    ] = None,
    repeat: Annotated[
        int, typer.Option("--repeat", metavar="N", help="Rounds; the typical one is shown.")
    ] = 1,
    order: args.Order = "dfs",
    limit_time: Annotated[
        float | None,
        typer.Option(
            "--limit-time",
            metavar="S",
            help="Stop each search after S seconds (context-bounded: 300, others: 60).",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers", metavar="N", help="Workers of the concurrent search (cartesian: 2)."
        ),
    ] = None,
    json: args.Json = False,
) -> int:
    """Run a benchmark; speed compares with SPIN where it is installed."""

    def action() -> int:
        home = BENCHMARKS.get(name)
        if home is None:
            raise OptionError(f"unknown benchmark {name!r}; there are: {', '.join(BENCHMARKS)}")
        if repeat < 1:
            raise OptionError(f"--repeat must be at least 1, not {repeat}")
        if order not in ("dfs", "bfs"):
            raise OptionError(f"order {order!r} is not known; there are: dfs, bfs")
        if limit_time is not None and name not in LIMITED:
            raise OptionError(f"--limit-time: the searches of {name!r} always run to their end")
        if workers is not None and name not in CONCURRENT:
            raise OptionError(f"--workers: the searches of {name!r} have one worker each")
        special = {"limit_seconds": limit_time, "workers": workers}
        given = {option: value for option, value in special.items() if value is not None}
        benchmark = importlib.import_module(home)
        status = benchmark.run(
            as_json=json, quick=quick, only=only, repeat=repeat, order=order, **given
        )
        return status if isinstance(status, int) else 0

    return guarded(action, as_json=json)
