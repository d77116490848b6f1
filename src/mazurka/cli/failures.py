"""Whatever goes wrong becomes one clear line on stderr and an exit status, never a traceback.

Where the column is known, the source line follows, with a caret under the place.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import typer

from mazurka.deadline import TimeLimitError
from mazurka.errors import MazurkaError
from mazurka.report.answer import ERROR, EXIT_STATUS, INCONCLUSIVE, error_json

CANNOT_WRITE = (errno.ENOSPC, errno.EIO, errno.EFBIG)
INTERRUPTED = 130
BROKEN_PIPE = 141
"""What a shell reports for a program that a closed pipe has ended."""

DEBUG = "MAZURKA_DEBUG"
"""An environment variable for those who work on Mazurka: errors keep their tracebacks."""


class ClosedPipe(Exception):  # noqa: N818 - nothing is wrong, nobody reads on
    """Our reader has gone.  Not an OSError: the command line's library would make that status 1,
    which is an answer (`violated`) that nobody has given."""


@dataclass(frozen=True)
class Failure:
    """Why a command did not come to an answer."""

    error: MazurkaError
    limit: str | None = None
    """Set where the failure is a limit that was hit: the answer is then inconclusive."""

    def told(self) -> list[str]:
        """One line with the place in front; where the column is known, the source line follows."""
        from mazurka.report.terminal import UNICODE, excerpt, safe

        text = " ".join(str(self.error).split())
        return [f"mazurka: {safe(text, UNICODE)}", *excerpt(self.error)]


def run_guarded(app: typer.Typer, arguments: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""

    def action() -> int:
        command = typer.main.get_command(app)
        given = list(arguments) or ["--help"]
        status = command.main(given, "mazurka", standalone_mode=False)
        if status == INTERRUPTED:  # the command line's library has caught it while importing
            raise KeyboardInterrupt
        return status if isinstance(status, int) else 0

    try:
        several = "compare" in arguments[:1]
        return guarded(action, as_json="--json" in arguments, several=several)
    except (BrokenPipeError, ClosedPipe):
        return _closed_pipe()


def guarded(
    action: Callable[[], int], *, as_json: bool, path: str | None = None, several: bool = False
) -> int:
    """Do something; a failure is told in one line, and as the JSON object where that is asked:
    that of one check, or of `several`, as `compare` has it."""
    try:
        status = action()
        sys.stdout.flush()
        return status
    except (ClosedPipe, typer.Exit):
        raise
    except BrokenPipeError as error:
        raise ClosedPipe from error
    except (KeyboardInterrupt, typer.Abort):
        return report(failed("interrupted", limit="interrupted"), as_json, path, several)
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        return report(failure_of(error), as_json, path, several)


@contextmanager
def interrupted_by_termination() -> Iterator[None]:
    """Let whoever asks the process to end (`kill`, `timeout`) interrupt it as Ctrl-C does, so that
    it answers with what it knows and removes its files."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)


def failure_of(error: Exception) -> Failure:
    """What to say about an exception."""
    if isinstance(error, TimeLimitError):
        return Failure(error, limit="time")
    if isinstance(error, MazurkaError):
        return Failure(error)
    if isinstance(error, MemoryError):
        return failed("out of memory", limit="memory")
    if isinstance(error, RecursionError):
        return failed("the input is nested too deeply")
    if isinstance(error, OSError) and error.filename is not None:
        return failed(f"{error.filename}: {error.strerror or error}")
    if isinstance(error, OSError) and error.errno in CANNOT_WRITE:
        return failed(f"the output cannot be written: {error.strerror}")
    of_command_line = getattr(error, "format_message", None)
    if callable(of_command_line):
        said = str(of_command_line()).rstrip(".")
        joint = " " if said.endswith("?") else "; "
        return failed(f"{said}{joint}--help shows how to use it")
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return failed(f"internal error ({what}); please report this as a bug of Mazurka")


def failed(message: str, *, limit: str | None = None) -> Failure:
    """A failure that is about no place in a file."""
    return Failure(MazurkaError(message), limit)


def report(failure: Failure, as_json: bool, path: str | None, several: bool) -> int:
    """Tell a failure; returns the exit status."""
    if as_json:
        print_json(_object(failure, path, several))
    print("\n".join(failure.told()), file=sys.stderr)
    return EXIT_STATUS[INCONCLUSIVE if failure.limit else ERROR]


def _object(failure: Failure, path: str | None, several: bool) -> dict[str, object]:
    from mazurka.comparing import Comparison
    from mazurka.report.verdict import Verdict

    if several:
        return {**Comparison(path, (), ()).to_json(), "error": error_json(failure.error)}
    if failure.limit:
        scope = f"nothing was examined: {failure.error.message}"
        return Verdict(
            input=path, verdict=INCONCLUSIVE, scope=scope, limits=(failure.limit,)
        ).to_json()
    return Verdict(input=path, verdict=ERROR, error=failure.error).to_json()


def print_json(value: object) -> None:
    """One object, readable, and safe in every encoding."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=True) + "\n")


def _closed_pipe() -> int:
    """Nobody reads our output any more; leave quietly, also when the interpreter shuts down."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    return BROKEN_PIPE
