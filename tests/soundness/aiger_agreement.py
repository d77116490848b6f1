"""What is bad in an AIGER circuit: found by visiting its states one by one, and by ABC."""

from __future__ import annotations

import re
import shutil
import subprocess
from itertools import product
from pathlib import Path

from mazurka.ir.program import Program
from mazurka.symbolic.aiger.exporting import export_circuit
from mazurka.symbolic.aiger.model import AigerCircuit
from mazurka.symbolic.aiger.writing import write_binary
from mazurka.symbolic.circuit import Interleaving
from mazurka.symbolic.encoding import encode
from mazurka.symbolic.environment import BINARY
from tests.limits import ENOUGH

ABC = shutil.which("berkeley-abc") or shutil.which("abc")
MOST_INPUTS = 6
MOST_STATES = 3_000


def make_circuit(
    program: Program, interleaving: Interleaving, properties: frozenset[str]
) -> AigerCircuit:
    circuit = encode(program, interleaving, properties=properties, counters=BINARY, unrolling=4)
    return export_circuit(circuit, interleaving)


def evaluate(circuit: AigerCircuit, state: tuple[int, ...], inputs: tuple[int, ...]) -> list[int]:
    """The value of each literal in a frame."""
    values = [0, 1]
    for bit in (*inputs, *state):
        values += (bit, 1 - bit)
    for larger, smaller in circuit.conjunctions:
        bit = values[larger] & values[smaller]
        values += (bit, 1 - bit)
    return values


def find_bad(circuit: AigerCircuit) -> frozenset[str] | None:
    """The names of what is bad in some run; None where there are too many states or inputs."""
    if circuit.inputs > MOST_INPUTS:
        return None
    first = tuple(latch.first or 0 for latch in circuit.latches)
    seen, queue, found = {first}, [first], set()
    for state in queue:
        for inputs in product((0, 1), repeat=circuit.inputs):
            values = evaluate(circuit, state, inputs)
            if not all(values[each] for each in circuit.constraints):
                continue
            found |= {place for place, each in enumerate(circuit.bad) if values[each]}
            after = tuple(values[latch.taken] for latch in circuit.latches)
            if after not in seen:
                seen.add(after)
                queue.append(after)
                if len(queue) > MOST_STATES:
                    return None
    return frozenset(circuit.symbols[f"b{place}"] for place in found)


def ask_abc(circuit: AigerCircuit, folder: Path) -> tuple[bool | None, Path]:
    """Whether something is bad, as ABC says, and the file of its witness; None: it does not say."""
    assert ABC is not None
    file, witness = folder / "circuit.aig", folder / "witness"
    file.write_bytes(write_binary(circuit))
    if not circuit.bad:
        return False, witness
    fold = "fold; " if circuit.constraints else ""
    script = f"read_aiger {file}; {fold}pdr; write_cex -a {witness}"
    told = subprocess.run(
        [ABC, "-q", script], capture_output=True, text=True, timeout=ENOUGH
    ).stdout
    if re.search(r"was asserted in frame", told):
        return True, witness
    return (False if "Property proved" in told else None), witness
