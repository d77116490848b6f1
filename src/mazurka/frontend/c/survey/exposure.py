"""Which variables of a function have their address kept.

`exposed` collects those whose address may become known beyond the expressions that name them.  With
`tame` pointers the same walk finds the ones whose address may be kept beyond their block: an
address that only goes to a local pointer which is followed and nothing else, and which lives no
longer than the variable, is not kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields

from mazurka.frontend.c import tree
from mazurka.frontend.c.types import ArrayType, PointerType

Landing = Callable[[tree.Variable, tree.Expression], bool]
"""Whether an address may be stored in a local pointer without being kept."""


@dataclass(slots=True)
class Exposure:
    """A walk over a function's text."""

    is_safe: Callable[[tree.CFunction, int], bool]
    """Whether a function keeps no address that it is given as this argument."""
    lands: Landing | None = None
    exposed: set[tree.Variable] = field(default_factory=set)

    def visit(self, node: object) -> None:
        match node:
            case tree.Name():  # the variable's initializer is visited where it is declared
                return
            case tree.AddressOf(operand=operand):
                self.exposed |= find_roots(operand)
                self.visit_parts(operand)
                return
            case tree.Conversion(operand=operand) if decays(node):
                self.exposed |= find_roots(operand)
                self.visit_parts(operand)
                return
            case tree.Subscript(base=base, index=index):
                self.visit(index)
                if decays(base):
                    assert isinstance(base, tree.Conversion)
                    self.visit_parts(base.operand)
                else:
                    self.visit(base)
                return
            case tree.Dereference(operand=operand):
                inner = operand.operand if isinstance(operand, tree.AddressOf) else operand
                if decays(inner):
                    assert isinstance(inner, tree.Conversion)
                    inner = inner.operand
                self.visit_parts(inner)
                return
            case tree.Evaluate(
                expression=tree.Assignment(
                    operator="", target=tree.Name(variable=pointer), value=value
                )
            ) if self._is_landing(pointer, value):
                self._visit_argument(value, True)
                return
            case tree.Evaluate(expression=tree.Call() as call):
                self._visit_call(call, used=False)
                return
            case tree.Call():
                self._visit_call(node, used=True)
                return
            case tree.Builtin(name=name, arguments=arguments):
                followed = 2 if "compare_exchange" in name else 1  # others are values, and kept
                for position, argument in enumerate(arguments):
                    self._visit_argument(argument, position < followed)
                return
        if isinstance(node, tuple):
            for each in node:
                self.visit(each)
        elif isinstance(node, tree.Variable):
            if node.local and node.initial is not None and not node.parameter:
                if self._is_landing(node, node.initial):
                    self._visit_argument(node.initial, True)
                else:
                    self.visit(node.initial)
        elif isinstance(node, tree.SyntaxNode):
            for part in fields(node):
                if part.name not in ("span", "type", "text"):
                    self.visit(getattr(node, part.name))

    def _visit_call(self, node: tree.Call, *, used: bool) -> None:
        """Look at a call; the function may return an address that it is given."""
        self.visit(node.callee)
        for position, argument in enumerate(node.arguments):
            safe = isinstance(node.callee, tree.FunctionName) and self.is_safe(
                node.callee.function, position
            )
            self._visit_argument(argument, safe and not (used and returns_argument(node)))

    def _is_landing(self, pointer: tree.Variable, value: tree.Expression) -> bool:
        return self.lands is not None and self.lands(pointer, value)

    def _visit_argument(self, argument: tree.Expression, safe: bool) -> None:
        operand = find_addressed(argument) if safe else None
        if operand is not None:
            self.visit_parts(operand)
        else:
            self.visit(argument)

    def visit_parts(self, node: tree.Expression) -> None:
        """Look at the indexes and pointers on the way to an object, not at the object."""
        match node:
            case tree.Name():
                return
            case tree.Member(base=base, arrow=False):
                self.visit_parts(base)
            case tree.Subscript(base=base, index=index) if decays(base):
                assert isinstance(base, tree.Conversion)
                self.visit(index)
                self.visit_parts(base.operand)
            case _:
                self.visit(node)


def returns_argument(node: tree.Call) -> bool:
    """Whether a call of the library has the value of its first argument."""
    return isinstance(node.callee, tree.FunctionName) and node.callee.function.name == "memset"


def find_addressed(node: tree.Expression) -> tree.Expression | None:
    """The object whose address an expression is: `&x`, or an array."""
    while isinstance(node, tree.Conversion) and isinstance(node.operand.type, PointerType):
        node = node.operand
    if isinstance(node, tree.AddressOf):
        return node.operand
    if decays(node):
        assert isinstance(node, tree.Conversion)
        return node.operand
    return None


def decays(node: tree.Expression) -> bool:
    """Whether the expression makes a pointer of an array."""
    return (
        isinstance(node, tree.Conversion)
        and isinstance(node.type, PointerType)
        and isinstance(node.operand.type, ArrayType)
    )


def find_roots(node: tree.Expression) -> set[tree.Variable]:
    """The variable of which an expression denotes a part, if it is a part of one."""
    while True:
        match node:
            case tree.Name(variable=variable) | tree.CompoundLiteral(variable=variable):
                return {variable}
            case tree.Member(base=base, arrow=False):
                node = base
            case tree.Subscript(base=tree.Conversion(operand=operand)) if isinstance(
                operand.type, ArrayType
            ):
                node = operand
            case tree.Ternary(then=then, otherwise=otherwise):
                return (find_roots(then) if then is not None else set()) | find_roots(otherwise)
            case tree.Comma(right=right):
                node = right
            case tree.Conversion(operand=operand):
                node = operand
            case _:
                return set()
