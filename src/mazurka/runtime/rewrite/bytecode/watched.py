"""Rewrites the instructions of code without source, so that they show their accesses.

What `rewrite.source` does to the source of a module is done here to a code object: wherever it
may touch shared data, it calls the same functions (`runtime.python`), with the
operands that lie on the stack at that moment.  Nothing has to be guessed or evaluated twice, and
who runs the code, in which thread and namespace, does not matter.
"""

from __future__ import annotations
import __future__

import sys
from types import CodeType, FrameType, FunctionType
from typing import Any, Final

from mazurka.runtime.core.access_sites import MARK
from mazurka.runtime.python.events import Events
from mazurka.runtime.rewrite.bytecode.building import Builder
from mazurka.runtime.rewrite.bytecode.codes import UnknownCodeError, assemble, take_apart
from mazurka.runtime.rewrite.bytecode.rules import Rules
from mazurka.runtime.rewrite.bytecode.stack import entries_before
from mazurka.runtime.sharing.monitoring import unobserved

NEWEST: Final = (3, 14)
"""The last version of Python whose instructions are known here."""
_ADDED: Final = 8
"""By how much what is put between instructions makes the stack larger, at most."""
_OPTIMIZED: Final = 1
"""The flag of code whose local variables are no dictionary: functions."""


def watched(code: CodeType, *, is_top: bool = False, fills: bool = False) -> CodeType:
    """The same code, showing its accesses; the same object for the same code.

    With `is_top` it is run by itself, by `exec` or `eval`, and its names are variables of the
    namespace that is given there.  With `fills` it belongs to a function with a cache.  Raises
    `UnknownCodeError` where it cannot be.
    """
    if is_watched(code):
        return code
    key = (code, code.co_filename, is_top, fills)
    found = _made.get(key)
    if found is None:
        try:
            found = _made[key] = _rewritten(code, is_top, fills)
        except (IndexError, KeyError, ValueError, StopIteration) as error:
            raise UnknownCodeError("instructions that no compiler makes") from error
    return found


_made: dict[tuple[CodeType, str, bool, bool], CodeType] = {}
"""What has been rewritten.  Code that is compiled anew in every run has to keep its sites."""


def is_watched(code: CodeType) -> bool:
    """Whether instructions have been rewritten."""
    return code.co_consts[-1:] == (MARK,)


def _rewritten(code: CodeType, is_top: bool, fills: bool) -> CodeType:
    if sys.version_info[:2] > NEWEST:
        raise UnknownCodeError(
            f"instructions of Python {sys.version_info[0]}.{sys.version_info[1]}"
        )
    parts = take_apart(code)
    stacks = entries_before(parts, code.co_names)
    constants = [watched(one) if isinstance(one, CodeType) else one for one in code.co_consts]
    is_open = is_top and not code.co_flags & _OPTIMIZED
    builder = Builder(code, parts, constants, names_watched=is_open, fills=fills)
    rules = Rules(builder)
    for number, instruction in enumerate(list(parts.instructions)):
        stack = stacks.get(id(instruction))
        if stack is not None:
            rules.apply(number, instruction, stack)
    if fills:
        code = code.replace(
            co_names=(*code.co_names, Events.fill_cache.__name__)
        )  # see `python.caches`
    return assemble(code, parts, (*builder.constants, MARK), code.co_stacksize + _ADDED)


_FEATURES: Final = sum(getattr(__future__, n).compiler_flag for n in __future__.all_feature_names)
"""The flags of features that code hands on to what it executes."""


def watch_text(value: Any, what: str, frame: FrameType) -> CodeType | None:
    """What `exec` and `eval` are given, rewritten; None where that cannot be."""
    if type(value) is not CodeType:
        if not isinstance(value, (str, bytes, bytearray)):
            return None
        flags = frame.f_code.co_flags & _FEATURES
        text: Any = value
        if what == "eval":
            text = value.lstrip(" \t" if isinstance(value, str) else b" \t")  # type: ignore[arg-type]
        try:
            value = compile(text, "<string>", what, flags, dont_inherit=True)
        except (SyntaxError, ValueError):
            return None  # it says so itself
    try:
        return watched(value, is_top=True)
    except UnknownCodeError:
        return None


def is_generated(code: CodeType) -> bool:
    """Whether `dataclasses` has made it."""
    return code.co_qualname.startswith("__create_fn__")


def watch_methods(kind: type) -> None:
    for function in list(vars(kind).values()):
        if isinstance(function, FunctionType):
            function = vars(function).get("__wrapped__", function)
        if type(function) is FunctionType and is_generated(function.__code__):
            try:
                function.__code__ = watched(function.__code__)
            except UnknownCodeError as error:
                unobserved.packages.add(f"{kind.__qualname__}.{function.__name__} ({error})")


def watch_code(code: CodeType) -> CodeType:
    """The code that a function is made of, rewritten; named where that cannot be."""
    try:
        return watched(code)
    except UnknownCodeError as error:
        unobserved.note(f"{code.co_qualname} ({error})")
        return code
