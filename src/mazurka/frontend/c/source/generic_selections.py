"""Which association each `_Generic` selects.

libclang has no function for that.  So the text is parsed a second time, with a number beside each
selection: `_Generic(x, int: f, default: g)` becomes `(_Generic(x, int: 1, default: 2),
_Generic(x, int: f, default: g))`, and the value of the first one, which the parser works out, is
the position of what is selected.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from mazurka.frontend.c.source.cursors import children_of

_WORD = re.compile(rb"\b_Generic\s*\(")
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[()\[\]{},:?]|_Generic\b|[^\w]|\w+')
_MOST = 1_000
"""No selection has so many associations."""


def find_selected(
    data: bytes, parse: Callable[[str], Any], evaluate: Callable[[Any], int | None]
) -> dict[int, int]:
    """By the place of each `_Generic` in a text the position of the association it selects."""
    starts = [found.start() for found in _WORD.finditer(data)]
    if not starts:
        return {}
    selected: dict[int, int] = {}
    waiting = [parse(_add_numbers(data, starts).decode()).cursor]
    while waiting:
        cursor = waiting.pop()
        waiting.extend(children_of(cursor))
        if cursor.kind.name == "GENERIC_SELECTION_EXPR":
            number = evaluate(cursor)
            if number is not None and number >= _MOST:
                selected[starts[number // _MOST - 1]] = number % _MOST
    return selected


def _add_numbers(data: bytes, starts: list[int]) -> bytes:
    pieces: list[tuple[int, bytes]] = []
    for number, start in enumerate(starts, start=1):
        control, associations, end = _split(data, start)
        choices = b", ".join(
            b"%s: %d" % (label, number * _MOST + position)
            for position, label in enumerate(associations)
        )
        pieces += [(start, b"(_Generic(%s, %s), " % (control, choices)), (end, b")")]
    pieces.sort(key=lambda piece: piece[0])
    result, last = [], 0
    for place, text in pieces:
        result += [data[last:place], text]
        last = place
    return b"".join((*result, data[last:]))


def _split(data: bytes, start: int) -> tuple[bytes, list[bytes], int]:
    """The controlling expression of a selection, the types of its associations, and its end."""
    begin = place = data.index(b"(", start) + 1
    parts: list[bytes] = []
    labels: list[bytes] = []
    depth, colon = 1, 0
    while depth:
        found = _TOKEN.match(data, place)
        assert found is not None
        token, here, place = found[0], place, found.end()
        if token in (b"(", b"[", b"{"):
            depth += 1
        elif token in (b")", b"]", b"}"):
            depth -= 1
        elif token == b":" and depth == 1 and not colon and parts:
            colon = here
        if (token == b"," and depth == 1) or not depth:
            if parts:
                labels.append(data[begin : colon or here])
            parts.append(data[begin:here])
            begin, colon = place, 0
    return parts[0], labels, place
