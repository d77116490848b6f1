"""Names that are the same in every run: of shared objects for the search, of threads for people.

An object that a run creates is named after the thread that created it and how many that thread
had created before.  One that existed before is met by whoever touches it first; it gets a name
then that it keeps for the whole exploration, and its state is what it really is.

Reports call threads by the names that the program gave them, told apart where several are equal.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from sys import _getframe
from typing import TYPE_CHECKING, TypeVar

from mazurka.runtime.core.operations import Object
from mazurka.runtime.core.sites import user_frame
from mazurka.runtime.core.tasks import Task

if TYPE_CHECKING:
    from mazurka.runtime.core.scheduler import Scheduler

Key = TypeVar("Key")
created: dict[str, tuple[str, int]] = {}
"""Where objects were created, by name; what a recorded run says holds for that run."""
_GIVEN = re.compile(r"Thread-\d+(?= \()")
"""The name that `threading` gives to a thread, without that of its function."""


# -- shared objects ------------------------------------------------------------------------------


def name_of(run: Scheduler, number: int) -> str:
    """Return the name of the n-th object that the running thread creates."""
    me = run.running
    while len(me.names) <= number:
        me.names.append(f"{me.path}#{len(me.names) + 1}")
        frame = user_frame(_getframe(1))
        if frame is not None:
            created[me.names[-1]] = (frame.f_code.co_filename, frame.f_lineno or 0)
    return me.names[number]


def next_name(run: Scheduler) -> str:
    """Return the name of the next object that the running thread creates."""
    me = run.running
    me.objects += 1
    return name_of(run, me.objects - 1)


def adopt(run: Scheduler, shared: Object) -> None:
    """Meet an object that this run has not created: name it for good, and see how it is."""
    assert run.program is not None
    run.program.keep(shared)
    shared.epoch = run.epoch
    run.ident, ident = 0, run.ident
    shared.refresh()
    run.ident = ident
    run.found.append((shared, shared.state))


def forget_names(run: Scheduler) -> None:
    """Let the next run name its objects as if it were the first, and note where they come from."""
    created.clear()
    for task in run.tasks:
        if task is not None:
            task.names.clear()


# -- threads -------------------------------------------------------------------------------------


def tell_apart(names: Mapping[Key, str]) -> dict[Key, str]:
    """Return the same names, numbered where several are equal: `worker (1)`, `worker (2)`."""
    counts = Counter(names.values())
    taken = {name for name, count in counts.items() if count == 1}
    numbers: Counter[str] = Counter()
    labels = {}
    for key, name in names.items():
        label = name
        while counts[name] > 1 and (label == name or label in taken):
            numbers[name] += 1
            label = f"{name} ({numbers[name]})"
        taken.add(label)
        labels[key] = label
    return labels


def labels_of(tasks: Sequence[Task | None]) -> dict[int, str]:
    """Return the labels of the threads of a run, by number."""
    return tell_apart({task.number: task.life.label for task in tasks if task is not None})


def label_of(tasks: Sequence[Task | None], number: int) -> str:
    """Return the label of one thread."""
    return labels_of(tasks).get(number) or f"thread {number}"


def shorten(label: str) -> str:
    """Shorten a label for the text of a step: the head of a thread's column says what it runs."""
    found = _GIVEN.match(label)
    return found[0] if found is not None else label
