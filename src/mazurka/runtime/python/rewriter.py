"""What the runtime asks of those who rewrite code: the one way from `python` up to `rewrite`.

Code can come into being, or be met for the first time, while a test runs: a text for `exec`, a
class that `dataclasses` has given methods, a function that no module leads to.  Whoever has
rewritten the program registers itself here for as long as that lasts.
"""

from __future__ import annotations

from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, Protocol


class Rewriter(Protocol):
    """Rewrites code that turns up during an exploration."""

    def watch_text(self, value: Any, mode: str, frame: FrameType) -> CodeType | None:
        """Rewrite the argument of `exec` or `eval` (`mode`), which `frame` calls.

        Returns None where that is impossible.
        """

    def watch_code(self, code: CodeType) -> CodeType:
        """Rewrite a code object that a function is made of; name it where that is impossible."""

    def watch_methods(self, kind: type) -> None:
        """Rewrite the methods that `dataclasses` has given to a class."""

    def watch_class(self, kind: Any, line: int, module: ModuleType) -> None:
        """Rewrite what decorators have given to a class that a function has made."""

    def watch_called(self, function: FunctionType) -> bool:
        """Rewrite a function if it belongs to the program; say whether it is rewritten now."""

    def watch_used(self, kind: type) -> None:
        """Rewrite the methods of a class if they belong to the program."""


class NoRewriter:
    """Leaves everything as it is: no program has been rewritten."""

    def watch_text(self, value: Any, mode: str, frame: FrameType) -> CodeType | None:
        return None

    def watch_code(self, code: CodeType) -> CodeType:
        return code

    def watch_methods(self, kind: type) -> None:
        """Leave them."""

    def watch_class(self, kind: Any, line: int, module: ModuleType) -> None:
        """Leave it."""

    def watch_called(self, function: FunctionType) -> bool:
        return False

    def watch_used(self, kind: type) -> None:
        """Leave it."""


class Registration:
    """Who rewrites code at present."""

    __slots__ = ("rewriter",)

    def __init__(self) -> None:
        self.rewriter: Rewriter = NoRewriter()

    def clear(self) -> None:
        """Nobody does."""
        self.rewriter = NoRewriter()


at_present = Registration()
