"""Does the test do the same again?  Everything an exploration says rests on that.

The schedule without preemptions is run twice at the start.  Under the same decisions, two runs have
the same happens-before graph exactly if their steps have the same actions in the same order, so the
steps are compared; the first one that differs is named.  How the runs end is compared, too.

Where they differ, a third run tells more.  If it equals the second, the first has left something
behind that the later ones meet: a cache, a module's variable, a file.  If it does not, the test
takes something from outside: chance, clocks, the order of a set.  What the first run imports is the
one difference that is no fault: the module is there from then on, and the later runs agree.

Values may differ though the steps are the same.  A test may keep a random number, a clock's reading
or an object's identity in what its threads share.  As long as the steps do not depend on it that is
no error: perhaps nobody compares it.  But what an assertion says about such a value is chance, so
it is told.  What is looked at are the variables and the built-in containers that observed code has
touched, at every scheduling point, as a report would show them: no code of the user's runs, and
objects are equal that are of the same class.
"""

from __future__ import annotations

import linecache
import os
import re
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, NamedTuple

from mazurka.errors import InternalError, MazurkaError
from mazurka.runtime.core.failures import ControlError
from mazurka.runtime.core.insides import field_of, is_one_of
from mazurka.runtime.core.names import UNLABELLED
from mazurka.runtime.core.operations import RealOperation, present
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.sites import SourceLine, is_plumbing, shown_path, site_of, sites
from mazurka.runtime.core.tasks import label_of
from mazurka.runtime.core.values import MISSING, attribute_of, is_plain, shown
from mazurka.runtime.exploring.causes import (
    CLOCK,
    REAL_CLOCK,
    explain_line,
    find_cause_above,
    name_remedies,
)
from mazurka.runtime.exploring.schedules import Follow, UnfollowableError
from mazurka.runtime.program.blocked import is_library_file
from mazurka.runtime.sharing.locations import SharedLocation
from mazurka.runtime.sharing.monitoring import LOST, unobserved
from mazurka.runtime.sharing.names import Seen, known, objects
from mazurka.runtime.story.labels import describe_unnamed
from mazurka.stateless.runs import Decider, Ended, Operation, Runnable

MOST = 20_000
"""How often values are looked at in one run."""
LEFT_BEHIND = (
    "the first execution has left something behind that the later ones meet (a module's variable, a"
    " cache, a file, an object that the executions share): create what the test changes inside the"
    f" test; or it is chance, such as random numbers, or {REAL_CLOCK}"
)
NO_MODEL = (
    "each execution creates an object without calling the constructor that is under control, so it"
    f" has no model, and is called `{UNLABELLED}...` like those that existed before: create it by"
    " calling its class, not by __new__ or as a copy, and call super().__init__() in derived"
    " classes.  Of a new primitive of Mazurka's, the constructor calls create_model, and whatever"
    " takes a lock inside is replaced: see `Adding a primitive` in CONTRIBUTING.md"
)
CHANCE = (
    f"it depends on something other than the schedule: random numbers, {REAL_CLOCK}, the order of a"
    " set or of strings' hashes, object identities, or state that every execution changes (a"
    " module's variable, a cache, a file)"
)


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
            thing = seen.thing
            if thing is not None and not seen.vague:
                self._look_at(step, seen, thing)

    def _look_at(self, step: int, seen: Seen, thing: Any) -> None:
        if seen:
            self._look_inside(step, seen, thing)
        if seen.whole.shared is not None or is_one_of(type(thing), (list, dict, set)):
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
    found: str = field_of(thing if issubclass(type(thing), type) else type(thing), "__name__")
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
    site, line = sites[after.site], _line_of(after)
    where = f"{shown_path(site.file)}:{site.line}"
    return f"{what}, written at {where} by `{line}`{explain_line(line)}"


_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def note_limit(step: int) -> str:
    """Say that not all values were compared."""
    return (
        "whether values differ between executions of the same schedule was looked at until step"
        f" {step + 1} only, {MOST:,} values that threads share; a value that differs later is not"
        " told, as long as the steps are the same"
    )


def note_difference(found: tuple[Value, Value], standing: Sequence[SourceLine | None]) -> str:
    remedy = name_remedies(_line_of(found[1]))
    return (
        "values differ between executions of the same schedule:"
        f" {describe_difference(found, standing)}. The steps do not depend on it so far, but an"
        f" assertion about such a value may fail by chance{f'; {remedy}' if remedy else ''}"
    )


