"""Preprocess a source file: macros, and headers of Mazurka's own.

The headers in `headers` declare what Mazurka understands of the standard library and of POSIX, so
that a program means the same on every machine.  The system's preprocessor is used where there is
one, `pcpp` otherwise, in a process of its own (`bounded`).
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from mazurka.deadline import check_time
from mazurka.errors import MazurkaError, OptionError
from mazurka.extras import C
from mazurka.frontend.c.bounded import LONGEST, MOST_OUTPUT, BoundedRun, run_bounded
from mazurka.frontend.c.source.places import quote, unquote
from mazurka.processes import find_program, python
from mazurka.system_limits import SystemLimitError, explain_end

HEADERS = Path(__file__).parent / "headers"

_COMMON = {"__STDC__": "1", "__STDC_VERSION__": "201112L", "__GNUC__": "4", "__linux__": "1"}
_MODELS = {
    "ilp32": {"__i386__": "1", "__SIZEOF_POINTER__": "4", "__SIZEOF_LONG__": "4"},
    "lp64": {
        "__x86_64__": "1", "__LP64__": "1", "__SIZEOF_POINTER__": "8", "__SIZEOF_LONG__": "8",
    },
}  # fmt: skip
MOST_SHOWN = 300
_OUT_OF_MEMORY = re.compile(
    r"out of memory|memory exhausted|bad_alloc|killed|cannot allocate", re.IGNORECASE
)


def preprocess(path: str, text: str, definitions: Mapping[str, str], model: str) -> str:
    """Return the text with its macros expanded and its headers included."""
    for name, value in definitions.items():
        if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
            raise OptionError(f"-D {name!r}: this is no name of a macro")
        if not value.replace("\t", " ").isprintable():
            raise OptionError(f"-D {name}: {value!r} is no text of one line")
    macros = {**_COMMON, **_MODELS[model], **definitions}
    command = find_program("cpp") or find_program("clang-cpp")
    if command is not None:
        arguments = [command, "-undef", "-nostdinc", "-isystem", str(HEADERS)]
        arguments += [f"-D{name}={value}" for name, value in macros.items()]
        arguments.append("-")
        given = f"{_mark(path)}\n{text}".encode()
        ended = run_bounded(arguments, given, directory=_folder(path), seconds=LONGEST)
    else:
        ended = _run_pcpp(path, text, macros)
    return _judge(path, ended)


def _mark(path: str) -> str:
    """Return the line that gives a text its name.

    No program is given the name as an argument: gcc reads `@file` as a file of options, also where
    it is only a part of a path, for what it starts in turn."""
    return f'# 1 "{quote(path)}"'


def _folder(path: str) -> str:
    """Return the directory in which a file looks for those that it includes."""
    return os.path.dirname(path) or os.curdir


def _judge(path: str, ended: BoundedRun) -> str:
    """Return what a preprocessor has printed, or raise an error that says why it has not."""
    if ended.late:
        check_time("reading the program")
        raise MazurkaError(
            f"the preprocessor took longer than {LONGEST:g} s; an included file may be a pipe",
            file=path,
        )
    if ended.too_long:
        raise MazurkaError(
            f"with its macros expanded, the text has more than {MOST_OUTPUT >> 20} MiB", file=path
        )
    if ended.status:
        error = _explain(path, ended.complaints)
        limit = explain_end(ended.status, ended.complaints) if error.line is None else None
        raise error from (None if limit is None else SystemLimitError(limit))
    return ended.printed.decode(errors="replace")


def _explain(path: str, messages: str) -> MazurkaError:
    """Make an error of what the preprocessor says."""
    found = re.search(r"^(.+?):(\d+):(\d+): (?:fatal )?error: (.*)$", messages, re.MULTILINE)
    if found is None:
        if not messages or _OUT_OF_MEMORY.search(messages):
            return MazurkaError("the preprocessor ran out of memory, or was killed", file=path)
        last = messages.strip().splitlines()[-1:]
        return MazurkaError(f"the preprocessor failed: {''.join(last)[:MOST_SHOWN]}", file=path)
    message = found[4]
    if missing := re.match(r"(\S+): No such file", message):
        known = ", ".join(header_names())
        message = f"there is no header {missing[1]}; known are {known}, and files beside yours"
    name = unquote(found[1])
    beside = Path(path).parent / name
    file = name if name == path or not beside.is_file() else str(beside)
    return MazurkaError(message, file=file, line=int(found[2]), column=int(found[3]))


def header_names() -> list[str]:
    """The headers of the library that programs can include."""
    names = (str(each.relative_to(HEADERS)) for each in HEADERS.rglob("*.h"))
    return sorted(name for name in names if not name.startswith("_"))


def _run_pcpp(path: str, text: str, macros: Mapping[str, str]) -> BoundedRun:
    if find_spec("pcpp") is None:
        raise MazurkaError(
            "there is no preprocessor: install a C compiler, or give a preprocessed file (.i), or"
            f" {C.advice}",
            file=path,
        )
    definitions = [f"{name} {value}" for name, value in macros.items()]
    name = quote(os.path.basename(path))
    command = python(f"{__name__}:print_preprocessed", name, *definitions)
    return run_bounded(command, text.encode(), directory=_folder(path), seconds=LONGEST)


def print_preprocessed(name: str, *definitions: str) -> None:
    """Preprocess the standard input, and print mistakes as a compiler does.

    A process of its own does this where there is no compiler."""
    from pcpp import Preprocessor

    class Quiet(Preprocessor):  # type: ignore[misc]
        def on_error(self, file: str, line: int, msg: str) -> None:
            sys.exit(f"{file}:{line}:1: error: {msg}")

        def on_include_not_found(
            self, is_malformed: bool, is_system: bool, curdir: str, include: str
        ) -> None:
            self.on_error(self.source or name, self.linenumber, f"{include}: No such file")

    processor = Quiet()
    processor.line_directive = "#"
    for each in definitions:
        processor.define(each)
    processor.add_path(str(HEADERS))
    processor.add_path(os.curdir)
    try:
        processor.parse(sys.stdin.buffer.read().decode(), name)
        processor.write(sys.stdout)
    except RecursionError:
        processor.on_error(name, 1, "macros or included files are nested too deeply")
    except MemoryError:
        processor.on_error(name, 1, "out of memory")
    except Exception as error:
        processor.on_error(name, 1, f"pcpp cannot read this ({type(error).__name__}: {error})")
