"""Which instructions are rewritten, and into what; see `runtime.rewrite.bytecode.watched`.

What source calls one thing, instructions do in several steps: `o.n += 1` is a load, an operator and
a store.  Left as they are: names in the bodies of classes, imports, decorators, and calls whose
function the compiler provides (`with`, comprehensions), as in rewritten source.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable
from typing import Any, Final

from mazurka.runtime.python.events import Events
from mazurka.runtime.rewrite.bytecode.building import Builder, drop, same, to_bool, to_pair
from mazurka.runtime.rewrite.bytecode.calls import IN_OWN_FRAME, Calls
from mazurka.runtime.rewrite.bytecode.codes import Instruction, UnknownCodeError
from mazurka.runtime.rewrite.bytecode.stack import Stack, is_method_load

_OPERATORS: Final = (
    *("Add", "BitAnd", "FloorDiv", "LShift", "MatMult", "Mult", "Mod", "BitOr", "Pow", "RShift"),
    *("Sub", "Div", "BitXor"),
)
"""By their numbers; those that change the left operand come next, in the same order."""
_OF_CONTAINERS: Final = frozenset({"Add", "BitAnd", "Mult", "Mod", "BitOr", "Sub", "BitXor"})
_SUBSCRIPT: Final = 26
_COMPARISONS: Final = {
    "<": "Lt",
    "<=": "LtE",
    "==": "Eq",
    "!=": "NotEq",
    ">": "Gt",
    ">=": "GtE",
}
_COMPARISON_SHIFT: Final = {(3, 11): 0, (3, 12): 4}.get(sys.version_info[:2], 5)
_TRUTH_IS_ASKED: Final = sys.version_info < (3, 13)
"""Whether jumps ask for the truth of any value; later versions do that before."""
_OWN_NAMES: Final = frozenset({"__class__", "__classdict__", ".type_params", ".generic_base"})
"""Variables that the compiler makes, and binds once."""

_Takes = tuple[Callable[..., Any], int, bool, str]
_OPERATIONS: Final[dict[str, _Takes]] = {
    "STORE_ATTR": (Events.write_attribute, 2, False, "attribute"),
    "DELETE_ATTR": (Events.delete_attribute, 1, False, "attribute"),
    "BINARY_SUBSCR": (Events.read_item, 2, True, "[...]"),
    "BINARY_SLICE": (Events.read_slice, 3, True, "[...:...]"),
    "STORE_SUBSCR": (Events.write_item, 3, False, "[...]"),
    "STORE_SLICE": (Events.write_slice, 4, False, "[...:...]"),
    "DELETE_SUBSCR": (Events.delete_item, 2, False, "[...]"),
}
"""The function that does it, how many operands it has, whether it gives anything, and a text."""
_LOOKS: Final[dict[str, tuple[Callable[..., Any], int]]] = {
    "TO_BOOL": (Events.test_truth, 1),
    **dict.fromkeys(
        ("UNPACK_SEQUENCE", "UNPACK_EX", "LIST_EXTEND", "SET_UPDATE"), (Events.unpack, 1)
    ),
    **dict.fromkeys(("DICT_UPDATE", "DICT_MERGE"), (Events.read_whole, 1)),
    "GET_LEN": (Events.read_whole, 1),
    "MATCH_KEYS": (Events.read_whole, 2),
    "GET_YIELD_FROM_ITER": (Events.delegate, 1),
    "CONVERT_VALUE": (Events.format_value, 1),
    "FORMAT_SIMPLE": (Events.format_value, 1),
    "FORMAT_WITH_SPEC": (Events.format_value, 2),
}
"""What an operand is shown to before the instruction, and at which depth that lies."""
_ASKS: Final = ("POP_JUMP_", "JUMP_IF_", "UNARY_NOT")
_MAKES: Final = frozenset({"BUILD_LIST", "BUILD_SET", "BUILD_MAP", "BUILD_CONST_KEY_MAP"})
_PLAIN_LOADS: Final = {
    "LOAD_FAST_BORROW": "LOAD_FAST",
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW": "LOAD_FAST_LOAD_FAST",
}
"""Loads that rely on how soon what they push is used, and those that do not."""


class Rules:
    """Rewrites the instructions of one code object, one by one."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._code = builder.code
        self._calls = Calls(builder)
        self._rules: dict[str, Callable[[Instruction], None]] = {
            "LOAD_ATTR": self._load,
            "LOAD_METHOD": self._load,
            "LOAD_SUPER_ATTR": self._super,
            "BINARY_OP": self._operator,
            "COMPARE_OP": self._compare,
            "CONTAINS_OP": self._contains,
            "FORMAT_VALUE": self._format,
            "LOAD_GLOBAL": self._load_global,
            "STORE_GLOBAL": self._store_global,
            "DELETE_GLOBAL": self._delete_global,
            **dict.fromkeys(("LOAD_DEREF", "STORE_DEREF", "DELETE_DEREF"), self._cell),
            **dict.fromkeys(_OPERATIONS, self._operation),
            **dict.fromkeys(_MAKES, self._make),
            **dict.fromkeys(_LOOKS, self._look),
        }
        if builder.names_watched:
            self._rules |= {"LOAD_NAME": self._load_name, "STORE_NAME": self._store_name}
            self._rules["DELETE_NAME"] = self._delete_name

        self._heads = {id(one.target) for one in builder.row if _goes_round(one)}
        """Where rounds of loops begin."""

    def apply(self, number: int, instruction: Instruction, stack: Stack) -> None:
        name = instruction.name
        if id(instruction) in self._heads and name != "FOR_ITER":
            site = self._site(instruction, Events.begin_round, "while ...")
            self._builder.put_before(instruction, self._builder.noted(Events.begin_round, site))
        if name in _PLAIN_LOADS:
            instruction.name = _PLAIN_LOADS[name]
        elif name in ("CALL", "CALL_KW", "CALL_FUNCTION_EX", "PRECALL", "KW_NAMES"):
            self._calls.rewrite(number, instruction, stack)
        elif name in ("RETURN_VALUE", "RETURN_CONST"):
            self._return(instruction)
        elif name == "GET_ITER":
            self._iterate(number, instruction)
        elif name == "MATCH_CLASS":
            self._match(number, instruction)
        elif name in self._rules:
            self._rules[name](instruction)
        elif _TRUTH_IS_ASKED and name.startswith(_ASKS) and not name.endswith("NONE"):
            self._before(instruction, 1, Events.test_truth, name)

    # -- attributes and subscripts -----------------------------------------------------------

    def _site(self, instruction: Instruction, role: Any, shown: str) -> int:
        return self._builder.site(instruction, role.__name__, shown)

    def _load(self, instruction: Instruction, *before: Instruction) -> None:
        shift = {"LOAD_SUPER_ATTR": 2, "LOAD_METHOD": 0}.get(instruction.name)
        if shift is None:
            shift = 1 if sys.version_info >= (3, 12) else 0
        name = self._code.co_names[instruction.argument >> shift]
        build = self._builder
        if is_method_load(instruction):
            site = self._site(instruction, Events.call_method, f".{name}(...)")
            row = [*build.call(Events.call_method, 1, name, site), *to_pair()]
        elif name == "__dict__":
            row = build.call(
                Events.read_dict, 1, self._site(instruction, Events.read_dict, f".{name}")
            )
        else:
            row = build.call(
                Events.read_attribute,
                1,
                name,
                self._site(instruction, Events.read_attribute, f".{name}"),
            )
        build.put(instruction, [*before, *row])

    def _super(self, instruction: Instruction) -> None:
        """The object that stands for the base classes is made first."""
        is_explicit = bool(instruction.argument & 2)
        self._load(instruction, *self._builder.call(_super_of, 3, is_explicit))

    def _operation(self, instruction: Instruction) -> None:
        function, operands, gives, shown = _OPERATIONS[instruction.name]
        constants: tuple[Any, ...] = ()
        if shown == "attribute":
            constants = (self._code.co_names[instruction.argument],)
            shown = f".{constants[0]}"
        site = self._site(instruction, function, shown)
        row = self._builder.call(function, operands, *constants, site)
        self._builder.put(instruction, row if gives else [*row, drop()])

    # -- operators ---------------------------------------------------------------------------

    def _combine(self, instruction: Instruction, function: Any, sign: str) -> list[Instruction]:
        site = self._site(instruction, function, sign)
        return self._builder.call(function, 2, sign, site)

    def _operator(self, instruction: Instruction) -> None:
        number = instruction.argument
        if number == _SUBSCRIPT:
            row = self._builder.call(
                Events.read_item, 2, self._site(instruction, Events.read_item, "[...]")
            )
        elif number >= len(_OPERATORS):
            row = self._combine(instruction, Events.augment, _OPERATORS[number - len(_OPERATORS)])
        elif _OPERATORS[number] in _OF_CONTAINERS:
            row = self._combine(instruction, Events.apply_operator, _OPERATORS[number])
        else:
            return
        self._builder.put(instruction, row)

    def _compare(self, instruction: Instruction) -> None:
        sign = _COMPARISONS[dis.cmp_op[instruction.argument >> _COMPARISON_SHIFT]]
        row = self._combine(instruction, Events.apply_operator, sign)
        if not _TRUTH_IS_ASKED and instruction.argument & 16:
            row.append(to_bool())
        self._builder.put(instruction, row)

    def _contains(self, instruction: Instruction) -> None:
        sign = "NotIn" if instruction.argument else "In"
        self._builder.put(instruction, self._combine(instruction, Events.apply_operator, sign))

    def _before(self, instruction: Instruction, depth: int, function: Any, shown: str) -> None:
        """Show an operand before the instruction."""
        site = self._site(instruction, function, shown)
        row = self._builder.below(depth, function, site)
        self._builder.put(instruction, [*row, same(instruction)])

    def _look(self, instruction: Instruction) -> None:
        function, depth = _LOOKS[instruction.name]
        self._before(instruction, depth, function, instruction.name.lower())

    def _format(self, instruction: Instruction) -> None:
        depth = 2 if instruction.argument & 4 else 1
        self._before(instruction, depth, Events.format_value, instruction.name.lower())

    def _match(self, number: int, instruction: Instruction) -> None:
        before = self._builder.row[number - 1]
        if before.name != "LOAD_CONST":
            raise UnknownCodeError("a pattern whose attributes are not constants")
        attributes = self._code.co_consts[before.argument]
        site = self._site(instruction, Events.match_pattern, "match")
        row = self._builder.below(
            3, Events.match_pattern, attributes, instruction.argument > 0, site
        )
        self._builder.put(instruction, [*row, same(instruction)])

    def _make(self, instruction: Instruction) -> None:
        self._builder.put(instruction, [same(instruction), *self._builder.call(Events.receive, 1)])

    def _iterate(self, number: int, instruction: Instruction) -> None:
        following = self._builder.row[number + 1].name
        if following in ("CALL", "PRECALL"):  # of a generator expression
            function: Any = Events.iterate_lazily
        else:
            function = Events.iterate
        site = self._site(instruction, function, "for ... in ...")
        row = self._builder.call(function, 1, False, site)
        self._builder.put(instruction, [*row, same(instruction)])

    # -- names -------------------------------------------------------------------------------

    def _load_global(self, instruction: Instruction) -> None:
        name = self._code.co_names[instruction.argument >> 1]
        if name not in IN_OWN_FRAME:
            self._named(instruction, Events.read_global, name)

    def _load_name(self, instruction: Instruction) -> None:
        self._named(instruction, Events.read_name, self._code.co_names[instruction.argument])

    def _named(self, instruction: Instruction, function: Any, name: str) -> None:
        row = self._builder.noted(function, name, self._site(instruction, function, name))
        self._builder.put(instruction, [*row, same(instruction)])

    def _store_global(self, instruction: Instruction) -> None:
        self._bind(instruction, Events.write_global)

    def _store_name(self, instruction: Instruction) -> None:
        self._bind(instruction, Events.write_name)

    def _bind(self, instruction: Instruction, function: Any) -> None:
        name = self._code.co_names[instruction.argument]
        row = self._builder.call(function, 1, name, self._site(instruction, function, name))
        self._builder.put(instruction, [*row, same(instruction)])

    def _delete_global(self, instruction: Instruction) -> None:
        self._unbind(instruction, Events.delete_global)

    def _delete_name(self, instruction: Instruction) -> None:
        self._unbind(instruction, Events.delete_name)

    def _unbind(self, instruction: Instruction, function: Any) -> None:
        name = self._code.co_names[instruction.argument]
        site = self._site(instruction, function, name)
        self._builder.put(instruction, self._builder.noted(function, name, site))

    def _cell(self, instruction: Instruction) -> None:
        name = self._builder.variables[instruction.argument]
        if name in _OWN_NAMES:
            return
        function = Events.read_cell if instruction.name == "LOAD_DEREF" else Events.write_cell
        site = self._site(instruction, function, name)
        row = self._builder.with_cell(function, instruction.argument, name, site)
        self._builder.put(instruction, [*row, same(instruction)])

    def _return(self, instruction: Instruction) -> None:
        """What a function with a cache returns is put there next."""
        if self._builder.fills:
            site = self._site(instruction, Events.fill_cache, "return")
            self._builder.put_before(instruction, self._builder.noted(Events.fill_cache, site))


def _goes_round(instruction: Instruction) -> bool:
    return instruction.name.startswith(("JUMP_BACK", "POP_JUMP_BACK")) and not (
        instruction.name.endswith("NO_INTERRUPT")
    )


def _super_of(function: Any, kind: Any, thing: Any, is_explicit: bool) -> Any:
    """Something else that is called `super` is given what the source says."""
    return function(kind, thing) if is_explicit or function is super else function()
