"""What a search has seen of a cell's use, and the answer when nothing protects it any more."""

from __future__ import annotations

from dataclasses import dataclass, field

from mazurka.analysis.ownership import Place

MANY = 0xFFFF
"""In place of a thread's number plus one: several threads."""
MOST_CANDIDATES = 4
"""How many locks are remembered for a cell; whoever holds more at once loses precision only."""


@dataclass
class CellUse:
    """What the accesses to a cell have had in common so far."""

    first: int = 0
    """0 for nobody, a thread's number plus one, or MANY."""
    written: bool = False
    locks: tuple[int, ...] = ()
    """Held at every access."""
    places: set[Place] = field(default_factory=set)
    """From where it was touched."""
    declared: bool = False
    """`locks` was declared in the model, and giving it up must be told."""

    @property
    def broken(self) -> bool:
        return self.first == MANY and self.written and not self.locks


@dataclass(eq=False)
class Broken(Exception):  # noqa: N818 - it is an answer, not an error
    """An access that the discipline does not allow; the discipline has been narrowed."""

    cell: int
    thread: int
    reason: str
