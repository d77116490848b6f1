"""Values that differ between executions of the same schedule, though the steps are the same.

A test may keep a random number, a clock's reading or an object's identity in what its threads
share.  As long as the steps do not depend on it that is no error: perhaps nobody compares it.  But
what an assertion says about such a value is chance, so it is told.

What is looked at are the variables and the built-in containers that observed code has touched, at
every scheduling point, as a report would show them: no code of the user's runs, and objects are
equal that are of the same class.
"""

from __future__ import annotations

import linecache
import os
import re
import sysconfig
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, NamedTuple
from weakref import ReferenceType

from mazurka.runtime.core.access_sites import sites
from mazurka.runtime.core.sites import SourceLine, shown_path
from mazurka.runtime.core.values import MISSING, attribute_of, is_plain, shown
from mazurka.runtime.sharing.locations import SharedLocation
from mazurka.runtime.sharing.names import Seen, known, objects

MOST = 20_000
"""How often values are looked at in one run."""
CLOCK = "the clock"
SOURCES = {
    "random numbers": r"\brand|\bshuffle|\bchoice|\bsecrets\b|\burandom|\buuid|\btoken_",
    CLOCK: r"\btime\b|\bperf_counter|\bmonotonic|_time\b|\b(?:now|utcnow|today)\(",
    "object identities": r"\bid\(|\bhash\(|\brepr\(|\bstr\(",
    "the number of a process or a thread": r"\bgetpid\(|\bget_ident\(|\bnative_id",
    "a counter that every execution moves on": r"\bnext\(|\+= 1",
}


class Value(NamedTuple):
    """The value that a place has from a step on."""

    step: int
    name: str
    """The same in every run."""
    label: str
    text: str
    site: int
    """Where in the source it was written; -1 if nobody knows."""

    @property
    def known(self) -> tuple[int, str, str]:
        return self.step, self.name, self.text


class Values:
    """The values of one run, as they change."""

    def __init__(self) -> None:
        self._last: dict[str, str] = {}
        self._plain: dict[int, tuple[Seen, dict[str, Any]]] = {}
        """By the identity of what is known of an object: its plain values at the last look."""
        self._looks = 0
        self.ended: int | None = None
        """The step before which so much had been looked at that no more was."""
        self.changes: list[Value] = []

    def look(self, step: int) -> None:
        """Note, before a step, what has changed since the step before."""
        if self.ended is not None:
            return
        for seen in list(objects.values()):
            self._looks += 1 + len(seen)
            if self._looks > MOST:
                self.ended = step
                return
            thing = seen.kept() if isinstance(seen.kept, ReferenceType) else seen.kept
            if thing is not None and not seen.vague:
                self._look_at(step, seen, thing)

    def _look_at(self, step: int, seen: Seen, thing: Any) -> None:
        if seen:
            self._look_inside(step, seen, thing)
        if seen.whole.shared is not None or type(thing) in (list, dict, set):
            self._note(step, seen.name, f"a {_owner(thing)}", thing, seen.whole)

    def _look_inside(self, step: int, seen: Seen, thing: Any) -> None:
        _, plain = self._plain.setdefault(id(seen), (seen, {}))
        for name, location in list(seen.items()):
            value = attribute_of(thing, name)
            if value is MISSING or plain.get(name, MISSING) is value:
                continue
            plain[name] = value if is_plain(value) else MISSING
            inner = known(id(value))
            written = location if inner is None else inner.whole
            self._note(step, f"{seen.name}.{name}", f"{_owner(thing)}.{name}", value, written)

    def _note(self, step: int, name: str, label: str, value: Any, location: SharedLocation) -> None:
        text = shown(value, 1)
        if self._last.get(name) != text:
            self._last[name] = text
            self.changes.append(Value(step, name, label, text, find_write(location)))


def _owner(thing: Any) -> str:
    found: str = (
        getattr(thing, "__name__", "") if issubclass(type(thing), type) else type(thing).__name__
    )
    return found


def find_write(location: SharedLocation) -> int:
    """Find the place in the source at which a location was last written; -1 if unknown."""
    if location.write_site >= 0:
        return location.write_site
    uses = {**location.uses, **location.point_uses}
    written = [site for (_, wrote), (_, site) in uses.items() if wrote]
    return written[-1] if written else -1


def first_difference(
    one: Sequence[Value], other: Sequence[Value], *, own: bool = False
) -> tuple[Value, Value] | None:
    """The first value that is another in the second run; if `own`, not one that the standard
    library has written, such as the objects that `copy.deepcopy` keeps by their identities."""
    for before, after in zip_longest(one, other):
        if before is None or after is None or before.known[:2] != after.known[:2]:
            return None  # from here on they have done different things
        if before.text != after.text and not (own and _is_standard(after)):
            return before, after
    return None


def _is_standard(value: Value) -> bool:
    file = sites[value.site].file if value.site >= 0 else ""
    return file.startswith(_STANDARD) and not file.startswith(_INSTALLED)


_STANDARD = sysconfig.get_path("stdlib") + os.sep
_INSTALLED = tuple(sysconfig.get_path(name) + os.sep for name in ("purelib", "platlib"))
"""These may lie inside."""


def describe_difference(found: tuple[Value, Value], standing: Sequence[SourceLine | None]) -> str:
    """Put a difference into words; `standing` is where the run stood at each step."""
    before, after = found
    what = f"{after.label} is {before.text} in one execution and {after.text} in the next"
    if after.site < 0:
        at = standing[after.step] if after.step < len(standing) else None
        why = f": {CLOCK}" if _DATE.match(before.text) and _DATE.match(after.text) else ""
        seen = "" if at is None else f", seen at {shown_path(at.file)}:{at.line}"
        return f"{what}{seen}{why}"
    site = sites[after.site]
    line = linecache.getline(site.file, site.line).strip()
    causes = [cause for cause, words in SOURCES.items() if re.search(words, line)]
    why = f": {' or '.join(causes)}" if causes else ""
    return f"{what}, written at {shown_path(site.file)}:{site.line} by `{line}`{why}"


_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def note_limit(step: int) -> str:
    """Say that not all values were compared."""
    return (
        "whether values differ between executions of the same schedule was looked at until step"
        f" {step + 1} only, {MOST:,} values that threads share; a value that differs later is not"
        " told, as long as the steps are the same"
    )


def note_difference(found: tuple[Value, Value], standing: Sequence[SourceLine | None]) -> str:
    return (
        "values differ between executions of the same schedule:"
        f" {describe_difference(found, standing)}. The steps do not depend on it so far, but an"
        " assertion about such a value may fail by chance"
    )
