"""What lies on the stack before each instruction: as much of it as calls need to be understood.

A call finds on the stack, below its arguments, what it calls, beside an empty entry; or a function
and the first argument that goes with it.  `entries_before` follows the instructions along all ways
and says which entries are empty, and which ones are known functions that must be called from where
they are.  Ways that meet with different stacks are refused, which no compiler produces.
"""

from __future__ import annotations

import dis
from collections.abc import Sequence
from typing import Final, TypeAlias

from mazurka.runtime.rewrite.bytecode.assembly import Instruction, Parts, UnknownCodeError
from mazurka.runtime.rewrite.bytecode.instructions import EMPTY_FIRST, METHODS_ARE_ATTRIBUTES

EMPTY: Final = "empty"
VALUE: Final = "value"
READY: Final = "ready"
"""What `Events.call_method` has made of a method: it is called as it is."""
CLASS_MAKER: Final = "class maker"
NAMED: Final = "named "
"""How entries begin that a name of the module, or of none, stands for."""
Stack: TypeAlias = tuple[str, ...]

_ENDS: Final = frozenset(
    {"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "INTERPRETER_EXIT"}
    | {"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"}
)
"""Instructions that the next one does not follow."""
_PUSHES_NOTHING: Final = (
    *("POP_", "STORE_", "DELETE_", "JUMP", "NOP", "RESUME", "KW_NAMES", "MAKE_CELL", "END_FOR"),
    *("COPY_FREE_VARS", "NOT_TAKEN", "PRECALL", "LIST_", "SET_ADD", "SET_UPDATE", "MAP_ADD"),
    *("DICT_", "SETUP_ANNOTATIONS", "RETURN_VALUE", "RETURN_CONST", "RAISE", "RERAISE"),
)


def is_method_load(instruction: Instruction) -> bool:
    """Whether it prepares the call of a method."""
    if instruction.name in ("LOAD_ATTR", "LOAD_SUPER_ATTR"):
        return METHODS_ARE_ATTRIBUTES and bool(instruction.argument & 1)
    return instruction.name == "LOAD_METHOD"


def callable_pair(called: str) -> list[str]:
    return [EMPTY, called] if EMPTY_FIRST else [called, EMPTY]


def entries_before(parts: Parts, names: Sequence[str]) -> dict[int, Stack]:
    """Follow all ways; give the stack before each instruction that is reached, by identity."""
    row = parts.instructions
    index = {id(instruction): number for number, instruction in enumerate(row)}
    covering: list[list[tuple[Instruction, int, bool]]] = [[] for _ in row]
    for handler in parts.handlers:
        end = len(row) if handler.end is None else index[id(handler.end)]
        for number in range(index[id(handler.start)], end):
            covering[number].append((handler.target, handler.depth, handler.keeps_place))
    found: dict[int, Stack] = {}
    waiting: list[tuple[int, Stack]] = [(0, ())]
    while waiting:
        number, stack = waiting.pop()
        instruction = row[number]
        merged = _merge(found.get(id(instruction)), stack)
        if merged == found.get(id(instruction)):
            continue
        found[id(instruction)] = merged
        for target, depth, keeps_place in covering[number]:
            if depth > len(merged):
                continue  # the end of an asynchronous generator expression, which cannot raise
            kept = (*merged[:depth], *(VALUE,) * (1 + keeps_place))
            waiting.append((index[id(target)], kept))
        if instruction.target is not None and instruction.name != "END_ASYNC_FOR":
            after = _perform(instruction, merged, names, jumps=True)
            waiting.append((index[id(instruction.target)], after))
        if instruction.name not in _ENDS and number + 1 < len(row):
            waiting.append((number + 1, _perform(instruction, merged, names, jumps=False)))
    return found


def _merge(known: Stack | None, stack: Stack) -> Stack:
    if known is None or known == stack:
        return stack
    if len(known) != len(stack):
        raise UnknownCodeError("ways meet with stacks of different depths")
    return tuple(map(_merge_entry, known, stack))


def _merge_entry(one: str, other: str) -> str:
    if one == other:
        return one
    if EMPTY in (one, other):
        raise UnknownCodeError("an entry of the stack is empty on one of two ways")
    return VALUE


def _perform(instruction: Instruction, stack: Stack, names: Sequence[str], *, jumps: bool) -> Stack:
    """Do to the stack what an instruction does."""
    name, argument = instruction.name, instruction.argument
    entries = list(stack)
    if is_method_load(instruction):
        below = 3 if name == "LOAD_SUPER_ATTR" else 1
        entries[len(entries) - below :] = callable_pair(READY)
    elif name == "LOAD_GLOBAL":
        called = NAMED + names[argument >> 1]
        entries += callable_pair(called) if argument & 1 else [called]
    elif name == "LOAD_NAME":
        entries.append(NAMED + names[argument])
    elif name in _PUSHED:
        entries.append(_PUSHED[name])
    elif name == "SWAP":
        entries[-1], entries[-argument] = entries[-argument], entries[-1]
    elif name == "COPY":
        entries.append(entries[-argument])
    elif name in ("CALL", "CALL_KW"):
        below = argument + (3 if name == "CALL_KW" else 2)
        entries[len(entries) - below :] = [VALUE]
    elif name != "PRECALL":
        _perform_other(instruction, entries, jumps)
    return tuple(entries)


_PUSHED: Final = {
    "PUSH_NULL": EMPTY,
    "LOAD_BUILD_CLASS": CLASS_MAKER,
    "RETURN_GENERATOR": VALUE,
}


def _perform_other(instruction: Instruction, entries: list[str], jumps: bool) -> None:
    """Perform an instruction of which only counts how many entries it takes and puts."""
    operation = dis.opmap[instruction.name]
    argument = instruction.argument if _has_argument(operation) else None
    effect = dis.stack_effect(operation, argument, jump=jumps)
    if len(entries) + effect < 0:
        raise UnknownCodeError(f"{instruction.name} takes more than there is")
    if effect > 0:
        entries += [VALUE] * effect
        return
    del entries[len(entries) + effect :]
    pushes = not instruction.name.startswith(_PUSHES_NOTHING) or "LOAD_FAST" in instruction.name
    if entries and pushes:
        entries[-1] = VALUE


def _has_argument(operation: int) -> bool:
    known: Sequence[int] | None = getattr(dis, "hasarg", None)
    return operation >= dis.HAVE_ARGUMENT if known is None else operation in known
