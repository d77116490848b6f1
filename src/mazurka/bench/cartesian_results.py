"""The results of `mazurka bench cartesian`, held against the paper, and as JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mazurka.bench.cartesian_subjects import Published, Row
from mazurka.version import __version__

MODES = ("standard", "table1", "default", "concurrent", "dpor")


@dataclass(frozen=True)
class Search:
    """What one search came to; nothing is known of one that has limits, except for how long."""

    states: int | None = None
    transitions: int | None = None
    seconds: float | None = None
    limits: tuple[str, ...] = ()
    at_least: int | None = None
    """So many states it would have had."""

    @property
    def counts(self) -> tuple[int, int] | None:
        if self.states is None or self.transitions is None:
            return None
        return self.states, self.transitions


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A row of the table."""

    row: Row
    standard: Search
    table1: Search
    default: Search
    concurrent: Search
    dpor: Search

    def search(self, mode: str) -> Search:
        found = getattr(self, mode)
        assert isinstance(found, Search)
        return found

    def published(self, mode: str) -> Published | None:
        """What the paper has to say; nothing about our own cycle rule."""
        row = self.row
        return {
            "standard": row.standard,
            "table1": row.cartesian,
            "concurrent": row.concurrent,
            "dpor": row.dpor,
        }.get(mode)

    def equal(self, mode: str) -> bool | None:
        """Whether the counts are the paper's; None where it has none or there are none.

        Workers must also count what one of them does.
        """
        published, counts = self.published(mode), self.search(mode).counts
        if counts is None:
            return None
        if mode == "concurrent" and counts != (self.table1.counts or counts):
            return False
        if published is None or published.counts is None:
            return None
        return counts == published.counts

    def contradiction(self, mode: str) -> str:
        """What it counts and what it should have counted, in a sentence."""
        published, counts = self.published(mode), self.search(mode).counts
        expected = None if published is None else published.counts
        right = f"the paper has {pair(expected)}"
        if expected in (None, counts):
            right = f"one worker has {pair(self.table1.counts)}"
        return f"{self.row.title}, {mode}: {pair(counts)}; {right}."

    @property
    def differing(self) -> list[str]:
        return [mode for mode in MODES if self.equal(mode) is False]

    def to_json(self) -> Iterator[dict[str, object]]:
        for mode in MODES:
            search, published = self.search(mode), self.published(mode)
            yield {
                "row": self.row.name,
                "title": self.row.title,
                "constants": dict(self.row.constants),
                "mode": mode,
                "states": search.states,
                "transitions": search.transitions,
                "seconds": None if search.seconds is None else round(search.seconds, 6),
                "saved_percent": saved(self.standard.counts, search.counts),
                "paper": None if published is None else published.to_json(),
                "equal": self.equal(mode),
                "limits": list(search.limits),
            }


def saved(
    standard: tuple[int, int] | None, reduced: tuple[int, int] | None
) -> dict[str, float] | None:
    """How much fewer states and transitions there are, in percent, as in the paper."""
    if standard is None or reduced is None:
        return None
    states, transitions = (
        round(100 * (1 - fewer / all_) if all_ else 0.0, 1)
        for fewer, all_ in zip(reduced, standard, strict=True)
    )
    return {"states": states, "transitions": transitions}


@dataclass(frozen=True, kw_only=True)
class Results:
    quick: bool
    repeat: int
    workers: int
    limit_seconds: float
    schedules_seconds: float
    """The limit of searches over schedules."""
    rows: tuple[Measured, ...]
    interrupted: bool = False

    @property
    def differing(self) -> list[str]:
        """A sentence for each search that does not count what the paper does."""
        return [
            measured.contradiction(mode) for measured in self.rows for mode in measured.differing
        ]

    @property
    def unknown(self) -> list[str]:
        """A sentence for each number of the paper's that was not reached."""
        return [
            f"{measured.row.title}, {mode}: stopped by a limit; the paper has"
            f" {pair(published.counts)}."
            for measured in self.rows
            for mode in MODES
            if (published := measured.published(mode)) is not None
            and published.counts is not None
            and measured.search(mode).counts is None
        ]

    @property
    def summary(self) -> str:
        answers = [measured.equal(mode) for measured in self.rows for mode in MODES]
        known = [answer for answer in answers if answer is not None]
        return (
            f"{len(self.rows)} rows; of {len(known)} searches that can be held against the paper,"
            f" {known.count(True)} count the same states and transitions."
        )

    def to_json(self) -> dict[str, object]:
        return {
            "tool": "mazurka",
            "version": __version__,
            "benchmark": "cartesian",
            "quick": self.quick,
            "repeat": self.repeat,
            "workers": self.workers,
            "limit_seconds": self.limit_seconds,
            "dpor_limit_seconds": self.schedules_seconds,
            "interrupted": self.interrupted,
            "results": [result for measured in self.rows for result in measured.to_json()],
        }


def pair(counts: tuple[int, int] | None) -> str:
    return "nothing" if counts is None else f"{counts[0]:,} states, {counts[1]:,} transitions"
