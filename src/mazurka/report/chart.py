"""Draw a counterexample: a sequence chart, and for a deadlock who waits for whom.

Each thread has a lifeline from top to bottom, with its steps in the order in which they happen:
the source line, and below it what the step did.  A bar beside the lifeline shows that the thread
holds a lock.  Arrows lead from a put to the get of the same item, from a step to the thread that it
lets go on, and from the start of a thread to its first step.  On the right are the contents of the
queues, where they change.
"""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from mazurka.ir.program import Program
from mazurka.report.answer import Finding
from mazurka.report.columns import FAILED, OPERATION, READ, WRITE, Columns
from mazurka.report.exchanges import (
    MESSAGE,
    STARTS,
    UNBLOCKS,
    WAKES,
    Exchanges,
    Hold,
    find_exchanges,
)
from mazurka.report.operations import TraceRow
from mazurka.report.places import Shown
from mazurka.report.standing import Standing
from mazurka.report.svg import CHARACTER, SMALL, Drawing, fit, text_width
from mazurka.report.trace import Trace

MARK = "mazurka-chart"
"""In the beginning of every chart."""

MARGIN, GUTTER = 16, 44
NARROWEST, WIDEST = 18, 40
"""Characters of the text beside a lifeline."""
ROW, EFFECT = 19, 14
BAR = 5
INDENT = 12
GAP, BARS, CHANNELS = 70, 18, 6
"""The room between two columns: labels, then the arrows that go down in it, and bars."""
MOST_CONTENTS = 24
MOST_NAME = 24
STYLES = {READ: "read", WRITE: "write", OPERATION: "good", FAILED: "bad"}
LEGEND = {
    MESSAGE: "a message",
    UNBLOCKS: "lets a waiting thread go on",
    WAKES: "notifies",
    STARTS: "starts a thread",
}


def draw_chart(
    program: Program, trace: Trace, finding: Finding | None, *, full: bool = False
) -> str:
    """Return the chart of a trace as SVG; a long trace is shortened, unless it is to be `full`."""
    return _Chart(program, trace, finding, full).draw()


@dataclass(frozen=True)
class _Lane:
    """The column of one thread."""

    x: float
    characters: int


