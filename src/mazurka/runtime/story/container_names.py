"""Names of containers to which no variable leads: as the source has them where they are used."""

from __future__ import annotations

import ast
import linecache
import re
from typing import Any, Final

from mazurka.runtime.core.sites import AccessSite
from mazurka.runtime.story.labels import DICTIONARY

_OF_OBJECT: Final = frozenset({"hasattr", "getattr", "setattr", "delattr", "vars"})
_OF_FIRST: Final = _OF_OBJECT | frozenset(
    {"len", "list", "sorted", "tuple", "set", "sum", "min", "max", "any", "all"}
)
"""Functions that use their first argument."""


def name_container(site: AccessSite, text: str, kept: Any) -> str:
    """Name the container that an expression uses: `jobs` of `jobs.append`, `jobs[0]`, `1 in jobs`
    and `len(jobs)`, whose site is that of `len`."""
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        return text
    match node:
        case ast.Subscript(value=inner) if site.role.endswith("_item"):
            return ast.unparse(inner)
        case ast.Attribute(value=inner, attr=method) if hasattr(type(kept), method):
            return ast.unparse(inner)
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[inner]):
            return ast.unparse(inner)
        case ast.Name(id=function) if function in _OF_FIRST:
            return _name_first(site, function) or text
    return text


def _name_first(site: AccessSite, function: str) -> str | None:
    """Name the first argument of a call, if it is a variable or an attribute."""
    line = linecache.getline(site.file, site.line).encode()[site.column :]
    given = re.match(rf"{function}\((\w+(?:\.\w+)*)[,)]", line.decode(errors="replace"))
    if given is None:
        return None
    return given[1] + DICTIONARY if function in _OF_OBJECT else given[1]
