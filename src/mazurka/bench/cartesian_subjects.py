"""The rows of paper 003's Table 1: which model, with which constants, and the paper's numbers.

The authors' programs are not public.  The models follow the listings in the paper's appendix, and
were fitted to the table where these leave something open: what one transition is, where robots and
threads begin, which philosopher takes which fork first.

The table counts the transitions of all threads: a blocked thread loops and is counted each time.
A finished thread is counted in some programs and not in others (`Row.finished`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from mazurka.bench.subjects import MODELS
from mazurka.errors import OptionError
from mazurka.stateful.cartesian import Finished


@dataclass(frozen=True)
class Published:
    """What the paper reports of one search."""

    states: int | None = None
    transitions: int | None = None
    milliseconds: int | None = None
    transitions_above: int | None = None
    """The text says "more than" so many."""

    @property
    def counts(self) -> tuple[int, int] | None:
        if self.states is None or self.transitions is None:
            return None
        return self.states, self.transitions

    def to_json(self) -> dict[str, int | None]:
        numbers = {
            "states": self.states,
            "transitions": self.transitions,
            "milliseconds": self.milliseconds,
        }
        if self.transitions_above is not None:
            numbers["transitions_above"] = self.transitions_above
        return numbers


@dataclass(frozen=True)
class Row:
    name: str
    title: str
    """The name in the table."""
    model: str
    constants: Mapping[str, int]
    finished: Finished
    standard: Published | None
    """None where the authors' search ran out of memory."""
    cartesian: Published | None
    """None where the table has no number: there is one thread only."""
    concurrent: Published | None
    """The same counts with the time of the concurrent variant."""
    dpor: Published | None = None
    acyclic: bool = True
    """Whether all executions end, so that schedules can be searched."""
    at_least: int = 1
    """So many states there are without reduction, or more: places that threads come to by
    themselves, in all combinations."""

    @property
    def path(self) -> Path:
        return MODELS / f"cartesian_{self.model}.py"

    @property
    def family(self) -> str:
        """The name without the size."""
        return self.model.replace("_", "-")


Standard: TypeAlias = tuple[int, int, int]
"""States, transitions, milliseconds."""
Reduced: TypeAlias = tuple[int, int, int, int]
"""States, transitions, milliseconds, and milliseconds of the concurrent variant."""

SHARED_PTR = ((32131, 64262, 266), (418, 12785, 47, 32))
SHARED_ARRAY = ((2276, 4552, 16), (132, 1648, 0, 0))
SHARED_ARRAY_DPOR = 10**7
"""Section 7: "FG executed more than 10^7 transitions"."""
ROBOTS: dict[int, tuple[Standard, Reduced]] = {
    2: ((4877, 9754, 109), (56, 2635, 15, 15)),
    3: ((326759, 980277, 1206422), (56, 6387, 62, 31)),
}
FILE_SYSTEM: dict[int, tuple[Standard | None, Reduced | None]] = {
    1: ((9, 8, 0), None),
    2: ((81, 144, 0), (1, 16, 0, 0)),
    3: ((729, 1944, 16), (1, 24, 0, 0)),
    4: ((6561, 23328, 437), (1, 32, 0, 0)),
    5: ((59049, 262440, 24047), (1, 40, 0, 0)),
    6: ((531441, 2834352, 2567703), (1, 48, 0, 0)),
    7: (None, (1, 56, 0, 0)),
    8: (None, (1, 64, 0, 0)),
    9: (None, (1, 72, 0, 0)),
    10: (None, (1, 80, 0, 0)),
    11: (None, (1, 88, 0, 0)),
    12: (None, (1, 96, 0, 0)),
    13: (None, (1, 104, 0, 0)),
    14: (None, (10, 1026, 62, 32)),
    15: (None, (100, 10120, 563, 203)),
    16: (None, (1000, 99800, 5968, 2078)),
    17: (None, (10000, 984000, 64204, 23000)),
}
INDEXER: dict[int, tuple[Standard | None, Reduced | None]] = {
    1: ((5, 4, 0), None),
    2: ((25, 40, 0), (1, 8, 0, 0)),
    3: ((125, 300, 0), (1, 12, 0, 0)),
    4: ((625, 2000, 0), (1, 16, 0, 0)),
    5: ((3125, 12500, 47), (1, 20, 0, 0)),
    6: ((15625, 75000, 641), (1, 24, 0, 0)),
    7: ((78125, 437500, 15297), (1, 28, 0, 0)),
    8: ((390625, 2500000, 494687), (1, 32, 0, 0)),
    9: (None, (1, 36, 0, 0)),
    10: (None, (1, 40, 0, 0)),
    11: (None, (1, 44, 0, 0)),
    12: (None, (9, 394, 16, 16)),
    13: (None, (81, 3528, 187, 79)),
    14: (None, (729, 31590, 1813, 625)),
    15: (None, (6561, 282852, 17172, 6250)),
    16: (None, (59049, 2532546, 191421, 82859)),
}
PHILOSOPHERS: dict[int, tuple[Standard, Reduced]] = {
    2: ((11, 22, 0), (9, 28, 0, 0)),
    3: ((36, 108, 0), (27, 174, 0, 0)),
    4: ((119, 476, 0), (94, 750, 0, 0)),
    5: ((393, 1965, 16), (295, 2984, 31, 31)),
    6: ((1298, 7788, 172), (942, 11233, 187, 156)),
    7: ((4287, 30009, 1766), (2955, 41091, 1187, 969)),
    8: ((14159, 113272, 29594), (9212, 145717, 11609, 11141)),
    9: ((46764, 420876, 383219), (28675, 509218, 132078, 138703)),
}
CMIS: dict[tuple[int, int], tuple[Standard | None, Reduced]] = {
    (2, 8): ((16430, 115010, 813), (51, 1627, 32, 15)),
    (4, 16): ((1014131, 7098917, 10294344), (51, 3091, 47, 31)),
    (8, 32): (None, (51, 8035, 156, 62)),
    (16, 64): (None, (51, 25987, 735, 281)),
    (32, 128): (None, (51, 94147, 4875, 1719)),
    (64, 256): (None, (51, 359491, 36531, 17672)),
    (128, 256): (None, (6, 100336, 12141, 12250)),
    (127, 255): (None, (11, 221954, 27860, 27328)),
}


