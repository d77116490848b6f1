"""`mazurka bench`: measurements, each in a module that is loaded when it is asked for."""

from __future__ import annotations

import importlib
from typing import Annotated

import typer

from mazurka.cli import arguments as args
from mazurka.cli.failures import guarded
from mazurka.errors import OptionError

EPILOG = "Example: mazurka bench speed"

BENCHMARKS = {"speed": "mazurka.bench.speed"}


def register(app: typer.Typer) -> None:
    app.command("bench", epilog=EPILOG)(bench)


def bench(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help=f"What to measure: {', '.join(BENCHMARKS)}.")
    ],
    json: args.Json = False,
) -> int:
    """Run a benchmark; speed compares with SPIN where it is installed."""

    def action() -> int:
        home = BENCHMARKS.get(name)
        if home is None:
            raise OptionError(f"unknown benchmark {name!r}; there are: {', '.join(BENCHMARKS)}")
        status = importlib.import_module(home).run(as_json=json)
        return status if isinstance(status, int) else 0

    return guarded(action, as_json=json)
