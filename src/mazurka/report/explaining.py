"""What was made of a model, for people: its threads, and the bits of its state.

`--explain` prints this part for every strategy.  Strategies of the symbolic engine add what they
have made of it (`mazurka.symbolic.explaining`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from mazurka.ir.native.layout import Layout, make_layout
from mazurka.ir.program import FIRST_LOCATION, Program
from mazurka.report.terminal import glyphs_for, safe
from mazurka.report.words import counted
from mazurka.search import ExplainedPart
from mazurka.search.naming import name_cells

MOST_THREADS = 8
"""Threads that are named one by one."""
INDENT = GAP = 2


def describe_program(program: Program) -> ExplainedPart:
    """The threads of a prepared program, and its packed state."""
    layout = make_layout(program)
    words = counted(layout.words, "word")
    rows = [
        ("threads", describe_threads(layout)),
        ("state", f"{counted(layout.bits, 'bit')}, packed into {words} of 64 bits"),
        *describe_cells(layout),
    ]
    return ExplainedPart("what was made of the model", tuple(rows))


def describe_threads(layout: Layout) -> str:
    """How many places each thread has, and at how many of them it can rest."""
    program, texts = layout.program, []
    for thread, starts in zip(program.threads, layout.starts, strict=True):
        rests = sum(place >= FIRST_LOCATION for place in starts)
        places = len(thread.locations) - FIRST_LOCATION
        texts.append(f"{thread.name} at {rests:,} of {places:,}")
    shown = texts if len(texts) <= MOST_THREADS else texts[: MOST_THREADS - 1]
    more = [f"{len(texts) - len(shown):,} more"] if len(shown) < len(texts) else []
    between = "what lies between is one step"
    return (
        f"{len(texts):,}; each rests at some of its places, and {between}:"
        f" {', '.join([*shown, *more])}"
    )


def describe_cells(layout: Layout) -> Iterator[tuple[str, str]]:
    """The cells by width, the widest first; program counters and cells without bits apart."""
    program = layout.program
    counters = {thread.counter for thread in program.threads}
    by_width: dict[int, list[int]] = {}
    for address, slot in enumerate(layout.slots):
        if address not in counters and address:  # address 0 is nobody's
            by_width.setdefault(slot.width, []).append(address)
    for width in sorted(by_width, reverse=True):
        if width:
            yield counted(width, "bit"), name_cells(program, by_width[width])
    widths = [layout.slots[address].width for address in sorted(counters)]
    yield "counters", f"{counted(sum(widths), 'bit')} in all: where each thread rests"
    if still := by_width.get(0):
        cells = counted(len(still), "cell")
        yield "no bits", f"{cells}, each with the same value whenever its thread rests"


def draw_rows(console: Console, rows: Sequence[tuple[str, str]]) -> None:
    """Print named rows, the names in a column of their own."""
    glyphs = glyphs_for(console)
    column = INDENT + max(cell_len(name) for name, _ in rows) + GAP
    for name, text in rows:
        head = " " * INDENT + name
        for line in Text(safe(text, glyphs)).wrap(console, max(console.width - column, 20)):
            line.rstrip()
            padding = " " * (column - cell_len(head))
            console.print(Text(head + padding, "dim").append(line), soft_wrap=True)
            head = ""
