"""Context managers that `contextlib.contextmanager` makes.

`with manage():` makes a manager that no other thread can get; its accesses need not be watched.  A
manager that a variable holds may be entered by several threads, and then it matters which comes
first: the second fails.  The reference count tells the two cases apart.

From Python 3.14 on, a `with` statement borrows the reference of a local variable: a manager in a
variable has the same count as one that only the statement has.  So the local variables are checked,
too.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe, getrefcount, version_info
from types import TracebackType
from typing import Any, Final

from mazurka.runtime.sharing.names import known


class _Probe:
    """A manager that keeps its reference counts, as the methods below see them."""

    def __init__(self) -> None:
        self.counts: list[int] = []

    def __enter__(self) -> list[int]:
        self.counts.append(getrefcount(self))
        return self.counts

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.counts.append(getrefcount(self))


def _measure_counts() -> tuple[list[int], list[bool]]:
    """Measure the reference counts of a manager that nobody else has, when it is entered and left.

    They differ between interpreters.  Also tells whether a manager that a variable holds can have
    the same counts.
    """
    with _Probe() as lone:
        pass
    shared = _Probe()
    holder = [shared]
    with shared as others:
        holder.append(shared)
        holder.pop()
    return lone, [one >= other for one, other in zip(lone, others, strict=True)]


(_ENTERED, _LEFT), _DOUBTFUL = _measure_counts()
_TELLS_VARIABLES: Final = version_info >= (3, 13)
"""Whether reading the local variables of a frame leaves them as they are."""


def _is_lone(count: int, manager: Any, most: int, *, doubtful: bool) -> bool:
    seen = known(id(manager))
    if count - (seen is not None and seen.kept is manager) > most:
        return False
    return not doubtful or (_TELLS_VARIABLES and not _is_in_variable(manager))


def _is_in_variable(manager: Any) -> bool:
    """Tell whether a local variable of the function with the `with` statement holds a manager."""
    return any(value is manager for value in _getframe(3).f_locals.values())


def _make_enter(own: Callable[..., Any], watched: Callable[..., Any]) -> Callable[..., Any]:
    def __enter__(self: Any) -> Any:  # noqa: N807 - it is a method
        if _is_lone(getrefcount(self), self, _ENTERED, doubtful=_DOUBTFUL[0]):
            return own(self)
        return watched(self)

    return __enter__


def _make_exit(own: Callable[..., Any], watched: Callable[..., Any]) -> Callable[..., Any]:
    def __exit__(self: Any, kind: Any, error: Any, trace: Any) -> Any:  # noqa: N807
        if _is_lone(getrefcount(self), self, _LEFT, doubtful=_DOUBTFUL[1]):
            return own(self, kind, error, trace)
        return watched(self, kind, error, trace)

    return __exit__


OBSERVED_IF_HELD: Final[dict[str, Callable[..., Callable[..., Any]]]] = {
    "__enter__": _make_enter,
    "__exit__": _make_exit,
}
"""By method: what makes the method that chooses between the original and the rewritten code."""
