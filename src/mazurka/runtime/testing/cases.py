"""Tests that are methods of `unittest.TestCase`: every execution has a fresh case, set up anew."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from mazurka.runtime.core.failures import explain_now


def is_case(kind: type) -> bool:
    """Whether a class is a test case of `unittest`, which is slow to import for nothing."""
    unittest = sys.modules.get("unittest")
    return unittest is not None and issubclass(kind, unittest.TestCase)


def is_case_method(args: tuple[Any, ...]) -> bool:
    """Whether the arguments are those of a method of a test case."""
    return bool(args) and is_case(type(args[0]))


def bind_arguments(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Callable[[], Any]:
    """Bind a function to its arguments; a method of a test case runs on a fresh case."""
    if not is_case_method(args):
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
