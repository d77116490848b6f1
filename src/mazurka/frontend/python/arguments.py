"""Match a call's arguments with parameters, as Python does."""

from __future__ import annotations

import ast
from collections.abc import Sequence as Items

from mazurka.frontend.python.lowering import Lowering
from mazurka.frontend.python.values.kinds import Function, Method, Value


def advise_not_to_call(low: Lowering, node: ast.AST) -> str:
    """Advise what to write instead of `spawn(worker(1))`, which runs the function at once."""
    match node:
        case ast.Call(ast.Name() | ast.Attribute() as called, given, []) if isinstance(
            low.designate(called), Function | Method
        ):
            name = ast.unparse(called)
            if not given:
                return f"; write `{name}`, without the parentheses that call it"
            parts = ", ".join(map(ast.unparse, given))
            apart = f"spawn({name}, {parts})"
            return f"; its arguments are given apart, so that it is not called here: `{apart}`"
        case _:
            return ""


def match_arguments(
    low: Lowering, node: ast.Call, names: Items[str], what: str
) -> dict[str, ast.expr]:
    """Map parameter names to the expressions given for them, in the order of the call."""
    given: dict[str, ast.expr] = {}
    if any(isinstance(argument, ast.Starred) for argument in node.args):
        raise low.refuse(node, "models cannot contain starred arguments; write them out")
    if len(node.args) > len(names):
        raise low.refuse(
            node, f"`{what}` takes at most {len(names)} arguments, not {len(node.args)}"
        )
    given.update(zip(names, node.args, strict=False))
    for keyword in node.keywords:
        if keyword.arg is None:
            raise low.refuse(node, "models cannot contain `**` arguments; write them out")
        if keyword.arg not in names:
            known = ", ".join(names) or "none"
            raise low.refuse(node, f"`{what}` has no parameter `{keyword.arg}`; it has: {known}")
        if keyword.arg in given:
            raise low.refuse(node, f"`{what}` gets two values for `{keyword.arg}`")
        given[keyword.arg] = keyword.value
    return given


def evaluate_arguments(
    low: Lowering, node: ast.Call, names: Items[str], what: str
) -> dict[str, Value]:
    """Evaluate the arguments from left to right."""
    given = match_arguments(low, node, names, what)
    return {name: low.value(expr) for name, expr in given.items()}


def parameters(low: Lowering, definition: ast.FunctionDef) -> dict[str, ast.expr | None]:
    """Map a function's parameters to their defaults."""
    arguments = definition.args
    if arguments.vararg or arguments.kwarg:
        raise low.refuse(
            definition, f"`{definition.name}` takes `*` or `**` arguments; name them all"
        )
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults))
    defaults += arguments.defaults
    found = {argument.arg: default for argument, default in zip(plain, defaults, strict=True)}
    found |= {
        argument.arg: default
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    }
    return found


def bind_parameters(
    low: Lowering, definition: ast.FunctionDef, node: ast.Call, first: dict[str, Value]
) -> dict[str, Value]:
    """Find the values of all parameters for a call; `first` are given already (`self`)."""
    wanted = parameters(low, definition)
    names = [name for name in wanted if name not in first]
    check_ways(low, definition, node, first)
    values = first | evaluate_arguments(low, node, names, definition.name)
    for name in names:
        default = wanted[name]
        if name in values:
            continue
        if default is None:
            raise low.refuse(node, f"`{definition.name}` needs a value for `{name}`")
        values[name] = evaluate_default(low, default)
    return values


def check_ways(
    low: Lowering, definition: ast.FunctionDef, node: ast.Call, first: dict[str, Value]
) -> None:
    """Refuse arguments by position or by name where `/` and `*` in the signature forbid them."""
    arguments, name = definition.args, definition.name
    most = len(arguments.posonlyargs) + len(arguments.args) - len(first)
    if arguments.kwonlyargs and len(node.args) > most:
        raise low.refuse(node, f"`{name}` takes at most {most} arguments without a name")
    unnamed = {argument.arg for argument in arguments.posonlyargs}
    for keyword in node.keywords:
        if keyword.arg in unnamed:
            raise low.refuse(node, f"`{name}` takes `{keyword.arg}` by its position only")


def evaluate_default(low: Lowering, default: ast.expr) -> Value:
    """Find what a default was worth at `def`, where Python evaluates it."""
    return low.program.defaults[id(default)]
