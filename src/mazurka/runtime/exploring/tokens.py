"""A failing schedule as a short text, and how to follow it on the program as it is now.

A token says where each thread was stopped, and who went on then.

Step numbers would be worth nothing after the next edit of the program.  So a token says for each
switch before which operation the thread stood that was left: what kind of operation, in which
function, on a line with which text, and the how-manieth time the thread came there.  Lines that are
added or removed elsewhere, comments, and operations in between do not matter.

It also says which places in the source had to be scheduling points (`sharing.locations`), so that
the run is divided into the same steps, and can be told in the same rows, when it is seen again.

A token is data: JSON, compressed, in the alphabet of URLs.  Reading one runs nothing.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import linecache
import os
import re
import sys
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mazurka.errors import MazurkaError
from mazurka.runtime.core.interruptions import CodePlace
from mazurka.runtime.core.operations import RealOperation
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.sites import AccessSite, SourceLine, shown_path, site_of, sites
from mazurka.runtime.core.tasks import label_of
from mazurka.runtime.exploring.observed_program import schedule_every_access
from mazurka.runtime.exploring.options import GIL, SEMANTICS
from mazurka.runtime.exploring.schedules import split_segments
from mazurka.runtime.sharing.locations import learned
from mazurka.runtime.story.effects import kind_of
from mazurka.runtime.story.recording import record
from mazurka.runtime.story.story import RecordedStep, Stands, Story
from mazurka.stateless.preemptions import Preemptions
from mazurka.stateless.runs import Decider, Operation, Runnable
from mazurka.version import __version__

PREFIX = "mz1-"
MOST = 1_000_000
"""Bytes of a token's content; more is no token of ours."""
HASHED = 4
"""Characters of the hash of a place."""


class TokenError(MazurkaError):
    """A text is not a replay token."""


@dataclass(frozen=True)
class Stop:
    """The operation before which a thread was left."""

    kind: str
    function: str
    line: str
    """A short hash of the file's name and the line's text."""
    visit: int
    """The how-manieth time the thread stood there, from 1."""

    def __str__(self) -> str:
        times = f" (time {self.visit})" if self.visit > 1 else ""
        where = f" in {self.function}" if self.function else ""
        return f"`{self.kind}`{where}{times}"


@dataclass(frozen=True)
class Leg:
    """A thread goes on until it stands before an operation; until its end where there is none."""

    thread: str
    """The path of the thread: `0.2` is the second that the test creates."""
    until: Stop | None


@dataclass(frozen=True)
class Token:
    test: str
    """`tests/test_bank.py::test_transfer`."""
    failure: str
    """The kind of failure to expect."""
    legs: tuple[Leg, ...]
    places: frozenset[str] = frozenset()
    """What the scheduling points of the run are known by (`hash_place`)."""
    interruption: CodePlace | None = None
    """An instruction that is no scheduling point, and before which a thread is left all the same
    (`core.interruptions`)."""
    semantics: str = GIL
    """Whether the run had a global lock."""

    def encode(self) -> str:
        legs = [
            [leg.thread, *([u.kind, u.function, u.line, u.visit] if (u := leg.until) else [])]
            for leg in self.legs
        ]
        places = "".join(sorted(self.places))
        parts: list[object] = [self.test, self.failure, legs, places]
        if self.interruption is not None or self.semantics != GIL:
            parts.append(self.interruption and list(self.interruption))
        if self.semantics != GIL:
            parts.append(self.semantics)
        content = json.dumps(parts, separators=(",", ":"))
        packed = zlib.compress(content.encode(), 9)
        return PREFIX + _armour(packed)


def _armour(packed: bytes) -> str:
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def is_token(text: str) -> bool:
    return text.startswith(PREFIX)


