"""`mazurka bench context-bounded`: paper 001's Table 1, and twenty programs beside Python peers.

The table has terminal executions of a work-stealing queue by context bound: depth-first search
(cb-dfs) against Algorithm 2 (cb-por).  The paper's driver is not public; it is described in two
sentences.  Ours is there twice, as a model (`models/context_bounded/work_stealing.py`) and as real
Python code (`programs/work_stealing.py`), with the same accesses to head, tail, slots and lock in
the same order.

The programs are run by Mazurka and by those of its peers that are installed, each in a process of
its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

from rich.console import Console

from mazurka.bench.contest import MAZURKA, PEERS, find_peers, play
from mazurka.bench.contestant import UNNAMED
from mazurka.bench.figures import Figures, repeat
from mazurka.bench.harness import Benchmark, Case, Line, Measured, grid, print_page, thousands
from mazurka.bench.programs import DIRECTORY, PROGRAMS
from mazurka.errors import MazurkaError
from mazurka.runtime.exploring.entry import explore_test
from mazurka.runtime.exploring.options import ExploreOptions
from mazurka.runtime.testing.collecting import collect
from mazurka.stateless import iterative
from mazurka.stateless.bounded.algorithm2 import Algorithm2
from mazurka.stateless.bounded.bounded_search import ContextBoundedDFS
from mazurka.stateless.explored import INTERRUPTED, TIME, Level, RunOptions
from mazurka.stateless.models.runs import IRRuns

CODE_FILE = DIRECTORY / "work_stealing.py"
SIZES, BOUNDS = (3, 4, 5), (0, 1, 2, 3, 4)
QUICK_SIZE, QUICK_BOUND = 3, 2
CB_DFS, CB_POR = "cb-dfs", "cb-por"
ALGORITHMS = (CB_DFS, CB_POR)
PUBLISHED = {
    (3, CB_DFS): (2, 46, 756, 8918, 66374),
    (3, CB_POR): (2, 46, 713, 7838, 48828),
    (4, CB_DFS): (2, 54, 898, 12711, 95935),
    (4, CB_POR): (2, 54, 853, 8458, 52572),
    (5, CB_DFS): (2, 67, 1197, 19460, 161637),
    (5, CB_POR): (2, 67, 1136, 14563, 95068),
}
"""Terminal executions at bounds 0 to 4, as the paper prints them."""
PROGRAM_SECONDS = 10.0
FOUND, RIGHT, MISSED = "found", "right", "missed"
FALSE_ALARM, OTHER, SILENT = "false alarm", "other failure", "no answer"

# --- the work-stealing queue ----------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class QueueCase(Case):
    """One search: an algorithm on the queue of one size, whose figures are those at each bound."""

    subject: str
    """`model` or `code`."""
    size: int
    algorithm: str

    @property
    def group(self) -> str:
        return self.subject


def make_queue(subject: str, size: int, algorithm: str) -> QueueCase:
    return QueueCase(
        name=f"{subject}-{size}-{algorithm}",
        title=f"work-stealing queue, {subject}, size {size}, {algorithm}",
        model="context_bounded/work_stealing",
        subject=subject,
        size=size,
        algorithm=algorithm,
        paper={
            f"bound {bound}": Figures(executions=count)
            for bound, count in enumerate(PUBLISHED.get((size, algorithm), ()))
        },
    )


def model_runs(size: int, steals: int = 2) -> IRRuns:
    """The model as a program that can be run again and again."""
    program = make_queue("model", size, CB_DFS).load({"SIZE": size, "STEALS": steals})
    return IRRuns(program)


def search_model(size: int, algorithm: str, bound: int, seconds: float) -> dict[str, Figures]:
    name = {CB_DFS: ContextBoundedDFS.name, CB_POR: Algorithm2.name}[algorithm]
    limits = RunOptions(limit_seconds=seconds)
    explored = iterative.explore(model_runs(size), bound, name, limits)
    if explored.failures:
        raise MazurkaError(f"the model fails: {explored.failures[0].failed.message}")
    return figures_by_bound(explored.levels, explored.limits, bound)


def search_code(size: int, algorithm: str, bound: int, seconds: float) -> dict[str, Figures]:
    strategy = {CB_DFS: "cb-dfs", CB_POR: "algorithm2"}[algorithm]
    (found,) = collect(f"{CODE_FILE}::test_size_{size}")
    options = ExploreOptions(strategy=strategy, preemptions=bound, seconds=seconds)
    result = explore_test(found.test, options)
    if result.error is not None:
        raise result.error
    if result.violation is not None:
        raise MazurkaError(f"the code fails: {result.violation.message}")
    return figures_by_bound(result.levels, result.limits, bound)


SUBJECTS: dict[str, Callable[[int, str, int, float], dict[str, Figures]]] = {
    "model": search_model,
    "code": search_code,
}
SUBJECT_NAMES = {"model": "model", "code": "Python code"}


def figures_by_bound(
    levels: Sequence[Level], limits: tuple[str, ...], bound: int
) -> dict[str, Figures]:
    """Figures for each bound.  Where a search ended early because all was seen, nothing is new."""
    if INTERRUPTED in limits:
        raise KeyboardInterrupt
    figures = [
        Figures(executions=level.executions, seconds=level.seconds)
        for level in levels
        if level.complete
    ]
    rest = Figures(limits=limits)
    if not limits:
        rest = Figures(executions=figures[-1].executions, seconds=0.0)
    figures += [rest] * (bound + 1 - len(figures))
    return {f"bound {number}": found for number, found in enumerate(figures)}


# --- the programs ---------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ProgramCase(Case):
    """A program, whose figures are those of each tool."""

    failure: str | None
    """What goes wrong in some schedule with at most two preemptions; None if nothing ever does."""

    @property
    def group(self) -> str:
        return "programs"


PROGRAM_CASES = {
    name: ProgramCase(name=name, title=title, model="", failure=failure)
    for name, (title, failure) in PROGRAMS.items()
}


def judge(case: ProgramCase, answer: Figures) -> str:
    """What a tool's answer is worth."""
    if answer.error is not None:
        return SILENT
    if case.failure is None:
        return RIGHT if answer.failure is None else FALSE_ALARM
    if answer.failure is None:
        return MISSED
    return FOUND if answer.failure in (case.failure, UNNAMED) else OTHER


