"""What stands for locks and queues of C, and for names of them, while an exploration goes on."""

from __future__ import annotations

from types import BuiltinMethodType
from typing import Any

from mazurka.runtime.core import insides
from mazurka.runtime.primitives.registry import STAND_INS

REAL = frozenset(map(id, STAND_INS))
"""The types of what is replaced; by identity, since types can define their own equality."""


class StandIns:
    """Makes one of ours for each real one, whoever holds it, and knows where it was found."""

    def __init__(self, replacements: dict[int, Any]) -> None:
        self._replacements = replacements
        """What stands for functions and types, by their identities."""
        self._taken: dict[int, Any] = {}
        """Our locks, by the identity of the real ones that they keep alive."""
        self._labels: dict[int, tuple[str, Any]] = {}
        """What people call objects of Python classes; with the objects, which must not go."""
        self._used: dict[str, int] = {}

    def replacement(self, value: Any, label: str) -> Any:
        """What stands for a value while the exploration goes on; None if it stays."""
        kind = type(value)
        if id(kind) in REAL:
            return self._around(value, label)
        if issubclass(kind, tuple):
            return self._tuple(value, label)
        if kind is BuiltinMethodType and id(type(value.__self__)) in REAL:
            return getattr(self._around(value.__self__, label), value.__name__)
        return self._replacements.get(id(value))

    def _around(self, real: Any, label: str) -> Any:
        found = self._taken.get(id(real))
        if found is None:
            found = STAND_INS[type(real)]()
            found.name, found.epoch = "", 0
            found.real = real
            found.origin = self._unique(label)
            self._taken[id(real)] = found
        return found

    def _tuple(self, values: Any, label: str) -> Any:
        """A tuple cannot be changed; one with a lock in it is replaced as a whole."""
        old = insides.elements(values)
        news = [self._inner(value, f"{label}[{index}]") for index, value in enumerate(old)]
        if all(new is None for new in news):
            return None
        pairs = zip(news, old, strict=True)
        return insides.tuple_like(values, [was if new is None else new for new, was in pairs])

    def _inner(self, value: Any, label: str) -> Any:
        """What stands for an element of a tuple; the rest is searched, as it is."""
        if id(type(value)) in REAL or issubclass(type(value), tuple):
            return self.replacement(value, label)
        return None

    def _unique(self, label: str) -> str | None:
        """Two objects must never share a name: several cells of one closure have one label."""
        if not label:
            return None
        self._used[label] = count = self._used.get(label, 0) + 1
        return label if count == 1 else f"{label}~{count}"

    def label_of(self, value: Any) -> str | None:
        """Where an object was found, if it was."""
        found = self._labels.get(id(value))
        return found[0] if found is not None and found[1] is value else None
