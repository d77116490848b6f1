"""Which instructions are rewritten, and into what.

What source calls one thing, instructions do in several steps: `o.n += 1` is a load, an operator and
a store.  Left as they are: names in the bodies of classes, imports, decorators, and calls whose
function the compiler provides (`with`, comprehensions), as in rewritten source.

What is called lies below its arguments.  It is reported by `Events.call` when they are all there; a
method has been reported when it was taken from its object.  Functions that look at the frame of
their caller are called as they are, as in rewritten source.
"""

from __future__ import annotations

import dis
from collections.abc import Callable
from typing import Any, Final

from mazurka.runtime.python.events import Events
from mazurka.runtime.python.library.call_stack import LEADING
from mazurka.runtime.rewrite.bytecode.assembly import Instruction, UnknownCodeError
from mazurka.runtime.rewrite.bytecode.builder import (
    Builder,
    at_depth,
    discard,
    same,
    to_bool,
    to_pair,
)
from mazurka.runtime.rewrite.bytecode.instructions import (
    COMPARISON_IS_TESTED,
    COMPARISON_SHIFT,
    EMPTY_FIRST,
    EXIT,
    LEFT,
    METHODS_ARE_ATTRIBUTES,
    NAMED_ARGUMENTS_ALWAYS,
    POSITIVE,
    SUBSCRIPT,
    TRUTH_IS_ASKED,
)
from mazurka.runtime.rewrite.bytecode.stack import (
    EMPTY,
    NAMED,
    READY,
    VALUE,
    Stack,
    is_method_load,
)

_OPERATORS: Final = (
    *("Add", "BitAnd", "FloorDiv", "LShift", "MatMult", "Mult", "Mod", "BitOr", "Pow", "RShift"),
    *("Sub", "Div", "BitXor"),
)
"""By their numbers; those that change the left operand come next, in the same order."""
_COMPARISONS: Final = dict(
    zip(("<", "<=", "==", "!=", ">", ">="), ("Lt", "LtE", "Eq", "NotEq", "Gt", "GtE"), strict=True)
)
_OWN_NAMES: Final = frozenset({"__class__", "__classdict__", ".type_params", ".generic_base"})
"""Variables that the compiler makes, and binds once."""
_IN_OWN_FRAME: Final = frozenset({"super", "locals", "globals", "__import__", "breakpoint"})
"""Functions that look at the frame of their caller."""
_STARTS_LATER: Final = ("CALL", "PRECALL", "RETURN_GENERATOR")
"""Instructions that come after `GET_ITER` where a generator expression is made: it is called, or,
from Python 3.15 on, it has been."""
_ANNOUNCING: Final = ("KW_NAMES", "PRECALL")
"""Instructions that belong to the call after them."""

_Event = Callable[..., Any]
_OPERATIONS: Final[dict[str, tuple[_Event, int, bool, str]]] = {
    "STORE_ATTR": (Events.write_attribute, 2, False, ""),
    "DELETE_ATTR": (Events.delete_attribute, 1, False, ""),
    "BINARY_SUBSCR": (Events.read_item, 2, True, "[...]"),
    "BINARY_SLICE": (Events.read_slice, 3, True, "[...:...]"),
    "STORE_SUBSCR": (Events.write_item, 3, False, "[...]"),
    "STORE_SLICE": (Events.write_slice, 4, False, "[...:...]"),
    "DELETE_SUBSCR": (Events.delete_item, 2, False, "[...]"),
}
"""The event that does it, how many operands it has, whether it gives anything, and a text."""
_SHOWN_BEFORE: Final[dict[str, tuple[_Event, int]]] = {
    "TO_BOOL": (Events.test_truth, 1),
    "BEFORE_WITH": (Events.manage, 1),
    **dict.fromkeys(("UNPACK_SEQUENCE", "UNPACK_EX"), (Events.unpack_to_targets, 1)),
    "SET_UPDATE": (Events.unpack_into_set, 1),
    "LIST_EXTEND": (Events.unpack, 1),
    **dict.fromkeys(("DICT_UPDATE", "DICT_MERGE", "GET_LEN"), (Events.read_whole, 1)),
    "MATCH_KEYS": (Events.read_whole, 2),
    "GET_YIELD_FROM_ITER": (Events.delegate, 1),
    **dict.fromkeys(("CONVERT_VALUE", "FORMAT_SIMPLE"), (Events.format_value, 1)),
    "FORMAT_WITH_SPEC": (Events.format_value, 2),
    **dict.fromkeys(("UNARY_NEGATIVE", "UNARY_INVERT", "UNARY_POSITIVE"), (Events.read_operand, 1)),
}
"""The event that an operand is shown to before the instruction, and at which depth that lies."""
_GLOBALS: Final[dict[str, _Event]] = {
    "LOAD_GLOBAL": Events.read_global,
    "STORE_GLOBAL": Events.write_global,
    "DELETE_GLOBAL": Events.delete_global,
}
_NAMES: Final[dict[str, _Event]] = {
    "LOAD_NAME": Events.read_name,
    "STORE_NAME": Events.write_name,
    "DELETE_NAME": Events.delete_name,
}
_ASKS: Final = ("POP_JUMP_", "JUMP_IF_", "UNARY_NOT")
_MAKES: Final = frozenset({"BUILD_LIST", "BUILD_SET", "BUILD_MAP", "BUILD_CONST_KEY_MAP"})
_PLAIN_LOADS: Final = {
    "LOAD_FAST_BORROW": "LOAD_FAST",
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW": "LOAD_FAST_LOAD_FAST",
}
"""Loads that rely on how soon what they push is used, and those that do not."""
_CALLS: Final = ("CALL", "CALL_KW", "CALL_FUNCTION_EX", "PRECALL", "KW_NAMES")
_RETURNS: Final = ("RETURN_VALUE", "RETURN_CONST")
IN_CONTEXT: Final = frozenset(
    {*_PLAIN_LOADS, *_CALLS, *_RETURNS, "GET_ITER", "COPY", "MATCH_CLASS"}
)
"""Instructions whose rules look at what stands around them."""