def _row(
    title: str,
    model: str,
    constants: Mapping[str, int],
    published: tuple[Standard | None, Reduced | None],
    *,
    finished: Finished = Finished.LOOPS,
    dpor: Published | None = None,
    acyclic: bool = True,
    at_least: int = 1,
) -> Row:
    standard, reduced = published
    family = model.replace("_", "-")
    sized = family not in ("shared-ptr", "shared-array")
    return Row(
        name="-".join([family, *(str(value) for value in constants.values() if sized)]),
        title=title,
        model=model,
        constants=constants,
        finished=finished,
        standard=None if standard is None else Published(*standard),
        cartesian=None if reduced is None else Published(*reduced[:3]),
        concurrent=None if reduced is None else Published(reduced[0], reduced[1], reduced[3]),
        dpor=dpor,
        acyclic=acyclic,
        at_least=at_least,
    )


def _of_exiting_threads(
    title: str,
    model: str,
    places: int,
    table: Mapping[int, tuple[Standard | None, Reduced | None]],
) -> tuple[Row, ...]:
    """One row for each number of threads; a thread that has exited has no transition."""
    return tuple(
        _row(
            f"{title} ({threads} Thread{'s' if threads > 1 else ''})",
            model,
            {"N": threads},
            published,
            finished=Finished.EXITS,
            at_least=places**threads,
        )
        for threads, published in table.items()
    )


def _cmis() -> tuple[Row, ...]:
    return tuple(
        _row(
            f"CMIS C={cutoff} N={length}",
            "cmis",
            {"C": cutoff, "N": length},
            published,
            at_least=_places_of_sorting(cutoff, length),
        )
        for (cutoff, length), published in CMIS.items()
    )


def _places_of_sorting(cutoff: int, length: int) -> int:
    """Those of the insertion sorts, which have nothing to do with each other.

    A descending part of n elements takes three steps for each of the n - 1 keys and three for each
    of the n (n - 1) / 2 elements that it passes.
    """
    if length <= cutoff:
        return 3 * (length - 1) + 3 * length * (length - 1) // 2
    half = (length + 1) // 2
    return _places_of_sorting(cutoff, half) * _places_of_sorting(cutoff, length - half)


ROWS = (
    _row("SharedPtr", "shared_ptr", {"N": 100}, SHARED_PTR),
    _row(
        "SharedArray",
        "shared_array",
        {"N": 64},
        SHARED_ARRAY,
        dpor=Published(transitions_above=SHARED_ARRAY_DPOR),
    ),
    *(
        _row(f"{robots} Robots", "robots", {"ROBOTS": robots}, published, acyclic=False)
        for robots, published in ROBOTS.items()
    ),
    *_of_exiting_threads("File System", "file_system", 9, FILE_SYSTEM),
    *_of_exiting_threads("Indexer", "indexer", 5, INDEXER),
    *(
        _row(f"{number} Philosophers", "philosophers", {"N": number}, published, acyclic=False)
        for number, published in PHILOSOPHERS.items()
    ),
    *_cmis(),
)
MOST_QUICK_STATES = 40_000


def select(only: str | None, *, quick: bool = False) -> tuple[Row, ...]:
    """All rows, or those that are named: one row, or all rows of a model.

    Quickly: of several rows those that the paper, too, could search without reduction, and soon.
    """
    found = ROWS if only is None else _named(only)
    if not quick or len(found) == 1:
        return found
    return tuple(row for row in found if _is_quick(row))


def _named(only: str) -> tuple[Row, ...]:
    wanted = only.replace("_", "-")
    found = tuple(row for row in ROWS if wanted in (row.name, row.title, row.family))
    if not found:
        known = ", ".join(dict.fromkeys(row.family for row in ROWS))
        raise OptionError(
            f"unknown row {only!r} for --only; there are {known}, and single rows such as "
            f"{ROWS[-1].name}"
        )
    return found


def _is_quick(row: Row) -> bool:
    counts = None if row.standard is None else row.standard.counts
    return counts is not None and counts[0] <= MOST_QUICK_STATES
