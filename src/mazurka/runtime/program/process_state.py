"""What a process has once, for all tests: the environment, the current directory, limits, filters.

A run may change any of it, and Python keeps it where no object of the program leads.  The next run
has to find it as the first one did, and the tests after the exploration, too.

What the code of a module does when a run imports it stays, since no later run imports it again, as
far as it is what modules usually do: they add to paths, filters, loggers and the environment.
"""

from __future__ import annotations

import atexit
import decimal
import gc
import locale
import logging
import os
import sys
import sysconfig
import threading
import warnings
from _thread import get_ident
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final, NamedTuple

from mazurka.runtime.core.patches import bind_as_builtin
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.primitives.lock import forget_warnings
from mazurka.runtime.sharing.older_zones import read_zones, write_zones

LOOKS: Final = 3
"""The number of runs after which loggers are looked at only if one of these has changed any; that
takes longer than to look at the rest."""


class Setting(NamedTuple):
    """Something that a process has once."""

    read: Callable[[], Any]
    write: Callable[[Any], object]
    """Puts back what was read, by way of what there is now."""
    imported: bool = False
    """Whether modules usually change it when they are imported."""
    look: Callable[[], Any] | None = None
    """Returns what is equal to what `read` returns, and may change; a copy takes longer."""


def _list_setting(find: Callable[[], list[Any]]) -> Setting:
    """A list that stays where it is; its elements are compared."""
    return Setting(
        lambda: list(find()), lambda old: find().__setitem__(slice(None), old), True, find
    )


def _read_directory() -> str | None:
    try:
        return os.getcwd()
    except OSError:
        return None


def _write_directory(path: str | None) -> None:
    if path is not None:
        os.chdir(path)


def _read_environment() -> dict[Any, Any]:
    """Copy the environment as the system has it: that is much faster than to decode it."""
    return dict(_ENVIRONMENT._data)


def _write_environment(old: dict[Any, Any]) -> None:
    for name in _read_environment().keys() - old.keys():
        del _ENVIRONMENT[_ENVIRONMENT.decodekey(name)]
    for name, value in old.items():
        if _ENVIRONMENT._data.get(name) != value:
            _ENVIRONMENT[_ENVIRONMENT.decodekey(name)] = _ENVIRONMENT.decodevalue(value)


_ENVIRONMENT: Final[Any] = os.environ


def _write_filters(old: list[Any]) -> None:
    filters: Any = warnings.filters
    filters[:] = old
    forget_warnings()


def _write_hooks(old: tuple[Any, Any]) -> None:
    for hooks, hook in zip((threading.settrace, threading.setprofile), old, strict=True):
        hooks(hook)


def _read_loggers() -> dict[Any, tuple[Any, ...]]:
    """By logger: what its users can set."""
    manager = logging.root.manager
    loggers = [one for one in manager.loggerDict.values() if isinstance(one, logging.Logger)]
    found: dict[Any, tuple[Any, ...]] = {manager: (manager.disable,)}
    for one in (logging.root, *loggers):
        own = one.level, one.propagate, one.disabled
        found[one] = (*own, tuple(one.handlers), tuple(one.filters))
    return found


_NEW_LOGGER: Final = (logging.NOTSET, True, False, (), ())
"""What a logger has that nobody has set."""


def _write_loggers(old: dict[Any, tuple[Any, ...]]) -> None:
    for one, state in old.items():
        if len(state) == 1:
            one.disable = state[0]
        else:
            one.level, one.propagate, one.disabled = state[:3]
            one.handlers[:], one.filters[:] = state[3:]
    logging.root.manager._clear_cache()  # type: ignore[attr-defined]


def _read_locale() -> str:
    return locale.setlocale(locale.LC_ALL)


def _write_locale(old: str) -> None:
    locale.setlocale(locale.LC_ALL, old)


def _read_decimals() -> tuple[Any, ...]:
    """Read what new contexts for decimal numbers begin with."""
    default = decimal.DefaultContext
    own = tuple(getattr(default, name) for name in _DECIMALS)
    return own, dict(default.flags), dict(default.traps)


def _write_decimals(old: tuple[Any, ...]) -> None:
    default = decimal.DefaultContext
    for name, value in zip(_DECIMALS, old[0], strict=True):
        setattr(default, name, value)
    default.flags, default.traps = old[1:]


_DECIMALS: Final = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")
_SETTINGS: Final[dict[str, Setting]] = {
    "environment": Setting(_read_environment, _write_environment, True, lambda: _ENVIRONMENT._data),
    "directory": Setting(_read_directory, _write_directory),
    "path": _list_setting(lambda: sys.path),
    "arguments": _list_setting(lambda: sys.argv),
    "finders": _list_setting(lambda: sys.meta_path),
    "hooks of paths": _list_setting(lambda: sys.path_hooks),
    "filters": Setting(
        lambda: list(warnings.filters), _write_filters, True, lambda: warnings.filters
    ),
    "threads' hooks": Setting(lambda: (threading.gettrace(), threading.getprofile()), _write_hooks),
    "depth": Setting(sys.getrecursionlimit, sys.setrecursionlimit, True),
    "interval of switches": Setting(sys.getswitchinterval, sys.setswitchinterval),
    "collector": Setting(gc.get_threshold, lambda old: gc.set_threshold(*old)),
    "stacks": Setting(threading.stack_size, threading.stack_size),
    "digits": Setting(sys.get_int_max_str_digits, sys.set_int_max_str_digits, True),
    "time zones": Setting(read_zones, write_zones, True),
    "collecting": Setting(gc.isenabled, lambda old: gc.enable() if old else gc.disable()),
}
"""What is cheap to look at."""
_RARELY: Final[dict[str, Setting]] = {
    "decimals": Setting(_read_decimals, _write_decimals),
    "locale": Setting(_read_locale, _write_locale),
}
"""What takes longer to look at, and is rarely changed."""
_LOGGERS: Final = Setting(_read_loggers, _write_loggers, True)


