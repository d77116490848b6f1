"""Witnesses of AIGER model checkers: the inputs of a run that reaches something bad.

The format is that of the hardware model checking competition: `1`, the property (`b0`), the first
values of the latches, the inputs of frame after frame, a full stop.  `0` says that there is no such
run, `2` that nobody knows.  Some checkers leave out the first two lines, or the full stop, some
write `x` for values that do not matter; lines that begin with `c` or `u`, and what follows a `#`,
are remarks.  In an older form each frame is a line of four words: the state, the inputs, the
outputs, the next state.

A circuit without inputs has one run, so ABC writes no frames for it: it is followed until something
bad happens.

The values of latches are not looked at: checkers write those of the circuit that they have made of
what they were given.  The first state is known, and the run is simulated from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mazurka.errors import InternalError, MazurkaError
from mazurka.ir.interpreter import Step
from mazurka.search import Move
from mazurka.symbolic.aiger.exporting import list_bad
from mazurka.symbolic.aiger.reading import AigerError
from mazurka.symbolic.circuit import Circuit
from mazurka.symbolic.schedules import ALL, ScheduleReader

HOLDS, UNKNOWN = "0", "2"
VALUES = frozenset("01xX-?")
OLDER_WORDS = 4
MOST_FRAMES = 10_000
"""How far a circuit without inputs is followed."""
NOT_A_WITNESS = (
    "this is not an AIGER witness: the first values of the latches and then the inputs of each"
    " frame are expected, one line each"
)


@dataclass(frozen=True)
class Witness:
    """A run, as a checker has written it."""

    property: str | None
    """`b0` for the first bad literal; None where the file does not say."""
    frames: tuple[str, ...]
    """No frames where the circuit has no inputs."""


def read_witness(path: str) -> Witness:
    """Read a file."""
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise MazurkaError.unreadable(path, error) from error
    try:
        return parse_witness(text)
    except AigerError as error:
        raise AigerError(error.message, file=path) from None


def parse_witness(text: str) -> Witness:
    """Read the contents of a file; of several witnesses the first."""
    lines: list[str] = []
    for raw in text.splitlines():
        line = raw.partition("#")[0].strip()
        if line == ".":
            break
        if line[:1] not in ("c", "u"):  # an empty line is a frame without inputs
            lines.append(line)
    if not any(lines):
        raise AigerError("this witness is empty")
    if lines[0] in (HOLDS, UNKNOWN) and len(lines) <= 2:
        said = "the property holds" if lines[0] == HOLDS else "nothing is known"
        raise AigerError(f"this witness says that {said}: there is no run to replay")
    if lines[0] == "1":
        lines.pop(0)
    asked = lines.pop(0) if lines and lines[0][:1] == "b" else None
    if lines and lines[0][:1] == "j":
        raise AigerError("this is a witness of a justice property, which cannot be replayed")
    parts = [line.split() for line in lines]
    is_readable = not any(set(word) - VALUES for words in parts for word in words)
    if is_readable and parts and all(len(words) == OLDER_WORDS for words in parts):
        return Witness(asked, tuple(words[1] for words in parts))
    if not is_readable or any(len(words) > 1 for words in parts):
        raise AigerError(NOT_A_WITNESS)
    return Witness(asked, tuple(lines[1:]))


def follow_witness(circuit: Circuit, witness: Witness) -> tuple[str, tuple[Move, ...], Step | None]:
    """The schedule that a witness stands for, with what is bad behind it and the last step."""
    frames = [_bits(frame) for frame in witness.frames]
    if not frames:
        if circuit.inputs:
            raise AigerError(NOT_A_WITNESS)
        frames = [[]] * MOST_FRAMES
    wrong = next((each for each in frames if len(each) != len(circuit.inputs)), None)
    if wrong is not None:
        raise AigerError(
            f"this witness is of another circuit: it has {len(wrong)} inputs,"
            f" not {len(circuit.inputs)}"
        )
    names = list_bad(circuit)
    if witness.property is not None:
        names = _choose(names, witness.property)
    length = _find_end(circuit, frames, list(names.values()))
    try:
        return ScheduleReader(circuit).read(frames[:length], names)
    except InternalError as error:
        raise AigerError(f"this witness is no run of the program: {error.message}") from error


def _bits(text: str) -> list[int]:
    return [int(value == "1") for value in text]


def _choose(names: dict[str, int], asked: str) -> dict[str, int]:
    known = list(names.items())
    if not asked[1:].isdecimal() or int(asked[1:]) >= len(known):
        raise AigerError(f"the circuit has no property {asked}")
    return dict([known[int(asked[1:])]])


def _find_end(circuit: Circuit, frames: Sequence[Sequence[int]], bad: Sequence[int]) -> int:
    """How many frames lead to the first bad one; the frames before it must be transitions, or
    change nothing."""
    values = np.zeros((circuit.graph.nodes, 1), np.uint64)
    state = [latch.initial for latch in circuit.latches]

    def holds(literal: int) -> bool:
        return bool(values[literal >> 1, 0]) != bool(literal & 1)

    for number, inputs in enumerate(frames, 1):
        for latch, bit in zip(circuit.latches, state, strict=True):
            values[latch.literal >> 1] = ALL if bit else 0
        for literal, bit in zip(circuit.inputs, inputs, strict=True):
            values[literal >> 1] = ALL if bit else 0
        circuit.graph.evaluate(values)
        if any(map(holds, bad)):
            return number
        after = [int(holds(literal)) for literal in circuit.nexts]
        if not holds(circuit.constraint) and after != state:
            raise AigerError(f"frame {number} of this witness breaks the circuit's constraint")
        state = after
    raise AigerError("nothing bad happens in this witness")
