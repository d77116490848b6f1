"""What observed code calls that is not observed: the list behind "not observed: numpy".

Two means.  Rewritten code shows each function to `called` when a place first calls it.  From Python
3.12 on, `sys.monitoring` reports every function that begins under control, called by whomever,
once; it needs no source, and also tells of functions in observed modules that came into being
past all means of rewriting them.  Both only look at code: data that is touched by code that has not
been rewritten is not observed, and the result must say so.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from _thread import get_ident
from collections.abc import Callable
from types import CodeType, FrameType, FunctionType
from typing import Any, Final

from mazurka.runtime.core.insides import (
    ancestors,
    find_in_class,
    is_of_c,
    module_of,
    names_in_class,
    qualified_name,
)
from mazurka.runtime.core.scheduler import Scheduler, session
from mazurka.runtime.core.sites import MARK, MAZURKA_FOLDER, RUNTIME_FOLDER, is_rewritten
from mazurka.runtime.sharing.exempt import FILLED_BY_CALLS, KEEPING, REPORTING, is_tracing

HIDDEN: Final = "changes what C code keeps"
"""The reason for which a function of C code is named that changes what nobody sees."""
LOST: Final = "stays as an execution has left it"
"""The reason for which an older object is named that cannot be put back."""
UNEXPLORED: Final = "its order is not explored"
"""The reason for which something is named whose steps come in an order that no search chooses."""
IN_STEPS: Final = "in several steps"
"""The reason for which C code is named that takes steps without a global lock which no search
chooses."""
OWN: Final = frozenset({"mazurka", "__main__", ""})
TOOL: Final = 4
"""Our number among the tools of `sys.monitoring`; 0 to 2 and 5 have their owners by convention."""
MACHINERY: Final = (RUNTIME_FOLDER, os.path.join(MAZURKA_FOLDER, "stateless", ""))
"""Where our own code is, which begins all the time and need not be told of."""
_BETWEEN: Final = frozenset(
    os.path.join(RUNTIME_FOLDER, *parts)
    for parts in (
        *(("core", name) for name in ("scheduler.py", "tasks.py", "thread_locals.py")),
        ("program", "watchdog.py"),
    )
)
"""Our code that runs between two threads of the program, and calls none of it by itself..."""
_ASIDE: Final = Scheduler.do_aside.__code__
"""... but for this."""
_CALLED_BETWEEN: Final = "contextlib"
"""A module that this code calls itself; nothing of it runs at the end of an object."""
ENDS_LATE: Final = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
"""Whether an object whose last reference another thread has dropped ends when its maker next runs,
as on free-threaded interpreters.  Under control that is between two threads."""

_SEEN: Final = frozenset(
    {"threading", "_thread", "queue", "_queue", "concurrent", "time", "typing", "dataclasses"}
    | {"functools", "_functools", "contextlib", "abc", "_abc", "enum", "re", "_sre", "math"}
    | {"cmath", "itertools", "collections", "_collections", "operator", "_operator", "copy"}
    | {"heapq", "_heapq", "bisect", "_bisect", "json", "_json", "textwrap", "types"}
    | {"warnings", "_warnings", "traceback", "inspect", "numbers", "fractions", "decimal"}
    | {"_decimal", "datetime", "_datetime", "struct", "_struct", "array"}
    | {"base64", "binascii", "keyword", "builtins", "sys", "io", "_io", "_string"}
    | {"importlib", "posixpath", "ntpath", "contextvars", "_contextvars", "hashlib", "_hashlib"}
    | {"unicodedata", "html", "dis", "ast", "__future__", "copyreg", "_codecs", "_locale"}
    | {"linecache", "tokenize", "token", "encodings", "zipimport", "_imp"}
    | {"random", "_random", "stat", "_stat", "csv", "_csv", "zlib", "_bz2", "_lzma", "marshal"}
    | {"_md5", "_sha1", "_sha2", "_sha256", "_sha512", "_sha3", "_blake2", "_hmac", "_statistics"}
    | {"grp", "pwd", "spwd", "_crypt", "_opcode", "_symtable", "_typing", "audioop"}
    | {"_codecs_cn", "_codecs_hk", "_codecs_iso2022", "_codecs_jp", "_codecs_kr", "_codecs_tw"}
    | {"_multibytecodec", "_tokenize", "_suggestions"}
    | {"_frozen_importlib", "_frozen_importlib_external"}
)
"""Modules of the standard library that keep nothing, or whose objects are observed by other means:
patched, or counted as changed by whatever is done with them (`python.opaque`)."""
_UNSEEN: Final = frozenset(
    {"collections.UserDict", "collections.UserList", "collections.UserString"}
    | {"collections.ChainMap", "inspect.getmembers"}
    | {"textwrap.TextWrapper"}
    | {"functools.singledispatch", "functools.singledispatchmethod", "importlib.reload"}
    | {"copyreg.pickle", "copyreg.add_extension", "copyreg.remove_extension"}
    | {"sys.addaudithook", "sys.getrefcount", "sys._current_frames", "html.parser.HTMLParser"}
    | {"ast.NodeTransformer", "ast.fix_missing_locations", "ast.increment_lineno"}
    | {"concurrent.futures.process.ProcessPoolExecutor", "inspect.getgeneratorstate"}
    | {"concurrent.futures.interpreter.InterpreterPoolExecutor", "inspect.getgeneratorlocals"}
    | {"builtins.input", "contextlib.AsyncExitStack", "inspect.getmembers_static"}
    | {"time.process_time", "time.process_time_ns", "time.thread_time", "time.thread_time_ns"}
)
"""What is in those modules all the same."""
_HARMLESS: Final = frozenset(
    {"asyncio.coroutines.iscoroutinefunction", "asyncio.coroutines.iscoroutine"}
    | {"pkgutil.resolve_name"}
    | {
        f"{module}.{name}"
        for module in ("posix", "nt")
        for name in (
            *("fspath", "_path_normpath", "_path_splitroot", "_path_splitroot_ex", "getpid"),
            *("getppid", "getuid", "geteuid", "getgid", "getegid", "cpu_count", "strerror"),
            "sched_getaffinity",
            *("uname", "sysconf", "confstr", "get_terminal_size", "DirEntry"),
        )
    }
)
"""What only looks at what it is given, in other modules."""
_PROCESS_LOCKS: Final = frozenset(
    f"multiprocessing.{name}" for name in ("synchronize", "context", "process", "util")
)
"""What locks of `multiprocessing` are made of, around what is under control."""
_STATEFUL: Final = frozenset({"sched", "shelve", "sqlite3", "asyncio", "multiprocessing", "dbm"})
"""Modules of the standard library whose objects are worth sharing and are not observed."""


_OWN_STACKS: Final = frozenset({"greenlet", "gevent", "eventlet", "uvloop"})
"""Packages whose C code runs tasks on stacks of their own, or a loop that calls back."""
_NAMED_TUPLE: Final = "namedtuple_"
"""How the namespace is called in which `collections.namedtuple` makes a constructor, which only
puts its arguments into a tuple."""


def package_of(module: str | None) -> str | None:
    """Return the package to be named for a module; None for those that need not be observed."""
    package = (module or "").partition(".")[0]
    if module in _PROCESS_LOCKS or module in REPORTING:
        return None
    if package in OWN or package.startswith(_NAMED_TUPLE):
        return None
    if package in sys.stdlib_module_names:
        return None if package in _SEEN else _CALLED.get(package, package.lstrip("_"))
    return package


_CALLED: Final = {
    **dict.fromkeys(("posix", "nt", "genericpath"), "os"),
    "_weakrefset": "weakref",
    "_py_warnings": "warnings",
}


class Unobserved:
    """The packages whose code has run under control without instrumentation."""

    def __init__(self) -> None:
        self.packages: set[str] = set()
        self.code: set[str] = set()
        """Python code that has run without being observed, and why: nothing is proved then."""
        self.lost: set[str] = set()
        """What executions have changed for good, and why nothing is proved then.  It is kept for
        the whole exploration, which may enter several programs (`exploring.losses`)."""
        self.examples: dict[str, str] = {}
        """By package: a function or a class of it."""
        self.kinds: set[type] = set()
        """Types that have been looked at."""
        self._known: set[tuple[str, str]] = set()
        self._called: set[str] = set()
        """Modules that remember results and that the program has called (`FILLED_BY_CALLS`)."""
        self._reached: dict[str, str] = {}
        """By the name of such a module: what it remembers in, and the program has reached for."""
        self.is_unobserved: Callable[[CodeType, object], bool] | None = None
        """Whether code that begins in a module that is observed has not been rewritten."""
        self.is_covered: Callable[[object, str], bool] | None = None
        """Whether a function or class of a module is observed as soon as a thread enters it."""
        self.is_silent: Callable[[], bool] | None = None
        """Whether the present thread imports a module, whose code runs as it is."""
        self._monitoring: Any = None
        self._silence: Any = None
        """What tells the interpreter that code has been seen; other threads may still come to tell
        of theirs when nobody watches any more."""

    def clear(self) -> None:
        self.packages.clear()
        self.code.clear()
        self.examples.clear()
        self.kinds.clear()
        self._known.clear()
        self._called.clear()
        self._reached.clear()

    def called(self, function: Any) -> None:
        """Note that the program calls a function or a class."""
        if issubclass(type(function), type):
            self.meet(function)
            return
        key = (getattr(function, "__module__", ""), getattr(function, "__qualname__", ""))
        if key in self._known or session.current.ident != get_ident():
            return
        self._known.add(key)
        space: Any = getattr(function, "__globals__", None)
        # A decorator gives its own function the module's name of the one that it decorates.
        module = key[0] if space is None else space.get("__name__")
        if module in FILLED_BY_CALLS:
            self._called.add(module)
            self._name_memory(module)
        if type(module) is str and is_tracing(module):
            self.code.add(f"{module}.{key[1]} (its module is not observed)")
        elif space is None or MARK not in space:
            self._add(module, key[1], of_c=space is None)

    def meet(self, kind: type) -> None:
        """Note that the program uses an object of a type: code of its classes may run."""
        if kind in self.kinds or session.current.ident != get_ident():
            return
        self.kinds.add(kind)
        if ENDS_LATE:
            self._expect_ends(kind)
        for base in ancestors(kind):
            space: Any = getattr(sys.modules.get(module_of(base)), "__dict__", {})
            of_c = is_of_c(base)
            if (of_c or MARK not in space) and not find_in_class(base, "_is_protocol", False):
                self._add(module_of(base), qualified_name(base), of_c=of_c)

    def reach_memory(self, name: str) -> None:
        """Note that the program reaches for what an exempt module remembers in.  `inspect` asks it
        only whether a file is known, and finds the same without."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename.startswith(RUNTIME_FOLDER):
            frame = frame.f_back
        if frame is not None and frame.f_globals.get("__name__") == "inspect":
            return
        module = name.rpartition(".")[0]
        self._reached[module] = name
        self._name_memory(module)

    def _name_memory(self, module: str) -> None:
        """Name what the module remembers in, if the program has it filled and reaches for it."""
        is_filled = module in self._called or module not in FILLED_BY_CALLS
        if is_filled and module in self._reached:
            self.note_code(self._reached[module], "its module is not observed")

    def note(self, name: str) -> None:
        """Name something that is not observed, in the result."""
        if session.current.ident == get_ident():
            self.packages.add(name)

    def note_code(self, name: str, reason: str) -> None:
        """Name Python code that runs now without being observed."""
        if session.current.ident == get_ident():
            self.code.add(f"{name} ({reason})")

    def note_hidden(self, name: str) -> None:
        """Name a function that changes, while other threads run, what C code keeps and uses."""
        self.note_code(name, HIDDEN)

    def lose(self, thing: Any) -> None:
        """Name an older object that an execution has changed and that cannot be put back; it has
        a name, or that of its type is said."""
        self.lost.add(f"{_name_of(thing)} ({LOST})")

    def _expect_ends(self, kind: type) -> None:
        """Name the finalizers of a type, whose objects may end when nobody watches."""
        for base in ancestors(kind):
            ends = names_in_class(base).get("__del__")
            if type(ends) is FunctionType:
                self._add_between(ends.__qualname__)

    def _add_between(self, function: str) -> None:
        self.packages.add(f"{function} (may run while no thread is under control)")

    def _add(self, module: Any, name: str, *, of_c: bool = False) -> None:
        """Name the package of a function or a class, unless its code is observed on demand."""
        if not isinstance(module, str):
            return
        part = name.partition(".")[0]
        whole = f"{module}.{part}"
        if whole in _HARMLESS or (not of_c and self._covers(module, part)):
            return
        if whole in KEEPING:
            self.code.add(f"{whole} (its module is not observed)")
            return
        if f"{module}.{name}" in _UNSEEN:
            whole = f"{module}.{name}"
        package = whole.lstrip("_") if whole in _UNSEEN else package_of(module)
        if package in _OWN_STACKS:
            self.note_code(package, UNEXPLORED)
        if package is not None:
            self.packages.add(package)
            if name:
                self.examples.setdefault(package, f"{module.lstrip('_')}.{name}")

    def _covers(self, module: object, part: str) -> bool:
        return self.is_covered is not None and self.is_covered(module, part)

    # -- sys.monitoring ----------------------------------------------------------------------

    def start_monitoring(self) -> None:
        """Let the interpreter tell what begins under control, where it can."""
        monitoring = getattr(sys, "monitoring", None)
        if monitoring is None or monitoring.get_tool(TOOL) is not None:
            return
        self._silence = monitoring.DISABLE
        monitoring.use_tool_id(TOOL, "mazurka")
        monitoring.register_callback(TOOL, monitoring.events.PY_START, self._began)
        monitoring.register_callback(TOOL, monitoring.events.PY_THROW, self._thrown)
        monitoring.set_events(TOOL, monitoring.events.PY_START | monitoring.events.PY_THROW)
        monitoring.restart_events()
        self._monitoring = monitoring

    def stop_monitoring(self) -> None:
        monitoring, self._monitoring = self._monitoring, None
        if monitoring is not None:
            monitoring.set_events(TOOL, 0)
            monitoring.register_callback(TOOL, monitoring.events.PY_START, None)
            monitoring.register_callback(TOOL, monitoring.events.PY_THROW, None)
            monitoring.free_tool_id(TOOL)
            monitoring.restart_events()  # what was silenced, for later tools with our numbers

    def _began(self, code: CodeType, offset: int) -> Any:
        run = session.current
        if run.over or run.ident != get_ident():
            if code.co_filename.startswith(MACHINERY):
                return self._silence
            # Not under control now; it may be another time, so it must not be silenced yet.
            self._began_between(code, sys._getframe(1))
            return None
        if self.is_silent is not None and self.is_silent():
            return None
        frame: Any = sys._getframe(1)
        module = frame.f_globals.get("__name__")
        if is_rewritten(code):
            pass  # its instructions have been rewritten, whatever namespace it has
        elif MARK in frame.f_globals or self._covers(module, code.co_qualname.partition(".")[0]):
            if self.is_unobserved is not None and self.is_unobserved(code, module):
                self.code.add(f"{code.co_qualname} (made where nobody watches)")
        elif type(module) is str:
            self._began_in(module, code.co_qualname)
        return self._silence

    def _thrown(self, code: CodeType, offset: int, error: BaseException) -> None:
        """Note that a generator is ended where it stands."""
        if session.current.ident != get_ident():
            self._began_between(code, sys._getframe(1))

    def _began_between(self, code: CodeType, frame: FrameType) -> None:
        """Note code that runs in a thread that is not under control.  Code of the program does so
        during a run if it belongs to an object that has just ended: a finalizer, or the rest of a
        generator."""
        run, caller = session.current, frame.f_back
        if (
            caller is not None
            and caller.f_code.co_filename in _BETWEEN
            and caller.f_code is not _ASIDE
            and frame.f_globals.get("__name__") != _CALLED_BETWEEN
            and (MARK in frame.f_globals or is_rewritten(code))
            and run.program is not None
            and not run.over
        ):
            self._add_between(code.co_qualname)

    def _began_in(self, module: str, name: str) -> None:
        """Note a module whose code begins.  Parts of the standard library call each other a lot;
        but for some, only what the program itself calls counts."""
        package = module.partition(".")[0]
        if package.startswith("namedtuple_") or f"{module}.{name}" in _HARMLESS:
            return  # the former is what `collections.namedtuple` generates
        if is_tracing(module):
            return  # the interpreter calls it
        if package in _STATEFUL or package not in sys.stdlib_module_names:
            self._add(module, "")


def _name_of(thing: Any) -> str:
    """Name an object, or its type."""
    if type(thing) is str:
        return thing
    if type(thing) is FunctionType:
        return f"{thing.__module__}.{thing.__qualname__}"
    if issubclass(type(thing), type):
        return f"{module_of(thing)}.{qualified_name(thing)}"
    return f"an object of the type {qualified_name(type(thing))}"


unobserved = Unobserved()