def is_right(case: ProgramCase, answer: Figures) -> bool:
    return judge(case, answer) in (FOUND, RIGHT)


@dataclass(frozen=True, kw_only=True)
class Compared:
    """Mazurka and a peer, on the programs that both get right."""

    peer: str
    programs: int
    seconds: tuple[float, float]
    executions: tuple[int, int] | None
    """None if the peer does not tell."""

    @property
    def faster(self) -> float | None:
        """How many times the peer's executions a second ours are."""
        if self.executions is None or not all(self.executions) or not all(self.seconds):
            return None
        return self.executions[0] / self.executions[1] * self.seconds[1] / self.seconds[0]

    @property
    def sooner(self) -> float | None:
        """How many times our seconds the peer's are."""
        return self.seconds[1] / self.seconds[0] if all(self.seconds) else None

    def to_json(self) -> dict[str, object]:
        tools, executions = (MAZURKA, self.peer), self.executions
        return {
            "peer": self.peer,
            "programs": self.programs,
            "seconds": dict(zip(tools, self.seconds, strict=True)),
            "executions": executions and dict(zip(tools, executions, strict=True)),
            "executions_a_second_ratio": self.faster,
            "seconds_ratio": self.sooner,
        }

    def __str__(self) -> str:
        ours, theirs = self.seconds
        programs = "1 program" if self.programs == 1 else f"{self.programs} programs"
        text = (
            f"On {programs} that both get right, {self.peer} takes {theirs:.2f} s, we {ours:.2f} s"
        )
        if self.faster is None:
            return text + "."
        return text + f"; executions a second: {self.faster:.1f} times as many."


# --- both -----------------------------------------------------------------------------------------


