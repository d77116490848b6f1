"""Read texts that may crash the parser, or fill the memory, in another process first.

libclang calls itself for each level of nesting, on a stack that ends the process when it is full,
and it has a place for each element up to the last one that an initializer names.  Nothing of that
can be interrupted.  So a text that may need much of either is read in another process first, within
the limits of time and memory; what is read there without a crash can be read here.

Most texts need no such process.  A text is *plain* if it is short, no initializer names a high
index, no directive stands after something else on its line or continues on the next line (it may
name a file without end), and nothing in it can be nested deeply.  The nesting is bounded from
above: each level needs a token of its own, so the tokens count that stand before a place in the
statements around it.
"""

from __future__ import annotations

import re
from itertools import pairwise

from mazurka.deadline import MemoryLimitError, TimeLimitError, bytes_left
from mazurka.errors import UnsupportedError
from mazurka.frontend.c.bounded import run_bounded
from mazurka.frontend.c.source.places import PlaceMap
from mazurka.processes import python

MOST_PLAIN_CHARACTERS = 2_000_000
MOST_PLAIN_TOKENS = 500
"""The parser crashes at about 1,000 levels at the earliest."""
ROOM_FOR_PARSER = 400 << 20
"""The memory that the other process needs for itself."""
SHARE_OF_TIME = 0.5
"""What is read in another process must be read again in this one."""
READER = "mazurka.frontend.c.source.reading_apart:read_in_child"
CRASHED, NO_MEMORY = 3, 4

_TOKEN = re.compile(
    r"""(?P<skipped>^[ \t]*\#[^\n\r]*|//[^\n\r]*|/\*.*?\*/)
    |"(?:[^"\\\n\r]|\\.)*"|'(?:[^'\\\n\r]|\\.)*'|[A-Za-z_]\w*|\d[\w.]*|[^\s\w]""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
"""A lone carriage return ends a line, as it does for the parser."""
_DESIGNATOR = re.compile(r"[{,]\s*(?=\[|\.\s*[A-Za-z_])")
_LOW_DESIGNATOR = re.compile(
    r"(?:\s*(?:\[\s*\d{1,5}\s*(?:\.\.\.\s*\d{1,5}\s*)?\]|\.\s*[A-Za-z_]\w*))+\s*="
)
_PAIRS = {")": "(", "]": "[", "}": "{"}
_ODD_DIRECTIVE = re.compile(r"[ \t]*\#[^\n\r]*\\\Z|\#\Z")
"""A directive that continues on the next line, and the `#` of a directive inside a line."""


def is_plain(text: str) -> bool:
    """Return whether the parser can read a preprocessed text without much stack or memory."""
    return (
        len(text) <= MOST_PLAIN_CHARACTERS
        and all(_LOW_DESIGNATOR.match(text, each.end()) for each in _DESIGNATOR.finditer(text))
        and "%:" not in text
        and not any(_ODD_DIRECTIVE.match(each[0]) for each in _TOKEN.finditer(text))
        and find_deepest(text)[0] <= MOST_PLAIN_TOKENS
    )


def find_deepest(text: str) -> tuple[int, int]:
    """Return an upper bound of the nesting in a text, and the line where it is reached.

    A statement ends at its semicolon or brace, unless `else` or an operator goes on with it; what
    follows is not nested in it.  The same holds for commas in lists of initial values."""
    runs = [0]
    """The tokens of the current statement, for each open bracket and around all of them."""
    opened = ["{"]
    lists = [False]
    """Whether a bracket is a list of initial values or of enumerators."""
    total = deepest = place = 0
    tokens = [each for each in _TOKEN.finditer(text) if each["skipped"] is None]
    before = ""
    for found, following in pairwise([*tokens, None]):
        assert found is not None
        token, after = found[0], "" if following is None else following[0]
        runs[-1] += 1
        total += 1
        if total > deepest:
            deepest, place = total, found.start()
        ends = False
        if token in ("(", "[", "{"):
            lists.append(token == "{" and (before in ("=", "enum") or lists[-1]))
            runs.append(0)
            opened.append(token)
        elif token in _PAIRS:
            if len(runs) > 1:
                total -= runs.pop()
                opened.pop()
                lists.pop()
            ends = token == "}" and after not in ("else", "*", "&", "+", "-")
            ends = ends and (after[:1].isalpha() or after[:1] in ("_", "{", "}", ""))
        elif token == ";":
            ends = opened[-1] == "{" and after != "else"
        elif token == ",":
            ends = lists[-1]
        if ends and opened[-1] == "{":
            total -= runs[-1]
            runs[-1] = 0
        before = "enum" if before == "enum" and token.isidentifier() else token
    return deepest, text.count("\n", 0, place) + 1


def probe(path: str, text: str, model: str, *, preprocessed: bool) -> None:
    """Raise an error if the parser cannot read a text within the limits."""
    if is_plain(text):
        return
    command = python(READER, path, model, "1" if preprocessed else "")
    ended = run_bounded(
        command, text.encode(), directory=".", share=SHARE_OF_TIME, extra=ROOM_FOR_PARSER
    )
    if not ended.status and not ended.late:
        return
    if ended.late:
        raise TimeLimitError("the time limit was reached while parsing the program")
    if ended.status == NO_MEMORY and bytes_left() is not None:
        raise MemoryLimitError("the memory limit was reached while parsing the program")
    raise UnsupportedError.at(
        PlaceMap(path, text, preprocessed).span(find_deepest(text)[1], 1, 0, 0),
        "the parser (libclang) cannot read this: it is nested too deeply, or too large for memory",
    )
