"""What differs between the instructions of the supported versions of Python, and nothing else does.

A test compiles small programs with the running interpreter and compares them with this table, and
looks for instructions that are named nowhere.
"""

from __future__ import annotations

import sys
from typing import Final

_VERSION: Final = sys.version_info[:2]

EMPTY_FIRST: Final = _VERSION < (3, 13)
"""Whether the empty entry lies below what is called."""
METHODS_ARE_ATTRIBUTES: Final = _VERSION >= (3, 12)
"""Whether the lowest bit of the argument of `LOAD_ATTR` says that a method is called next."""
COMPARISON_SHIFT: Final = {(3, 11): 0, (3, 12): 4}.get(_VERSION, 5)
"""By how many bits the number of a comparison is shifted."""
COMPARISON_IS_TESTED: Final = 16
"""The bit of a comparison whose truth is asked for, from Python 3.13 on."""
TRUTH_IS_ASKED: Final = _VERSION < (3, 13)
"""Whether jumps ask for the truth of any value; later versions do that before."""
CELLS_ARE_VARIABLES: Final = _VERSION >= (3, 13)
"""Whether `LOAD_FAST` loads the cell of a captured variable."""
NAMED_ARGUMENTS_ALWAYS: Final = _VERSION >= (3, 14)
"""Whether `CALL_FUNCTION_EX` finds an entry for arguments by name, even if there are none."""
SUBSCRIPT: Final = 26
"""The number of `a[b]` among the operators, from Python 3.14 on."""
POSITIVE: Final = 5
"""The number of `+value` among the functions inside of the interpreter, from Python 3.12 on."""
EXIT: Final = 1
"""The number of `__exit__` among the methods that `LOAD_SPECIAL` takes, from Python 3.14 on."""

LEFT: Final = frozenset(
    {"CACHE", "EXTENDED_ARG", "NOP", "RESUME", "NOT_TAKEN", "SWAP", "POP_TOP", "PUSH_NULL"}
    | {"LOAD_CONST", "LOAD_SMALL_INT", "LOAD_COMMON_CONSTANT", "LOAD_ASSERTION_ERROR"}
    | {"LOAD_BUILD_CLASS", "LOAD_LOCALS", "SETUP_ANNOTATIONS", "LOAD_SPECIAL"}
    | {"LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_AND_CLEAR", "LOAD_FAST_LOAD_FAST"}
    | {"STORE_FAST", "STORE_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST", "DELETE_FAST"}
    | {"LOAD_NAME", "STORE_NAME", "DELETE_NAME", "LOAD_CLASSDEREF"}
    | {"LOAD_FROM_DICT_OR_DEREF", "LOAD_FROM_DICT_OR_GLOBALS"}
    | {"MAKE_CELL", "LOAD_CLOSURE", "COPY_FREE_VARS", "MAKE_FUNCTION", "SET_FUNCTION_ATTRIBUTE"}
    | {"BUILD_TUPLE", "BUILD_STRING", "BUILD_SLICE", "BUILD_TEMPLATE", "BUILD_INTERPOLATION"}
    | {"LIST_APPEND", "SET_ADD", "MAP_ADD", "LIST_TO_TUPLE", "CALL_INTRINSIC_2"}
    | {"IS_OP", "UNARY_NOT", "MATCH_MAPPING", "MATCH_SEQUENCE"}
    | {"IMPORT_NAME", "IMPORT_FROM", "IMPORT_STAR", "PRINT_EXPR"}
    | {"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"}
    | {"JUMP_IF_FALSE_OR_POP", "JUMP_IF_TRUE_OR_POP"}
    | {
        f"POP_JUMP_{way}IF_{what}"
        for way in ("", "FORWARD_", "BACKWARD_")
        for what in ("TRUE", "FALSE", "NONE", "NOT_NONE")
    }
    | {"FOR_ITER", "END_FOR", "POP_ITER", "GET_AITER", "GET_ANEXT", "END_ASYNC_FOR"}
    | {"GET_AWAITABLE", "SEND", "END_SEND", "YIELD_VALUE", "RETURN_GENERATOR", "CLEANUP_THROW"}
    | {"ASYNC_GEN_WRAP", "BEFORE_ASYNC_WITH", "WITH_EXCEPT_START"}
    | {"RAISE_VARARGS", "RERAISE", "PUSH_EXC_INFO", "POP_EXCEPT", "PREP_RERAISE_STAR"}
    | {"CHECK_EXC_MATCH", "CHECK_EG_MATCH"}
)
"""Instructions that stay as they are: what they touch nobody shares, or another one shows it."""
