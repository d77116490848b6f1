"""What reports call threads: the names that the program gave them, told apart where equal."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeVar

from mazurka.runtime.core.tasks import Task

Key = TypeVar("Key")
_GIVEN = re.compile(r"Thread-\d+(?= \()")
"""The name that `threading` gives to a thread, without that of its function."""


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