class InstructionRules:
    """Rewrites the instructions of one code object, one by one."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._code = builder.code
        self.by_name: dict[str, Callable[[Instruction], None]] = {
            "LOAD_ATTR": self._load,
            "LOAD_METHOD": self._load,
            "LOAD_SUPER_ATTR": self._load_super,
            "BINARY_OP": self._operate,
            "COMPARE_OP": self._compare,
            "CONTAINS_OP": self._search,
            "FORMAT_VALUE": self._format,
            "CALL_INTRINSIC_1": self._call_intrinsic,
            **dict.fromkeys(("LOAD_DEREF", "STORE_DEREF", "DELETE_DEREF"), self._use_cell),
            **dict.fromkeys(_OPERATIONS, self._perform),
            **dict.fromkeys(_MAKES, self._make),
            **dict.fromkeys(_SHOWN_BEFORE, self._show_operand),
            **dict.fromkeys(_GLOBALS | _NAMES if builder.is_open else _GLOBALS, self._use_name),
        }
        self._heads = {id(one.target) for one in builder.row if _goes_round(one)}
        """Where rounds of loops begin."""

    def apply(self, number: int, instruction: Instruction, stack: Stack) -> None:
        name = instruction.name
        if id(instruction) in self._heads and name != "FOR_ITER":
            self._tell_before(instruction, Events.begin_round, "while ...")
        if name in _PLAIN_LOADS:
            instruction.name = _PLAIN_LOADS[name]
        elif name in _CALLS:
            self._call(number, instruction, stack)
        elif name in _RETURNS:
            if self._builder.fills:  # what a function with a cache returns is put there next
                self._tell_before(instruction, Events.fill_cache, "return")
        elif name == "GET_ITER":
            self._iterate(number, instruction)
        elif name == "COPY":
            self._manage(number, instruction)
        elif name == "MATCH_CLASS":
            self._match(number, instruction)
        elif name in self.by_name:
            self.by_name[name](instruction)
        elif TRUTH_IS_ASKED and name.startswith(_ASKS) and not name.endswith("NONE"):
            event = Events.test_operand if name.endswith("OR_POP") else Events.test_truth
            self._show(instruction, 1, event, name)
        elif name not in LEFT:
            raise UnknownCodeError(f"the instruction {name}")

    def _tell_before(self, instruction: Instruction, event: _Event, shown: str) -> None:
        """Report what is about to happen, without any operand."""
        row = discard(self._builder.report(instruction, event, shown, 0))
        self._builder.put_before(instruction, row)

    def _show(
        self, instruction: Instruction, depth: int, event: _Event, shown: str, *constants: Any
    ) -> None:
        """Report an operand before the instruction."""
        row = at_depth(depth, self._builder.report(instruction, event, shown, 1, *constants))
        self._builder.put(instruction, [*row, same(instruction)])

    # -- attributes and subscripts -----------------------------------------------------------

    def _load(self, instruction: Instruction, *before: Instruction) -> None:
        shift = {"LOAD_SUPER_ATTR": 2, "LOAD_METHOD": 0}.get(instruction.name)
        if shift is None:
            shift = int(METHODS_ARE_ATTRIBUTES)
        name = self._code.co_names[instruction.argument >> shift]
        report = self._builder.report
        if is_method_load(instruction):
            row = report(instruction, Events.call_method, f".{name}(...)", 1, name)
            row += to_pair()
        elif name == "__dict__":
            row = report(instruction, Events.read_dict, f".{name}")
        else:
            event = Events.follow_frames if name in LEADING else Events.read_attribute
            row = report(instruction, event, f".{name}", 1, name)
        self._builder.put(instruction, [*before, *row])

    def _load_super(self, instruction: Instruction) -> None:
        """Make the object that stands for the base classes first."""
        is_explicit = bool(instruction.argument & 2)
        self._load(instruction, *self._builder.call(_super_of, 3, is_explicit))

    def _perform(self, instruction: Instruction) -> None:
        """Let an event do what the instruction does."""
        event, operands, gives, shown = _OPERATIONS[instruction.name]
        names = [] if shown else [self._code.co_names[instruction.argument]]
        shown = shown or f".{names[0]}"
        row = self._builder.report(instruction, event, shown, operands, *names)
        self._builder.put(instruction, row if gives else discard(row))

    # -- operators ---------------------------------------------------------------------------

    def _operate(self, instruction: Instruction) -> None:
        number = instruction.argument
        if number == SUBSCRIPT:
            row = self._builder.report(instruction, Events.read_item, "[...]", 2)
            self._builder.put(instruction, row)
        elif number >= len(_OPERATORS):
            self._combine(instruction, Events.augment, _OPERATORS[number - len(_OPERATORS)])
        else:
            self._combine(instruction, Events.apply_operator, _OPERATORS[number])

    def _compare(self, instruction: Instruction) -> None:
        sign = _COMPARISONS[dis.cmp_op[instruction.argument >> COMPARISON_SHIFT]]
        is_tested = not TRUTH_IS_ASKED and bool(instruction.argument & COMPARISON_IS_TESTED)
        self._combine(instruction, Events.apply_operator, sign, *([to_bool()] if is_tested else ()))

    def _search(self, instruction: Instruction) -> None:
        self._combine(instruction, Events.apply_operator, "NotIn" if instruction.argument else "In")

    def _combine(
        self, instruction: Instruction, event: _Event, sign: str, *after: Instruction
    ) -> None:
        row = self._builder.report(instruction, event, sign, 2, sign)
        self._builder.put(instruction, [*row, *after])

    # -- whole values ------------------------------------------------------------------------

    def _show_operand(self, instruction: Instruction) -> None:
        event, depth = _SHOWN_BEFORE[instruction.name]
        self._show(instruction, depth, event, instruction.name.lower())

    def _format(self, instruction: Instruction) -> None:
        depth = 2 if instruction.argument & 4 else 1
        self._show(instruction, depth, Events.format_value, instruction.name.lower())

    def _call_intrinsic(self, instruction: Instruction) -> None:
        if instruction.argument == POSITIVE:
            self._show(instruction, 1, Events.read_operand, "+...")

    def _match(self, number: int, instruction: Instruction) -> None:
        before = self._builder.row[number - 1]
        if before.name != "LOAD_CONST":
            raise UnknownCodeError("a pattern whose attributes are not constants")
        asked = (self._code.co_consts[before.argument], instruction.argument > 0)
        self._show(instruction, 3, Events.match_pattern, "match", *asked)

    def _make(self, instruction: Instruction) -> None:
        self._builder.put(instruction, [same(instruction), *self._builder.call(Events.receive, 1)])

    def _iterate(self, number: int, instruction: Instruction) -> None:
        if instruction.argument:  # which only `yield from` has, from Python 3.15 on
            self._show(instruction, 1, Events.delegate, "yield from ...")
            return
        is_lazy = self._builder.row[number + 1].name in _STARTS_LATER
        event = Events.iterate_lazily if is_lazy else Events.iterate
        self._show(instruction, 1, event, "for ... in ...", False)

    def _manage(self, number: int, instruction: Instruction) -> None:
        """From Python 3.14 on, `with` takes the two methods from copies of its object."""
        special = self._builder.row[number + 1]
        if special.name == "LOAD_SPECIAL" and special.argument == EXIT:
            self._show(instruction, 1, Events.manage, "with ...")

    # -- names -------------------------------------------------------------------------------

    def _use_name(self, instruction: Instruction) -> None:
        """A read is told of before it, a value is shown before it is bound, an event deletes."""
        event = (_GLOBALS | _NAMES)[instruction.name]
        is_global_load = instruction.name == "LOAD_GLOBAL"
        name = self._code.co_names[instruction.argument >> is_global_load]
        if is_global_load and name in _IN_OWN_FRAME:
            return
        if instruction.name.startswith("STORE"):
            self._show(instruction, 1, event, name, name)
            return
        row = discard(self._builder.report(instruction, event, name, 0, name))
        is_load = instruction.name.startswith("LOAD")
        self._builder.put(instruction, [*row, same(instruction)] if is_load else row)

    def _use_cell(self, instruction: Instruction) -> None:
        name = self._builder.variables[instruction.argument]
        if name not in _OWN_NAMES:
            event = Events.read_cell if instruction.name == "LOAD_DEREF" else Events.write_cell
            row = self._builder.report_cell(instruction, event, name)
            self._builder.put(instruction, [*row, same(instruction)])

    # -- calls -------------------------------------------------------------------------------

    def _call(self, number: int, instruction: Instruction, stack: Stack) -> None:
        """Report what is called, before its arguments are taken, and what it returns.

        Names of arguments are announced by an instruction before the call in some versions; nothing
        may come between the two.
        """
        row = self._builder.row
        name = instruction.name
        is_announced = name in ("CALL", "PRECALL") and row[number - 1].name in _ANNOUNCING
        call = number
        while row[call].name in _ANNOUNCING:
            call += 1
        arguments = _arguments_of(row[call])
        called = self._callee(stack, arguments)
        before: list[Instruction] = []
        if called is not None and not is_announced:
            before = self._report_call(instruction, called, arguments)
        after = self._report_result(number, called, arguments) if call == number else []
        if before or after:
            self._builder.put(instruction, [*before, same(instruction), *after])

    def _callee(self, stack: Stack, arguments: int) -> str | None:
        """The entry of what is called; None where the compiler provides it."""
        pair = stack[len(stack) - arguments - 2 :][:2]
        if EMPTY not in pair:
            return None
        return pair[1] if EMPTY_FIRST else pair[0]

    def _report_call(
        self, instruction: Instruction, called: str, arguments: int
    ) -> list[Instruction]:
        build = self._builder
        extended = instruction.name == "CALL_FUNCTION_EX"
        row: list[Instruction] = []
        if extended:
            row += at_depth(arguments, build.report(instruction, Events.unpack, "*..."))
        name = _name_of(called)
        if name in ("exec", "eval") and arguments:
            if extended:
                return [*row, *discard(build.call(Events.leave_unobserved, 0, None, name))]
            return at_depth(arguments, build.call(Events.run_code, 1, name))
        if name in _IN_OWN_FRAME or (name in ("vars", "dir") and not arguments):
            return row
        if called == VALUE or name:
            depth = arguments + (1 if EMPTY_FIRST else 2)
            report = build.report(instruction, Events.call, f"{name or '...'}(...)")
            row += at_depth(depth, report)
        return row

    def _report_result(self, number: int, called: str | None, arguments: int) -> list[Instruction]:
        if called in (None, READY) and self._builder.row[number + 1].name == "POP_TOP":
            return []  # the end of `with`, or a method whose result nobody needs
        name = _name_of(called)
        if name == "globals":
            return self._builder.call(Events.show_globals, 1)
        has_cells = bool(self._code.co_cellvars or self._code.co_freevars)
        if name in ("locals", "vars") and not arguments and has_cells:
            return self._builder.call(Events.leave_unobserved, 1, f"{name}()")
        return self._builder.call(Events.receive_from_call, 1)


def _goes_round(instruction: Instruction) -> bool:
    return instruction.name.startswith(("JUMP_BACK", "POP_JUMP_BACK")) and not (
        instruction.name.endswith("NO_INTERRUPT")
    )


def _super_of(function: Any, kind: Any, thing: Any, is_explicit: bool) -> Any:
    """Something else that is called `super` is given what the source says."""
    return function(kind, thing) if is_explicit or function is super else function()


def _name_of(called: str | None) -> str:
    return called.removeprefix(NAMED) if called and called.startswith(NAMED) else ""


def _arguments_of(call: Instruction) -> int:
    """How many entries lie above what is called and the one beside it."""
    if call.name == "CALL_FUNCTION_EX":
        return 2 if NAMED_ARGUMENTS_ALWAYS else 1 + (call.argument & 1)
    return call.argument + (1 if call.name == "CALL_KW" else 0)
