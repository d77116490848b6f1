"""`mazurka bench`: measurements, each in a module that is loaded when it is asked for."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

from mazurka.cli import arguments as args
from mazurka.cli.commands import Command, CommandArgument
from mazurka.cli.completion import complete_among
from mazurka.cli.failures import guarded
from mazurka.errors import OptionError, suggest
from mazurka.extras import MODELS

if TYPE_CHECKING:
    from mazurka.bench.harness import Benchmark

EPILOG = "Example: mazurka bench speed --quick. What one takes: mazurka bench speed --help"

NAMES = (
    "speed", "scale", "verdict", "cpc", "optimistic", "cartesian", "context-bounded", "symbolic",
)  # fmt: skip
"""Each is a module of `mazurka.bench`, whose `TABLE` is the benchmark."""
ASKED = "mazurka.bench"
"""In a context's `meta`: the benchmark among the arguments, if there is one."""


def load_table(name: str) -> tuple[type[Benchmark[Any]], str]:
    """A benchmark, and what it is in a sentence."""
    module = importlib.import_module(f"mazurka.bench.{name.replace('-', '_')}")
    told = (module.__doc__ or "").partition("\n")[0].partition(": ")[2]
    return module.TABLE, told


class BenchCommand(Command):
    """The command; `mazurka bench NAME --help` tells what this benchmark takes."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.meta[ASKED] = next((word for word in args if word in NAMES), None)
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        name = ctx.meta.get(ASKED)
        if name is None:
            super().format_help(ctx, formatter)
            return
        table, told = load_table(name)
        benchmark = table()
        formatter.write_usage(f"{ctx.command_path} {name}", "[OPTIONS]")
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(told[:1].upper() + told[1:])
        with formatter.section("What --only takes"):
            formatter.write_dl(list(list_subjects(benchmark)))
        with formatter.section("Options"):
            formatter.write_dl(list(list_options(self, ctx, benchmark)))
        formatter.write_paragraph()
        with formatter.indentation():
            groups = [case.group for case in benchmark.cases]
            limit = "" if benchmark.default_limit == math.inf else " --limit-time 20"
            formatter.write_text(f"Example: mazurka bench {name} --only {groups[-1]}{limit}")
            formatter.write_text("Ctrl-C prints what has been measured so far.")


def list_subjects(benchmark: Benchmark[Any]) -> Iterator[tuple[str, str]]:
    """The groups of cases, each with its cases."""
    groups: dict[str, list[str]] = {}
    for case in benchmark.cases:
        groups.setdefault(case.group, []).append(case.name)
    for group, cases in groups.items():
        alone = cases == [group]
        yield group, "" if alone else f"all of {', '.join(cases)}; or one of these"


def list_options(
    command: BenchCommand, ctx: Any, benchmark: Benchmark[Any]
) -> Iterator[tuple[str, str]]:
    """The options that a benchmark takes."""
    refused = {
        "order": benchmark.depth_first is not None,
        "limit_time": benchmark.default_limit == math.inf,
        "workers": benchmark.default_workers is None,
        "svg": benchmark.draw() is None,
    }
    told = {
        "limit_time": f"Stop each search after S seconds.  [default: {benchmark.default_limit:g}]",
        "workers": f"Workers of the concurrent search.  [default: {benchmark.default_workers}]",
        "svg": "Draw the times into this file.",
        **benchmark.option_help,
    }
    for parameter in command.get_params(ctx):
        record = parameter.get_help_record(ctx)
        if record is not None and parameter.name != "name" and not refused.get(parameter.name):
            yield record[0], told.get(parameter.name, record[1])


def bench(
    name: Annotated[
        str,
        CommandArgument(
            "NAME", f"What to measure: {', '.join(NAMES)}.", complete_among(lambda: NAMES)
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
        MODELS.require("mazurka bench measures native code, and there is no compiler")
        from mazurka.bench.harness import BenchOptions

        table, _ = load_table(name)
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
