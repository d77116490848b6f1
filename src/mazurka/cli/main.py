"""The entry point of the `mazurka` command.

Importing this module must stay cheap: `mazurka --help` answers at once.  Whatever needs numba,
llvmlite or numpy is imported inside the commands.
"""

from __future__ import annotations

import gc
import sys
from typing import Any

import click

from mazurka.cli import bench, cache, check, compare, export, replay, test
from mazurka.cli.command_group import CommandGroup
from mazurka.cli.commands import Command, make_command
from mazurka.cli.failures import run_guarded
from mazurka.cli.tuning import StrategyCommand
from mazurka.version import __version__


def _when_given(action: Any) -> Any:
    """Make the callback of a flag that is a command by itself."""

    def call(context: click.Context, parameter: click.Parameter, given: bool) -> None:
        if given and not context.resilient_parsing:
            action()
            context.exit()

    return call


def _install_completion() -> None:
    from mazurka.cli.shells import install_completion

    print(install_completion())


def _show_completion() -> None:
    from mazurka.cli.shells import find_shell, write_script

    print(write_script(app, find_shell()))


app = CommandGroup(
    name="mazurka",
    help="Verify concurrent programs: assertions, deadlocks, hangs, data races.",
    epilog="Example: mazurka check examples/philosophers.py -D N=3",
    context_settings={"help_option_names": ["-h", "--help"]},
    params=[
        click.Option(
            [flag],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            help=text,
            callback=_when_given(action),
        )
        for flag, text, action in (
            ("--version", "Show the version.", lambda: print(f"mazurka {__version__}")),
            (
                "--install-completion",
                "Install completion for the current shell.",
                _install_completion,
            ),
            (
                "--show-completion",
                "Show completion for the current shell, to copy it or customize the installation.",
                _show_completion,
            ),
        )
    ],
    commands=[
        make_command(kind, name, command, epilog)
        for name, command, epilog, kind in (
            ("check", check.check, check.EPILOG, StrategyCommand),
            ("compare", compare.compare, compare.EPILOG, StrategyCommand),
            ("replay", replay.replay, replay.EPILOG, Command),
            ("test", test.explore_tests, test.EPILOG, Command),
            ("export", export.export, export.EPILOG, Command),
            ("cache", cache.show_cache, cache.EPILOG, Command),
            ("bench", bench.bench, bench.EPILOG, bench.BenchCommand),
        )
    ],
)


def main() -> int:
    """Run the command; returns the exit status."""
    status = run_guarded(app, sys.argv[1:])
    gc.freeze()  # what is left goes with the process: to look for garbage in it would take time
    return status
