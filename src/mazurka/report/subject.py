"""What was checked: the file, how it was read, and fingerprints that tell when it has changed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from mazurka.ir.program import Assign, Check, Edge, Program
from mazurka.search.reading import Reading


@dataclass(frozen=True)
class Subject:
    """One input, read in one way."""

    input: str
    reading: Reading
    source_digest: str
    program_digest: str


def identify(path: str, reading: Reading, program: Program) -> Subject:
    return Subject(path, reading, source_digest(program), program_digest(program))


def source_digest(program: Program) -> str:
    """Changes with every character of the sources."""
    digest = hashlib.sha256()
    for text in program.sources.values():
        digest.update(text.encode("utf-8", "surrogatepass"))
        digest.update(b"\0")
    return digest.hexdigest()


def program_digest(program: Program) -> str:
    """Changes with what the program does; comments, layout and messages do not matter."""
    digest = hashlib.sha256()
    for part in _structure(program):
        digest.update(repr(part).encode("utf-8", "surrogatepass"))
        digest.update(b"\n")
    return digest.hexdigest()


def _structure(program: Program) -> Iterator[object]:
    for cell in program.cells:
        yield (cell.name, cell.low, cell.high, cell.initial, cell.owner, str(cell.role))
    for thread in program.threads:
        yield (thread.name, thread.counter, thread.entry, thread.active, thread.observer)
        for location in thread.locations:
            yield (str(location.mode), location.resets)
        for edge in thread.edges:
            yield _edge_structure(edge)


def _edge_structure(edge: Edge) -> object:
    operations: list[object] = []
    for operation in edge.operations:
        match operation:
            case Assign(address, value):
                operations.append((address, value))
            case Check(condition, fault, _):
                operations.append((condition, str(fault)))
    flags = (str(edge.kind), edge.choices, edge.atomic)
    return (edge.source, edge.target, flags, edge.guard, operations)