class _Chart:
    def __init__(self, program: Program, trace: Trace, finding: Finding | None, full: bool) -> None:
        self.trace = trace
        self.finding = finding
        said = f"{finding.kind}: {finding.message}" if finding else "a replayed schedule"
        self.drawing = Drawing(f"{program.name}: {said}", MARK)
        console = Console(file=io.StringIO(), width=200, color_system=None, legacy_windows=False)
        self.columns = Columns(console, trace, full=full)
        self.rows = list(self.columns.choose_rows())
        self.exchanges: Exchanges = find_exchanges(program, trace.moves)
        self.lanes = self._plan()
        self.queues_at: float = MARGIN + GUTTER
        for lane in self.lanes.values():
            self.queues_at = max(self.queues_at, lane.x + (lane.characters + 5) * CHARACTER)
        self.queue_places = self._plan_queues()
        self.places: dict[int, float] = {}
        """The height of each step that is shown, by its number."""

    def _plan(self) -> dict[int, _Lane]:
        """Give a column to each thread that takes part, and to those that wait at the end."""
        taking_part = {row.thread for row in self.rows if row is not None}
        taking_part |= {each.thread for each in self.trace.ending if each.status == "waits"}
        lanes: dict[int, _Lane] = {}
        x: float = MARGIN + GUTTER
        for thread in sorted(taking_part):
            widest = max((self._widest(row) for row in self._rows_of(thread)), default=0)
            name = len(fit(self.trace.threads[thread], MOST_NAME))
            characters = min(max(widest, name, NARROWEST), WIDEST)
            lanes[thread] = _Lane(x, characters)
            x += INDENT + (characters + 1) * CHARACTER + GAP
        return lanes

    def _plan_queues(self) -> dict[str, float]:
        places: dict[str, float] = {}
        x = self.queues_at
        for name, contents in self.exchanges.contents.items():
            places[name] = x
            widest = max(len(show_contents(items)) for items in contents.values())
            x += (max(widest, len(fit(name, MOST_NAME))) + 3) * CHARACTER
        return places

    def _rows_of(self, thread: int) -> Iterable[TraceRow]:
        return (row for row in self.rows if row is not None and row.thread == thread)

    def _widest(self, row: TraceRow) -> int:
        effects = (math.ceil(len(text) * SMALL / CHARACTER) for text, _ in self._effects(row))
        return max((len(self._source(row)), *effects))

    def _source(self, row: TraceRow) -> str:
        line, source = row.failing or (row.line, row.source or row.operation)
        return f"{line} {'✗ ' if row.failed else ''}{source}"

    def _effects(self, row: TraceRow) -> list[tuple[str, str]]:
        """What a step did, each with its style."""
        parts: list[Text] = self.columns.show_effects(row)
        return [(part.plain, STYLES.get(str(part.style), "dim")) for part in parts]

    # -- the chart -----------------------------------------------------------------------

    def draw(self) -> str:
        y = self._draw_title(MARGIN + 12)
        top = self._draw_names(y)
        bottom = self._draw_rows(top + 22)
        self._draw_lives(top, bottom)
        self._draw_holds(bottom)
        self._draw_arrows()
        self._draw_steps()
        bottom = self._draw_collisions(self._draw_ends(bottom))
        bottom = self._draw_legend(bottom + 22)
        if any(each.status == "waits" for each in self.trace.ending) and self._is_deadlock():
            _WaitForGraph(self.drawing, self.trace.ending, self.trace.threads).draw(bottom + 26)
        return self.drawing.finish()

    def _is_deadlock(self) -> bool:
        return self.finding is not None and self.finding.kind == "deadlock"

    def _draw_title(self, y: float) -> float:
        if self.finding is not None:
            place = f"{self.finding.file}:{self.finding.line}" if self.finding.file else ""
            for number, line in enumerate(textwrap.wrap(f"{self.finding.message}", 90)):
                head = f"{self.finding.kind}: " if number == 0 else ""
                self.drawing.text(MARGIN, y, head, "bold bad")
                self.drawing.text(MARGIN + text_width(head), y, line, "bold")
                y += 17
            self.drawing.text(MARGIN, y, place, "dim small")
        return y + 12

    def _draw_names(self, y: float) -> float:
        for thread, lane in self.lanes.items():
            name = fit(self.trace.threads[thread], MOST_NAME)
            self.drawing.box(lane.x - 10, y, text_width(name) + 20, 22, "box")
            self.drawing.text(lane.x, y + 15, name, "bold")
        for name, x in self.queue_places.items():
            shown = fit(name, MOST_NAME)
            self.drawing.box(x - 6, y, text_width(shown) + 12, 22, "object")
            self.drawing.text(x, y + 15, shown)
        return y + 22

    def _draw_rows(self, y: float) -> float:
        """Find a place for each row, and draw what is not on a lifeline."""
        before: int | None = None
        for row in self.rows:
            if row is None:
                left_out = f"… {self.columns.count_left_out():,} steps left out"
                self.drawing.text(MARGIN + GUTTER + INDENT, y + 4, left_out, "dim")
                y += 2 * ROW
                before = None
                continue
            if before is not None and before != row.thread:
                y += 5
            before = row.thread
            self.places[row.number] = y
            self.drawing.text(MARGIN + GUTTER - 20, y + 4, str(row.number), "dim", anchor="end")
            self._draw_contents(row.number, y)
            y += ROW + EFFECT * len(self._wrap(row))
        return y

    def _draw_contents(self, number: int, y: float) -> None:
        for name, contents in self.exchanges.contents.items():
            if number in contents:
                self.drawing.text(self.queue_places[name], y + 4, show_contents(contents[number]))

    def _wrap(self, row: TraceRow) -> list[list[tuple[str, str]]]:
        """The effects of a step in lines that fit its column."""
        room = int(self.lanes[row.thread].characters * CHARACTER / SMALL)
        lines: list[list[tuple[str, str]]] = []
        used = 0
        for text, style in self._effects(row):
            shown = fit(text, room)
            if lines and used + 2 + len(shown) <= room:
                lines[-1].append((shown, style))
                used += 2 + len(shown)
            else:
                lines.append([(shown, style)])
                used = len(shown)
        return lines

    def _draw_lives(self, top: float, bottom: float) -> None:
        for lane in self.lanes.values():
            self.drawing.line(lane.x, top, lane.x, bottom, "life")

    def _draw_holds(self, bottom: float) -> None:
        """Draw the bars of the locks that are held, one beside the other."""
        open_bars: dict[int, list[Hold | None]] = {}
        for hold in sorted(self.exchanges.holds, key=lambda each: each.start):
            start, end = self._height(hold.start), self._height(hold.end)
            lane = self.lanes.get(hold.thread)
            if start is None or lane is None or (hold.end is not None and end is None):
                continue
            bars = open_bars.setdefault(hold.thread, [])
            free = [
                place
                for place, other in enumerate(bars)
                if other is None or (other.end is not None and other.end <= hold.start)
            ]
            place = free[0] if free else len(bars)
            bars[place : place + 1] = [hold]
            x = lane.x - 4 - BAR * (place + 1)
            stop = bottom if end is None else end
            self.drawing.box(x, start, BAR - 1, max(stop - start, 4), "hold")

    def _height(self, number: int | None) -> float | None:
        return None if number is None else self.places.get(number)

    def _draw_arrows(self) -> None:
        """Draw each arrow along its rows, and from one row to the other between the columns.

        A row has the text of one step only, so an arrow never crosses a text.
        """
        moves = self.trace.moves
        used: dict[float, int] = {}
        for arrow in self.exchanges.arrows:
            start, end = self._height(arrow.source), self._height(arrow.target)
            sender, receiver = moves[arrow.source - 1].thread, moves[arrow.target - 1].thread
            if start is None or end is None:
                continue
            source, target = self.lanes[sender], self.lanes[receiver]
            if source.x < target.x:
                x, to_x, gap = source.x + self._extent(arrow.source), target.x - 4, target.x
            else:
                x, to_x, gap = (
                    source.x,
                    target.x + self._extent(arrow.target),
                    self._after(receiver),
                )
            place = used[gap] = used.get(gap, -1) + 1
            channel = gap - BARS - 4 * (place % CHANNELS)
            self.drawing.route(x, start, channel, to_x, end, arrow.kind)
            if arrow.label:
                shown = fit(arrow.label, 12)
                half = text_width(shown, small=True) / 2 + 3
                middle, y = (x + half, start) if source.x < target.x else (to_x + 12 + half, end)
                self.drawing.label(middle, y, shown, "small read bold")

    def _extent(self, number: int) -> float:
        """How far the text of a step reaches to the right of its lifeline."""
        row = next(row for row in self.rows if row is not None and row.number == number)
        return INDENT + text_width(fit(self._source(row), self.lanes[row.thread].characters)) + 6

    def _after(self, thread: int) -> float:
        """Where the next column begins."""
        return min(lane.x for lane in self.lanes.values() if lane.x > self.lanes[thread].x)

    def _draw_steps(self) -> None:
        for row in self.rows:
            if row is None:
                continue
            lane, y = self.lanes[row.thread], self.places[row.number]
            self.drawing.dot(lane.x, y, "dot bad" if row.failed else "dot")
            x = lane.x + INDENT
            source = fit(self._source(row), lane.characters)
            self.drawing.text(x, y + 4, source, "bad bold" if row.failed else "")
            for number, line in enumerate(self._wrap(row), 1):
                place = x + 2 * SMALL
                for text, style in line:
                    self.drawing.text(place, y + 4 + EFFECT * number, text, f"small {style}")
                    place += text_width(text + "  ", small=True)

    def _draw_ends(self, y: float) -> float:
        """Say below each lifeline why the thread does not go on."""
        lowest = y
        if self.finding is None:
            return lowest
        for standing in self.trace.ending:
            lane = self.lanes.get(standing.thread)
            if lane is None or standing.status == "ready":
                continue
            bad = standing.status in ("waits", "failed")
            said = standing.reason
            if standing.line and standing.status == "waits":
                said = f"line {standing.line}: {said}"
            lines = textwrap.wrap(said, lane.characters) or [""]
            self.drawing.dot(lane.x, y, "dot bad" if bad else "dot")
            for number, line in enumerate(lines):
                style = "small bad" if bad else "small dim"
                self.drawing.text(lane.x + INDENT, y + 4 + EFFECT * number, line, style)
            lowest = max(lowest, y + EFFECT * len(lines))
        return lowest

    def _draw_collisions(self, y: float) -> float:
        """Say of a data race which two steps can happen now."""
        for side in self.trace.collisions:
            text = f"{side.name}, line {side.line}: {side.source} ({side.action} {side.place})"
            self.drawing.text(MARGIN, y + 18, fit(f"✗ {text}", 110), "small bad")
            y += EFFECT
        return y

    def _draw_legend(self, y: float) -> float:
        x: float = MARGIN
        used = {arrow.kind for arrow in self.exchanges.arrows}
        for kind, meaning in LEGEND.items():
            if kind in used:
                self.drawing.arrow(x, y - 4, x + 26, y - 4, kind)
                self.drawing.text(x + 32, y, meaning, "small dim")
                x += 32 + text_width(meaning, small=True) + 22
        if self.exchanges.holds:
            self.drawing.box(x, y - 11, BAR - 1, 13, "hold")
            self.drawing.text(x + 10, y, "holds a lock", "small dim")
            x += 1
        return y if x > MARGIN else y - 22


