"""What a function does with its variables, found by looking at its text.

A local variable is *exposed* if its address may become known beyond the expressions that name it:
then other threads may reach it, and it lies in shared memory.  Handing `&x` to a function exposes
nothing if the function only follows the pointer (a *transparent* parameter).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields

from mazurka.frontend.c import tree
from mazurka.frontend.c.survey.exposure import (
    Exposure,
    decays,
    find_addressed,
    find_roots,
    returns_argument,
)
from mazurka.frontend.c.survey.scopes import find_scopes
from mazurka.frontend.c.types import PointerType, bare

SAFE_ARGUMENTS: dict[str, frozenset[int]] = {
    "pthread_create": frozenset({0, 1}),
    "pthread_join": frozenset({1}),
    "thrd_create": frozenset({0}),
    "thrd_join": frozenset({1}),
    "memset": frozenset({0}),
    "sem_getvalue": frozenset({0, 1}),
    "pthread_cond_timedwait": frozenset({0, 1, 2}),
    "clock_gettime": frozenset({1}),
    "time": frozenset({0}),
}
"""Arguments of library functions behind which no address is kept."""
_SAFE_PREFIXES = (
    "pthread_mutex", "pthread_cond", "pthread_rwlock", "pthread_barrier", "pthread_attr",
    "pthread_spin", "sem_", "mtx_", "cnd_", "pthread_key_create",
)  # fmt: skip


@dataclass(slots=True)
class VariableUse:
    exposed: set[tree.Variable] = field(default_factory=set)
    assigned: set[tree.Variable] = field(default_factory=set)
    """Variables that are written, apart from their declarations."""
    loops_back: bool = False
    """A `goto` leads back: everything may run often."""
    targets: set[str] = field(default_factory=set)
    """The labels that some `goto` leads to."""
    blocks: dict[object, tuple[tree.Variable, ...]] = field(default_factory=dict)
    """By block the mortal variables that it declares: pointers to them may outlive it."""
    around: dict[str, frozenset[object]] = field(default_factory=dict)
    """By label the blocks around it."""


_PARTS: dict[type, tuple[str, ...]] = {}
"""By kind of node the fields in which others may be."""


def _parts_of(node: tree.SyntaxNode) -> tuple[str, ...]:
    found = _PARTS.get(type(node))
    if found is None:
        # A variable is visited where it is declared, not where it is named.
        names = () if isinstance(node, tree.Name) else (each.name for each in fields(node))
        found = tuple(name for name in names if name not in ("span", "type", "text"))
        _PARTS[type(node)] = found
    return found


def walk(node: object) -> Iterator[tree.SyntaxNode]:
    """Iterate over a tree, parents first."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            waiting.extend(reversed(node))
        elif isinstance(node, tree.SyntaxNode):
            yield node
            waiting.extend(getattr(node, name) for name in reversed(_parts_of(node)))
        elif isinstance(node, tree.Variable) and node.local and node.initial is not None:
            waiting.append(node.initial)


