"""Managers of contexts that `contextlib.contextmanager` makes.

`with manage():` makes one that nobody else has, and nobody can get; there is nothing to be watched.
One that a variable holds may be entered by several threads, and then it matters by whom first: the
second fails.  How many refer to it tells the two apart.

From Python 3.14 on, a `with` statement borrows what a local variable holds: such a variable and
somebody else count as much as the statement alone.  So the variables are looked at, too.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe, getrefcount, version_info
from types import TracebackType
from typing import Any, Final

from mazurka.runtime.sharing.names import known


class _Probe:
    """Counts who refers to it, as the methods below do."""

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


def _counted() -> tuple[list[int], list[bool]]:
    """How many refer to a manager that nobody else has, when it is entered and left, which differs
    between interpreters, and whether that is as many as for one that somebody else has."""
    with _Probe() as lone:
        pass
    shared = _Probe()
    holder = [shared]
    with shared as others:
        holder.append(shared)
        holder.pop()
    return lone, [one >= other for one, other in zip(lone, others, strict=True)]


(_ENTERED, _LEFT), _DOUBTFUL = _counted()
_TELLS_VARIABLES: Final = version_info >= (3, 13)
"""Whether to look at the local variables of a frame changes none of them."""


def _is_lone(count: int, manager: Any, most: int, *, doubtful: bool) -> bool:
    seen = known(id(manager))
    if count - (seen is not None and seen.kept is manager) > most:
        return False
    return not doubtful or (_TELLS_VARIABLES and not _is_in_variable(manager))


def _is_in_variable(manager: Any) -> bool:
    """Whether a local variable of the function with the statement has it."""
    return any(value is manager for value in _getframe(3).f_locals.values())


def _entering(own: Callable[..., Any], watched: Callable[..., Any]) -> Callable[..., Any]:
    def __enter__(self: Any) -> Any:  # noqa: N807 - it is a method
        if _is_lone(getrefcount(self), self, _ENTERED, doubtful=_DOUBTFUL[0]):
            return own(self)
        return watched(self)

    return __enter__


def _leaving(own: Callable[..., Any], watched: Callable[..., Any]) -> Callable[..., Any]:
    def __exit__(self: Any, kind: Any, error: Any, trace: Any) -> Any:  # noqa: N807
        if _is_lone(getrefcount(self), self, _LEFT, doubtful=_DOUBTFUL[1]):
            return own(self, kind, error, trace)
        return watched(self, kind, error, trace)

    return __exit__


WATCHED_IF_HELD: Final[dict[str, Callable[..., Callable[..., Any]]]] = {
    "__enter__": _entering,
    "__exit__": _leaving,
}
"""By method: what makes the one that chooses between its own code and the rewritten one."""
