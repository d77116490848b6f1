"""What of the program is seen: the test's own module, its project, and what the user names."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Sequence
from inspect import unwrap
from pathlib import Path

from mazurka.errors import MazurkaError
from mazurka.runtime.core.access_sites import sites
from mazurka.runtime.core.sites import shown_path
from mazurka.runtime.exploring.observed import Observed
from mazurka.runtime.program.program import ControlSettings
from mazurka.runtime.rewrite.modules import project_modules
from mazurka.runtime.sharing.locations import learned

ROOTS = (
    *("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", ".git", ".hg"),
    *("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"),
)
"""What lies at the root of a project."""


class NothingObservedError(MazurkaError):
    """None of the test's functions could be instrumented; a verdict would be worth nothing."""


def observed(
    body: Callable[[], object],
    function: Callable[..., object],
    extra: Sequence[str],
    settings: ControlSettings,
) -> Observed:
    """A program whose accesses are seen; to be entered."""
    file = _file_of(function)
    own = _rule(project_root(file)) if file is not None else _nothing
    named = project_modules(Path(), extra) if extra else _nothing
    module = getattr(unwrap(function), "__module__", None)

    def is_wanted(name: str, path: str) -> bool:
        return name == module or own(name, path) or named(name, path)

    return Observed(body, is_wanted, settings)


@functools.cache
def _rule(root: Path) -> Callable[[str, str], bool]:
    """The rule for a project; asked about all modules at each exploration, so it remembers."""
    return functools.cache(project_modules(root))


def _nothing(name: str, path: str) -> bool:
    return False


def _file_of(function: Callable[..., object]) -> Path | None:
    code = getattr(unwrap(function), "__code__", None)
    path = Path(code.co_filename) if code is not None else None
    return path if path is not None and path.is_file() else None


@functools.cache
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


def require_something(program: Observed, function: Callable[..., object]) -> None:
    """A run in which nothing of the test itself was instrumented says nothing."""
    module = getattr(unwrap(function), "__module__", None)
    if program.instrument.functions and module in program.instrument.modules:
        return
    reasons = "; ".join(f"{name}: {why}" for name, why in program.instrument.skipped.items())
    code = getattr(unwrap(function), "__code__", None)
    raise NothingObservedError(
        f"nothing of this test can be observed ({reasons or f'no source of {module}'}): its shared"
        " accesses would be no scheduling points, and a verdict would be worth nothing",
        file=shown_path(code.co_filename) if code else None,
        line=code.co_firstlineno if code else None,
    )


def require_known(extra: Sequence[str]) -> None:
    """A module that is to be observed has to exist."""
    from importlib.util import find_spec

    for name in extra:
        try:
            there = name in sys.modules or find_spec(name) is not None
        except (ImportError, ValueError):
            there = False
        if not there:
            raise MazurkaError(f"there is no module {name!r} to be observed")


def see_everything() -> None:
    """Let every access be a scheduling point, whether or not anybody else has used its place."""
    learned.points.update(range(len(sites)))
