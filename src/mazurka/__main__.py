"""`python -m mazurka` is the `mazurka` command, and this is where both begin.

Whatever happens here, status 0 and 1 are verdicts, and only a command that has come to one and has
written it ends with them.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mazurka.cli.own_process import StatusPipe
    from mazurka.cli.streams import Streams
    from mazurka.system_limits import SystemLimit

INCONCLUSIVE = 3


def main(*_: str) -> None:
    """Run the command and leave with its exit status.

    The command reads its arguments in `sys.argv`."""
    status = INCONCLUSIVE
    try:
        status = _run()
    except KeyboardInterrupt:
        _tell("interrupted")
    except BaseException as error:
        _tell(_explain(error))
    finally:
        # If the interrupt came inside of an `exec` of a text, as those by which classes are made
        # while modules are loaded, Python would die of the signal at its end, though the exception
        # has been caught; running another text lets it forget that.
        exec("")
    sys.exit(status)


def _run() -> int:
    from mazurka.cli.own_process import run_in_own_process
    from mazurka.cli.streams import Streams
    from mazurka.deadline import note_command_start

    note_command_start()
    streams = Streams()
    return run_in_own_process(
        lambda statement: _command(streams, statement),
        lambda limit, what: _ended(streams, limit, what),
    )


def _command(streams: Streams, statement: StatusPipe) -> int:
    """Run the command, and state its status once everything has been written."""
    from mazurka.cli.own_process import explain_failure, limits_met

    try:
        from mazurka.cli.main import main as run

        status = run()
    except KeyboardInterrupt:
        status = INCONCLUSIVE
        _tell("interrupted")
    except BaseException as error:
        message, status = explain_failure(error)
        _tell(message)
        if os.environ.get("MAZURKA_DEBUG"):
            import traceback

            traceback.print_exc()
    for limit in limits_met():
        _tell(limit.message)
    lost = streams.settle()
    if lost is not None:
        status = INCONCLUSIVE
        if not isinstance(lost, BrokenPipeError):  # who has closed a pipe knows
            _tell(f"the output cannot be written: {lost.strerror or lost}")
            streams.settle()
    statement.state(status)
    watchdog = sys.modules.get("mazurka.runtime.program.watchdog")
    if watchdog is not None and watchdog.out_of_control:
        # Without the functions that libraries have registered: they may wait for threads of a test
        # that are stuck, and hold locks.
        os._exit(status)
    return status


def _ended(streams: Streams, limit: SystemLimit | None, what: str) -> int:
    """Answer for a command that has ended without a status."""
    from mazurka.cli.failures import failed, report

    if limit is not None:
        failure = failed(f"{limit.message} (the process was ended {what})", limit=limit.name)
    else:
        failure = failed(f"the process was ended {what} before there was an answer")
    status = report(failure, "--json" in sys.argv, None, "compare" in sys.argv[1:2])
    return status if streams.settle() is None else INCONCLUSIVE


def _explain(error: BaseException) -> str:
    try:
        from mazurka.cli.own_process import explain_failure

        return explain_failure(error)[0]
    except BaseException:  # it is needed for the message alone
        return f"{type(error).__name__}: {error}"


def _tell(text: str) -> None:
    with suppress(AttributeError, OSError, ValueError):  # the status tells it
        sys.stderr.write(f"mazurka: {text}\n")


def leave_out_current_directory() -> None:
    """Undo that `python -m` has modules looked for in the current directory first."""
    if not sys.flags.safe_path and sys.path:
        here = sys.path.pop(0)
        if not any(__file__.startswith(place) for place in filter(None, sys.path)):
            sys.path.append(here)  # Mazurka itself has been found there


if __name__ == "__main__":
    leave_out_current_directory()
    main()