def decode(text: str) -> Token:
    """Read a token; anything that is not one is refused."""
    text = "".join(text.split())
    if not is_token(text):
        if other := re.match(r"mz(\d+)-", text):
            raise TokenError(
                f"this replay token has format {other[1]}, and Mazurka {__version__} reads"
                f" format {PREFIX[2:-1]}: replay it with the version of Mazurka that printed it"
            )
        raise TokenError(f"a replay token begins with {PREFIX}; this one begins with {text[:8]!r}")
    try:
        body = text[len(PREFIX) :]
        packed = base64.b64decode(body + "=" * (-len(body) % 4), altchars=b"-_", validate=True)
        unpacker = zlib.decompressobj()
        content = unpacker.decompress(packed, MOST)
        if not unpacker.eof:
            raise TokenError("the replay token is cut off or too long")
        if unpacker.unused_data or _armour(packed) != body.rstrip("="):
            raise TokenError("the replay token has more characters than it should; copy it again")
        test, failure, legs, places, *rest = json.loads(content)
        interruption = rest.pop(0) if rest else None
        semantics = rest.pop(0) if rest else GIL
        if rest:
            raise ValueError("there is more than a token has")
        return Token(
            _read_text(test),
            _read_text(failure),
            tuple(_read_leg(leg) for leg in legs),
            _read_places(_read_text(places)),
            None if interruption is None else _read_interruption(interruption),
            _read_semantics(semantics),
        )
    except (binascii.Error, zlib.error, ValueError, TypeError, RecursionError) as error:
        raise TokenError("the replay token is damaged; copy it again, as a whole") from error


def _read_text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("a text is expected")
    return value


def _read_semantics(value: object) -> str:
    if value not in SEMANTICS:
        raise ValueError("a semantics is expected")
    return str(value)


def _read_leg(value: object) -> Leg:
    if not isinstance(value, list) or len(value) not in (1, 5):
        raise ValueError("a leg has one or five parts")
    thread, *stop = value
    if not stop:
        return Leg(_read_text(thread), None)
    kind, function, line, visit = stop
    if not isinstance(visit, int):
        raise ValueError("a number is expected")
    return Leg(
        _read_text(thread), Stop(_read_text(kind), _read_text(function), _read_text(line), visit)
    )


def _read_places(text: str) -> frozenset[str]:
    if len(text) % HASHED:
        raise ValueError("a place has so many characters")
    return frozenset(text[start : start + HASHED] for start in range(0, len(text), HASHED))


def _read_interruption(value: object) -> CodePlace:
    if not isinstance(value, list) or len(value) != 5:
        raise ValueError("an instruction has five parts")
    thread, file, function, offset, visit = value
    if type(offset) is not int or type(visit) is not int:
        raise ValueError("a number is expected")
    return CodePlace(_read_text(thread), _read_text(file), _read_text(function), offset, visit)


def hash_place(place: AccessSite) -> str:
    """Hash the text of a line, and what is done where on it; not where in the file it is.

    It is short, since there may be many.  Should two places have the same, there is a step more.
    """
    line = linecache.getline(place.file, place.line)
    column = place.column - (len(line) - len(line.lstrip()))
    text = f"{os.path.basename(place.file)}\n{line.strip()}\n{column} {place.role}"
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=3).digest()
    return base64.urlsafe_b64encode(digest).decode()


_hashes: list[str] = []
"""The hashes of all places by number, which a process with many places computes once."""


def hash_line(site: SourceLine) -> str:
    """Hash the name of the file, without directories, and the text of the line."""
    text = f"{os.path.basename(site.file)}\n{site.source}"
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).digest()
    return base64.urlsafe_b64encode(digest).decode()


Spot = tuple[str, str, str]


def identify_spot(kind: str, site: SourceLine | None) -> Spot:
    """Return what identifies a place: kind of operation, function, hash of the line."""
    if site is None:
        return kind, "", ""
    return kind, site.function, hash_line(site)