class ContextBoundedTable(Benchmark[QueueCase | ProgramCase]):
    name = "context-bounded"
    noun = "subject"
    default_limit = 300.0
    depth_first = "a search over whole runs is depth-first"
    cases = (
        *(make_queue(*key) for key in product(SUBJECTS, SIZES, ALGORITHMS)),
        *PROGRAM_CASES.values(),
    )

    @property
    def program_limit(self) -> float:
        """The limit of a tool on a program."""
        return min(PROGRAM_SECONDS, self.limit)

    @property
    def queues(self) -> dict[tuple[str, int, str], Measured[QueueCase]]:
        return {
            (case.subject, case.size, case.algorithm): Measured(case=case, figures=row.figures)
            for row in self.rows
            if isinstance(case := row.case, QueueCase)
        }

    @property
    def programs(self) -> list[Measured[ProgramCase]]:
        return [
            Measured(case=case, figures=row.figures)
            for row in self.rows
            if isinstance(case := row.case, ProgramCase)
        ]

    def is_quick(self, case: QueueCase | ProgramCase) -> bool:
        return isinstance(case, ProgramCase) or case.size == QUICK_SIZE

    def find_tools(self, cases: Sequence[QueueCase | ProgramCase]) -> dict[str, str | None]:
        programs = any(isinstance(case, ProgramCase) for case in cases)
        return find_peers() if programs else dict.fromkeys(PEERS)

    def measure_case(self, case: QueueCase | ProgramCase) -> Measured[QueueCase | ProgramCase]:
        if isinstance(case, QueueCase):
            bound = QUICK_BOUND if self.options.quick else BOUNDS[-1]
            figures = SUBJECTS[case.subject](case.size, case.algorithm, bound, self.limit)
            return Measured(case=case, figures=figures)
        tools = [MAZURKA, *(peer for peer in PEERS if self.tools.get(peer))]
        return Measured(case=case, figures={tool: self.measure_tool(tool, case) for tool in tools})

    def measure_tool(self, tool: str, case: ProgramCase) -> Figures:
        """The run of median time.  One that gives no answer, or a wrong one, is shown instead."""
        file = DIRECTORY / f"{case.name}.py"
        once = partial(play, tool, file, self.program_limit)
        return repeat(self.options.repeat, once, partial(is_right, case))

    # --- claims -----------------------------------------------------------------------------------

    @property
    def wrong(self) -> list[str]:
        wrong = []
        for row in self.programs:
            answer, expected = row[MAZURKA], row.case.failure or "nothing"
            if not is_right(row.case, answer):
                said = answer.error or f"found {answer.failure or 'nothing'}"
                outcome = judge(row.case, answer)
                wrong.append(f"{row.case.name}: {outcome}, {said}; it should be {expected}.")
        for (subject, size, algorithm), dfs in self.queues.items():
            por = self.queues.get((subject, size, CB_POR))
            if algorithm != CB_DFS or por is None:
                continue
            for bound, figures in dfs.figures.items():
                more, fewer = figures.executions, por[bound].executions
                if more is not None and fewer is not None and fewer > more:
                    wrong.append(
                        f"{subject}, size {size}, {bound}: cb-por runs {fewer:,}"
                        f" executions, and there are {more:,}."
                    )
        return wrong

    @property
    def players(self) -> list[str]:
        return list(self.programs[0].figures) if self.programs else []

    @property
    def compared(self) -> list[Compared]:
        return [self._compare(tool) for tool in self.players if tool != MAZURKA]

    def _compare(self, peer: str) -> Compared:
        both = [
            (row[MAZURKA], row[peer])
            for row in self.programs
            if is_right(row.case, row[MAZURKA]) and is_right(row.case, row[peer])
        ]
        known = all(one.executions is not None for pair in both for one in pair)
        seconds = [sum(pair[place].seconds or 0.0 for pair in both) for place in (0, 1)]
        executions = [sum(pair[place].executions or 0 for pair in both) for place in (0, 1)]
        return Compared(
            peer=peer,
            programs=len(both),
            seconds=(seconds[0], seconds[1]),
            executions=(executions[0], executions[1]) if known else None,
        )

    # --- what is printed --------------------------------------------------------------------------

    def print(self, console: Console) -> None:
        if self.queues:
            self._print_queues(console)
        if self.queues and self.programs:
            console.print()
        if self.programs:
            self._print_programs(console)
        if self.interrupted:
            console.print("Interrupted: the rest was not measured.")

    def _print_queues(self, console: Console) -> None:
        searches = list(product(sorted({size for _, size, _ in self.queues}), ALGORITHMS))
        shown = list(dict.fromkeys(subject for subject, _, _ in self.queues))
        bounds = list(next(iter(self.queues.values())).figures)
        lines = [
            Line(
                ["" if place else SUBJECT_NAMES[subject], bound],
                [self._shown(self.queues.get((subject, *search)), bound) for search in searches],
            )
            for subject in shown
            for place, bound in enumerate(bounds)
        ]
        for place, bound in enumerate(bounds):
            theirs = [thousands(PUBLISHED[search][place]) for search in searches]
            lines.append(Line(["" if place else "the paper", bound], theirs, "dim"))
        print_page(
            console,
            "Work-stealing queue: executions with at most so many preemptions (paper 001, Table 1)",
            grid(
                (11, 7), [(f"size {size}\n{algorithm}", 9) for size, algorithm in searches], lines
            ),
            (
                "cb-dfs: every schedule within the bound; cb-por: Algorithm 2, each partial order"
                " once.",
                "The paper's driver is not public. Ours follows its description: the owner enqueues"
                " as many jobs as the queue has slots and dequeues them, while a stealer steals"
                " twice.",
                f"Each search, at all bounds, may take {self.limit:g} s.",
            ),
            quick=self.options.quick,
            warnings=() if self.programs else self.wrong,
        )

    def _shown(self, row: Measured[QueueCase] | None, bound: str) -> str:
        """A count; or what stopped the search before it had one."""
        if row is None:
            return ""
        figures = row[bound]
        if figures.executions is not None:
            return f"{figures.executions:,}"
        return f"> {self.limit:g} s" if TIME in figures.limits else "stopped"

    def _print_programs(self, console: Console) -> None:
        headings = [pair for tool in self.players for pair in ((tool, 8), ("runs", 6), ("s", 6))]
        lines = [
            Line(
                [row.case.name, row.case.failure or ""],
                [cell for answer in row.figures.values() for cell in _cells(row.case, answer)],
            )
            for row in self.programs
        ]
        print_page(
            console,
            "Twenty programs with threads, at most 2 preemptions",
            grid((19, 9), headings, lines),
            (
                "found: the failure that is there; right: nothing is wrong, and nothing was found;",
                "missed: nothing was found, and there is a failure. Seconds without starting and"
                " importing.",
                *self._notes(),
            ),
            quick=self.options.quick and not self.queues,
            warnings=self.wrong,
        )

    def _notes(self) -> Iterator[str]:
        for peer, version in self.tools.items():
            if version is None:
                yield f"{peer}: not installed; left out."
        for tool in self.players:
            right = sum(is_right(row.case, row[tool]) for row in self.programs)
            yield f"{tool}: {right} of {len(self.programs)} answers are right."
        yield from (str(compared) for compared in self.compared if compared.programs)

    def details(self) -> dict[str, object]:
        return {
            "program_limit_seconds": self.program_limit,
            "wrong": self.wrong,
            "table": [cell for row in self.queues.values() for cell in _queue_to_json(row)],
            "peers": self.tools,
            "programs": [cell for row in self.programs for cell in _program_to_json(row)],
            "comparison": [compared.to_json() for compared in self.compared],
        }


TABLE = ContextBoundedTable


def _cells(case: ProgramCase, answer: Figures) -> tuple[str, str, str]:
    outcome, seconds = judge(case, answer), answer.seconds or 0.0
    if outcome == SILENT:
        return SILENT, "", f"{seconds:.2f}"
    return outcome, thousands(answer.executions), f"{seconds:.3f}"


def _queue_to_json(row: Measured[QueueCase]) -> Iterator[dict[str, object]]:
    case = row.case
    for bound, (column, figures) in enumerate(row.figures.items()):
        yield {
            "subject": case.subject,
            "size": case.size,
            "algorithm": case.algorithm,
            "bound": bound,
            **figures.to_json("executions", "seconds"),
            "paper": case.paper[column].executions,
            "limits": list(figures.limits),
        }


def _program_to_json(row: Measured[ProgramCase]) -> Iterator[dict[str, object]]:
    case = row.case
    for tool, answer in row.figures.items():
        yield {
            "program": case.name,
            "title": case.title,
            "expected": case.failure,
            "tool": tool,
            "outcome": judge(case, answer),
            "right": is_right(case, answer),
            **answer.to_json("failure", "executions", "seconds", "error"),
        }
