"""What the runtime asks of those who rewrite code: the one way from `python` up to `rewrite`.

Code can come into being, or be met for the first time, while a test runs: a text for `exec`, a
class that `dataclasses` has given methods, a function that no module leads to.  Whoever has
rewritten the program registers itself here for as long as that lasts.
"""

from __future__ import annotations

from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any


class Rewriter:
    """Rewrites code that turns up during an exploration; this one leaves everything as it is."""

    def observe_text(self, value: Any, mode: str, frame: FrameType) -> CodeType | None:
        """Rewrite what `frame` gives to `exec` or `eval` (`mode`); None where that cannot be."""
        return None

    def observe_code(self, code: CodeType) -> CodeType:
        """Rewrite a code object that a function is made of; name it where that is impossible."""
        return code

    def observe_methods(self, kind: type) -> None:
        """Rewrite the methods that `dataclasses` has given to a class."""

    def observe_initializer(self, kind: type) -> None:
        """Rewrite the `__init__` that `dataclasses` has given to a class: the program calls it for
        an object that others may have."""

    def observe_borrowed(self, kind: type) -> None:
        """Observe special methods of a class that are callables of C code."""

    def observe_class(self, kind: Any, line: int, module: ModuleType) -> None:
        """Rewrite what decorators have given to a class that a function has made, and observe what
        it has borrowed from C code."""

    def observe_called(self, function: FunctionType) -> bool:
        """Rewrite a function if it belongs to the program; say whether it is rewritten now."""
        return False

    def is_trap(self, code: CodeType) -> bool:
        """Say whether code only calls that of the function which it stands for."""
        return False

    def observe_resumed(self, thing: Any) -> None:
        """Name a generator that goes on in code which is not observed."""


class Registration:
    """Who rewrites code at present."""

    def __init__(self) -> None:
        self.rewriter = Rewriter()


at_present = Registration()
