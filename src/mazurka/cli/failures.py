"""Whatever goes wrong becomes one clear line on stderr and an exit status, never a traceback.

Where the column is known, the source line follows, with a caret under the place.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import click

from mazurka.deadline import TimeLimitError
from mazurka.errors import MazurkaError
from mazurka.extras import find_extra
from mazurka.report.answer import ERROR, EXIT_STATUS, INCONCLUSIVE, error_json
from mazurka.system_limits import find_limit

INTERRUPTED = 130
COMPLETING = "_MAZURKA_COMPLETE"
"""An environment variable by which shells ask what may follow."""
DEBUG = "MAZURKA_DEBUG"
"""An environment variable for those who work on Mazurka: errors keep their tracebacks."""


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


def run_guarded(app: click.Command, arguments: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""

    def action() -> int:
        given = list(arguments) or ["--help"]
        try:
            status = app.main(given, "mazurka", standalone_mode=False)
        except SystemExit as ended:
            if COMPLETING not in os.environ:
                raise
            return EXIT_STATUS[ERROR] if ended.code else 0  # a shell has been answered
        if status == INTERRUPTED:  # the command line's library has caught it while importing
            raise KeyboardInterrupt
        return status if isinstance(status, int) else 0

    several = "compare" in arguments[:1]
    return guarded(action, as_json="--json" in arguments, several=several)


def guarded(
    action: Callable[[], int], *, as_json: bool, path: str | None = None, several: bool = False
) -> int:
    """Do something; a failure is told in one line, and as the JSON object where that is asked:
    that of one check, or of `several`, as `compare` has it."""
    try:
        status = action()
        sys.stdout.flush()
        return status
    except click.exceptions.Exit:
        raise
    except (KeyboardInterrupt, click.Abort):
        return report(failed("interrupted", limit="interrupted"), as_json, path, several)
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        return report(failure_of(error), as_json, path, several)
    except SystemExit as error:  # of a file of tests, when it is imported
        failure = failed(f"the program has ended itself: sys.exit({error.code!r})")
        return report(failure, as_json, path, several)


def failure_of(error: Exception) -> Failure:
    """What to say about an exception."""
    if isinstance(error, TimeLimitError):
        return Failure(error, limit=error.limit)
    limit = find_limit(error)
    if limit is not None:
        return failed(limit.message, limit=limit.name)
    if isinstance(error, MazurkaError):
        return Failure(error)
    if isinstance(error, ModuleNotFoundError) and (extra := find_extra(error.name)) is not None:
        return failed(f"this needs {error.name}, which is not installed: {extra.advice}")
    if isinstance(error, RecursionError):
        return failed("the input is nested too deeply")
    if isinstance(error, OSError) and error.filename is not None:
        return failed(f"{error.filename}: {error.strerror or error}")
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
