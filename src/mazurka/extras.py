"""The optional parts of an installation: which packages each takes, and what to say without them.

Mazurka is installed as `mazurka-check`, since another project is called `mazurka` on the Python
Package Index; the package that is imported and the command are called `mazurka`.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.util import find_spec
from platform import python_version
from sysconfig import get_config_var

from mazurka.errors import OptionError

DISTRIBUTION = "mazurka-check"
"""The name by which pip knows Mazurka."""


class MissingExtraError(OptionError):
    """Something that is asked for needs a package that is not installed."""


@dataclass(frozen=True)
class Extra:
    """An optional part, by the name that pip knows it by."""

    name: str
    modules: tuple[str, ...]
    """The modules to look for, without importing them."""
    package: str
    """The package that decides on which versions of Python the extra can be installed."""
    newest: tuple[int, int] | None = None
    """The newest version of Python for which that package has a wheel; None if there is one for
    all that Mazurka supports."""

    free_threaded: tuple[tuple[int, int], ...] | None = None
    """The versions of Python for whose free-threaded builds it has a wheel; None for all."""

    @property
    def command(self) -> str:
        """The command that installs the extra."""
        return f"pip install '{DISTRIBUTION}[{self.name}]'"

    @property
    def has_wheel(self) -> bool:
        """Whether its packages are known to be installable on the running version of Python."""
        return self.has_wheel_for_version and (
            not is_free_threaded()
            or self.free_threaded is None
            or sys.version_info[:2] in self.free_threaded
        )

    @property
    def has_wheel_for_version(self) -> bool:
        """Whether they are for an ordinary build of the running version."""
        return self.newest is None or sys.version_info[:2] <= self.newest

    @property
    def is_installed(self) -> bool:
        return all(find_spec(module) is not None for module in self.modules)

    @property
    def advice(self) -> str:
        """How to get the extra: the command that installs it, or why there is none."""
        if self.has_wheel:
            return self.command
        if self.has_wheel_for_version:
            return (
                f"{self.package} has no wheel for free-threaded Python {python_version()};"
                f" with an ordinary build: {self.command}"
            )
        assert self.newest is not None
        newest = ".".join(map(str, self.newest))
        return (
            f"{self.package} has no wheel for Python {python_version()};"
            f" with Python {newest} or older: {self.command}"
        )

    def require(self, what: str) -> None:
        """Raise an error if the extra is not installed; `what` begins its message."""
        if not self.is_installed:
            raise MissingExtraError(f"{what}: {self.advice}")


def is_free_threaded() -> bool:
    """Return whether the running Python is a build without a global lock."""
    return bool(get_config_var("Py_GIL_DISABLED"))


MODELS = Extra("models", ("llvmlite", "numba", "numpy"), "numba", free_threaded=((3, 14),))
C = Extra("c", ("clang",), "libclang")
SYMBOLIC = Extra("symbolic", ("pysat",), "python-sat", newest=(3, 14))
BDD = Extra("bdd", ("dd",), "dd")
CUDA = Extra("cuda", ("cuda",), "cuda-bindings")
RAY = Extra("ray", ("ray",), "ray", newest=(3, 14), free_threaded=())
EXTRAS = (MODELS, C, SYMBOLIC, BDD, CUDA, RAY)


def find_extra(module: str | None) -> Extra | None:
    """Return the extra that brings a module, or the package that the module is in."""
    package = (module or "").partition(".")[0]
    return next((extra for extra in EXTRAS if package in extra.modules), None)
