"""Fixtures of pytest, set up anew for each execution.

A function-scoped fixture that were set up once for all executions would carry what one of them has
done over to the next, and the verdict would be worth nothing.  So every execution begins with the
set-up of its fixtures and ends with their tear-down, under control as the test itself; the class of
a method gets a fresh instance.  Fixtures of wider scope are set up once, as always.
"""

from __future__ import annotations

import unittest
from collections.abc import Callable
from typing import Any

import pytest

from mazurka.runtime.cases import run_case
from mazurka.runtime.failures import explain_now


def body_of(item: Any, function: Callable[..., Any]) -> Callable[[], Any]:
    """One execution of an item: set-up, the test, tear-down."""
    call = call_case if is_case(item) else call_function
    if not is_set_up_anew(item):
        arguments = arguments_of(item)
        return lambda: function(**arguments)

    def body() -> Any:
        set_up(item)
        try:
            return call(item, function)
        except BaseException as error:
            explain_now(error)
            raise
        finally:
            tear_down(item)

    tear_down(item)
    return body


def set_up_wider(item: Any) -> None:
    """Set up what lasts longer than one execution; the rest belongs to each of them."""
    if is_case(item):
        item._explicit_tearDown = None
    definitions = item._fixtureinfo.name2fixturedefs
    for name in item.fixturenames:
        found = definitions.get(name)
        if found and found[-1].scope != "function":
            item._request.getfixturevalue(name)


def is_case(item: Any) -> bool:
    from _pytest.unittest import TestCaseFunction

    return isinstance(item, TestCaseFunction)


def is_set_up_anew(item: Any) -> bool:
    """Whether a fixture of the narrowest scope takes part, besides plain parameters, or a class."""
    if item.cls is not None:
        return True
    parameters = set(item.callspec.params) if hasattr(item, "callspec") else set()
    definitions = item._fixtureinfo.name2fixturedefs
    return any(
        name not in parameters and found and found[-1].scope == "function"
        for name, found in definitions.items()
    )


def arguments_of(item: Any) -> dict[str, Any]:
    return {name: item.funcargs[name] for name in item._fixtureinfo.argnames}


def set_up(item: Any) -> None:
    item._initrequest()
    item.session._setupstate.setup(item)


def tear_down(item: Any) -> None:
    """Tear down the item alone; what it stands in stays as it is."""
    item.session._setupstate.teardown_exact(item.parent)
    item._obj = None
    item.__dict__.pop("_instance", None)


def call_function(item: Any, function: Callable[..., Any]) -> Any:
    instance = item.instance
    arguments = arguments_of(item)
    return function(**arguments) if instance is None else function(instance, **arguments)


def call_case(item: Any, function: Callable[..., Any]) -> None:
    run_case(item.instance, function, (), {})


def is_skipped(item: Any) -> bool:
    """Whether `unittest.skip` stands above the test or its class."""
    holders = (item.obj, item.cls)
    return any(getattr(holder, "__unittest_skip__", False) for holder in holders)


NO_FAILURES: tuple[type[BaseException], ...] = (
    pytest.skip.Exception,
    pytest.xfail.Exception,
    pytest.exit.Exception,
    unittest.SkipTest,
)
