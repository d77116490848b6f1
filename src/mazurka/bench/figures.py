"""The figures of a table: what a tool came to on a case, by measurement or as a paper prints it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Figures:
    """One cell of a table: everything that is known about one search; None is unknown."""

    states: int | None = None
    transitions: int | None = None
    depth: int | None = None
    executions: int | None = None
    seconds: float | None = None
    """The search alone, all rounds together, without reading, compiling or starting anything;
    from the start of the first command to the end of the last where these are measured."""
    processor_seconds: float | None = None
    """What all processors together have spent, other processes included."""
    table_bytes: int | None = None
    """What the visited states take, with their hash table and without the stack."""
    peak_bytes: int | None = None
    rounds: int = 0
    """The rounds before the last one, which is the one that states and transitions belong to."""
    earlier_states: int = 0
    """The states of those rounds, added up."""
    limits: tuple[str, ...] = ()
    """What stopped the search before its end: then all counts are lower bounds."""
    encoding_seconds: float | None = None
    """What making a circuit took, and its copies, where there is one."""
    loading_seconds: float | None = None
    """What handing clauses to solvers took."""
    conflicts: int | None = None
    """Of SAT solvers."""
    steps: int | None = None
    """Of the schedule that was found."""
    proof: str | None = None
    """What proves a model whose executions do not all end."""
    failure: str | None = None
    """The kind of failure that was found, such as `assert` or `deadlock`."""
    error: str | None = None
    """Why the tool gave no answer."""
    command: str | None = None
    """How somebody can repeat it, for other tools."""

    @property
    def complete(self) -> bool:
        return not self.limits and self.error is None

    @property
    def counts(self) -> tuple[int, int] | None:
        """States and transitions of a search that came to its end."""
        if not self.complete or self.states is None or self.transitions is None:
            return None
        return self.states, self.transitions

    @property
    def solving_seconds(self) -> float | None:
        """What is left of the time after encoding and loading."""
        if self.seconds is None or self.encoding_seconds is None:
            return None
        return max(self.seconds - self.encoding_seconds - (self.loading_seconds or 0.0), 0.0)

    @property
    def states_per_second(self) -> float:
        return (self.states or 0) / self.seconds if self.seconds else 0.0

    @property
    def bytes_per_state(self) -> float:
        return (self.table_bytes or 0) / self.states if self.states else 0.0

    def to_json(self, *names: str) -> dict[str, object]:
        """The named figures."""
        values = {name: getattr(self, name) for name in names}
        for name, value in values.items():
            if name.endswith("seconds") and isinstance(value, float):
                values[name] = round(value, 6)
        return values


def repeat(
    times: int,
    measure: Callable[[], Figures],
    is_usable: Callable[[Figures], bool] = lambda figures: figures.complete,
) -> Figures:
    """Measure several times; the typical run counts, but one that is not usable ends it all."""
    runs: list[Figures] = []
    while len(runs) < times:
        runs.append(measure())
        if not is_usable(runs[-1]):
            return runs[-1]
    return typical(runs)


def typical(runs: Sequence[Figures]) -> Figures:
    """The run of median time; of the two in the middle, the faster one."""
    ordered = sorted(runs, key=lambda run: run.seconds or 0.0)
    return ordered[(len(ordered) - 1) // 2]
