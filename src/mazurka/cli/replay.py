"""`mazurka replay`: run a saved counterexample again."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from mazurka.cli import arguments as args
from mazurka.cli.failures import guarded, print_json

if TYPE_CHECKING:
    from mazurka.report.replaying import ReplayReport

EPILOG = "Example: mazurka check model.py --trace bug.json; mazurka replay bug.json --step"


def register(app: typer.Typer) -> None:
    app.command("replay", epilog=EPILOG)(replay)


def replay(
    trace: Annotated[
        str, typer.Argument(metavar="TRACE", help="A file that mazurka check --trace has written.")
    ],
    step: Annotated[
        bool, typer.Option("--step", help="Show one step at a time; Enter goes on, q ends.")
    ] = False,
    full_trace: Annotated[
        bool, typer.Option("--full-trace", help="Print every step of a long trace.")
    ] = False,
    json: args.Json = False,
) -> int:
    """Replay a saved counterexample on the reference interpreter.

    Exit status: 1 the violation was reproduced, 0 it was not, 2 the program has changed.
    """

    def action() -> int:
        from mazurka.api import replay as replay_file

        report = replay_file(trace)
        if json:
            print_json(report.to_json())
        else:
            show(report, step=step, full_trace=full_trace)
        return report.exit_status

    return guarded(action, as_json=json, path=trace)


def show(report: ReplayReport, *, step: bool, full_trace: bool) -> None:
    from mazurka.report.summary import print_replay
    from mazurka.report.terminal import make_console

    pause = wait if step else None
    print_replay(make_console(), report, full_trace=full_trace or step, pause=pause)


def wait() -> bool:
    """Ask for Enter where a person can answer; False ends the stepping."""
    if not sys.stdin.isatty():
        return True
    sys.stderr.write("  [Enter] next step, [q] quit ")
    sys.stderr.flush()
    answer = sys.stdin.readline()
    sys.stderr.write("\x1b[1A\x1b[2K\r")
    sys.stderr.flush()
    return bool(answer) and not answer.strip().lower().startswith("q")
