"""Which of the states that a device takes for candidates are quiet, found out by this processor.

A device has tried one step of each thread.  What comes of a thread that goes on alone is found out
here, by the kernel that other searches use (`mazurka.stateful.kernels.hangs`), for many states at a
time.
"""

from __future__ import annotations

from array import array

from mazurka.compiled.cache import kernel
from mazurka.compiled.memory import Area
from mazurka.search import Observer
from mazurka.stateful import blocks
from mazurka.stateful.compiled.view import ProgramView

AT_A_TIME = 1 << 12


class QuietCandidates:
    """Examines states, and uses the program's view for that alone."""

    def __init__(self, view: ProgramView, observer: Observer) -> None:
        self.view = view
        self.numbers = view.block.numbers
        self.kernel = kernel("partition", observer)
        self.findings = Area(AT_A_TIME * blocks.FINDING_WORDS)
        view.keep(blocks.FINDINGS, self.findings)
        self.numbers[blocks.JOB] = blocks.JOB_EXAMINE

    def select(self, states: array[int]) -> list[int]:
        """The numbers of the states that are quiet, of some that lie one behind the other."""
        words = self.view.layout.words
        room = AT_A_TIME * words
        found: list[int] = []
        for first in range(0, len(states), room):
            part = states[first : first + room]
            found += [first // words + number for number in self.examine(part)]
        return found

    def examine(self, states: array[int]) -> list[int]:
        numbers = self.numbers
        numbers[blocks.INBOX] = states.buffer_info()[0]
        numbers[blocks.INBOX_COUNT] = len(states) // self.view.layout.words
        numbers[blocks.INBOX_READ] = numbers[blocks.FINDING_COUNT] = 0
        while self.kernel(self.view.block.address) == blocks.WALK_FULL:
            self.view.lengthen_walks()
        count, size = numbers[blocks.FINDING_COUNT], blocks.FINDING_WORDS
        return self.findings.numbers[blocks.FINDING_POSITION : count * size : size].tolist()
