"""Kernels that have been changed in one place: compiled and loaded as users' kernels are.

A process that does nothing else compiles all mutants of a test module, the quick way
(`mazurka.compiled.compiler`), so that what they share is compiled once.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mazurka.compiled import cache

KERNELS = cache.SOURCES / "stateful" / "kernels"
PACKAGE = "mazurka.stateful.kernels"
PROGRAM = f"""
import sys
from pathlib import Path
import {PACKAGE}
from mazurka.compiled import cache, compiler
folder = sys.argv[1]
{PACKAGE}.__path__.append(folder)
for name in sys.argv[2:]:
    code = compiler.compile_kernel(f"{PACKAGE}.{{name}}", cache._machine(), quick=True)
    assert cache._write(Path(folder) / name, *code)
"""


@dataclass(frozen=True)
class KernelMutant:
    """A kernel, one of the modules it consists of, a text of that, and what takes its place."""

    kernel: str
    part: str
    text: str
    replacement: str

    def write(self, folder: Path, prefix: str) -> str:
        """Write the changed modules; returns the name of the kernel's."""
        source = _source(self.part)
        assert source.count(self.text) == 1
        changed = source.replace(self.text, self.replacement)
        if self.part != self.kernel:
            (folder / f"{prefix}_{self.part}.py").write_text(changed, encoding="utf-8")
            home = f"{PACKAGE}.{self.part}"
            source = _source(self.kernel)
            assert f"from {home} import" in source
            changed = source.replace(home, f"{PACKAGE}.{prefix}_{self.part}")
        name = f"{prefix}_{self.kernel}"
        (folder / f"{name}.py").write_text(changed, encoding="utf-8")
        return name


def _source(module: str) -> str:
    return (KERNELS / f"{module}.py").read_text(encoding="utf-8")


def compile_mutants(
    folder: Path, mutants: Sequence[KernelMutant]
) -> dict[KernelMutant, Callable[[int], int]]:
    """The functions `run` of the changed kernels, as native code."""
    names = [mutant.write(folder, f"mutant{number}") for number, mutant in enumerate(mutants)]
    subprocess.run([sys.executable, "-c", PROGRAM, str(folder), *names], check=True)
    found = {}
    for mutant, name in zip(mutants, names, strict=True):
        code = cache._read(folder / name)
        assert code is not None
        found[mutant] = _keep(cache._load(*code))
    return found


def _keep(loaded: tuple[object, Callable[[int], int]]) -> Callable[[int], int]:
    """The function, which the engine that holds its code outlives."""
    engine, function = loaded

    def run(address: int, engine: object = engine) -> int:
        return function(address)

    return run
