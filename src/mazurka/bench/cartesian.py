"""`mazurka bench cartesian`: paper 003's Table 1, with our numbers beside the paper's.

Each row is searched in five ways: without reduction, by cartesian vectors with the cycle rule that
the table was made with, with our own rule, with the table's rule and several workers, and by
dynamic partial-order reduction where all executions end.

The authors' programs are not public.  The models follow the listings in the paper's appendix, and
were fitted to the table where these leave something open: what one transition is, where robots and
threads begin, which philosopher takes which fork first.

The table counts the transitions of all threads: a blocked thread loops and is counted each time.
A finished thread is counted in some programs and not in others (`CartesianCase.finished`).  Of the
search without reduction the engine counts what happens; where finished threads loop, every thread
has one transition in every state, and where they exit, no thread waits in the rows that can be
searched at all, so that nothing is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from mazurka.bench.figures import Figures, repeat
from mazurka.bench.harness import Benchmark, Case, Line, Measured, figures_of, thousands
from mazurka.ir.native.step import native
from mazurka.search import SearchOptions, Silent
from mazurka.stateful.searches.cartesian import Vectors
from mazurka.stateful.searches.cartesian_workers import search_cartesian
from mazurka.stateful.variants import CycleRule, Finished

STANDARD, TABLE1, DEFAULT = "standard", "table1", "default"
CONCURRENT, DPOR = "concurrent", "dpor"
MODES = (STANDARD, TABLE1, DEFAULT, CONCURRENT, DPOR)
SCHEDULES_SECONDS = 10.0
"""For searches over schedules, which are there to compare with."""
STATES_A_SECOND = 200_000
"""A search that would have to be faster than this, by what is known beforehand, is not tried."""
MOST_QUICK_STATES = 40_000
NOT_TRIED = "not tried: "

# --- the paper's table ----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class CartesianCase(Case):
    """A row of the table; the paper has nothing about our own cycle rule.

    It has nothing about the search without reduction where the authors' ran out of memory, and
    nothing about the reduced ones where there is one thread only.
    """

    finished: Finished = Finished.LOOPS
    acyclic: bool = True
    """Whether all executions end, so that schedules can be searched."""
    at_least: int = 1
    """So many states there are without reduction, or more: places that threads come to by
    themselves, in all combinations."""

    @property
    def group(self) -> str:
        """The name without the size."""
        return self.path.stem.replace("_", "-")


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


def published(states: int, transitions: int, milliseconds: int) -> Figures:
    return Figures(states=states, transitions=transitions, seconds=milliseconds / 1000)


def describe(
    title: str,
    model: str,
    constants: Mapping[str, int],
    numbers: tuple[Standard | None, Reduced | None],
    **details: Any,
) -> CartesianCase:
    standard, reduced = numbers
    paper: dict[str, Figures] = {}
    if standard is not None:
        paper[STANDARD] = published(*standard)
    if reduced is not None:
        paper[TABLE1] = published(*reduced[:3])
        paper[CONCURRENT] = published(*reduced[:2], reduced[3])
    family = model.replace("_", "-")
    sizes = [] if family in ("shared-ptr", "shared-array") else map(str, constants.values())
    return CartesianCase(
        name="-".join([family, *sizes]),
        title=title,
        model=f"cartesian/{model}",
        constants=constants,
        paper=paper,
        **details,
    )


def describe_exiting(
    title: str,
    model: str,
    places: int,
    table: Mapping[int, tuple[Standard | None, Reduced | None]],
) -> Iterator[CartesianCase]:
    """One case for each number of threads; a thread that has exited has no transition."""
    for threads, numbers in table.items():
        yield describe(
            f"{title} ({threads} Thread{'s' if threads > 1 else ''})",
            model,
            {"N": threads},
            numbers,
            finished=Finished.EXITS,
            at_least=places**threads,
        )


def count_places_of_sorting(cutoff: int, length: int) -> int:
    """Count those of the insertion sorts, which have nothing to do with each other.

    A descending part of n elements takes three steps for each of the n - 1 keys and three for each
    of the n (n - 1) / 2 elements that it passes.
    """
    if length <= cutoff:
        return 3 * (length - 1) + 3 * length * (length - 1) // 2
    half = (length + 1) // 2
    return count_places_of_sorting(cutoff, half) * count_places_of_sorting(cutoff, length - half)


def describe_all() -> Iterator[CartesianCase]:
    yield describe("SharedPtr", "shared_ptr", {"N": 100}, SHARED_PTR)
    shared_array = describe("SharedArray", "shared_array", {"N": 64}, SHARED_ARRAY)
    more_than = Figures(transitions=SHARED_ARRAY_DPOR, limits=("not given",))
    yield replace(shared_array, paper={**shared_array.paper, DPOR: more_than})
    for robots, numbers in ROBOTS.items():
        yield describe(f"{robots} Robots", "robots", {"ROBOTS": robots}, numbers, acyclic=False)
    yield from describe_exiting("File System", "file_system", 9, FILE_SYSTEM)
    yield from describe_exiting("Indexer", "indexer", 5, INDEXER)
    for count, row in PHILOSOPHERS.items():
        yield describe(f"{count} Philosophers", "philosophers", {"N": count}, row, acyclic=False)
    for (cutoff, length), figures in CMIS.items():
        constants, places = {"C": cutoff, "N": length}, count_places_of_sorting(cutoff, length)
        yield describe(f"CMIS C={cutoff} N={length}", "cmis", constants, figures, at_least=places)


CASES = tuple(describe_all())

# --- ours beside it -------------------------------------------------------------------------------


@dataclass
class CartesianTable(Benchmark[CartesianCase]):
    stopped: dict[str, str] = field(default_factory=dict)
    """For each group the first case whose search without reduction was stopped by a limit."""

    name = "cartesian"
    heading = "Cartesian reduction: paper 003, Table 1"
    noun = "row"
    default_limit = 60.0
    default_workers = 2
    depth_first = "that of a cartesian search makes no difference"
    title_widths = (15,)
    cases = CASES

    @property
    def schedules_limit(self) -> float:
        return min(SCHEDULES_SECONDS, self.limit)

    def is_quick(self, case: CartesianCase) -> bool:
        """Whether the paper, too, could search it without reduction, and soon."""
        standard = case.paper.get(STANDARD)
        return standard is not None and (standard.states or 0) <= MOST_QUICK_STATES

    def compile_searches(self) -> None:
        smallest = next(case for case in CASES if case.name == "indexer-1")
        once = replace(self.options, repeat=1)
        CartesianTable(once).measure_case(smallest)

    def measure_case(self, case: CartesianCase) -> Measured[CartesianCase]:
        program = case.load(case.constants)
        compiled = native(program)
        options = SearchOptions(
            properties=frozenset({"assert"}), stop_at_first=False, limit_seconds=self.limit
        )

        def vectors(how: Vectors, workers: int = 1) -> Figures:
            chosen = replace(options, tuning={"workers": workers})

            def search() -> Figures:
                result = search_cartesian(compiled, chosen, Silent(), how)
                return figures_of(result, f"{case.title} by vectors", limited=True)

            return repeat(self.options.repeat, search)

        def strategy(name: str, seconds: float) -> Figures:
            return self.search(case, program, name, limit_seconds=seconds)

        as_published = Vectors(rule=CycleRule.TABLE1, finished=case.finished)
        figures = {
            STANDARD: self.measure_standard(case, len(program.threads), strategy),
            TABLE1: vectors(as_published),
            DEFAULT: vectors(Vectors()),
            CONCURRENT: vectors(as_published, self.workers),
            DPOR: self.measure_dpor(case, strategy),
        }
        return Measured(case=case, figures=figures, constants=case.constants)

    def measure_standard(
        self, case: CartesianCase, threads: int, search: Callable[[str, float], Figures]
    ) -> Figures:
        if STANDARD not in case.paper:
            if case.group in self.stopped:
                return Figures(limits=(f"{NOT_TRIED}{self.stopped[case.group]} took too much",))
            if case.at_least > STATES_A_SECOND * self.limit:
                there_are = f"{NOT_TRIED}there are at least {case.at_least:,} states"
                return Figures(limits=(there_are,), states=case.at_least)
        found = search("full", self.limit)
        if found.limits:
            self.stopped.setdefault(case.group, case.title)
        elif case.finished is Finished.LOOPS:
            return replace(found, transitions=(found.states or 0) * threads)
        return found

    def measure_dpor(self, case: CartesianCase, search: Callable[[str, float], Figures]) -> Figures:
        if not case.acyclic:
            return Figures(limits=(f"{NOT_TRIED}its executions do not end",))
        return replace(search("dpor", self.schedules_limit), states=None)

    # --- claims -----------------------------------------------------------------------------------

    @property
    def wrong(self) -> list[str]:
        """Searches that do not count what the paper does."""
        return [contradiction(row, mode) for row in self.rows for mode in differing(row)]

    @property
    def unknown(self) -> list[str]:
        """Numbers of the paper's that were not reached."""
        return [
            f"{row.case.title}, {mode}: stopped by a limit; the paper has {pair(paper.counts)}."
            for row in self.rows
            for mode, paper in row.case.paper.items()
            if paper.counts is not None and row[mode].counts is None
        ]

    @property
    def summary(self) -> str:
        answers = [equal(row, mode) for row in self.rows for mode in MODES]
        known = [answer for answer in answers if answer is not None]
        return (
            f"{len(self.rows)} rows; of {len(known)} searches that can be held against the paper,"
            f" {known.count(True)} count the same states and transitions."
        )

    # --- what is printed --------------------------------------------------------------------------

    @property
    def columns(self) -> tuple[dict[str, int], ...]:
        workers = "1 worker" if self.workers == 1 else f"{self.workers} workers"
        counts = {"standard\nstates": 9, "standard\ntrans.": 10, "table1\nstates": 6}
        counts |= {"table1\ntrans.": 9, "default\nstates": 7, "default\ntrans.": 9}
        others = {"saved %\nstates": 7, "saved %\ntrans.": 7, "standard\nms": 10}
        others |= {"table1\nms": 7, "default\nms": 7, f"{workers}\nms": 9, "dpor\ntrans.": 11}
        return counts, others

    def lines(self, row: Measured[CartesianCase]) -> Iterator[Line]:
        """Two lines: what we count, and what the paper has; an empty one between groups."""
        place = self.rows.index(row)
        if place and self.rows[place - 1].case.group != row.case.group:
            yield Line()
        title, style = ("  differs from", "red") if differing(row) else ("  paper", "dim")
        yield Line([row.case.name], self._ours(row))
        yield Line([title], _theirs(row.case), style)

    def _ours(self, row: Measured[CartesianCase]) -> list[str]:
        """Only the first column of a search says what its limit was."""
        cells: list[str] = []
        for mode in (STANDARD, TABLE1, DEFAULT):
            known = row[mode].counts
            shown = (
                [stopped(row[mode], self.limit), "-"] if known is None else map(thousands, known)
            )
            cells += shown
        cells += _percent(saved(row[STANDARD].counts, row[TABLE1].counts))
        for mode in (STANDARD, TABLE1, DEFAULT, CONCURRENT):
            known_time = row[mode].seconds if row[mode].complete else None
            cells.append("-" if known_time is None else milliseconds(known_time))
        dpor = row[DPOR]
        cells.append(
            thousands(dpor.transitions) if dpor.complete else stopped(dpor, self.schedules_limit)
        )
        return cells

    @property
    def legend(self) -> list[str]:
        return [
            self.summary,
            "First lines are ours, second lines the paper's, whose times are of a machine of 2007"
            " (four processors for its concurrent search).",
            "standard: no reduction; table1: vectors as the paper's table was made; workers: the"
            " same, several at a time.",
            "default: as check --strategy cartesian; loops of threads that do not move do not"
            " count.",
            "trans.: transitions. saved: by table1. dpor: where all executions end.",
            f"Limits: {self.limit:g} s, for dpor {self.schedules_limit:g} s. >: more"
            " than that; >=: not tried, there are so many at least; -: not tried; too long: an"
            " execution has too many steps.",
        ]

    def details(self) -> dict[str, object]:
        return {
            "dpor_limit_seconds": self.schedules_limit,
            "results": [mode_to_json(row, mode) for row in self.rows for mode in MODES],
        }