def _line_of(value: Value) -> str:
    """The line that wrote a value; empty if nobody knows."""
    if value.site < 0:
        return ""
    return linecache.getline(sites[value.site].file, sites[value.site].line).strip()


class NondeterministicError(MazurkaError):
    """The test does not do the same again under the same schedule."""


@dataclass(frozen=True)
class ComparedStep:
    """A step as it is compared: who, what, and on which objects."""

    thread: int
    kind: str
    touched: tuple[tuple[object, bool], ...]
    site: SourceLine | None = field(compare=False)
    text: str = field(compare=False)
    """The step for people."""


@dataclass(frozen=True)
class Trial:
    """One run, with what is needed to compare it and to talk about it."""

    steps: list[ComparedStep]
    failures: list[tuple[str, str]]
    values: list[Value]
    values_until: int | None
    """The step from which on values were not looked at any more."""
    ends_at: SourceLine | None
    """The line that fails."""

    def equals(self, other: Trial) -> bool:
        return self.steps == other.steps and self.failures == other.failures

    @property
    def sites(self) -> list[SourceLine | None]:
        return [step.site for step in self.steps]


SKIPS = "it skips"


def describe_end(ended: Ended) -> str:
    """Say how a run has ended."""
    if ended.failures:
        return ended.failures[0].message
    return "it passes" if ended.skipped is None else f"{SKIPS} ({ended.skipped})"


class TrialRecorder(Decider):
    """Writes down the steps of a run that follows a schedule, and is not preempted after that."""

    def __init__(self, schedule: Sequence[int] = ()) -> None:
        self._inner = Follow(schedule)
        self._standing: dict[int, SourceLine | None] = {}
        self._values = Values()
        self._steps: list[ComparedStep] = []

    def decide(self, pending: Sequence[Operation | None], enabled: Sequence[int], last: int) -> int:
        self._standing[max(last, 0)] = site_of(sys._getframe(1))
        self._values.look(len(self._steps))
        chosen = self._inner.decide(pending, enabled, last)
        operation = pending[chosen]
        assert isinstance(operation, RealOperation)
        touches = operation.at(present) or ()
        thread = label_of(session.current.tasks, chosen)
        on = ", ".join(describe_unnamed(shared) for shared, _ in touches)
        self._steps.append(
            ComparedStep(
                thread=chosen,
                kind=operation.kind,
                touched=tuple((shared.name, written) for shared, written in touches),
                site=self._standing.get(chosen),
                text=f"{thread}: {operation.kind} {on}".rstrip(),
            )
        )
        return chosen

    def finish(self, ended: Ended) -> Trial:
        found = [(failed.kind, failed.message) for failed in ended.failures]
        if ended.skipped is not None:
            found.append(("skip", SKIPS))  # what it says may differ
        place = next(((f.file, f.line) for f in ended.failures if f.file and f.line), None)
        at = SourceLine(*place, "", linecache.getline(*place).strip()) if place else None
        return Trial(self._steps, found, self._values.changes, self._values.ended, at)


def run_trial(program: Runnable, schedule: Sequence[int] = ()) -> Trial:
    recorder = TrialRecorder(schedule)
    return recorder.finish(program.run(recorder))


def find_difference(program: Runnable, schedule: Sequence[int]) -> NondeterministicError | None:
    """Run a schedule twice under which a search has contradicted itself; None if the runs are
    alike, or cannot be compared."""
    try:
        first, second = run_trial(program, schedule), run_trial(program, schedule)
    except (MazurkaError, ControlError):
        return None
    return None if first.equals(second) else explain_difference(first, second, settled=False)


def check_deterministic(program: Runnable) -> tuple[str, ...]:
    """Run the first schedule twice; raises `NondeterministicError` if it is not the same.

    Returns notes about values that are not the same, or not compared.
    """
    modules = set(sys.modules)
    first = run_trial(program)
    imported = set(sys.modules) - modules
    second = run_trial(program)
    if first.equals(second):
        return _compare_values(program, first, second)
    third = run_trial(program)
    same = second.equals(third)
    if same and (imported or _is_own_business(first, second)):
        return ()
    settled = same and first_difference(second.values, third.values) is None
    raise explain_difference(first, second, settled=settled)


def _is_own_business(first: Trial, second: Trial) -> bool:
    """Whether runs differ only in what a library does for itself, such as the cache of a logger."""
    return first.failures == second.failures and _of_the_program(first) == _of_the_program(second)


