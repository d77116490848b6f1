"""Run a sequential C program with gcc, perhaps with its sanitizer, and with the interpreter."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.unit.frontend.c import memory_code

from mazurka.checking import load_program
from mazurka.ir.interpreter import Interpreter, Outcome
from mazurka.ir.program import Fault, Program
from mazurka.search.reading import Reading


def compile_and_run(source: str, model: str, folder: Path) -> int | None:
    """The checksum that the compiled program prints; None if it cannot be compiled so."""
    program, binary = folder / "run.c", folder / "run"
    program.write_text(source)
    width = "-m32" if model == "ilp32" else "-m64"
    command = ["gcc", width, "-w", "-O1", "-fwrapv", "-DRUN", str(program), "-o", str(binary)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        return None
    done = subprocess.run([str(binary)], capture_output=True, check=False, text=True)
    return int(done.stdout) if done.returncode == 0 else None


NAMES = ("main", "checksum", "mix", "pair", "g")
"""What each random program defines for all functions."""


def compile_and_run_all(
    sources: list[str],
    model: str,
    folder: Path,
    names: tuple[str, ...] = NAMES,
    optimized: str = "-O1",
) -> list[int] | None:
    """What many programs print, compiled as one; None if that is not possible."""
    parts = ["#include <assert.h>", "#include <stdio.h>"]
    for number, source in enumerate(sources):
        (folder / f"part{number}.c").write_text(source)
        parts += [f"#define {name} {name}_{number}" for name in names]
        parts += [f'#include "part{number}.c"', *(f"#undef {name}" for name in names)]
    calls = " ".join(f"main_{number}();" for number in range(len(sources)))
    parts.append(f"int main(void) {{ {calls} return 0; }}")
    program, binary = folder / "all.c", folder / "all"
    program.write_text("\n".join(parts))
    width = "-m32" if model == "ilp32" else "-m64"
    command = ["gcc", width, "-w", optimized, "-fwrapv", "-DRUN", str(program), "-o", str(binary)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        return None
    done = subprocess.run([str(binary)], capture_output=True, check=False, text=True)
    return list(map(int, done.stdout.split())) if done.returncode == 0 else None


def run_sanitized(
    sources: list[str],
    folder: Path,
    sanitizer: str = "address",
    names: tuple[str, ...] = memory_code.NAMES,
) -> list[bool] | None:
    """Whether a sanitizer finds a fault in each of many programs, compiled as one; None if that is
    not possible.  The programs all define `names`."""
    parts = ["#include <stdlib.h>"]
    for number, source in enumerate(sources):
        (folder / f"part{number}.c").write_text(source)
        parts += [f"#define {name} {name}_{number}" for name in names]
        parts += [f'#include "part{number}.c"', *(f"#undef {name}" for name in names)]
    calls = " ".join(f"case {number}: return main_{number}();" for number in range(len(sources)))
    parts.append(f"int main(int n, char **v) {{ switch (atoi(v[1])) {{ {calls} }} return 0; }}")
    program, binary = folder / "all.c", folder / "all"
    program.write_text("\n".join(parts))
    command = ["gcc", "-w", "-O0", f"-fsanitize={sanitizer}", "-fno-sanitize-recover=all"]
    command += [str(program), "-o", str(binary)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        return None
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    done = [
        subprocess.run(
            [str(binary), str(number)], capture_output=True, check=False, env=environment
        )
        for number in range(len(sources))
    ]
    return [each.returncode != 0 for each in done]


def find_fault(source: str, folder: Path, *, overflow: bool = False) -> Fault | None:
    """The fault that a program of one thread comes to."""
    path = folder / "check.c"
    path.write_text(source)
    program = load_program(str(path), Reading(overflow=overflow))
    interpreter, state = Interpreter(program), program.initial_state()
    while True:
        step = interpreter.step(state, 0)
        if step.fault is not None:
            return step.fault.fault
        if step.outcome is not Outcome.MOVED:
            return None
        state = step.state


def find_checksum(source: str, model: str, folder: Path) -> int:
    """The checksum with which the interpreter comes to the assertion about it."""
    path = folder / "check.c"
    path.write_text(source)
    program = load_program(str(path), Reading(model=model, definitions={"VALUE": "0u"}))
    address = next(at for at, cell in enumerate(program.cells) if cell.name == "checksum")
    interpreter, state = Interpreter(program), program.initial_state()
    while True:
        step = interpreter.step(state, 0)
        if step.outcome is not Outcome.MOVED:
            return step.state[address]
        state = step.state


def fails(source: str, model: str, value: int, folder: Path) -> bool:
    """Whether the assertion that the checksum has this value fails."""
    path = folder / "check.c"
    path.write_text(source)
    program = load_program(str(path), Reading(model=model, definitions={"VALUE": f"{value}u"}))
    return run_to_the_end(program)


def run_to_the_end(program: Program) -> bool:
    """Run a program of one thread; returns whether it fails."""
    interpreter = Interpreter(program)
    state = program.initial_state()
    while True:
        step = interpreter.step(state, 0)
        if step.outcome is Outcome.FAULT:
            return True
        if step.outcome is not Outcome.MOVED:
            return False
        state = step.state
