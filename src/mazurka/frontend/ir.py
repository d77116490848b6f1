"""Programs that `mazurka export` has written, as JSON; they are checked exactly as they stand."""

from __future__ import annotations

from mazurka.deadline import TimeLimitError
from mazurka.errors import MazurkaError
from mazurka.frontend.registry import Frontend
from mazurka.ir.program import Program
from mazurka.search.reading import FOR_C, Reading

_SETTLED = "--max-threads and --max-depth were settled when the program was exported"
REFUSED = {
    "definitions": "-D changes constants of a model; an exported program has none left",
    "merge": "--no-merge is an option of `export` where a program has been exported",
    "granularity": "--granularity is for models; an exported program's steps are settled",
    "max_threads": _SETTLED,
    "max_depth": _SETTLED,
    **FOR_C,
}


def _load(path: str, reading: Reading) -> Program:
    from mazurka.ir.passes.prepare import prepare
    from mazurka.ir.passes.validate import validate
    from mazurka.ir.serialize import load_json

    reading.refuse(REFUSED)
    program = load_json(path)
    try:
        if any(cell.inferred for cell in program.cells):
            return prepare(program)
        validate(program)
    except MazurkaError as error:
        if error.file is not None or isinstance(error, TimeLimitError):
            raise
        raise MazurkaError(error.message, file=path) from error
    return program


def _recognizes(text: str) -> bool:
    return text.lstrip().startswith("{") and '"mazurka-program"' in text


FRONTEND = Frontend(suffixes=(".json",), recognizes=_recognizes, load=_load, complete=True)