def show_contents(items: tuple[Shown, ...]) -> str:
    return fit(f"[{', '.join(map(str, items))}]", MOST_CONTENTS)


class _WaitForGraph:
    """Who waits for what, and who has it, around a circle: a cycle looks like one."""

    HEIGHT = 24

    def __init__(
        self, drawing: Drawing, ending: tuple[Standing, ...], threads: tuple[str, ...]
    ) -> None:
        self.drawing = drawing
        self.threads = threads
        self.waiting = [each for each in ending if each.status == "waits"]
        self.wants: dict[str, list[str]] = {}
        """For each waiting thread the objects, for each object the threads that have it."""
        for each in self.waiting:
            self._enter(each)
        self.places: dict[str, tuple[float, float]] = {}

    def _enter(self, standing: Standing) -> None:
        holders = [self._thread(number) for number in standing.holders]
        wanted = standing.wants or standing.reason
        if wanted in self.threads:
            holders = [self._thread(self.threads.index(wanted))]
            self.wants.setdefault(self._thread(standing.thread), []).extend(holders)
            return
        thing = f"o:{wanted}"
        self.wants.setdefault(self._thread(standing.thread), []).append(thing)
        held = self.wants.setdefault(thing, [])
        held += [holder for holder in holders if holder not in held]

    def _thread(self, number: int) -> str:
        return f"t:{number}"

    def draw(self, y: float) -> None:
        self.drawing.text(MARGIN, y, "who waits for whom", "bold")
        order = self._order()
        widest = max(self._width(node) for node in order)
        across = max(90.0, widest / 2 + 60, len(order) * 22.0)
        down = max(46.0, len(order) * 17.0)
        middle = MARGIN + across + widest / 2, y + 26 + down + self.HEIGHT / 2
        for number, node in enumerate(order):
            angle = 2 * math.pi * number / len(order) - math.pi / 2
            x, height = middle[0] + across * math.cos(angle), middle[1] + down * math.sin(angle)
            self.places[node] = x, height
        for node, others in self.wants.items():
            for other in others:
                self._connect(node, other)
        for node in order:
            self._draw_node(node)

    def _order(self) -> list[str]:
        """Put each node after one that leads to it, where that is possible."""
        order: dict[str, None] = {}
        for start in [self._thread(each.thread) for each in self.waiting]:
            waiting = [start]
            while waiting:
                node = waiting.pop()
                if node not in order:
                    order[node] = None
                    waiting += reversed(self.wants.get(node, []))
        return list(order)

    def _name(self, node: str) -> str:
        kind, _, name = node.partition(":")
        return fit(self.threads[int(name)] if kind == "t" else name, MOST_NAME)

    def _width(self, node: str) -> float:
        return text_width(self._name(node)) + 18

    def _draw_node(self, node: str) -> None:
        x, y = self.places[node]
        width = self._width(node)
        style = "object" if node.startswith("o:") else "box"
        if node in self.wants and style == "box":
            style = "blocked"
        self.drawing.box(x - width / 2, y - self.HEIGHT / 2, width, self.HEIGHT, style)
        self.drawing.text(x, y + 4, self._name(node), anchor="middle")

    def _connect(self, node: str, other: str) -> None:
        holds = node.startswith("o:")
        start, end = self._border(node, other), self._border(other, node)
        if node == other:
            return
        self.drawing.arrow(*start, *end, "holds" if holds else "waits")
        label = "held by" if holds else "waits for"
        middle = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
        self.drawing.label(*middle, label, "small dim")

    def _border(self, node: str, toward: str) -> tuple[float, float]:
        """Find where the line between the middles of two nodes leaves the first one's box."""
        (x, y), (to_x, to_y) = self.places[node], self.places[toward]
        across, down = to_x - x, to_y - y
        if not across and not down:
            return x, y
        reach = min(
            (self._width(node) / 2 + 2) / abs(across) if across else math.inf,
            (self.HEIGHT / 2 + 2) / abs(down) if down else math.inf,
        )
        return x + across * reach, y + down * reach
