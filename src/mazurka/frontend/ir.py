"""Programs that `mazurka export` has written, as JSON; they are checked exactly as they stand."""

from __future__ import annotations

from mazurka.errors import MazurkaError, OptionError
from mazurka.frontend.registry import Frontend
from mazurka.ir.program import Program
from mazurka.search.reading import Reading


def _load(path: str, reading: Reading) -> Program:
    from mazurka.ir.passes.prepare import prepare
    from mazurka.ir.passes.validate import validate
    from mazurka.ir.serialize import load_json

    _refuse_options(reading)
    program = load_json(path)
    try:
        if any(cell.inferred for cell in program.cells):
            return prepare(program)
        validate(program)
    except MazurkaError as error:
        if error.file is not None:
            raise
        raise MazurkaError(error.message, file=path) from error
    return program


def _refuse_options(reading: Reading) -> None:
    usual = Reading()
    if reading.definitions:
        raise OptionError("-D changes constants of a model; an exported program has none left")
    if not reading.merge:
        raise OptionError("--no-merge is an option of `export` where a program has been exported")
    if reading.granularity is not None:
        raise OptionError("--granularity is for models; an exported program's steps are settled")
    if (reading.max_threads, reading.max_depth) != (usual.max_threads, usual.max_depth):
        raise OptionError(
            "--max-threads and --max-depth were settled when the program was exported"
        )


def _recognizes(text: str) -> bool:
    return text.lstrip().startswith("{") and '"mazurka-program"' in text


FRONTEND = Frontend(suffixes=(".json",), recognizes=_recognizes, load=_load, complete=True)
