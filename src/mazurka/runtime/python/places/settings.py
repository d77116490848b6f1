"""Functions that read or change what a process has once: its current directory, its limits.

C code keeps these settings, and no object of the program leads to them.  Each is one location.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

_Functions = Sequence[Callable[..., Any]]


class SettingUse(NamedTuple):
    """What a function does to a setting."""

    setting: str
    writes: bool
    is_hidden: bool
    """Whether C code reads the setting, too, where nobody sees it: then a change is named."""


def _find(module: str, *names: str) -> list[Any]:
    """Find the functions of a module that there are on this system."""
    try:
        found = __import__(module)
    except ImportError:
        return []
    return [getattr(found, name) for name in names if hasattr(found, name)]


def _rows(
    setting: str, reading: _Functions, writing: _Functions, *, is_hidden: bool = False
) -> dict[Any, SettingUse]:
    return {
        **{function: SettingUse(setting, False, is_hidden) for function in reading},
        **{function: SettingUse(setting, True, is_hidden) for function in writing},
    }


_SIGNALS: Final = ("signal", "siginterrupt", "set_wakeup_fd", "alarm", "setitimer")
SETTINGS: Final[dict[Any, SettingUse]] = {
    **_rows("the current directory", (os.getcwd, os.getcwdb), ()),
    **_rows("the mask of new files", (), (os.umask,)),
    **_rows(
        *("the recursion limit", (sys.getrecursionlimit,), (sys.setrecursionlimit,)),
        is_hidden=True,
    ),
    **_rows("the switch interval", (sys.getswitchinterval,), (sys.setswitchinterval,)),
    **_rows(
        "the limit of digits",
        _find("sys", "get_int_max_str_digits"),
        _find("sys", "set_int_max_str_digits"),
        is_hidden=True,
    ),
    **_rows(
        "the settings of the garbage collector",
        (gc.isenabled, gc.get_threshold, gc.get_debug, gc.get_freeze_count),
        (gc.enable, gc.disable, gc.set_threshold, gc.set_debug, gc.freeze, gc.unfreeze),
    ),
    **_rows(
        "the default timeout of sockets",
        _find("_socket", "getdefaulttimeout"),
        _find("_socket", "setdefaulttimeout"),
        is_hidden=True,
    ),
    **_rows(
        *("the handlers of signals", _find("_signal", "getsignal", "getitimer")),
        _find("_signal", *_SIGNALS),
        is_hidden=True,
    ),
    **_rows(
        "the registry of codecs",
        _find("_codecs", "lookup", "lookup_error", "encode", "decode"),
        _find("_codecs", "register", "unregister", "register_error", "_unregister_error"),
        is_hidden=True,
    ),
    **_rows("the time zone", (), [time.tzset] if hasattr(time, "tzset") else (), is_hidden=True),
    **_rows("the trace function of threads", (threading.gettrace,), (threading.settrace,)),
    **_rows("the profile function of threads", (threading.getprofile,), (threading.setprofile,)),
    **_rows("the size of stacks", (), (threading.stack_size,)),
}
"""By function: what it does, and to which setting."""
