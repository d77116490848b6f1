"""Where the threads stand that a counterexample's ending does not name.

One thread fails, or some wait for ever.  What the others were about to do just then may be what has
gone wrong; and one that took no step that is shown would not be heard of at all.
"""

from __future__ import annotations

from collections.abc import Iterator

from mazurka.runtime.core.sites import is_plumbing
from mazurka.runtime.exploring.results import STUCK, Violation
from mazurka.runtime.story.recording import RecordedStep
from mazurka.runtime.story.rows import Rows


def others(rows: Rows, violated: Violation) -> Iterator[str]:
    """A sentence on each of them; their columns are enough for those that have ended."""
    if violated.kind == "race":
        return
    story = rows.story
    is_stuck = violated.kind in STUCK
    told = {stands.thread for stands in story.standing} if is_stuck else {violated.thread}
    if violated.kind == "leak":
        told.add(0)
    shown = set() if is_stuck else {row.thread for row in rows.rows}
    begun = {step.starts for step in rows.told}
    for number, name in sorted(story.threads.items()):
        if number in told or (number > 0 and story.paths.get(number) not in begun):
            continue
        status = _status(rows, number)
        if status is not None and not (status == ENDED and number in shown):
            yield f"{name} {status}"


ENDED = "has ended"


def _status(rows: Rows, number: int) -> str | None:
    """Where a thread stands after the last step that is told; None where nobody wants to know."""
    past = [step for step in rows.told if step.thread == number]
    if number > 0 and not past:
        return "has not begun"
    if past and past[-1].kind == "end":
        return ENDED
    coming = [step for step in rows.story.steps[len(rows.told) :] if step.thread == number]
    if coming:
        return _stands(rows, coming[0])
    found = next((one for one in rows.story.standing if one.thread == number), None)
    if found is None:
        return ENDED
    standing = rows.standing(found)
    where = f"stands at line {standing.line}: {standing.source}, and " if standing.line else ""
    return f"{where}{standing.reason}"


def _stands(rows: Rows, step: RecordedStep) -> str | None:
    if step.kind == "end":
        return ENDED
    if step.inside or step.site is None or is_plumbing(step.site):
        return None
    return f"stands at line {step.site.line}: {rows.source(step.site)}"
