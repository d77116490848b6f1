"""Commands that take plain values as they are.

The library of the command line converts each value, defaults too, and newer versions import a whole
validation library to do so, which takes longer than reading a model.  But text that is wanted as
text needs no conversion, a default has its type already, and a number of digits is just that.
Everything else, errors above all, is left to the library.
"""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand, TyperGroup

NUMBERS = {
    int: re.compile(r"[0-9]{1,15}", re.ASCII),
    float: re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?", re.ASCII),
}
"""How numbers look about which there can be no doubt."""


class PlainCommand(TyperCommand):
    """A command whose parameters convert only what is not yet of their type."""

    def get_params(self, ctx: Any) -> list[Any]:
        return [take_plain_values(parameter) for parameter in super().get_params(ctx)]


class PlainGroup(TyperGroup):
    """The same for the command that has the others."""

    def get_params(self, ctx: Any) -> list[Any]:
        return [take_plain_values(parameter) for parameter in super().get_params(ctx)]


def take_plain_values(parameter: Any) -> Any:
    """Let a parameter, which is returned, take values that need no conversion as they are.

    Where the library does not say what type a parameter has, or checks more than the type, nothing
    changes.
    """
    descriptor = getattr(parameter, "type_descriptor", None)
    if descriptor is None or descriptor.is_ranged or descriptor.is_choice:
        return parameter
    if "process_value" in vars(parameter):  # done before
        return parameter
    convert, callback = parameter.process_value, parameter.callback
    several = parameter.multiple or parameter.nargs != 1

    def process_value(context: Any, value: Any) -> Any:
        if value is None and not parameter.required:
            plain = () if several else None
        else:
            plain = read_plainly(value, descriptor.annotation)
            if plain is None:
                return convert(context, value)
        return plain if callback is None else callback(context, parameter, plain)

    parameter.process_value = process_value
    return parameter


def read_plainly(value: Any, wanted: Any) -> Any:
    """A value that has the type that is wanted, or a number of digits; None for all others."""
    if wanted in (str, bool, int, float) and type(value) is wanted:
        return value
    if wanted in NUMBERS and isinstance(value, str) and NUMBERS[wanted].fullmatch(value):
        return wanted(value)
    if wanted == list[str] and isinstance(value, list | tuple) and value:
        return list(value) if all(type(each) is str for each in value) else None
    return None