TABLE = CartesianTable


def equal(row: Measured[CartesianCase], mode: str) -> bool | None:
    """Whether the counts are the paper's; None where it has none or there are none.

    Workers must also count what one of them does.
    """
    paper, counts = row.case.paper.get(mode), row[mode].counts
    if counts is None:
        return None
    if mode == CONCURRENT and counts != (row[TABLE1].counts or counts):
        return False
    if paper is None or paper.counts is None:
        return None
    return counts == paper.counts


def differing(row: Measured[CartesianCase]) -> list[str]:
    return [mode for mode in MODES if equal(row, mode) is False]


def contradiction(row: Measured[CartesianCase], mode: str) -> str:
    """What the search counts and what it should have counted, in a sentence."""
    paper, counts = row.case.paper.get(mode), row[mode].counts
    expected = None if paper is None else paper.counts
    right = f"the paper has {pair(expected)}"
    if expected in (None, counts):
        right = f"one worker has {pair(row[TABLE1].counts)}"
    return f"{row.case.title}, {mode}: {pair(counts)}; {right}."


def pair(counts: tuple[int, int] | None) -> str:
    return "nothing" if counts is None else f"{counts[0]:,} states, {counts[1]:,} transitions"


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


def mode_to_json(row: Measured[CartesianCase], mode: str) -> dict[str, object]:
    figures = row[mode]
    return {
        "row": row.case.name,
        "title": row.case.title,
        "constants": dict(row.case.constants),
        "mode": mode,
        "states": figures.states if figures.complete else None,
        "transitions": figures.transitions if figures.complete else None,
        **figures.to_json("seconds"),
        "saved_percent": saved(row[STANDARD].counts, figures.counts),
        "paper": _paper_to_json(row.case.paper.get(mode)),
        "equal": equal(row, mode),
        "limits": list(figures.limits),
    }


