"""What `mazurka check` prints for people: the verdict first, then why, then what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from rich.console import Console
from rich.text import Text

from mazurka.report.answer import HOLDS, INCONCLUSIVE, UNSOUND, VIOLATED
from mazurka.report.classification import describe_rounds, describe_sharing, draw_classes
from mazurka.report.columns import Columns
from mazurka.report.observer import bytes_text
from mazurka.report.prose import Prose
from mazurka.report.selection import Alternative
from mazurka.report.standing import find_idle
from mazurka.report.terminal import safe
from mazurka.report.trace import Trace
from mazurka.report.tracefile import REPRODUCED, ReplayReport
from mazurka.report.verdict import CheckedFormula, Times, Verdict, limit_name
from mazurka.report.words import counted, listed
from mazurka.search import BITSTATE, LOST_WORKER, Statistics
from mazurka.search.registry import AUTO, load_strategy
from mazurka.search.result import LASSO

STYLES = {HOLDS: "bold green", VIOLATED: "bold red", INCONCLUSIVE: "bold yellow"}
ORDERS = {"dfs": "depth-first", "bfs": "breadth-first"}
CHOSEN = {
    "shortest": "the shortest there is",
    "switches": "with the fewest context switches",
    "found": "as the search met it",
}
CLASSIFYING = "optimistic"
"""The strategy whose answer is the classification, as much as the verdict."""
CLASSIFIERS = frozenset({"cpc", "cpc-strict", "cycle-detection", "optimistic", "transactions"})
"""The strategies by transactions, which find out how the threads share data."""
MOST_NOTES = 10
MOST_REASONS = 5


class Summary(Prose):
    """Prints one verdict on one console."""

    def __init__(
        self,
        console: Console,
        verdict: Verdict,
        *,
        full_trace: bool = False,
        classification: bool = False,
    ) -> None:
        super().__init__(console)
        self.verdict = verdict
        self.full_trace = full_trace
        self.every_class = classification
        self.untold: str | None = None
        """What is said about the steps of the counterexample that have no row."""

    def print(self, *, saved: str | None = None, asked: str | None = None) -> None:
        """Everything; `asked` is the file a trace should go to, `saved` the one it went to."""
        self.print_headline()
        self.print_line(self.verdict.scope, indent=2)
        if self.verdict.trace is not None:
            self.print_counterexample(self.verdict.trace)
        self.print_blank()
        if self.verdict.statistics is not None:
            self.print_line(self.describe_statistics(self.verdict.statistics), "dim")
        for formula in self.verdict.formulas:
            self.print_line(describe_formula(formula), "dim")
        if self.verdict.times is not None:
            shown = self.verdict.trace is not None
            self.print_line(describe_times(self.verdict.times, explained=shown), "dim")
        if self.verdict.classification and not self.tabled:
            shared = describe_sharing(self.verdict.classification, len(self.verdict.searches))
            self.print_line(f"{shared} (--classification shows more)", "dim")
        self.print_notes()
        for advice in self.list_advice(saved):
            self.print_line(advice, "dim")
        if asked is not None and saved is None:
            self.print_line(f"there is no counterexample to save: {asked} was not written", "dim")
        if self.tabled:
            self.print_sharing()
        if self.verdict.explanation:
            self.print_explanation()

    def print_explanation(self) -> None:
        """What was made of the model, part by part."""
        from mazurka.report.explaining import draw_rows

        for part in self.verdict.explanation:
            self.print_blank()
            self.print_line(part.title, "bold")
            draw_rows(self.console, part.rows)

    @property
    def tabled(self) -> bool:
        """Whether the classification is shown as a table, and not in one line."""
        return self.every_class or self.verdict.strategy == CLASSIFYING

    def print_sharing(self) -> None:
        """How the threads share each cell, and the rounds it took to find out."""
        verdict = self.verdict
        self.print_blank()
        if not verdict.classification:
            unable = verdict.strategy not in CLASSIFIERS
            not_asked = f"strategy {verdict.strategy} does not classify data"
            why = not_asked if unable else "no thread uses shared data"
            if verdict.violation is not None and not unable:
                why = "the search ended at the violation (--explore-all goes on)"
            self.print_line(f"there is no classification to show: {why}", "dim")
            return
        complete = verdict.verdict == HOLDS
        so_far = "" if complete else ", as far as the search went"
        self.print_line(f"how the threads share data{so_far}", "bold")
        draw_classes(self.console, verdict.classification, every=self.every_class)
        self.print_blank()
        self.print_line(describe_rounds(verdict.searches), "dim")
        reasons = [earlier.reason for earlier in verdict.rounds]
        shown = reasons if self.every_class else reasons[:MOST_REASONS]
        for number, reason in enumerate(shown, 1):
            self.print_line(f"round {number} ended: {reason}", "dim", indent=2)
        self.print_more(len(reasons) - len(shown), "--classification shows why each round ended")

    def print_notes(self) -> None:
        """What the strategy has to say, each remark a paragraph of its own."""
        notes = self.verdict.notes
        for note in notes[:MOST_NOTES]:
            self.print_note(note)
        self.print_more(len(notes) - MOST_NOTES, "--json has all notes")

    def print_more(self, number: int, where: str) -> None:
        if number > 0:
            self.print_line(f"{self.glyphs.ellipsis} {number:,} more; {where}", "dim", indent=2)

    def print_headline(self) -> None:
        """`violated: deadlock — no thread can move, 2 threads wait for ever`."""
        verdict = self.verdict
        line = Text().append(verdict.verdict, STYLES[verdict.verdict])
        if verdict.violation is not None:
            found = verdict.violation
            line.append(f": {found.kind}", STYLES[VIOLATED])
            placed = found.file and found.kind not in ("deadlock", "hang")
            place = f"{found.file}:{found.line}: " if placed else ""
            line.append(safe(f" {self.glyphs.dash} {place}{found.message}", self.glyphs))
        elif verdict.limits:
            named = "; ".join(limit_name(limit) for limit in verdict.limits)
            line.append(safe(f": {named}", self.glyphs), STYLES[INCONCLUSIVE])
        if self.console.is_terminal:
            self.print_hanging(line, 2)
        else:  # scripts read the first line
            self.console.print(line, soft_wrap=True)

    def print_counterexample(self, trace: Trace) -> None:
        self.print_blank()
        how = CHOSEN.get(self.verdict.counterexample or "", "")
        steps, switches = counted(trace.steps, "step"), counted(trace.switches, "context switch")
        where = "" if trace.settled is None else " to the hang"
        chosen = f", {how}" if how else ""
        self.print_line(f"counterexample: {steps}, {switches}{where}{chosen}", "bold")
        self.print_blank()
        columns = Columns(self.console, trace, full=self.full_trace)
        columns.draw()
        self.untold = columns.explain_untold()
        if self.verdict.violation is not None:
            self.print_ending(trace, self.verdict.violation)

    def describe_statistics(self, statistics: Statistics) -> str:
        verdict = self.verdict
        chosen = f" (chosen by auto: {verdict.choice})" if verdict.choice else ""
        rounds = len(verdict.searches)
        noun = "round" if statistics.unrolled is None else "search"  # a circuit has rounds, too
        together = f" in {counted(rounds, noun)}" if rounds > 1 else ""
        chosen_by = f"strategy {verdict.strategy}{chosen}"
        seconds = f"{verdict.search_seconds:.2f} s{together}"
        transitions = counted(statistics.transitions, "transition")
        if statistics.executions is not None:
            executions = counted(statistics.executions, "execution")
            return "  ".join((executions, transitions, seconds, chosen_by))
        if statistics.unrolled is not None:
            many = counted(statistics.depth, statistics.unrolled_unit)
            if statistics.states:
                many = counted(statistics.states, "state")
            return "  ".join((many, seconds, bytes_text(verdict.peak_bytes), chosen_by))
        order = ORDERS.get(verdict.order or "", "")
        states, memory = counted(statistics.states, "state"), bytes_text(verdict.peak_bytes)
        if statistics.disk_bytes is not None:
            memory = f"{memory} and {bytes_text(statistics.disk_bytes)} on disk"
        return "  ".join((states, transitions, seconds, memory, f"{chosen_by}, {order}"))

    def list_advice(self, saved: str | None) -> list[str]:
        """The next thing to try."""
        verdict = self.verdict
        lines = [] if self.untold is None else [self.untold]
        stuck = verdict.violation is not None and verdict.violation.kind in ("deadlock", "hang")
        if stuck and verdict.trace is not None and (idle := find_idle(verdict.trace.ending)):
            lines.append(
                f"if {listed(idle)} may wait for ever after the others have ended, add an end:"
                " a last item in the queue, or a flag that ends the loop"
            )
        if verdict.alternative is not None:
            other = verdict.alternative
            lines.append(f"{other.option} shows {other.what}{cost_text(other)}")
        if saved is not None:
            lines.append(f"saved; step through it with: mazurka replay {shlex.quote(saved)} --step")
        elif verdict.violation is not None and verdict.violation.kind == LASSO:
            pass  # a trace file does not keep formulas
        elif verdict.trace is not None:
            lines.append("--trace FILE saves it for mazurka replay")
        found = verdict.violation is not None
        limits = () if found else verdict.limits
        lines += dict.fromkeys(text for limit in limits if (text := advise(limit)))
        if "memory" in verdict.limits and self.may_store_elsewhere():
            lines.append(STORE_ADVICE)
        if UNSOUND in verdict.limits and verdict.strategy is not None:
            lines.append(
                "this strategy finds violations, but it cannot exclude them:"
                f" {load_strategy(verdict.strategy).weakness};"
                " --strategy cpc and --strategy full answer for certain"
            )
        return [safe(line, self.glyphs) for line in lines]

    def may_store_elsewhere(self) -> bool:
        """Whether `--store` would help: a strategy that has it ran in memory, or `auto` chose."""
        asked = self.verdict.options
        named = asked.get("strategy") or AUTO
        able = named == AUTO or any(
            option.name == "store" for option in load_strategy(str(named)).options
        )
        return able and asked.get("store") == "memory"


LIMIT_ADVICE = {
    "time": "a larger --limit-time, or smaller constants (-D NAME=VALUE), may give an answer",
    "memory": "a larger --limit-memory, or smaller constants (-D NAME=VALUE), may give an answer",
    "disk": "smaller constants (-D NAME=VALUE) may give an answer",
    LOST_WORKER: "a worker that ends takes its states with it: run it again, with more machines if"
    " memory was short",
    BITSTATE: "more --limit-memory misses fewer states; --store disk misses none",
}
FURTHER = "a larger --rounds looks further ahead; --strategy pdr or bdd may prove what never ends"
BOUND_ADVICE = {
    "the atomic section at": "a larger --unrolling follows the loops of atomic sections further",
    "some execution has more than": FURTHER,
    "some run goes on for more than": FURTHER,
    "some thread makes more than": FURTHER,
}
"""By how the message of a bound begins."""
STORE_ADVICE = (
    "--store disk keeps visited states on disk; --store bitstate keeps some bits of each in memory,"
    " and looks for violations only"
)


def advise(limit: str) -> str | None:
    """What to try where a limit has ended a search."""
    if limit in LIMIT_ADVICE:
        return LIMIT_ADVICE[limit]
    return next((text for start, text in BOUND_ADVICE.items() if limit.startswith(start)), None)


def describe_formula(checked: CheckedFormula) -> str:
    """`12 states of the product  0.05 s  33 kB  formula 'G (req -> F ack)'`."""
    figures = checked.statistics
    many = f"{counted(figures.states, 'state')} of the product"
    if figures.unrolled is not None and not figures.states:
        many = counted(figures.depth, figures.unrolled_unit)
    memory = bytes_text(figures.peak_bytes)
    return "  ".join((many, f"{figures.seconds:.2f} s", memory, f"formula {checked.text!r}"))


def describe_times(times: Times, *, explained: bool) -> str:
    """`0.42 s in all: 0.30 s preparing, 0.12 s searching`."""
    parts = [f"{times.preparing:.2f} s preparing", f"{times.searching:.2f} s searching"]
    if explained:
        parts.append(f"{times.explaining:.2f} s explaining")
    return f"{times.elapsed:.2f} s in all: {', '.join(parts)}"


def cost_text(other: Alternative) -> str:
    if other.steps is None or other.switches is None:
        return ""
    return f" ({counted(other.steps, 'step')}, {counted(other.switches, 'context switch')})"


def print_replay(
    console: Console,
    report: ReplayReport,
    *,
    full_trace: bool = False,
    pause: Callable[[], bool] | None = None,
) -> None:
    """A replayed trace in columns, and what has become of its violation."""
    prose = Prose(console)
    columns = Columns(console, report.trace, full=full_trace)
    drawn = columns.draw(pause) if report.trace.rows else True
    if drawn and report.finding is not None:
        prose.print_ending(report.trace, report.finding)
    prose.print_blank()
    prose.print_line(report.message, "bold red" if report.outcome == REPRODUCED else "bold yellow")
    if drawn and (untold := columns.explain_untold()):
        prose.print_line(untold, "dim")
