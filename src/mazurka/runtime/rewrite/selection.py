"""Which modules are observed from the start, and which are never observed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec
from inspect import unwrap
from pathlib import Path
from typing import TypeAlias

from mazurka.errors import MazurkaError
from mazurka.runtime.core.sites import MAZURKA_FOLDER
from mazurka.runtime.sharing.exempt import is_exempt

Rule: TypeAlias = Callable[[str, str], bool]
"""Says by the name and the file of a module whether it is to be observed."""
ROOTS = (
    *("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", ".git", ".hg"),
    *("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"),
)
"""What lies at the root of a project."""


def select_modules(
    function: Callable[..., object], leave_out: Sequence[str] = ()
) -> tuple[Rule, Rule]:
    """Select the modules that are observed before a test function first runs, and those that never
    are.  All others are observed when a thread enters them."""
    code = getattr(unwrap(function), "__code__", None)
    file = Path(code.co_filename) if code is not None else None
    own = _project_rule(project_root(file)) if file is not None and file.is_file() else None
    is_named = named_modules(leave_out)
    module = getattr(unwrap(function), "__module__", None)

    def is_wanted(name: str, path: str) -> bool:
        return (name == module or (own is not None and own(name, path))) and not (
            leave_out and is_named(name, path)
        )

    def is_left(name: str, path: str) -> bool:
        return is_left_alone(name, path) or is_named(name, path)

    return is_wanted, is_left if leave_out else is_left_alone


BUILTINS = "builtins"
"""Where `dataclasses` looks for names of classes without a module; it has no code of its own."""
_LIBRARY = os.path.join(os.path.dirname(os.__file__), "")


@cache
def is_left_alone(name: str, file: str) -> bool:
    """Whether the code of a module is never observed: it is exempt (`sharing.exempt`), and no
    module of the user's that is called like one of the standard library."""
    package = name.partition(".")[0]
    if package in ("", "__main__", BUILTINS):
        return False
    if package in sys.stdlib_module_names and file and not file.startswith(_LIBRARY):
        return False  # a module of the user's, or of a package, that is called the same
    if package.startswith("namedtuple_"):
        return True  # made by `collections`, and private to new tuples
    return is_exempt(name)


def require_modules(names: Sequence[str]) -> None:
    """Refuse names of modules that do not exist; none of them is imported."""
    for name in names:
        try:
            there = name in sys.modules or _is_found(name)
        except (ImportError, ValueError):
            there = False
        if not there:
            raise MazurkaError(f"there is no module {name!r} to be left out")


def _is_found(name: str) -> bool:
    """Return whether there is a file for a module; `find_spec` would import its package."""
    package, *inner = name.split(".")
    spec = find_spec(package)
    for part in inner:
        if spec is None or spec.submodule_search_locations is None:
            return False
        package = f"{package}.{part}"
        spec = PathFinder.find_spec(package, spec.submodule_search_locations)
    return spec is not None


def named_modules(names: Sequence[str]) -> Rule:
    """Select packages by name, wherever they lie, with all that is in them."""

    def is_wanted(name: str, file: str) -> bool:
        return any(name == wanted or name.startswith(f"{wanted}.") for wanted in names)

    return is_wanted


@cache
def _project_rule(root: Path) -> Rule:
    """The rule for a project; each exploration asks it about all modules, so it remembers."""
    return cache(project_modules(root))


def project_modules(root: Path) -> Rule:
    """Select modules below `root` that are not Python's, installed packages', or Mazurka's."""
    prefixes = (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix)
    away = {_directory(os.path.realpath(place)) for place in prefixes}
    own = _directory(os.path.realpath(MAZURKA_FOLDER))
    top = _directory(os.path.realpath(root))
    strange = (own, *(place for place in away if not top.startswith(place)))
    library = _directory(os.path.dirname(os.__file__))
    far = (own, library) if _real_directory(library).startswith(strange) else (own,)

    def is_wanted(name: str, file: str) -> bool:
        if file.startswith(far) and "-packages" not in file:
            return False  # most modules of a process; their files need not be looked up
        path = _real_path(file)
        if not path.startswith(top) or path.startswith(strange):
            return False
        parts = path.split(os.sep)
        return "site-packages" not in parts and "dist-packages" not in parts

    return is_wanted


@cache
def project_root(file: Path) -> Path:
    """The directory of the project that a file belongs to; its own directory where none is."""
    own = parent = os.path.dirname(os.path.realpath(file))
    home = _home()
    while parent not in (home, os.path.dirname(parent)):
        if any(os.path.exists(os.path.join(parent, name)) for name in ROOTS):
            return Path(parent)
        parent = os.path.dirname(parent)
    return Path(own)


def _home() -> str | None:
    try:
        return str(Path.home())
    except RuntimeError:  # an account without one, as in containers
        return None


def _directory(path: str) -> str:
    """The beginning of the paths of all that is in a directory."""
    return path if path.endswith(os.sep) else path + os.sep


_real_directory = cache(os.path.realpath)


@cache
def _real_path(file: str) -> str:
    """Where a file lies; looked up once, like its directory, since a process has many modules."""
    if os.path.islink(file):
        return os.path.realpath(file)
    directory, name = os.path.split(file)
    return os.path.join(_real_directory(directory), name)
