"""`mazurka replay`: run a saved counterexample again."""

from __future__ import annotations

import re
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from mazurka.cli import arguments as args
from mazurka.cli.commands import CommandArgument
from mazurka.cli.failures import guarded, print_json
from mazurka.cli.test import Instrument, LeaveOut, RealTime
from mazurka.errors import OptionError

if TYPE_CHECKING:
    from mazurka.report.tracefile import ReplayReport

TOKENS = r"mz\d+-"
"""How the tokens of failed tests begin, in every version of their format."""
EPILOG = "Example: mazurka check model.py --trace bug.json; mazurka replay bug.json --step"


def replay(
    trace: Annotated[
        str,
        CommandArgument(
            "TRACE|TOKEN|WITNESS",
            "A file that mazurka check --trace has written, the token of a failed test, or,"
            " with --circuit, the witness of another model checker.",
        ),
    ],
    step: Annotated[
        bool,
        args.option(
            "--step",
            "Show one step at a time; Enter goes on, q ends. Where the input is no terminal,"
            " all steps are shown at once.",
        ),
    ] = False,
    full_trace: Annotated[
        bool, args.option("--full-trace", "Print every step of a long trace.")
    ] = False,
    circuit: Annotated[
        str | None,
        args.option(
            "--circuit FILE",
            "The circuit that another model checker was given, as mazurka export --format aiger"
            " has written it: replay the checker's witness on the model.",
        ),
    ] = None,
    outside: Annotated[
        bool,
        args.option(
            "--outside",
            "For a token: import the file that it names even if that is not in the project"
            " directory, as in mazurka replay mz1-eNq... --outside. Do that only with a token of"
            " your own.",
        ),
    ] = False,
    leave_out: LeaveOut = None,
    real_time: RealTime = False,
    json: args.Json = False,
    form: args.Form = "text",
    instrument: Instrument = None,
) -> int:
    """Replay a saved counterexample on the reference interpreter, or a test by its token.

    With --circuit, replay what another model checker has found in an exported circuit.

    Exit status: 1 the violation was reproduced, 0 it was not, 2 the program has changed.
    """

    def action() -> int:
        printed = args.choose_form(form, json)
        if re.match(TOKENS, trace) and circuit is None:
            if printed == "svg":
                raise OptionError("--format svg is for saved traces, not for the tokens of tests")
            given: dict[str, Any] = {"leave_out": leave_out} if leave_out else {}
            if instrument:
                given["instrument"] = instrument
            if real_time:
                given["virtual_time"] = False
            as_json = printed == "json"
            return replay_token(
                trace, given, as_json=as_json, full_trace=full_trace, outside=outside
            )
        if leave_out or instrument or real_time or outside:
            raise OptionError(
                "--leave-out, --outside and --real-time are for the tokens of failed tests"
            )
        from mazurka.api import replay_on
        from mazurka.report.chart import draw_chart
        from mazurka.report.terminal import safe

        if circuit is not None:
            from mazurka.circuit_files import replay_witness

            report, program = replay_witness(trace, circuit)
        else:
            report, program = replay_on(trace)
        if printed == "json":
            print_json(report.to_json())
        elif printed == "svg":
            sys.stdout.write(draw_chart(program, report.trace, report.finding, full=full_trace))
            print(safe(report.message), file=sys.stderr)
        else:
            show(report, step=step, full_trace=full_trace)
        return report.exit_status

    return guarded(action, as_json=json or form == "json", path=trace)


def replay_token(
    text: str,
    given: dict[str, Any],
    *,
    as_json: bool,
    full_trace: bool = False,
    outside: bool = False,
) -> int:
    """Run the schedule of a failed test again; say which file is imported for that."""
    from mazurka.report.terminal import UNICODE, safe
    from mazurka.runtime.exploring.entry import replay_test
    from mazurka.runtime.exploring.options import ExploreOptions, override_options
    from mazurka.runtime.exploring.tokens import decode, make_portable
    from mazurka.runtime.story.report import print_result
    from mazurka.runtime.testing.collecting import collect, split_target
    from mazurka.runtime.testing.token_files import locate_target

    token = decode(text)
    target = locate_target(token.test, outside=outside)
    path, name = split_target(target)
    file = safe(make_portable(Path(path).resolve()), UNICODE)
    sys.stderr.write(f"mazurka: importing {file} to run {safe(name or 'its tests', UNICODE)}\n")
    sys.stderr.flush()
    with redirect_stdout(sys.stderr):  # what the test prints
        found = collect(target)[0]
        if found.problem is not None:
            raise found.problem
        with found.surroundings():
            options = override_options(found.options or ExploreOptions(), given)
            result = replay_test(found.test, options, token)
    if as_json:
        print_json(result.to_json())
    else:
        print_result(result, full=full_trace)
    return result.exit_status


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
