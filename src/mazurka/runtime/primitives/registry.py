"""All primitives: the records that the modules of this package declare, put together.

A module of this package that declares no record is an error, so that none is forgotten.
"""

from __future__ import annotations

import re
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Final

from mazurka.errors import InternalError
from mazurka.runtime import primitives as package
from mazurka.runtime.core.host import ControlSettings
from mazurka.runtime.core.insides import ancestors
from mazurka.runtime.core.operations import explain_waits
from mazurka.runtime.core.patches import Patches
from mazurka.runtime.core.scheduler import Scheduler, session
from mazurka.runtime.primitives.primitive import Look, Primitive
from mazurka.runtime.sharing.monitoring import unobserved

_NONE: Final = frozenset({"primitive", "registry"})
"""Modules of this package that are no primitives."""


def _collect() -> dict[str, Primitive]:
    names = sorted({found.name for found in iter_modules(package.__path__)} - _NONE)
    found: dict[str, Primitive] = {}
    for name in names:
        try:
            found[name] = import_module(f"{package.__name__}.{name}").PRIMITIVE
        except (TypeError, AttributeError) as error:
            raise InternalError(f"primitives/{name}.py: {error}") from error
    return found


PRIMITIVES: Final[dict[str, Primitive]] = _collect()
"""By the name of their modules."""
_all: Final = tuple(PRIMITIVES.values())
CLASSES: Final = tuple(kind for one in _all for kind in one.classes)
"""The classes whose objects are under control."""
PATCHED: Final = tuple(
    kind for one in _all if one.models for kind in one.classes if kind not in one.stand_ins
)
"""Those of them that are written in Python, and whose objects have models of their own."""
BUILT_ON_LOCKS: Final = tuple(
    kind for one in _all if not one.models for kind in one.classes if one.parts
)
"""Classes without models, whose code works on locks that are under control."""
STAND_INS: Final = {kind: make for one in _all for kind, make in one.stand_ins.items()}
"""By type of C: what makes an object of ours that is put around a real one."""
PARTS: Final = frozenset[str]().union(*(one.parts for one in _all))
HIDDEN: Final = frozenset[str]().union(*(one.hidden for one in _all))
_PRIVATE: Final = {kind: names for one in _all for kind, names in one.private.items()}
_words = "|".join(word for one in _all for word in one.words)
_TWICE: Final = re.compile(rf"\b({_words}) \1(?![\w.\[])")
"""`lock lock`: a variable that is called what it is."""
_begin: Final = [one.begin_run for one in _all if one.begin_run is not None]
_end: Final = [one.end_run for one in _all if one.end_run is not None]
for _one in _all:
    explain_waits(_one.purposes)


def say_once(text: str) -> str:
    """Leave out what a thing is where its label says the same: `lock lock`."""
    return _TWICE.sub(r"\1", text)


# -- explorations and runs -----------------------------------------------------------------------


def replacements(undo: Patches, settings: ControlSettings) -> list[tuple[Any, Any]]:
    """Return pairs of functions or types and what stands for them during an exploration."""
    return [pair for one in _all for pair in one.replace(undo, settings)]


def install(undo: Patches) -> None:
    """Put the classes of all primitives under control."""
    for one in _all:
        one.install(undo)


def begin_run() -> None:
    """Let a run begin like all others."""
    for begin in _begin:
        begin()


def end_run(run: Scheduler) -> None:
    """Leave nothing behind that the next run could meet."""
    for end in _end:
        end(run)


# -- private attributes --------------------------------------------------------------------------
# The classes of the library are controlled as a whole: their calls are operations on a model, or
# code of the library under locks that are.  What a program reads past these calls, an attribute
# that is not meant for it or one that the library computes without a lock, has to be an operation
# on the same thing, or the moment at which it is read would not matter to a search.  What cannot be
# read that way is refused, and what the program gets hold of and can look at later, or changes, is
# named in the result.


def _find(kind: type, name: str) -> tuple[type, Look] | None:
    for base in ancestors(kind):
        look = _PRIVATE.get(base, {}).get(name)
        if look is not None:
            return base, look
    return None


def is_private(kind: type, name: str) -> bool:
    """Whether a class has a private attribute whose reads are operations."""
    return _find(kind, name) is not None


def look_inside(thing: Any, name: str) -> None:
    """Make an operation of a read of such an attribute, which the running thread is about to do."""
    run = session.current
    if run.over:
        return
    found = _find(type(thing), name)
    if found is not None:
        found[1](run, thing, name)


def note_change(kind: type, name: str) -> None:
    """Name such an attribute in the result: the program writes it."""
    found = _find(kind, name)
    assert found is not None
    unobserved.note(f"assignment to {found[0].__name__}.{name}")
