"""Preprocess a source file: macros, and headers of Mazurka's own.

The headers in `headers` declare what Mazurka understands of the standard library and of POSIX, so
that a program means the same on every machine.  The system's preprocessor is used where there is
one, `pcpp` otherwise.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from mazurka.errors import MazurkaError, OptionError

HEADERS = Path(__file__).parent / "headers"

_COMMON = {"__STDC__": "1", "__STDC_VERSION__": "201112L", "__GNUC__": "4", "__linux__": "1"}
_MODELS = {
    "ilp32": {"__i386__": "1", "__SIZEOF_POINTER__": "4", "__SIZEOF_LONG__": "4"},
    "lp64": {
        "__x86_64__": "1", "__LP64__": "1", "__SIZEOF_POINTER__": "8", "__SIZEOF_LONG__": "8",
    },
}  # fmt: skip


def preprocess(path: str, text: str, definitions: Mapping[str, str], model: str) -> str:
    """Return the text with its macros expanded and its headers included."""
    for name in definitions:
        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise OptionError(f"-D {name}: this is no name of a macro")
    macros = {**_COMMON, **_MODELS[model], **definitions}
    command = shutil.which("cpp") or shutil.which("clang-cpp")
    if command is not None:
        return _run(command, path, macros)
    return _run_pcpp(path, text, macros)


def _run(command: str, path: str, macros: Mapping[str, str]) -> str:
    arguments = [command, "-undef", "-nostdinc", "-isystem", str(HEADERS)]
    arguments += [f"-D{name}={value}" for name, value in macros.items()]
    done = subprocess.run(
        [*arguments, path], capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode:
        raise _explain(path, done.stderr)
    return done.stdout


def _explain(path: str, messages: str) -> MazurkaError:
    """Make an error of what the preprocessor says."""
    found = re.search(r"^(.+?):(\d+):(\d+): (?:fatal )?error: (.*)$", messages, re.MULTILINE)
    if found is None:
        return MazurkaError(f"the preprocessor failed: {messages.strip()}", file=path)
    message = found[4]
    if missing := re.match(r"(\S+): No such file", message):
        known = ", ".join(header_names())
        message = f"there is no header {missing[1]}; known are {known}, and files beside yours"
    return MazurkaError(message, file=found[1], line=int(found[2]), column=int(found[3]))


def header_names() -> list[str]:
    """The headers of the library that programs can include."""
    names = (str(each.relative_to(HEADERS)) for each in HEADERS.rglob("*.h"))
    return sorted(name for name in names if not name.startswith("_"))


def _run_pcpp(path: str, text: str, macros: Mapping[str, str]) -> str:
    try:
        from pcpp import Preprocessor
    except ImportError:
        raise MazurkaError(
            "there is no preprocessor: install a C compiler, or `pip install mazurka[c]`, or give a"
            " preprocessed file (.i)",
            file=path,
        ) from None

    class Quiet(Preprocessor):  # type: ignore[misc]
        def on_error(self, file: str, line: int, msg: str) -> None:
            raise MazurkaError(msg, file=file, line=line)

        def on_include_not_found(
            self, is_malformed: bool, is_system: bool, curdir: str, include: str
        ) -> None:
            known = ", ".join(header_names())
            wrong = f"there is no header {include}; known are {known}, and files beside yours"
            raise MazurkaError(wrong, file=self.source or path, line=self.linenumber or None)

    processor = Quiet()
    processor.line_directive = "#"
    for name, value in macros.items():
        processor.define(f"{name} {value}")
    processor.add_path(str(HEADERS))
    processor.add_path(str(Path(path).parent))
    processor.parse(text, path)
    output = io.StringIO()
    processor.write(output)
    return output.getvalue()
