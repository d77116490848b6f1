"""Functions of the library that work on elements of any type, such as `qsort`.

A header has their text for elements of type `struct __mazurka_element`; here it becomes that of
another type.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from mazurka.frontend.c import tree
from mazurka.frontend.c.types import (
    ArrayType,
    CType,
    FunctionType,
    PointerType,
    RecordType,
    size_of,
)

ELEMENT = "struct __mazurka_element"


def instantiate(unit: tree.TranslationUnit, name: str, element: CType) -> tree.CFunction | None:
    """The function of a header for elements of a type; None if the header is not included."""
    template = unit.functions.get(name)
    if template is None or not template.defined:
        return None
    key = f"{name} {element} {id(element.body) if isinstance(element, RecordType) else ''}"
    found = unit.functions.get(key)
    if found is None:
        found = unit.functions[key] = _Instance(element).function(template, key)
    return found


class _Instance:
    """One function on its way from one type to another."""

    def __init__(self, element: CType) -> None:
        self.element = element
        self.variables: dict[tree.Variable, tree.Variable] = {}

    def function(self, template: tree.CFunction, name: str) -> tree.CFunction:
        body = template.read()
        title = name.split()[0].removeprefix("__mazurka_")
        made = tree.CFunction(title, self.type(template.type), template.span)
        made.parameters = tuple(map(self.variable, template.parameters))
        made.body = self.part(body)
        return made

    def type(self, type_: CType) -> CType:
        match type_:
            case RecordType(name=name) if name == ELEMENT:
                return self.element
            case PointerType(target=target):
                return replace(type_, target=self.type(target))
            case ArrayType(element=element):
                return replace(type_, element=self.type(element))
            case FunctionType(result=result, parameters=parameters):
                given = tuple(map(self.type, parameters))
                return replace(type_, result=self.type(result), parameters=given)
        return type_

    def variable(self, variable: tree.Variable) -> tree.Variable:
        found = self.variables.get(variable)
        if found is None:
            found = replace(variable, type=self.type(variable.type))
            self.variables[variable] = found
            found.initial = self.part(variable.initial)
        return found

    def part(self, part: Any) -> Any:
        """A part of the text, in the other type."""
        match part:
            case tree.SizeOf(measured=measured) if measured is not None:
                size = size_of(self.type(measured))
                return replace(part, value=size, measured=self.type(measured))
            case tree.SyntaxNode():
                parts = {each.name: self.part(getattr(part, each.name)) for each in fields(part)}
                return type(part)(**parts)
            case tree.Variable():
                return self.variable(part) if part.local else part
            case CType():
                return self.type(part)
            case tuple():
                return tuple(map(self.part, part))
        return part