class Arrivals:
    """Counts how often each thread has come to stand before each place."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, Spot]] = Counter()

    def arrive(self, thread: str, kind: str, site: SourceLine | None) -> Stop:
        place = identify_spot(kind, site)
        self._counts[thread, place] += 1
        return Stop(*place, self._counts[thread, place])


def make_token(test: str, failure: str, story: Story) -> Token:
    """Make the token of a recorded run.  A thread performs operations in the order of its code."""
    visits = Arrivals()
    stops: dict[int, list[Stop]] = {number: [] for number in story.paths}
    places: list[RecordedStep | Stands] = [*story.steps, *story.standing]
    for place in places:
        path = story.paths[place.thread]
        stops[place.thread].append(visits.arrive(path, place.kind, place.site))
    taken: Counter[int] = Counter()
    legs: list[Leg] = []
    for thread, count in split_segments(story.schedule):
        taken[thread] += count
        ahead = stops[thread][taken[thread] :]
        legs.append(Leg(story.paths[thread], ahead[0] if ahead else None))
    met = {place.place for place in places if place.place is not None}
    return Token(test, failure, tuple(legs), frozenset(hash_place(sites[one]) for one in met))


def make_portable(path: str | Path) -> str:
    """Write a path as a token holds it: from the present directory, with slashes."""
    try:
        return Path(path).resolve().relative_to(Path.cwd().resolve()).as_posix()
    except ValueError:
        return Path(path).as_posix()


class DivergedFromTokenError(MazurkaError):
    """The program does not come to the place at which a token switches threads."""


INSTEAD = "If that was to mend the failure, run the test itself to see whether it holds now"


class Retrace(Decider):
    """A decider that lets each thread go until it stands where the token says."""

    def __init__(self, token: Token) -> None:
        self._legs = token.legs
        self._leg = 0
        self._begun = False
        """Whether the thread of the present leg has taken a step of it."""
        self._visits = Arrivals()
        self._standing: dict[str, Stop] = {}
        self._sites: dict[str, SourceLine | None] = {}
        self._preemptions = Preemptions()

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        chosen = self._choose(pending, enabled, last)
        self._preemptions.take(pending, enabled, last, chosen)
        return chosen

    def _choose(
        self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int
    ) -> int:
        tasks = {task.path: task for task in session.current.tasks if task is not None}
        arrived = max(last, 0)
        operation = pending[arrived]
        path = next(path for path, task in tasks.items() if task.number == arrived)
        if isinstance(operation, RealOperation):
            site = site_of(sys._getframe(1))
            self._sites[path] = site
            self._standing[path] = self._visits.arrive(path, kind_of(operation), site)
        else:
            self._standing.pop(path, None)
        self._move_on()
        if self._leg >= len(self._legs):
            return self._preemptions.choose_free(pending, enabled, last)
        leg = self._legs[self._leg]
        task = tasks.get(leg.thread)
        number = task.number if task is not None else -1
        if number not in enabled:
            raise self._diverged(number, pending)
        self._begun = True
        return number

    def _move_on(self) -> None:
        """Go to the next leg where the thread of this one has come to its end."""
        if self._leg < len(self._legs) and self._begun:
            leg = self._legs[self._leg]
            if self._standing.get(leg.thread) == leg.until:
                self._leg += 1
                self._begun = False

    def _diverged(self, number: int, pending: Sequence[Operation | None]) -> DivergedFromTokenError:
        leg = self._legs[self._leg]
        label = _label(leg.thread)
        until = f"come to stand before {leg.until}" if leg.until else "run to its end"
        site = self._sites.get(leg.thread)
        if number < 0 or number >= len(pending):
            now = "it has not been started"
        elif pending[number] is None:
            now = "it has ended"
        else:
            stop = self._standing.get(leg.thread)
            now = f"it waits before {stop}" if stop else "it cannot go on"
        line = f": `{site.source}`" if site and site.source else ""
        return DivergedFromTokenError(
            f"the program has changed: in part {self._leg + 1} of {len(self._legs)} of the recorded"
            f" schedule thread {label} is to {until}, but {now}{line}. {INSTEAD}",
            file=shown_path(site.file) if site else None,
            line=site.line if site else None,
        )

    def require_end(self) -> None:
        """Refuse a run that has ended before the last switch of the token."""
        if self._leg < len(self._legs) - 1:
            raise DivergedFromTokenError(
                f"the program has changed: it ends in part {self._leg + 1} of {len(self._legs)} of"
                f" the recorded schedule. {INSTEAD}"
            )


def replay(program: Runnable, token: Token) -> Story:
    """Run a program along a token, with the scheduling points of the run that it stands for.

    A place that is a point without need divides a row in two, or adds one.  Where the program does
    not come to a place of the token, that may be because its line has changed in part, or had not
    been imported; then every access is a point.
    """
    _hashes.extend(map(hash_place, sites[len(_hashes) :]))
    learned.points.update(number for number, place in enumerate(_hashes) if place in token.places)
    try:
        return follow_token(program, token)
    except DivergedFromTokenError:
        schedule_every_access()
        return follow_token(program, token)


def follow_token(program: Runnable, token: Token) -> Story:
    retrace = Retrace(token)
    story = record(program, retrace)
    retrace.require_end()
    return story


def _label(path: str) -> str:
    tasks = session.current.tasks
    for task in tasks:
        if task is not None and task.path == path:
            return label_of(tasks, task.number)
    return path
