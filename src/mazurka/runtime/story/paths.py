"""How a report names files: from the project, and from the package for installed code."""

from __future__ import annotations

import os
import re
import sysconfig
from functools import cache
from typing import Final

from mazurka.runtime.core.sites import shown_path

_INSTALLED: Final = re.compile(r".*[\\/](?:site|dist)-packages[\\/]")
_FROZEN: Final = "<frozen "
"""How the names of files begin that are built into the interpreter."""
_LIBRARY: Final = tuple(
    os.path.join(sysconfig.get_path(name), "") for name in ("stdlib", "platstdlib")
)


@cache
def short_path(file: str) -> str:
    """Name a file as people do: `package/module.py` where it is installed, `queue.py` where it is
    of the standard library, otherwise from the present directory."""
    if (found := _INSTALLED.match(file)) is not None:
        return file[found.end() :]
    if file.startswith(_FROZEN):
        return f"{file[len(_FROZEN) : -1]}.py"
    for folder in _LIBRARY:
        if file.startswith(folder):
            return file[len(folder) :]
    return shown_path(file)


@cache
def is_library(file: str) -> bool:
    """Whether a file is of an installed package, or of the standard library."""
    return _INSTALLED.match(file) is not None or file.startswith((*_LIBRARY, _FROZEN))


def name_package(file: str) -> str:
    """Name the package, or the module, that a file of a library belongs to."""
    return re.split(r"[\\/]", short_path(file))[0].removesuffix(".py")
