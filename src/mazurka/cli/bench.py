"""`mazurka bench`: measurements, each in a module that is loaded when it is asked for."""

from __future__ import annotations

import importlib
from typing import Annotated

import typer

from mazurka.cli import arguments as args
from mazurka.cli.failures import guarded
from mazurka.errors import OptionError

EPILOG = "Example: mazurka bench speed --quick"

BENCHMARKS = {"speed": "mazurka.bench.speed"}


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
        benchmark = importlib.import_module(home)
        status = benchmark.run(as_json=json, quick=quick, only=only, repeat=repeat, order=order)
        return status if isinstance(status, int) else 0

    return guarded(action, as_json=json)
