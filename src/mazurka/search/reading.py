"""How an input is read: the options that decide which program a file stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mazurka.errors import OptionError
from mazurka.ir.passes.merge import GRANULARITIES, Granularity
from mazurka.search.options import one_of

UNDECIDED, REPORTED, ANY = "undecided", "reported", "any"
"""What is done with a run of a C program that reads memory before it was written."""
UNWRITTEN = "is read before it is written, and may be anything"
"""How messages say that."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The options that decide which program a file stands for."""

    language: str | None = None
    """The front end that reads the file; None where its name or its content decides."""
    definitions: Mapping[str, str] = field(default_factory=dict)
    merge: bool = True
    granularity: str | None = None
    """`instruction` or `line`, where that decides what one step is and nothing is merged."""
    max_threads: int = 8
    max_depth: int = 8
    model: str = "lp64"
    """For C: how wide `long` and pointers are, `ilp32` or `lp64`."""
    heap: int = 8
    """For C: how many objects each place in the code may allocate."""
    overflow: bool = False
    """For C: whether signed overflow is an error."""
    unwritten: str = UNDECIDED
    """For C: what is done with a run that reads memory before it was written: it is `UNDECIDED`,
    `REPORTED` as a fault, or goes on with `ANY` value."""

    def refuse(self, reasons: Mapping[str, str]) -> None:
        """Raise `OptionError` for the first of these options that was given, with its reason."""
        for name, reason in reasons.items():
            if getattr(self, name) != getattr(Reading(), name):
                raise OptionError(reason)

    def scope(self, sentence: str) -> str:
        """A verdict's scope, with what this way of reading may hide from it."""
        if self.granularity == Granularity.LINE:
            return f"at line granularity: {sentence}; interruptions inside a line are left out"
        return sentence

    def to_json(self) -> dict[str, object]:
        return {
            "language": self.language,
            "merge": self.merge and self.granularity is None,
            "granularity": self.granularity,
            "max_threads": self.max_threads,
            "max_depth": self.max_depth,
            "model": self.model,
            "heap": self.heap,
            "overflow": self.overflow,
            "unwritten": self.unwritten,
        }


MODELS = ("ilp32", "lp64")
"""How wide C's `long` and pointers can be."""

FOR_C = {
    "model": "--model is for C programs",
    "heap": "--heap is for C programs",
    "overflow": "--overflow is for C programs",
}
"""Options that other languages refuse, with the reason."""


def granularity_of(reading: Reading) -> Granularity | None:
    if reading.granularity is None:
        return None
    one_of("granularity", reading.granularity, GRANULARITIES)
    return Granularity(reading.granularity)
