"""Run a sequential C program with gcc, and with the interpreter."""

from __future__ import annotations

import subprocess
from pathlib import Path

from mazurka.checking import load_program
from mazurka.ir.interpreter import Interpreter, Outcome
from mazurka.ir.program import Program
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
