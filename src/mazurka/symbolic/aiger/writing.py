"""AIGER files from circuits: the binary form (`aig`) and the readable one (`aag`)."""

from __future__ import annotations

from collections.abc import Iterator

from mazurka.symbolic.aiger.model import AigerCircuit

BYTE_BITS = 7
"""How many bits of a number one byte of the binary form holds; the eighth says that more follow."""


def write_binary(circuit: AigerCircuit) -> bytes:
    head = "".join(f"{line}\n" for line in _lines_before(circuit, binary=True))
    tail = "".join(f"{line}\n" for line in _lines_behind(circuit))
    body = bytearray()
    literal = circuit.conjunction_literal(0)
    for larger, smaller in circuit.conjunctions:
        _append_number(body, literal - larger)
        _append_number(body, larger - smaller)
        literal += 2
    return head.encode("ascii") + bytes(body) + tail.encode("utf-8")


def write_ascii(circuit: AigerCircuit) -> str:
    lines = list(_lines_before(circuit, binary=False))
    for position, (larger, smaller) in enumerate(circuit.conjunctions):
        lines.append(f"{circuit.conjunction_literal(position)} {larger} {smaller}")
    return "".join(f"{line}\n" for line in [*lines, *_lines_behind(circuit)])


def _append_number(body: bytearray, number: int) -> None:
    """Append a number, seven bits a byte, the low ones first."""
    while number >> BYTE_BITS:
        body.append(number & 0x7F | 0x80)
        number >>= BYTE_BITS
    body.append(number)


def _lines_before(circuit: AigerCircuit, *, binary: bool) -> Iterator[str]:
    """The lines up to the conjunctions."""
    numbers = " ".join(map(str, circuit.header))
    yield f"{'aig' if binary else 'aag'} {numbers}"
    if not binary:
        yield from (str(2 * (1 + position)) for position in range(circuit.inputs))
    for position, latch in enumerate(circuit.latches):
        own = circuit.latch_literal(position)
        words = [latch.taken] if binary else [own, latch.taken]
        if latch.first != 0:
            words.append(own if latch.first is None else latch.first)
        yield " ".join(map(str, words))
    for each in (*circuit.outputs, *circuit.bad, *circuit.constraints):
        yield str(each)
    yield from (str(len(literals)) for literals in circuit.justice)
    yield from (str(each) for literals in circuit.justice for each in literals)
    yield from map(str, circuit.fairness)


def _lines_behind(circuit: AigerCircuit) -> Iterator[str]:
    """The names, and the comment."""
    yield from (f"{place} {name}" for place, name in circuit.symbols.items())
    if circuit.comment:
        yield "c"
        yield circuit.comment.rstrip("\n")
