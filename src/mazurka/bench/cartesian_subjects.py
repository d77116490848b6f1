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

from mazurka.bench.subjects import MODELS
from mazurka.errors import OptionError
from mazurka.stateful.cartesian import Finished


@dataclass(frozen=True)
class Published:
    """What the paper reports of one search."""

    states: int
    transitions: int

    def to_json(self) -> dict[str, int]:
        return {"states": self.states, "transitions": self.transitions}


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

    @property
    def path(self) -> Path:
        return MODELS / f"cartesian_{self.model}.py"


def _published(counts: tuple[int, int] | None) -> Published | None:
    return None if counts is None else Published(*counts)


def _shared_data() -> tuple[Row, ...]:
    """Two threads on a pointer or an array; they loop when they have finished."""
    return (
        Row(
            "shared-ptr",
            "SharedPtr",
            "shared_ptr",
            {"N": 100},
            Finished.LOOPS,
            Published(32131, 64262),
            Published(418, 12785),
        ),
        Row(
            "shared-array",
            "SharedArray",
            "shared_array",
            {"N": 64},
            Finished.LOOPS,
            Published(2276, 4552),
            Published(132, 1648),
        ),
    )


def _robots() -> tuple[Row, ...]:
    counts = {2: ((4877, 9754), (56, 2635)), 3: ((326759, 980277), (56, 6387))}
    return tuple(
        Row(
            f"robots-{robots}",
            f"{robots} Robots",
            "robots",
            {"ROBOTS": robots},
            Finished.LOOPS,
            _published(standard),
            _published(cartesian),
        )
        for robots, (standard, cartesian) in counts.items()
    )


FILE_SYSTEM_STANDARD = {
    1: (9, 8),
    2: (81, 144),
    3: (729, 1944),
    4: (6561, 23328),
    5: (59049, 262440),
    6: (531441, 2834352),
}
FILE_SYSTEM_CARTESIAN = {
    2: (1, 16),
    3: (1, 24),
    4: (1, 32),
    5: (1, 40),
    6: (1, 48),
    7: (1, 56),
    8: (1, 64),
    9: (1, 72),
    10: (1, 80),
    11: (1, 88),
    12: (1, 96),
    13: (1, 104),
    14: (10, 1026),
    15: (100, 10120),
    16: (1000, 99800),
    17: (10000, 984000),
}
INDEXER_STANDARD = {
    1: (5, 4),
    2: (25, 40),
    3: (125, 300),
    4: (625, 2000),
    5: (3125, 12500),
    6: (15625, 75000),
    7: (78125, 437500),
    8: (390625, 2500000),
}
INDEXER_CARTESIAN = {
    2: (1, 8),
    3: (1, 12),
    4: (1, 16),
    5: (1, 20),
    6: (1, 24),
    7: (1, 28),
    8: (1, 32),
    9: (1, 36),
    10: (1, 40),
    11: (1, 44),
    12: (9, 394),
    13: (81, 3528),
    14: (729, 31590),
    15: (6561, 282852),
    16: (59049, 2532546),
}
PHILOSOPHERS = {
    2: ((11, 22), (9, 28)),
    3: ((36, 108), (27, 174)),
    4: ((119, 476), (94, 750)),
    5: ((393, 1965), (295, 2984)),
    6: ((1298, 7788), (942, 11233)),
    7: ((4287, 30009), (2955, 41091)),
    8: ((14159, 113272), (9212, 145717)),
    9: ((46764, 420876), (28675, 509218)),
}
CMIS: dict[tuple[int, int], tuple[tuple[int, int] | None, tuple[int, int]]] = {
    (2, 8): ((16430, 115010), (51, 1627)),
    (4, 16): ((1014131, 7098917), (51, 3091)),
    (8, 32): (None, (51, 8035)),
    (16, 64): (None, (51, 25987)),
    (32, 128): (None, (51, 94147)),
    (64, 256): (None, (51, 359491)),
    (128, 256): (None, (6, 100336)),
    (127, 255): (None, (11, 221954)),
}


def _of_exiting_threads(
    title: str,
    model: str,
    most: int,
    standard: Mapping[int, tuple[int, int]],
    cartesian: Mapping[int, tuple[int, int]],
) -> tuple[Row, ...]:
    """One row for each number of threads; a thread that has exited has no transition."""
    return tuple(
        Row(
            f"{model.replace('_', '-')}-{threads}",
            f"{title} ({threads} Thread{'s' if threads > 1 else ''})",
            model,
            {"N": threads},
            Finished.EXITS,
            _published(standard.get(threads)),
            _published(cartesian.get(threads)),
        )
        for threads in range(1, most + 1)
    )


def _philosophers() -> tuple[Row, ...]:
    return tuple(
        Row(
            f"philosophers-{number}",
            f"{number} Philosophers",
            "philosophers",
            {"N": number},
            Finished.LOOPS,
            _published(standard),
            _published(cartesian),
        )
        for number, (standard, cartesian) in PHILOSOPHERS.items()
    )


def _cmis() -> tuple[Row, ...]:
    return tuple(
        Row(
            f"cmis-{cutoff}-{length}",
            f"CMIS C={cutoff} N={length}",
            "cmis",
            {"C": cutoff, "N": length},
            Finished.LOOPS,
            _published(standard),
            _published(cartesian),
        )
        for (cutoff, length), (standard, cartesian) in CMIS.items()
    )


ROWS = (
    *_shared_data(),
    *_robots(),
    *_of_exiting_threads(
        "File System", "file_system", 17, FILE_SYSTEM_STANDARD, FILE_SYSTEM_CARTESIAN
    ),
    *_of_exiting_threads("Indexer", "indexer", 16, INDEXER_STANDARD, INDEXER_CARTESIAN),
    *_philosophers(),
    *_cmis(),
)


def select(only: str | None) -> tuple[Row, ...]:
    """All rows, or those that are named: one row, or all rows of a model."""
    if only is None:
        return ROWS
    wanted = only.replace("_", "-")
    found = tuple(
        row for row in ROWS if wanted in (row.name, row.title, row.model.replace("_", "-"))
    )
    if not found:
        known = ", ".join(dict.fromkeys(row.model.replace("_", "-") for row in ROWS))
        raise OptionError(
            f"unknown row {only!r} for --only; there are {known}, and single rows such as "
            f"{ROWS[-1].name}"
        )
    return found
