"""Rewrites code objects, each once: code that is compiled anew in every run keeps its sites."""

from __future__ import annotations
import __future__

import sys
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any, Final

from mazurka.runtime.core.sites import MARK, is_observed
from mazurka.runtime.python.events import Events
from mazurka.runtime.rewrite.bytecode.assembly import UnknownCodeError, assemble, disassemble
from mazurka.runtime.rewrite.bytecode.builder import Builder
from mazurka.runtime.rewrite.bytecode.instructions import SUBSCRIPT
from mazurka.runtime.rewrite.bytecode.rules import InstructionRules
from mazurka.runtime.rewrite.bytecode.stack import entries_before
from mazurka.supported_pythons import NEWEST

_ADDED: Final = 8
"""By how much what is put between instructions makes the stack larger, at most."""
_OPTIMIZED: Final = 1
"""The flag of code whose local variables are no dictionary: functions, not modules or classes."""
_FEATURES: Final = sum(getattr(__future__, n).compiler_flag for n in __future__.all_feature_names)
"""The flags of features that code hands on to what it executes."""
_TOUCHING: Final = frozenset(
    {"LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR", "STORE_GLOBAL", "STORE_DEREF"}
    | {"BINARY_SUBSCR", "STORE_SUBSCR", "DELETE_SUBSCR", "BINARY_SLICE", "STORE_SLICE"}
)

_made: dict[tuple[CodeType, str, bool, bool], CodeType] = {}
"""What has been rewritten."""


def rewrite_code(code: CodeType, *, is_top: bool = False, fills: bool = False) -> CodeType:
    """Make the same code report its accesses; give the same object for the same code.

    With `is_top` it is run by itself, by `exec` or `eval`, and its names are variables of the
    namespace that is given there.  With `fills` it belongs to a function with a cache.  Raises
    `UnknownCodeError` where it cannot be rewritten.
    """
    if is_observed(code):
        return code
    key = (code, code.co_filename, is_top, fills)
    found = _made.get(key)
    if found is None:
        try:
            found = _made[key] = _rewrite(code, is_top, fills)
        except (IndexError, KeyError, ValueError, StopIteration) as error:
            raise UnknownCodeError("instructions that no compiler makes") from error
    return found


def all_rewritten() -> Iterator[tuple[CodeType, CodeType]]:
    """All code that has been rewritten in this process, each with what it was made from."""
    return ((code, key[0]) for key, code in _made.items())


def _rewrite(code: CodeType, is_top: bool, fills: bool) -> CodeType:
    version = sys.version_info[:2]
    if version > NEWEST:
        raise UnknownCodeError("instructions of Python {}.{}".format(*version))
    parts = disassemble(code)
    stacks = entries_before(parts, code.co_names)
    constants = [rewrite_code(one) if isinstance(one, CodeType) else one for one in code.co_consts]
    is_open = is_top and not code.co_flags & _OPTIMIZED
    builder = Builder(code, parts, constants, is_open=is_open, fills=fills)
    rules = InstructionRules(builder)
    for number, instruction in enumerate(list(parts.instructions)):
        stack = stacks.get(id(instruction))
        if stack is not None:
            rules.apply(number, instruction, stack)
    if fills:  # `python.caches` looks for the name
        code = code.replace(co_names=(*code.co_names, Events.fill_cache.__name__))
    return assemble(code, parts, (*builder.constants, MARK), code.co_stacksize + _ADDED)


def rewrite_text(value: Any, mode: str, frame: FrameType) -> CodeType | None:
    """Compile and rewrite what `exec` or `eval` (`mode`) is given; None where that cannot be."""
    if type(value) is not CodeType:
        if not isinstance(value, (str, bytes, bytearray)):
            return None
        text: Any = value
        if mode == "eval":
            text = value.lstrip(" \t" if isinstance(value, str) else b" \t")  # type: ignore[arg-type]
        flags = frame.f_code.co_flags & _FEATURES
        try:
            value = compile(text, "<string>", mode, flags, dont_inherit=True)
        except (SyntaxError, ValueError):
            return None  # `exec` and `eval` say so themselves
    try:
        return rewrite_code(value, is_top=True)
    except UnknownCodeError:
        return None


def touches_unobserved(code: CodeType) -> bool:
    """Whether the code of a function may touch data, and has not been rewritten by either means."""
    if is_observed(code) or not code.co_flags & _OPTIMIZED:
        return False
    try:
        row = disassemble(code).instructions
    except UnknownCodeError:
        return True
    return any(
        one.name in _TOUCHING or (one.name, one.argument) == ("BINARY_OP", SUBSCRIPT) for one in row
    )
