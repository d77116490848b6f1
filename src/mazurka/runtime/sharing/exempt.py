"""Python code that may run unobserved in a thread under control, and why that loses nothing.

Whatever Python code such a thread runs is observed, unless its module is listed here, or the user
has left it out by name.  Each module that is listed belongs to one of these kinds:

- Mazurka itself.  What it does to objects of the program it shows as operations.
- *Modelled*: the runtime knows what the functions do, and performs them as operations
  (`primitives`).
- *The import system*.  A search begins anew after a run that has imported a module, so all runs
  that count find it imported (`rewrite.imports`).
- *Tracing tools*: the interpreter calls them between the program's instructions, whatever these
  are.  They do not belong to the program, and it does not see what they keep; where the program
  calls one itself, nothing is proved.
- *Memory of what can be computed again*: compiled expressions, lines of files.  A call returns the
  same whether it finds the result or computes it, and what it is given are texts, which do not
  change.  So it commutes with every operation of every other thread.  That ends where the program
  itself reaches for the memory (`KEPT`), and calls functions that fill it; then nothing is proved.
- *What pytest keeps for its report*: log records and captured output.  A test reads them by the
  fixtures `caplog`, `capsys` and the like alone; then handlers keep their locks, and printing is an
  operation (`testing.pytest.state`).
- *Making something new*: functions that make classes, functions and types, and fill nothing but
  these; and modules whose Python code only stands for C code where that is missing.  What else is
  in these modules is observed (`rewrite.library.PARTS`).
"""

from __future__ import annotations

import sys
from typing import Any, Final

_OWN: Final = frozenset({"mazurka"})
_MODELLED: Final = frozenset(
    {"threading", "queue", "concurrent", "warnings", "_py_warnings"}
    | {f"multiprocessing.{name}" for name in ("synchronize", "context", "process", "util")}
)
_IMPORTING: Final = frozenset(
    {"_frozen_importlib", "_frozen_importlib_external", "zipimport", "importlib"}
    | {f"importlib.{name}" for name in ("_bootstrap", "_bootstrap_external", "machinery")}
    | {"importlib.abc", "importlib.util"}
)
"""Single modules: others of `importlib` read what packages contain."""
_TRACING: Final = frozenset({"coverage", "debugpy", "pydevd", "_pydevd_bundle", "_pydev_bundle"})
_MEMORY: Final = frozenset({"linecache", "tokenize", "token", "re"})
_ENCODINGS: Final = "encodings"
"""Finds codecs by name, and remembers them; the codecs in it keep what they have been given."""
REPORTING: Final = frozenset({"_pytest.logging", "_pytest.capture"})
_MAKING: Final = frozenset(
    {"abc", "collections", "copy", "copyreg", "dataclasses", "enum", "functools", "typing"}
    | {"bisect", "heapq", "keyword", "operator", "__future__"}
)
"""Mazurka itself uses most of them, in the threads that it controls."""
_LAYING_OUT: Final = "ctypes._layout"
"""Says where the fields of a new structure lie, from Python 3.14 on."""
_MODULES: Final = _MODELLED | _IMPORTING | REPORTING | {_ENCODINGS, _LAYING_OUT}
_PACKAGES: Final = _OWN | _MODELLED | _TRACING | _MEMORY | _MAKING
KEPT: Final[dict[str, tuple[str, ...]]] = {
    "linecache": ("cache",),
    "re": ("_cache", "_cache2"),
    "encodings": ("_cache",),
}
"""By module: the variables that hold what it remembers."""
FILLED_BY_CALLS: Final = frozenset({"linecache"})
"""Modules of these that fill their memory only if the program calls them; C code calls others."""
KEEPING: Final = frozenset({"re.Scanner"})
"""What exempt modules have beside that: classes whose objects keep something.  Where a program uses
one, nothing is proved."""


def is_exempt(module: str) -> bool:
    """Tell whether the code of a module may run unobserved."""
    return module in _MODULES or module.partition(".")[0] in _PACKAGES


def looks_into_arguments(module: str) -> bool:
    """Tell whether functions of an exempt module may read all of what they are given; those that
    remember results are given texts, and namespaces of which they read little."""
    package = module.partition(".")[0]
    return package in _MAKING or package in ("warnings", "_py_warnings")


def is_tracing(module: str) -> bool:
    """Tell whether a module belongs to a tool that the interpreter calls to trace the program."""
    return module.partition(".")[0] in _TRACING


def find_memories() -> list[tuple[Any, str]]:
    """Find the objects in which exempt modules remember results, and their names."""
    return [
        (vars(sys.modules[module])[name], f"{module}.{name}")
        for module, names in KEPT.items()
        if module in sys.modules
        for name in names
        if name in vars(sys.modules[module])
    ]
