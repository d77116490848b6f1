"""`[tool.mazurka]` in `pyproject.toml`: options for all tests of a project.

The nearest `pyproject.toml` upwards from a test's file that has this table counts.  Its keys are
the names of options (`runtime.exploring.options`), with dashes or underscores; `"none"` stands for
no bound on preemptions.  A key that does not exist, or a wrong value, is an error with its line.

A test's own options come first, and those of the command line before all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from mazurka.errors import MazurkaError, OptionError
from mazurka.runtime.core.sites import shown_path
from mazurka.runtime.exploring.options import check_names, refuse_useless

FILE = "pyproject.toml"
TABLE = "tool.mazurka"
MEANT = {
    "real_time": "virtual_time = false",
    "limit_time": "seconds",
    "replay": "pytest --mazurka-replay=TOKEN, or mazurka replay TOKEN",
}
"""Words of the command line that are other options here, or none."""


class ConfigurationError(OptionError):
    """What a project says about Mazurka is wrong; names the file and the line."""


def read_project(test: str | Path) -> Mapping[str, Any]:
    """Read the options that the project of a test's file gives, by their names."""
    folder = Path(test).resolve().parent
    for directory in (folder, *folder.parents):
        file = directory / FILE
        try:
            found = file.stat()
        except OSError:
            continue
        table = _read_file(str(file), found.st_mtime_ns, found.st_size)
        if table is not None:
            return table
    return {}


@lru_cache(maxsize=64)
def _read_file(path: str, changed: int, size: int) -> Mapping[str, Any] | None:
    """Read the table of one file; None if it has none.  A file that changes is read again."""
    try:
        text = Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    if "mazurka" not in text:
        return None
    import tomllib

    try:
        tool = tomllib.loads(text).get("tool")
    except (ValueError, RecursionError) as error:  # or a number has too many digits
        message = f"the settings cannot be read: {error}"
        raise ConfigurationError(message, file=shown_path(path)) from None
    table = tool.get("mazurka") if isinstance(tool, dict) else None
    if table is None:
        return None
    if not isinstance(table, dict):
        raise ConfigurationError(f"[{TABLE}] has to be a table", file=shown_path(path))
    return _read_table(table, path, text)


def _read_table(table: Mapping[str, Any], path: str, text: str) -> Mapping[str, Any]:
    given: dict[str, Any] = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        meant = MEANT.get(name)
        try:
            if meant is not None:
                raise OptionError(f"there is no option {key!r}; did you mean {meant}?")
            check_names((name,))
            given[name] = None if name == "preemptions" and value == "none" else value
            refuse_useless({name: given[name]})
        except (MazurkaError, TypeError) as error:
            raise _place_error(error, path, _find_line(text, key)) from None
    try:
        refuse_useless(given)
    except (MazurkaError, TypeError) as error:
        raise _place_error(error, path, _find_line(text, "")) from None
    return given


def _place_error(error: Exception, path: str, line: int | None) -> ConfigurationError:
    message = error.message if isinstance(error, MazurkaError) else str(error)
    return ConfigurationError(f"[{TABLE}]: {message}", file=shown_path(path), line=line)


def _find_line(text: str, key: str) -> int | None:
    """Find the line of a key in the table, or that of the table itself."""
    inside = None
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("["):
            inside = number if re.match(rf"\s*\[\s*{re.escape(TABLE)}\s*\]", line) else None
        elif inside is not None and key and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line):
            return number
        if inside is not None and not key:
            return inside
    return inside