def _write(setting: Setting, first: Any) -> bool:
    """Write a setting; tell whether it has its first value then."""
    try:
        setting.write(first)
    except Exception:  # the system may refuse it: a folder is gone, or a name in the environment
        return False
    return bool(setting.read() == first)


class ProcessState:
    """The state in which an exploration has found the process."""

    def __init__(self) -> None:
        self._settings = dict(_SETTINGS)
        network: Any = sys.modules.get("socket")
        if network is not None:
            self._settings["timeout of sockets"] = Setting(
                network.getdefaulttimeout, network.setdefaulttimeout
            )
        self._first = {name: one.read() for name, one in self._settings.items()}
        self._looks_at = [(name, one.look or one.read) for name, one in self._settings.items()]
        self._loggers = _read_loggers()
        self._mask = _read_mask()
        self._rare = {name: one.read() for name, one in _RARELY.items()}
        self._runs = 0
        self._looks = False
        """Whether a run has changed loggers, the mask of new files, or what else is looked at
        rarely."""

    def put_back(self) -> list[str]:
        """Let the next run find what this one has found; return the settings of which that is
        impossible."""
        firsts, lost = self._first, []
        for name, look in self._looks_at:
            first = firsts[name]
            if look() != first and not _write(self._settings[name], first):
                lost.append(name)
        self._runs += 1
        if self._looks or self._runs <= LOOKS:
            lost += self._put_rest_back()
        return [f"the process's {name}" for name in lost]

    def _put_rest_back(self) -> list[str]:
        lost = []
        if os.umask(self._mask) != self._mask:
            self._looks = True
        for name, setting in _RARELY.items():
            if setting.read() != self._rare[name]:
                self._looks = True
                if not _write(setting, self._rare[name]):
                    lost.append(name)
        now = _read_loggers()
        for one in now.keys() - self._loggers.keys():  # they stay: others may have them
            self._loggers[one] = _NEW_LOGGER
        changed = {one: old for one, old in self._loggers.items() if now.get(one) != old}
        if changed:
            self._looks = True
            _write_loggers(changed)
        return lost

    @contextmanager
    def keep_changes(self) -> Iterator[None]:
        """Let what is changed meanwhile stay: a module is imported."""
        kept = {name: one for name, one in self._settings.items() if one.imported}
        before = {name: one.read() for name, one in kept.items()}
        loggers = _read_loggers()
        try:
            yield
        finally:
            for name, setting in kept.items():
                self._first[name] = _merge(self._first[name], before[name], setting.read())
            self._loggers = _merge(self._loggers, loggers, _read_loggers())

    def restore(self) -> None:
        """Put everything back, at the end."""
        self.put_back()
        self._put_rest_back()


def _merge(first: Any, before: Any, after: Any) -> Any:
    """Change a value as another one was changed in between."""
    if before == after or first == before:
        return first if before == after else after
    if isinstance(first, dict):
        changed = {key: value for key, value in after.items() if before.get(key) != value}
        return {**first, **changed}
    if isinstance(first, list):
        added = [one for one in after if one not in before]
        return [*added, *first] if after[: len(added)] == added else [*first, *added]
    return after


def _read_mask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


# -- what is to be done at the end of the process ------------------------------------------------


def hold_farewells() -> list[tuple[Any, Any]]:
    """Return the functions of `atexit`, and what stands for them in threads under control.

    What a run registers would be called at the end of the process, once for each run, with objects
    that belong to no test any more.  So it is forgotten with the run.  What the standard library
    registers stays, and so does what a module registers when it is imported.
    """

    def register(_module: object, function: Any, /, *arguments: Any, **named: Any) -> Any:
        if session.current.ident == get_ident() and not _stays(sys._getframe(1)):
            return function
        return real(function, *arguments, **named)

    def unregister(_module: object, function: Any, /) -> None:
        if session.current.ident != get_ident():
            forget(function)

    real, forget = atexit.register, atexit.unregister
    return [(real, bind_as_builtin(register, real)), (forget, bind_as_builtin(unregister, forget))]


def _stays(frame: FrameType | None) -> bool:
    """Whether the standard library, or a module that is imported, registers something."""
    while frame is not None and _is_own(frame.f_globals):
        frame = frame.f_back
    if frame is not None and _is_standard(frame.f_code.co_filename):
        return True
    while frame is not None and not frame.f_code.co_filename.startswith(_IMPORTING):
        frame = frame.f_back
    return frame is not None


def _is_standard(file: str) -> bool:
    return file.startswith(_STANDARD) and "-packages" not in file


_IMPORTING: Final = "<frozen importlib."
_STANDARD: Final = sysconfig.get_path("stdlib") + os.sep


def _is_own(space: Mapping[str, Any]) -> bool:
    """Whether a function with such global variables is part of Mazurka."""
    name: Any = space.get("__name__", "")
    return type(name) is str and name.startswith("mazurka.runtime.")
