"""Kernels that have been changed in one place: compiled and loaded as users' kernels are.

A process that does nothing else compiles all mutants of a test module, the quick way
(`mazurka.compiled.compiler`), so that what they share is compiled once.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mazurka.compiled import cache

PROGRAM = """
import sys
from importlib import import_module
from pathlib import Path
from mazurka.compiled import cache, compiler
package, folder = sys.argv[1:3]
import_module(package).__path__.append(folder)
for name in sys.argv[3:]:
    symbol, code = compiler.compile_kernel(f"{package}.{name}", cache._machine(), quick=True)
    Path(folder, name).write_bytes(symbol.encode() + b"\\n" + code)
"""


@dataclass(frozen=True)
class KernelMutant:
    """A kernel, one of the modules it consists of, a text of that, and what takes its place."""

    kernel: str
    part: str
    text: str
    replacement: str
    engine: str = "stateful"

    @property
    def package(self) -> str:
        return f"mazurka.{self.engine}.kernels"

    def write(self, folder: Path, prefix: str) -> str:
        """Write the changed modules; returns the name of the kernel's."""
        source = self._source(self.part)
        assert source.count(self.text) == 1
        changed = source.replace(self.text, self.replacement)
        if self.part != self.kernel:
            (folder / f"{prefix}_{self.part}.py").write_text(changed, encoding="utf-8")
            home = f"{self.package}.{self.part}"
            source = self._source(self.kernel)
            assert f"from {home} import" in source
            changed = source.replace(home, f"{self.package}.{prefix}_{self.part}")
        name = f"{prefix}_{self.kernel}"
        (folder / f"{name}.py").write_text(changed, encoding="utf-8")
        return name

    def _source(self, module: str) -> str:
        kernels = cache.SOURCES / self.engine / "kernels"
        return (kernels / f"{module}.py").read_text(encoding="utf-8")


def compile_mutants(
    folder: Path, mutants: Sequence[KernelMutant]
) -> dict[KernelMutant, cache.Kernel]:
    """Compile changed kernels, which belong to one engine, to native code."""
    (package,) = {mutant.package for mutant in mutants}
    names = [mutant.write(folder, f"mutant{number}") for number, mutant in enumerate(mutants)]
    command = [sys.executable, "-c", PROGRAM, package, str(folder), *names]
    subprocess.run(command, check=True)
    found = {}
    for mutant, name in zip(mutants, names, strict=True):
        symbol, _, code = (folder / name).read_bytes().partition(b"\n")
        engine, found[mutant] = cache._load(symbol.decode(), code)
        ENGINES.append(engine)
    return found


ENGINES: list[object] = []
"""The owners of the mutants' machine code, which must exist as long as the mutants are called."""