def _of_the_program(found: Trial) -> list[ComparedStep]:
    return [
        step
        for step in found.steps
        if step.site is None or is_plumbing(step.site) or not is_library_file(step.site.file)
    ]


def _compare_values(program: Runnable, first: Trial, second: Trial) -> tuple[str, ...]:
    """Compare values and return notes; what only the first run finds unset, such as a cache, is
    no difference."""
    until = second.values_until
    ended = (note_limit(until),) if until is not None else ()
    if first_difference(first.values, second.values, own=True) is None:
        return ended
    third = run_trial(program)
    found = first_difference(second.values, third.values, own=True)
    return (note_difference(found, third.sites),) if found is not None else ended


def _lacks_model(step: ComparedStep | None) -> bool:
    return step is not None and any(str(name).startswith(UNLABELLED) for name, _ in step.touched)


def explain_difference(one: Trial, other: Trial, *, settled: bool) -> NondeterministicError:
    """Say where two runs part, and what the cause may be."""
    pairs = enumerate(zip_longest(one.steps, other.steps), 1)
    parting = next(((number, a, b) for number, (a, b) in pairs if a != b), None)
    if parting is None:
        what = f"it ends differently: {_ending(one)} at first, then {_ending(other)}"
        place = other.ends_at or one.ends_at
    else:
        number, before, after = parting
        place = (after.site if after else None) or (before.site if before else None)
        what = (
            f"step {number} is `{before.text if before else 'no more'}` at first and"
            f" `{after.text if after else 'no more'}` then"
        )
    line = f", in the line `{place.source}`" if place and place.source else ""
    lacking = parting is not None and all(map(_lacks_model, parting[1:]))
    value = None if settled else first_difference(one.values, other.values)
    seen = f" What differs first: {describe_difference(value, other.sites)}." if value else ""
    why = LEFT_BEHIND if settled else NO_MODEL if lacking else _find_cause(value, place)
    return NondeterministicError(
        f"the test does not do the same again under the same schedule: {what}{line}.{seen}"
        f" Probably {why}.",
        file=shown_path(place.file) if place else None,
        line=place.line if place else None,
    )


def _find_cause(value: tuple[Value, Value] | None, place: SourceLine | None) -> str:
    """Name the likely cause that the source shows, where the first value is written that differs or
    before the first step; all causes that are known if it shows none."""
    places = []
    if value is not None and value[1].site >= 0:
        written = sites[value[1].site]
        places.append((written.file, written.line))
    if place is not None:
        places.append((place.file, place.line))
    found = (find_cause_above(*where) for where in places)
    return next(filter(None, found), CHANCE)


def explain_contradiction(
    error: MazurkaError, place: tuple[str | None, int | None]
) -> NondeterministicError:
    """Say what it means that a search contradicts itself: equivalent runs were not alike.

    Which invariant of the search has shown it says nothing to those whose test it is.
    """
    file, line = place
    tells = not isinstance(error, InternalError) or os.environ.get("MAZURKA_DEBUG")
    detail = f" What was noticed: {error.message}." if tells else ""
    return NondeterministicError(
        "executions that should be the same are not: threads that took the same turns so far came"
        " to other operations than before. The test depends on something that is not observed, so"
        " nothing can be said about it. Likely causes are state that C code or libraries keep"
        f" (caches, iterators, files, weak references), random numbers, {REAL_CLOCK}, the order of"
        f" a set, and objects that the executions share.{detail}",
        file=file,
        line=line,
    )


def add_unobserved(error: MazurkaError) -> MazurkaError:
    """Add to an error the code that was not observed and the objects that were not put back."""
    named = [
        f"{name} ({example})" if (example := unobserved.examples.get(name)) else name
        for name in sorted(unobserved.packages)
    ]
    lost = sorted(name.removesuffix(f" ({LOST})") for name in unobserved.lost)
    if not (named or lost) or not isinstance(error, (NondeterministicError, UnfollowableError)):
        return error
    reasons = [f"what was not observed: {', '.join(named)}"] if named else []
    reasons += [f"what cannot be put back: {', '.join(lost)}"] if lost else []
    return type(error)(
        f"{error.message} The reason may be {', or '.join(reasons)}.",
        file=error.file,
        line=error.line,
    )


def _ending(found: Trial) -> str:
    return found.failures[0][1] if found.failures else "it passes"
