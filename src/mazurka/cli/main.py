"""The entry point of the `mazurka` command.

Importing this module must stay cheap: `mazurka --help` answers at once.  Whatever needs numba,
llvmlite or numpy is imported inside the commands.
"""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from typing import Annotated

import typer

from mazurka.cli import bench, check, compare, export, replay, test
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


def main() -> None:
    """Run the command and leave with its exit status."""
    status = run_guarded(app, sys.argv[1:])
    left = sys.modules.get("mazurka.runtime.program.watchdog")
    if left is not None and left.out_of_control:
        _leave_at_once(status)
    gc.freeze()  # what is left goes with the process: to look for garbage in it would take time
    sys.exit(status)


def _leave_at_once(status: int) -> None:
    """Without the functions that libraries have registered: they may wait for threads of a test
    that are stuck, and hold locks."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main()