class Survey:
    """The facts about each function, worked out when they are asked for."""

    def __init__(self) -> None:
        self._facts: dict[tree.CFunction, VariableUse] = {}
        self._changing: frozenset[tree.Variable] | None = None
        self._exposed: frozenset[tree.Variable] | None = None
        self._transparent: dict[tuple[tree.CFunction, int], bool] = {}
        self._callees: dict[tree.CFunction, set[tree.CFunction]] = {}
        self._addressed: set[tree.CFunction] | None = None
        self._variadic: dict[tree.CFunction, bool] = {}

    def facts(self, function: tree.CFunction) -> VariableUse:
        found = self._facts.get(function)
        if found is None:
            found = self._facts[function] = self._study(function)
        return found

    def is_transparent(self, function: tree.CFunction, position: int) -> bool:
        """Whether a function only follows the pointer that it is given as this argument."""
        key = (function, position)
        if key not in self._transparent:
            self._transparent[key] = False  # where it calls itself
            self._transparent[key] = self._study_parameter(function, position)
        return self._transparent[key]

    def _study_parameter(self, function: tree.CFunction, position: int) -> bool:
        if not function.defined:
            return False
        body = function.read()
        if position >= len(function.parameters):
            return False
        facts = self.facts(function)
        parameter = function.parameters[position]
        if parameter in facts.assigned or parameter in facts.exposed:
            return False
        return not self._leaks(body, parameter)

    def _leaks(self, node: object, parameter: tree.Variable) -> bool:
        """Whether the parameter's value is used other than to follow it."""
        match node:
            case tree.Name(variable=variable):
                return variable is parameter
            case tree.AddressOf(operand=operand):
                return _mentions(operand, parameter)  # the address of a part is as good
            case tree.Conversion(operand=operand) if decays(node):
                return _mentions(operand, parameter)
            case tree.Subscript(base=tree.Conversion(operand=operand) as base, index=index) if (
                decays(base)
            ):
                return self._leaks(operand, parameter) or self._leaks(index, parameter)
            case tree.Evaluate(
                expression=tree.Assignment(operator="", target=tree.Name(variable=variable))
            ) if variable is parameter:
                assert isinstance(node.expression, tree.Assignment)
                return self._leaks(node.expression.value, parameter)
            case tree.Dereference(operand=tree.Name()):
                return False
            case tree.Member(base=tree.Name(), arrow=True):
                return False
            case tree.Subscript(base=tree.Name(), index=index):
                return self._leaks(index, parameter)
            case tree.BinaryOperation(operator="==" | "!=", left=left, right=right) if _is_known(
                left
            ) or _is_known(right):
                sides = [side for side in (left, right) if not _names(side, parameter)]
                return any(self._leaks(side, parameter) for side in sides)
            case tree.Evaluate(expression=tree.Call() as call) if returns_argument(call):
                return any(self._leaks(each, parameter) for each in call.arguments[1:])
            case tree.Call() if returns_argument(node):
                return any(self._leaks(each, parameter) for each in node.arguments)
            case tree.Call(callee=tree.FunctionName(function=function), arguments=arguments):
                return any(
                    self._leaks(_behind(argument, self.is_safe(function, position)), parameter)
                    for position, argument in enumerate(arguments)
                    if not (_names(argument, parameter) and self.is_safe(function, position))
                )
            case tree.Builtin(arguments=(first, *rest)):
                used = rest if _names(first, parameter) else [_behind(first, True), *rest]
                return any(self._leaks(each, parameter) for each in used)
        if isinstance(node, tuple):
            return any(self._leaks(each, parameter) for each in node)
        if isinstance(node, tree.Variable):
            return node.local and self._leaks(node.initial, parameter)
        if isinstance(node, tree.SyntaxNode):
            return any(
                self._leaks(getattr(node, each.name), parameter)
                for each in fields(node)
                if each.name not in ("span", "type", "text")
            )
        return False

    def is_safe(self, function: tree.CFunction, position: int) -> bool:
        """Whether a function keeps no address that it is given as this argument."""
        if function.defined:
            return self.is_transparent(function, position)
        if position in SAFE_ARGUMENTS.get(function.name, ()):
            return True
        return function.name.startswith(_SAFE_PREFIXES) and position < 2

    def may_join(self, node: tree.SyntaxNode) -> bool:
        """Whether threads are joined in a statement, or in functions that it calls."""
        waiting, seen = [node], set()
        while waiting:
            for each in walk(waiting.pop()):
                if not isinstance(each, tree.FunctionName):
                    continue
                function = each.function
                if function.name in ("pthread_join", "thrd_join"):
                    return True
                if function.defined and function not in seen:
                    seen.add(function)
                    waiting.append(function.read())
        return False

    def callees(self, function: tree.CFunction, unit: tree.TranslationUnit) -> set[tree.CFunction]:
        """The functions that may run before a call of this one returns, perhaps itself again."""
        found = self._callees.get(function)
        if found is None:
            found = self._callees[function] = set()
            waiting = [function]
            while waiting:
                for each in self._named(waiting.pop(), unit):
                    if each not in found:
                        found.add(each)
                        waiting.append(each)
        return found

    def reads_arguments(self, function: tree.CFunction) -> bool:
        """Whether a function has a `va_start` for its variable arguments."""
        if function not in self._variadic:
            self._variadic[function] = any(
                isinstance(each, tree.Builtin) and each.name.endswith("va_start")
                for each in walk(function.read())
            )
        return self._variadic[function]

    def doubles(self, function: tree.CFunction, unit: tree.TranslationUnit) -> bool:
        """Whether a function calls itself at two places, perhaps through others."""
        again = [
            each.callee
            for each in walk(function.read())
            if isinstance(each, tree.Call)
            and isinstance(each.callee, tree.FunctionName)
            and (
                each.callee.function is function
                or function in self.callees(each.callee.function, unit)
            )
        ]
        return len(again) > 1

    def _named(
        self, function: tree.CFunction, unit: tree.TranslationUnit
    ) -> Iterator[tree.CFunction]:
        """The functions that another one names, and all that pointers may lead to if it calls
        one."""
        for each in walk(function.read()) if function.defined else ():
            if isinstance(each, tree.FunctionName):
                yield each.function
            elif isinstance(each, tree.Call) and not isinstance(each.callee, tree.FunctionName):
                yield from self._find_addressed(unit)

    def _find_addressed(self, unit: tree.TranslationUnit) -> set[tree.CFunction]:
        """The functions that are named other than to call them."""
        if self._addressed is None:
            self._addressed = set()
            parts: list[object] = [variable.initial for variable in unit.variables]
            parts += [each.read() for each in list(unit.functions.values()) if each.defined]
            for part in parts:
                called = {id(each.callee) for each in walk(part) if isinstance(each, tree.Call)}
                self._addressed |= {
                    each.function
                    for each in walk(part)
                    if isinstance(each, tree.FunctionName) and id(each) not in called
                }
        return self._addressed

    # --- exposed variables -----------------------------------------------------------------

    def _study(self, function: tree.CFunction) -> VariableUse:
        facts = VariableUse()
        body = function.read()
        placed: set[str] = set()
        for node in walk(body):
            match node:
                case tree.Assignment(target=target) | tree.Increment(target=target):
                    facts.assigned |= find_roots(target)
                case tree.AddressOf(operand=operand):
                    facts.assigned |= find_roots(operand)
                case tree.Labelled(name=name):
                    placed.add(name)
                case tree.Goto(name=name):
                    facts.targets.add(name)
                    facts.loops_back = facts.loops_back or name in placed
        exposure = Exposure(self.is_safe)
        exposure.visit(body)
        facts.exposed |= exposure.exposed
        self._find_mortal(function, facts)
        return facts

    # --- lives -----------------------------------------------------------------------------

    def _find_mortal(self, function: tree.CFunction, facts: VariableUse) -> None:
        """Find the variables whose address may be kept beyond their block."""
        if not any(each.local for each in facts.exposed):
            return
        scopes, body = find_scopes(function), function.read()
        tame: dict[tree.Variable, bool] = {}

        def lands(pointer: tree.Variable, value: tree.Expression) -> bool:
            operand = find_addressed(value)
            if operand is None or not pointer.local or pointer in facts.exposed:
                return False
            if not isinstance(bare(pointer.type), PointerType):
                return False
            if pointer not in tame:
                tame[pointer] = not self._leaks(body, pointer)
            within = all(scopes.contains(each, pointer) for each in find_roots(operand))
            return tame[pointer] and within

        keeping = Exposure(self.is_safe, lands)
        keeping.visit(body)
        for variable in keeping.exposed & scopes.variables.keys():
            block = scopes.variables[variable][-1]
            facts.blocks[block] = (*facts.blocks.get(block, ()), variable)
        for block, variables in facts.blocks.items():
            facts.blocks[block] = tuple(sorted(variables, key=_position))
        facts.around = {name: frozenset(path) for name, path in scopes.labels.items()}

    def exposed(self, unit: tree.TranslationUnit) -> frozenset[tree.Variable]:
        """The variables whose address some function may keep."""
        if self._exposed is None:
            functions = [each for each in unit.functions.values() if each.defined]
            self._exposed = frozenset().union(*(self.facts(each).exposed for each in functions))
        return self._exposed

    def changing(self, unit: tree.TranslationUnit) -> frozenset[tree.Variable]:
        """The variables that some function may change."""
        if self._changing is None:
            found: set[tree.Variable] = set()
            for function in list(unit.functions.values()):
                if function.defined:
                    facts = self.facts(function)
                    found |= facts.assigned | facts.exposed
            for variable in unit.variables:  # `int *p = &x;`
                for node in walk(variable.initial):
                    if isinstance(node, tree.AddressOf):
                        found |= find_roots(node.operand)
            self._changing = frozenset(found)
        return self._changing


