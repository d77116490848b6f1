"""Frames of a circuit, one behind the other, from its first state or from any.

Each frame is a copy of the circuit's graph in another graph, with structural hashing and folding:
the first state is constant, so much of the first frames folds away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mazurka.symbolic.circuit import Circuit
from mazurka.symbolic.graphs.graph import TRUE, Aig, Numbers


@dataclass(frozen=True)
class FrameCopy:
    """What a frame's literals are in the graph of all frames."""

    image: Numbers
    inputs: tuple[int, ...]
    marks: NDArray[np.uint8]
    """By node of the circuit whether it was copied."""

    def literal(self, literal: int) -> int:
        assert literal <= TRUE or self.marks[literal >> 1], "a literal that was not copied"
        return int(self.image[literal >> 1]) ^ (literal & 1)


class Unroller:
    """Makes frames; `state` are the literals of the latches before the next one."""

    def __init__(
        self, circuit: Circuit, *, anywhere: bool = False, others: Sequence[int] = ()
    ) -> None:
        """`anywhere`: the latches before the first frame are leaves, not the first values.
        `others` are literals that will be asked for beside those that every circuit names."""
        self.circuit = circuit
        self.graph = Aig()
        self.state = [
            self.graph.add_leaf() if anywhere else latch.initial for latch in circuit.latches
        ]
        wanted = [*circuit.nexts, circuit.constraint, *circuit.bad.values()]
        wanted += [*circuit.unknown.values(), *circuit.ends.values(), *others]
        self._marks = circuit.graph.mark_cone(wanted)
        self._source = circuit.graph.fanins.copy()
        self._latches = np.array([latch.literal >> 1 for latch in circuit.latches], np.int64)
        self._inputs = np.array(circuit.inputs, np.int64) >> 1
        self.frames: list[FrameCopy] = []

    def add_frame(self) -> FrameCopy:
        """Copy the circuit once more, and step on to the state after it."""
        image = np.zeros(len(self._source), np.int32)
        inputs = tuple(self.graph.add_leaf() for _ in self._inputs)
        image[self._latches], image[self._inputs] = self.state, inputs
        self.graph.copy_from(self._source, self._marks, image)
        frame = FrameCopy(image, inputs, self._marks)
        self.frames.append(frame)
        self.state = [frame.literal(literal) for literal in self.circuit.nexts]
        return frame
