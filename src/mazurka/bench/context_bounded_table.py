"""The pages that `mazurka bench context-bounded` prints."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from mazurka.bench.contest import MAZURKA, SILENT, Played
from mazurka.bench.context_bounded_queue import ALGORITHMS, BOUNDS, PUBLISHED, Column
from mazurka.bench.context_bounded_results import Compared, Results
from mazurka.bench.printing import number_table, print_page
from mazurka.report.terminal import make_console
from mazurka.stateless.explored import TIME

HEADING = "Work-stealing queue: executions with at most so many preemptions (paper 001, Table 1)"
NAMES = {"model": "model", "code": "Python code"}
LEGEND = (
    "cb-dfs: every schedule within the bound; cb-por: Algorithm 2, each partial order once.",
    "The paper's driver is not public. Ours follows its description: the owner enqueues as many"
    " jobs as the queue has slots and dequeues them, while a stealer steals twice.",
)
PROGRAMS_HEADING = "Twenty programs with threads, at most 2 preemptions"
PROGRAMS_LEGEND = (
    "found: the failure that is there; right: nothing is wrong, and nothing was found;",
    "missed: nothing was found, and there is a failure. Seconds without starting and importing.",
)


def print_results(results: Results, console: Console | None = None) -> None:
    console = console or make_console()
    if results.columns:
        print_page(
            HEADING,
            queue_table(results),
            (*LEGEND, f"Each search, at all bounds, may take {results.limit_seconds:g} s."),
            quick=results.quick,
            warnings=() if results.played else results.wrong,
            console=console,
        )
    if results.columns and results.played:
        console.print()
    if results.played:
        print_page(
            PROGRAMS_HEADING,
            programs_table(results),
            (*PROGRAMS_LEGEND, *_notes(results)),
            quick=results.quick and not results.columns,
            warnings=results.wrong,
            console=console,
        )
    if results.interrupted:
        console.print("Interrupted: the rest was not measured.")


def queue_table(results: Results) -> Table:
    sizes = sorted({column.size for column in results.columns})
    headings = [(f"size {size}\n{algorithm}", 9) for size in sizes for algorithm in ALGORITHMS]
    table = number_table((11, 7), headings)
    bounds = range(max(len(column.cells) for column in results.columns))
    for subject in dict.fromkeys(column.subject for column in results.columns):
        for bound in bounds:
            cells = [
                _shown(results.column(subject, size, algorithm), bound, results.limit_seconds)
                for size in sizes
                for algorithm in ALGORITHMS
            ]
            table.add_row(NAMES[subject] if not bound else "", f"bound {bound}", *cells)
    for bound in (bound for bound in BOUNDS if bound in bounds):
        cells = [
            f"{PUBLISHED[size, algorithm][bound]:,}" for size in sizes for algorithm in ALGORITHMS
        ]
        table.add_row("the paper" if not bound else "", f"bound {bound}", *cells, style="dim")
    return table


def _shown(column: Column | None, bound: int, limit: float) -> str:
    """A count; or what stopped the search before it had one."""
    if column is None:
        return ""
    cell = column.cells[bound]
    if cell.executions is not None:
        return f"{cell.executions:,}"
    return f"> {limit:g} s" if TIME in cell.limits else "stopped"


def programs_table(results: Results) -> Table:
    headings = [heading for tool in results.tools for heading in ((tool, 8), ("runs", 6), ("s", 6))]
    table = number_table((19, 9), headings)
    by_tool = {tool: results.of_tool(tool) for tool in results.tools}
    for name, ours in by_tool[MAZURKA].items():
        cells = [cell for tool in results.tools for cell in _played(by_tool[tool].get(name))]
        table.add_row(name, ours.program.failure or "", *cells)
    return table


def _played(played: Played | None) -> tuple[str, str, str]:
    if played is None:
        return "", "", ""
    answer = played.answer
    if played.outcome == SILENT:
        return SILENT, "", f"{answer.seconds:.2f}"
    runs = "" if answer.executions is None else f"{answer.executions:,}"
    return played.outcome, runs, f"{answer.seconds:.3f}"


def _notes(results: Results) -> list[str]:
    notes = [
        f"{peer}: not installed; left out." for peer, found in results.peers.items() if not found
    ]
    for tool in results.tools:
        answers = results.of_tool(tool).values()
        right = sum(played.is_right for played in answers)
        notes.append(f"{tool}: {right} of {len(answers)} answers are right.")
    return notes + [_sentence(compared) for compared in results.compared if compared.programs]


def _sentence(compared: Compared) -> str:
    ours, theirs = compared.seconds
    programs = "1 program" if compared.programs == 1 else f"{compared.programs} programs"
    text = (
        f"On {programs} that both get right, {compared.peer} takes {theirs:.2f} s, we {ours:.2f} s"
    )
    if compared.faster is None:
        return text + "."
    return text + f"; executions a second: {compared.faster:.1f} times as many."