def _paper_to_json(paper: Figures | None) -> dict[str, object] | None:
    if paper is None:
        return None
    known = paper.transitions if paper.complete else None
    ms = None if paper.seconds is None else round(1000 * paper.seconds)
    numbers: dict[str, object] = {
        "states": paper.states, "transitions": known, "milliseconds": ms,
    }  # fmt: skip
    return numbers if paper.complete else {**numbers, "transitions_above": paper.transitions}


def _theirs(case: CartesianCase) -> list[str]:
    unknown = Figures()
    standard, table1 = case.paper.get(STANDARD, unknown), case.paper.get(TABLE1, unknown)
    counts = [standard.states, standard.transitions, table1.states, table1.transitions, None, None]
    times = [case.paper.get(mode, unknown) for mode in (STANDARD, TABLE1, DEFAULT, CONCURRENT)]
    more = case.paper.get(DPOR, unknown).transitions
    return [
        *map(thousands, counts),
        *_percent(saved(standard.counts, table1.counts)),
        *("" if one.seconds is None else f"{1000 * one.seconds:,.0f}" for one in times),
        "" if more is None else f">{more:,}",
    ]


def _percent(savings: dict[str, float] | None) -> list[str]:
    return ["", ""] if savings is None else [f"{percent:g}" for percent in savings.values()]


def stopped(figures: Figures, limit_seconds: float) -> str:
    """What to write where a search has no counts."""
    not_tried = figures.limits[0].startswith(NOT_TRIED)
    if not_tried and figures.states is not None:
        mantissa, exponent = f"{figures.states:.1e}".split("e")
        return f">={mantissa}e{int(exponent)}"
    if "time" in figures.limits:
        return f">{limit_seconds:g} s"
    if "memory" in figures.limits:
        return "memory"
    return "-" if not_tried else "too long"


def milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:,.0f}" if seconds >= 0.01 else f"{1000 * seconds:.1f}"
