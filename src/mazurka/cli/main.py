"""The entry point of the `mazurka` command.

Importing this module must stay cheap: `mazurka --help` answers at once.  Whatever needs numba,
llvmlite or numpy is imported inside the commands.
"""

from __future__ import annotations

import gc
import sys
from typing import Annotated

import typer

from mazurka.cli import bench, cache, check, compare, export, replay, test
from mazurka.cli.command_group import CommandGroup
from mazurka.cli.failures import run_guarded
from mazurka.cli.plain_values import PlainCommand
from mazurka.cli.tuning import StrategyCommand
from mazurka.version import __version__

app = typer.Typer(
    name="mazurka",
    cls=CommandGroup,
    help="Verify concurrent programs: assertions, deadlocks, hangs, data races.",
    epilog="Example: mazurka check examples/philosophers.py -D N=3",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for name, command, epilog, kind in (
    ("check", check.check, check.EPILOG, StrategyCommand),
    ("compare", compare.compare, compare.EPILOG, StrategyCommand),
    ("replay", replay.replay, replay.EPILOG, PlainCommand),
    ("test", test.explore_tests, test.EPILOG, PlainCommand),
    ("export", export.export, export.EPILOG, PlainCommand),
    ("cache", cache.show_cache, cache.EPILOG, PlainCommand),
    ("bench", bench.bench, bench.EPILOG, bench.BenchCommand),
):
    app.command(name, epilog=epilog, cls=kind)(command)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"mazurka {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


def main() -> int:
    """Run the command; returns the exit status."""
    status = run_guarded(app, sys.argv[1:])
    gc.freeze()  # what is left goes with the process: to look for garbage in it would take time
    return status
