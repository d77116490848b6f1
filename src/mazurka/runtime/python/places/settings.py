"""Functions that read or change what a process has once: its limits, its registries in C.

C code keeps these settings, and no object of the program leads to them.  Each is one location.

To add a setting, write a row of the functions that read it and of those that change it, and say how
it is put back after a run, unless `program.process_state` does so.  Functions of C code that keep
something, and have no row, are found by what they do (`hidden_state`).
"""

from __future__ import annotations

import _csv
import _tracemalloc
import abc
import codecs
import faulthandler
import gc
import locale
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, NamedTuple

from mazurka.runtime.sharing.older_settings import Keeper
from mazurka.runtime.sharing.older_zones import forget_last_used, read_zones
from mazurka.runtime.sharing.places import SharedPlace

_Functions = Sequence[Callable[..., Any]]


class ObservedSetting(NamedTuple):
    """What a process has once."""

    name: str
    reading: _Functions = ()
    writing: _Functions = ()
    value_at: int | None = None
    """Which argument of a function that changes it is the new value; a call without it, or with
    None, reads the setting."""
    is_hidden: bool = False
    """Whether C code reads the setting, too, where nobody sees it."""
    is_asked: bool = False
    """Whether functions read it that are called all the time; they do so once a run has shown that
    threads change it (`Learned.moving`)."""
    calls: bool = False
    """Whether C code that uses it calls Python code, which others can interrupt."""
    keeper: Keeper | None = None
    """How it is put back after a run; None if it cannot be, or is looked at after each run."""