def _position(variable: tree.Variable) -> tuple[int, int, str]:
    return (variable.span.line, variable.span.column, variable.name)


def _behind(argument: tree.Expression, safe: bool) -> tree.Expression:
    """What an argument `&x` is about, where the function keeps no address of it."""
    node = argument
    while safe and isinstance(node, tree.Conversion) and isinstance(node.operand.type, PointerType):
        node = node.operand
    return node.operand if safe and isinstance(node, tree.AddressOf) else argument


def _mentions(node: tree.Expression, variable: tree.Variable) -> bool:
    return any(isinstance(each, tree.Name) and each.variable is variable for each in walk(node))


def _names(node: tree.Expression, parameter: tree.Variable) -> bool:
    """Whether an argument is the parameter itself, perhaps converted."""
    while isinstance(node, tree.Conversion):
        node = node.operand
    return isinstance(node, tree.Name) and node.variable is parameter


def _is_known(node: tree.Expression) -> bool:
    """Whether a pointer is null, or the address of a variable: what it is compared with tells
    nothing about objects that are no more."""
    while isinstance(node, tree.Conversion | tree.BinaryOperation) and not decays(node):
        node = node.operand if isinstance(node, tree.Conversion) else node.left  # `array + 3`
    return isinstance(node, tree.IntegerConstant) or find_addressed(node) is not None


def has_effects(node: tree.Expression) -> bool:
    """Whether evaluating the expression needs steps of its own, or changes something."""
    return any(
        isinstance(
            each,
            tree.Call
            | tree.Builtin
            | tree.Assignment
            | tree.Increment
            | tree.StatementExpression
            | tree.Dereference
            | tree.Subscript
            | tree.Member
            | tree.Ternary
            | tree.Comma
            | tree.CompoundLiteral,
        )
        or (isinstance(each, tree.Name) and not each.variable.local)
        or (isinstance(each, tree.BinaryOperation) and each.operator in ("/", "%", "<<", ">>"))
        or isinstance(each, tree.Conversion)
        for each in walk(node)
    )


def may_write(node: tree.Expression) -> bool:
    """Whether evaluating the expression may change a variable."""
    return any(
        isinstance(
            each,
            tree.Call | tree.Assignment | tree.Increment | tree.StatementExpression | tree.Builtin,
        )
        for each in walk(node)
    )
