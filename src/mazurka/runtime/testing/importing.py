"""A test file as a module, imported as pytest does it unless told otherwise.

The first directory upwards that is no package goes to `sys.path`, and the module has its dotted
name from there, so that relative imports work.  Before that, the directories that the project's
settings for pytest name in `pythonpath` are added: without them, the tests of a project whose
modules lie in `src` could not import them.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import shlex
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from mazurka.errors import MazurkaError, suggest_file

SETTINGS = {
    "pytest.toml": ("pytest",),
    ".pytest.toml": ("pytest",),
    "pytest.ini": ("pytest",),
    ".pytest.ini": ("pytest",),
    "pyproject.toml": ("tool.pytest", "tool.pytest.ini_options"),
    "tox.ini": ("pytest",),
    "setup.cfg": ("tool:pytest",),
}
"""Files with settings for pytest, the first of them first, and their sections."""


class CollectionError(MazurkaError):
    """A file or a test cannot be found or imported."""


def load_tests(path: str) -> ModuleType:
    """Import a file of tests."""
    file = Path(path)
    if not file.exists():
        raise CollectionError(f"no such file{suggest_file(path)}", file=path)
    if file.is_dir() or file.suffix != ".py":
        raise CollectionError("a Python file is expected, PATH or PATH::NAME", file=path)
    file = file.resolve()
    for directory in reversed(read_pythonpath(file.parent)):
        prepend(directory)
    root = find_root(file)
    prepend(root)
    try:
        return execute_file(name_module(file, root), file)
    except MazurkaError as error:
        if error.file is None:  # such as a decorator with a wrong option
            error.file, error.line = path, find_line(path, error)
        raise
    except Exception as error:
        raise explain_broken(error, path) from error


def prepend(directory: Path) -> None:
    if str(directory) not in sys.path:
        sys.path.insert(0, str(directory))
        project_directories.add(str(directory))
    if LibraryFinder not in sys.meta_path:
        sys.meta_path.insert(max(len(sys.meta_path) - 1, 0), LibraryFinder)


project_directories: set[str] = set()
"""What has been added to `sys.path` for tests."""
IMPORT_SYSTEM = ("<frozen importlib", str(Path(importlib.__file__)))


class LibraryFinder:
    """Finds modules of the standard library for code that is not of a test's project.

    The directories of a project come first in `sys.path`, as with pytest.  A file of the project
    that has the name of such a module is for the project: Mazurka, or a library, which imports the
    module later, must not execute it."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        if path is not None or name not in sys.stdlib_module_names or is_project_importing():
            return None
        others = [place for place in sys.path if place not in project_directories]
        return PathFinder.find_spec(name, others)


def is_project_importing() -> bool:
    """Return whether code of a project imports a module now, or this file does that for it."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(IMPORT_SYSTEM):
        frame = frame.f_back
    file = "<" if frame is None else frame.f_code.co_filename
    if file == __file__ or file.startswith("<"):
        return True
    places = [place for place in sys.path if file.startswith(f"{place}{os.sep}")]
    return max(places, key=len, default="") in project_directories


def find_root(file: Path) -> Path:
    """Find the first directory upwards that is no package."""
    for parent in file.parents:
        if not ((parent / "__init__.py").is_file() and parent.name.isidentifier()):
            return parent
    return file.parent


def name_module(file: Path, root: Path) -> str:
    parts = list(file.relative_to(root).with_suffix("").parts)
    if len(parts) > 1:
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    known = sys.modules.get(file.stem)
    taken = known is not None and getattr(known, "__file__", None) != str(file)
    return f"tests_in_{file.stem}" if taken or file.stem in sys.stdlib_module_names else file.stem


def execute_file(name: str, file: Path) -> ModuleType:
    """Import a file after its packages; execute it anew where it was imported before."""
    package, _, last = name.rpartition(".")
    parent = importlib.import_module(package) if package else None
    if parent is not None and str(file.parent) not in getattr(parent, "__path__", ()):
        raise CollectionError(
            f"the package {package} is imported from elsewhere, {getattr(parent, '__file__', '?')}:"
            " give one of the two another name",
            file=str(file),
        )
    places = [str(file.parent)] if file.stem == "__init__" else None
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=places)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    if parent is not None:
        setattr(parent, last, module)
    return module


def explain_broken(error: Exception, path: str) -> CollectionError:
    """Say in one line why a file cannot be imported."""
    if isinstance(error, SyntaxError):
        message, here = f"syntax error: {error.msg}", Path(error.filename or "").resolve()
        column = error.offset or None if here == Path(path).resolve() else None
        return CollectionError(message, file=path, line=error.lineno, column=column)
    what = f"{type(error).__name__}: {error}"
    line = find_line(path, error)
    return CollectionError(f"the file cannot be imported: {what}", file=path, line=line)


def find_line(path: str, error: BaseException) -> int | None:
    """Find the line of a file through which an error has come."""
    line = None
    trace = error.__traceback__
    while trace is not None:
        if Path(trace.tb_frame.f_code.co_filename).name == Path(path).name:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


# -- the project's settings for pytest -------------------------------------------------------


def read_pythonpath(start: Path) -> list[Path]:
    """Read the directories of `pythonpath` from the first settings for pytest upwards."""
    for directory in (start, *start.parents):
        for name in SETTINGS:
            file = directory / name
            found = read_settings(file) if file.is_file() else None
            if found is not None:
                return [
                    directory / entry for entry in read_entries(found.get("pythonpath", ()), file)
                ]
    return []


def read_settings(file: Path) -> dict[str, Any] | None:
    """Read what a file says about pytest; None where it says nothing."""
    import configparser
    import tomllib

    try:
        if file.suffix == ".toml":
            return read_toml(tomllib.loads(file.read_text("utf-8")), SETTINGS[file.name])
        parser = configparser.RawConfigParser(strict=False)
        parser.read_string(file.read_text("utf-8"), str(file))
    except (OSError, ValueError, configparser.Error) as error:
        raise CollectionError(f"the settings cannot be read: {error}", file=str(file)) from error
    for section in SETTINGS[file.name]:
        if parser.has_section(section):
            return dict(parser.items(section))
    return {} if file.name in ("pytest.ini", ".pytest.ini") else None


def read_toml(content: dict[str, Any], sections: tuple[str, ...]) -> dict[str, Any] | None:
    """Read settings from TOML: `[tool.pytest]` may hold them, or the older table inside of it."""
    found: dict[str, Any] | None = None
    for section in sections:
        table: Any = content
        for part in section.split("."):
            table = table.get(part) if isinstance(table, dict) else None
        if isinstance(table, dict):
            found = {**(found or {}), **table}
    return found


def read_entries(value: object, file: Path) -> list[str]:
    """Read a list of texts, or one text with blanks between its entries."""
    if isinstance(value, str):
        return shlex.split(value)
    if isinstance(value, (list, tuple)) and all(isinstance(entry, str) for entry in value):
        return list(value)
    raise CollectionError("pythonpath has to be a list of texts", file=str(file))
