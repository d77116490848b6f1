"""Gives the sites in rewritten code their numbers in this process.

A site is a number that differs from process to process.  Code that has just been rewritten, or that
comes from the cache, has a text in its place (`expressions.SITE`).
"""

from __future__ import annotations

from collections.abc import Sequence
from types import CodeType

from mazurka.runtime.core.sites import Place, sites
from mazurka.runtime.rewrite.source.expressions import SITE


def relocate(code: CodeType, places: Sequence[Place]) -> CodeType:
    """Number the sites of a module, and put the numbers into its code."""
    return _relocate(code, sites.add_file(code.co_filename, places))


def _relocate(code: CodeType, first: int) -> CodeType:
    return code.replace(co_consts=tuple([_settle(one, first) for one in code.co_consts]))


def _settle(constant: object, first: int) -> object:
    if isinstance(constant, CodeType):
        return _relocate(constant, first)
    if type(constant) is str and constant.startswith(SITE):
        return first + int(constant[len(SITE) :])
    return constant
