"""What an edge makes of what is known, worked out once for all visits that look the same to it.

The analysis comes to a location again whenever anything that is known there has changed.  Most
edges read little of it.  So while an edge is followed, each cell is noted that is asked for, with
its values; if all of them have the same values the next time, the edge does the same: it changes
the same facts, and stores the same values.

*Nothing else counts.*  `Facts` ask for values by `lookup` and in `weaken` only, and both are noted
here, before anything that the edge itself makes known.  (A cell that is asked for only after the
edge has stored to it is noted as well; that costs a comparison, and never an answer.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mazurka.ir.program import Cell, Edge
from mazurka.ir.values.evaluation import Lookup, ValueSet
from mazurka.ir.values.facts import Facts, Recorder


@dataclass(slots=True)
class EdgeResult:
    """What an edge did."""

    seen: dict[int, tuple[ValueSet, bool]] = field(default_factory=dict)
    """The values of each cell that was asked for, and whether they were among the facts."""
    stored: list[tuple[int, ValueSet]] = field(default_factory=list)
    changed: dict[int, ValueSet] | None = None
    """The facts that became others; None if the edge is never taken."""

    def fits(self, known: dict[int, ValueSet], elsewhere: Lookup) -> bool:
        """Whether the edge finds the same values."""
        for address, (values, inside) in self.seen.items():
            found = known.get(address)
            if inside is not (found is not None):
                return False
            if (elsewhere(address) if found is None else found) != values:
                return False
        return True

    def repeat(self, record: Recorder) -> None:
        """Store the same once more."""
        for address, values in self.stored:
            record(address, values)

    def behind(self, known: dict[int, ValueSet]) -> dict[int, ValueSet] | None:
        """What is known behind the edge; None if it is never taken."""
        return None if self.changed is None else known | self.changed


class WatchedFacts(Facts):
    """Facts that note what is asked of them."""

    __slots__ = ("result",)

    def __init__(
        self,
        known: dict[int, ValueSet],
        elsewhere: Lookup,
        choices: int,
        saturate: bool,
        result: EdgeResult,
    ) -> None:
        super().__init__(known, elsewhere, choices, saturate)
        self.result = result

    def copy(self) -> WatchedFacts:
        return WatchedFacts(
            dict(self.known), self.elsewhere, self.choices, self.saturate, self.result
        )

    def lookup(self, address: int) -> ValueSet:
        found = self.known.get(address)
        values = self.elsewhere(address) if found is None else found
        self.result.seen.setdefault(address, (values, found is not None))
        return values

    def weaken(self, address: int, values: ValueSet) -> None:
        self.lookup(address)
        super().weaken(address, values)


def follow_edge(
    edge: Edge,
    known: dict[int, ValueSet],
    facts: WatchedFacts,
    cells: Sequence[Cell],
    record: Recorder,
) -> EdgeResult:
    """Follow an edge from what is known; the facts are a copy of it."""
    result = facts.result

    def note(address: int, values: ValueSet) -> None:
        result.stored.append((address, values))
        record(address, values)  # at once: what comes next may read it

    if edge.guard is not None and not facts.assume(edge.guard):
        return result
    facts.choices = edge.choices
    for operation in edge.operations:
        if not facts.perform(operation, cells, note):
            return result
    result.changed = {
        address: values
        for address, values in facts.known.items()
        if known.get(address) is not values
    }
    return result
