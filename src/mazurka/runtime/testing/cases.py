"""Tests that are methods of `unittest.TestCase`: every execution has a fresh case, set up anew."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from mazurka.runtime.core.failures import explain_now


def is_case(args: tuple[Any, ...]) -> bool:
    """Whether the arguments are those of a method of a test case."""
    unittest = sys.modules.get("unittest")
    return unittest is not None and bool(args) and isinstance(args[0], unittest.TestCase)


def fresh_case(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Callable[[], Any]:
    """The function with its arguments; a method of a test case runs with `setUp` and `tearDown`."""
    if not is_case(args):
        return lambda: function(*args, **kwargs)
    case = args[0]
    kind, name = type(case), case._testMethodName
    return lambda: run_case(kind(name), function, args[1:], kwargs)


def run_case(
    case: Any, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """What `TestCase.run` does, with exceptions passed on instead of collected."""
    try:
        case.setUp()
        try:
            function(case, *args, **kwargs)
        except BaseException as error:
            explain_now(error)
            raise
        finally:
            case.tearDown()
    finally:
        while case._cleanups:
            cleanup, positional, named = case._cleanups.pop()
            cleanup(*positional, **named)