class SettingUse(NamedTuple):
    """What a function does to a setting."""

    setting: ObservedSetting
    may_write: bool

    def writes(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> bool:
        """Tell whether a call changes the setting."""
        at = self.setting.value_at
        if not self.may_write or at is None:
            return self.may_write
        return any(value is not None for value in (*arguments[at:], *named.values()))


def _find(module: str, *names: str) -> list[Any]:
    """Find the functions of a module that there are on this system."""
    try:
        found: Any = __import__(module)
    except ImportError:
        return []
    return [getattr(found, name) for name in names if hasattr(found, name)]


# -- how settings are kept -----------------------------------------------------------------------


def _read_dialects() -> dict[str, Any]:
    return {name: _csv.get_dialect(name) for name in _csv.list_dialects()}


def _write_dialects(old: dict[str, Any]) -> None:
    for name in _csv.list_dialects():
        _csv.unregister_dialect(name)
    for name, dialect in old.items():
        _csv.register_dialect(name, dialect)


def _keep_limits() -> Keeper | None:
    """Keep the limits of `resource`, as far as a process may raise them again."""
    try:
        import resource
    except ImportError:
        return None
    kinds = {value for name, value in vars(resource).items() if name.startswith("RLIMIT_")}

    def write(old: dict[int, tuple[int, int]]) -> None:
        for kind, limits in old.items():
            if resource.getrlimit(kind) != limits:
                with suppress(ValueError, OSError):
                    resource.setrlimit(kind, limits)

    return Keeper(lambda: {kind: resource.getrlimit(kind) for kind in kinds}, write)


def _read_tracing() -> int:
    return _tracemalloc.get_traceback_limit() if _tracemalloc.is_tracing() else 0


def _write_tracing(limit: int) -> None:
    if limit != _read_tracing():
        _tracemalloc.stop()
        if limit:
            _tracemalloc.start(limit)


def _keep(module: str, read: str, write: str) -> Keeper | None:
    """Keep what one function of a module returns and another one takes."""
    found = _find(module, read, write)
    return Keeper(found[0], found[-1]) if len(found) == 2 else None


def _keep_locale() -> Keeper:
    return Keeper(lambda: locale.setlocale(locale.LC_ALL), _write_locale)


def _write_locale(old: str) -> None:
    with suppress(locale.Error):
        locale.setlocale(locale.LC_ALL, old)


def _undo_codec(search: Any, *_: Any) -> Keeper:
    return Keeper(lambda: None, lambda _: codecs.unregister(search))


def _undo_error_handler(name: Any, *_: Any) -> Keeper:
    """A handler that there was none before cannot be taken back: before Python 3.14 no function
    does."""
    return Keeper(partial(_find_handler, name), partial(_write_handler, name))


def _find_handler(name: str) -> Any:
    try:
        return codecs.lookup_error(name)
    except LookupError:
        return None


def _write_handler(name: str, old: Any) -> None:
    if old is not None:
        codecs.register_error(name, old)
    else:
        for forget in _find("_codecs", "_unregister_error"):
            forget(name)


def _undo_registration(kind: Any, *_: Any) -> Keeper:
    """Keep the classes that are registered with an abstract class."""
    return Keeper(partial(_read_registered, kind), partial(_write_registered, kind))


_abc: Final[Any] = __import__("_abc")


def _read_registered(kind: Any) -> list[Any]:
    return [found for one in _abc._get_dump(kind)[0] if (found := one()) is not None]


def _write_registered(kind: Any, old: list[Any]) -> None:
    _abc._reset_registry(kind)
    for one in old:
        _abc._abc_register(kind, one)
    reset_caches(kind)


def reset_caches(kind: Any) -> None:
    """Let an abstract class forget which classes it has been asked about."""
    _abc._reset_caches(kind)


UNDO: Final[dict[Any, Callable[..., Keeper]]] = {
    codecs.register: _undo_codec,
    codecs.register_error: _undo_error_handler,
    abc.ABCMeta.register: _undo_registration,
}
"""By function that changes a setting which nobody can read: makes of its arguments what undoes the
call after the run."""


# -- the table -----------------------------------------------------------------------------------

_SIGNALS: Final = ("signal", "siginterrupt", "set_wakeup_fd", "alarm", "setitimer")
_SETTINGS: Final[tuple[ObservedSetting, ...]] = (
    ObservedSetting("the current directory", (os.getcwd, os.getcwdb)),
    ObservedSetting("the mask of new files", (), (os.umask,)),
    ObservedSetting(
        *("the recursion limit", (sys.getrecursionlimit,), (sys.setrecursionlimit,)),
        is_hidden=True,
        keeper=Keeper(sys.getrecursionlimit, sys.setrecursionlimit),
    ),
    ObservedSetting("the switch interval", (sys.getswitchinterval,), (sys.setswitchinterval,)),
    ObservedSetting(
        "the limit of digits",
        _find("sys", "get_int_max_str_digits"),
        _find("sys", "set_int_max_str_digits"),
        is_hidden=True,
        keeper=_keep("sys", "get_int_max_str_digits", "set_int_max_str_digits"),
    ),
    ObservedSetting(
        "the flags for loading libraries",
        _find("sys", "getdlopenflags"),
        _find("sys", "setdlopenflags"),
        keeper=_keep("sys", "getdlopenflags", "setdlopenflags"),
    ),
    ObservedSetting(
        "the settings of the garbage collector",
        (gc.isenabled, gc.get_threshold, gc.get_debug, gc.get_freeze_count),
        (gc.enable, gc.disable, gc.set_threshold, gc.set_debug, gc.freeze, gc.unfreeze),
        keeper=Keeper(gc.get_debug, gc.set_debug),
    ),
    ObservedSetting(
        "the default timeout of sockets",
        _find("_socket", "getdefaulttimeout"),
        _find("_socket", "setdefaulttimeout"),
        is_hidden=True,
        keeper=_keep("_socket", "getdefaulttimeout", "setdefaulttimeout"),
    ),
    ObservedSetting(
        *("the handlers of signals", _find("_signal", "getsignal", "getitimer")),
        _find("_signal", *_SIGNALS),
        is_hidden=True,
    ),
    ObservedSetting(
        "the registry of codecs",
        _find("_codecs", "lookup", "lookup_error", "encode", "decode"),
        _find("_codecs", "register", "unregister", "register_error", "_unregister_error"),
        is_hidden=True,
    ),
    ObservedSetting(
        "the registry of abstract classes",
        (abc.get_cache_token,),
        (abc.ABCMeta.register,),
        is_asked=True,
    ),
    ObservedSetting(
        "the locale",
        _find("_locale", "localeconv", "nl_langinfo", "strcoll", "strxfrm"),
        _find("_locale", "setlocale"),
        value_at=1,
        is_hidden=True,
        keeper=_keep_locale(),
    ),
    ObservedSetting(
        "the time zone", (), [time.tzset] if hasattr(time, "tzset") else (), is_hidden=True
    ),
    ObservedSetting("the trace function of threads", (threading.gettrace,), (threading.settrace,)),
    ObservedSetting(
        "the profile function of threads", (threading.getprofile,), (threading.setprofile,)
    ),
    ObservedSetting("the size of stacks", (), (threading.stack_size,), value_at=0),
    ObservedSetting(
        "the dialects of csv",
        _find("_csv", "get_dialect", "list_dialects", "reader", "writer"),
        _find("_csv", "register_dialect", "unregister_dialect"),
        keeper=Keeper(_read_dialects, _write_dialects),
    ),
    ObservedSetting(
        "the largest field of csv",
        (),
        _find("_csv", "field_size_limit"),
        value_at=0,
        keeper=Keeper(_csv.field_size_limit, _csv.field_size_limit),
    ),
    ObservedSetting(
        "the limits of the process",
        _find("resource", "getrlimit"),
        _find("resource", "setrlimit"),
        is_hidden=True,
        keeper=_keep_limits(),
    ),
    ObservedSetting(
        "the fault handler", (faulthandler.is_enabled,), (faulthandler.enable, faulthandler.disable)
    ),
    ObservedSetting(
        "the traces of tracemalloc",
        _find("_tracemalloc", "is_tracing", "get_traceback_limit", "get_traced_memory"),
        _find("_tracemalloc", "start", "stop", "clear_traces", "reset_peak"),
        keeper=Keeper(_read_tracing, _write_tracing),
    ),
    ObservedSetting(
        "the time zones that are remembered",
        writing=_find("_zoneinfo", "ZoneInfo"),
        calls=True,
        keeper=Keeper(read_zones, forget_last_used),
    ),
)


def _uses() -> Iterator[tuple[Any, SettingUse]]:
    for setting in _SETTINGS:
        for function in setting.reading:
            yield function, SettingUse(setting, False)
        for function in setting.writing:
            yield function, SettingUse(setting, True)


SETTINGS: Final[dict[Any, SettingUse]] = dict(_uses())
"""By function: what it does, and to which setting."""
HOLDING: Final = frozenset(_find("_csv", "reader", "writer"))
"""Functions that read a setting, and do nothing yet with the objects that they are given."""
PLACES: Final = {setting.name: SharedPlace(setting.name) for setting in _SETTINGS}
"""By the name of a setting: where threads meet that use it."""
READ_BY_OBJECTS: Final[dict[type, SharedPlace]] = {
    type(_csv.reader(())): PLACES["the largest field of csv"]
}
"""By type of C code: a setting that every use of such an object reads."""
