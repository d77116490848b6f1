"""Why a test does not do the same again: what a line of source says, and what to do about it."""

from __future__ import annotations

import linecache
import re
from typing import Final, NamedTuple

from mazurka.runtime.core.sites import shown_path

CLOCK: Final = "the clock"
REAL_CLOCK: Final = "a clock that is not virtual (time.process_time(), or one that a library reads)"
ABOVE: Final = 12
"""How many lines above a place are looked at."""


class Cause(NamedTuple):
    """Something outside of the schedule on which a test may depend."""

    name: str
    words: re.Pattern[str]
    """Finds it in a line of source."""
    remedy: str


CAUSES: Final = tuple(
    Cause(name, re.compile(words), remedy)
    for name, words, remedy in (
        (
            "random numbers",
            r"(?i:\brandom|_random)|\brandint|\bshuffle|\bchoice|\bsecrets\b|\burandom|\buuid|\btoken_",
            "draw them from a generator that the test makes with a seed, random.Random(1)",
        ),
        (
            CLOCK,
            r"\btime\b|\bperf_counter|\bmonotonic|_time(?:_ns)?\b|\b(?:now|utcnow|today)\(",
            "use time.monotonic() or time.time(), which are virtual, or pass the time in",
        ),
        (
            "object identities",
            r"\bid\(|\bhash\(|\brepr\(|\bstr\(|!r\}",
            "let no name, key or text be made of an object's address",
        ),
        (
            "the number of a process or a thread",
            r"\bgetpid\(|\bget_ident\(|native_id",
            "name threads and objects yourself",
        ),
        (
            "a counter that every execution moves on",
            r"\bnext\(|\.__next__\b|\+= 1",
            "make the counter inside the test, or use itertools.count()",
        ),
        (
            "files",
            r"\bopen\(|\bread_(?:text|bytes)\(|\.exists\(|\blistdir\(|\bscandir\(|\bglob\(|\bstat\(",
            "write the files inside the test, into a directory of its own",
        ),
        (
            "what the environment says",
            r"\benviron\b|\bgetenv\(|\bgetcwd\(",
            "set it inside the test",
        ),
    )
)


def find_causes(line: str) -> list[Cause]:
    """Find what a line of source may depend on."""
    return [cause for cause in CAUSES if cause.words.search(line)]


def explain_line(line: str) -> str:
    """Name what a line may depend on: `: the clock or random numbers`; empty if nothing is seen."""
    causes = find_causes(line)
    return f": {' or '.join(cause.name for cause in causes)}" if causes else ""


def name_remedies(line: str) -> str:
    """Say what to do about a line; empty if nothing is seen in it."""
    return "; ".join(cause.remedy for cause in find_causes(line))


def find_cause_above(file: str, line: int) -> str | None:
    """Find a likely cause of what a line does, there or a few lines above in the same function, and
    say where it is and what to do about it."""
    for number in range(line, max(line - ABOVE, 0), -1):
        text = linecache.getline(file, number).strip()
        causes = find_causes(text.partition("#")[0])
        if causes:
            first = causes[0]
            at = f"{shown_path(file)}:{number}"
            return f"it depends on {first.name}, at {at} `{text}`: {first.remedy}"
        if text.startswith(("def ", "async def ", "class ")):
            return None
    return None
