"""Fixtures of pytest, set up anew for each execution.

A function-scoped fixture that were set up once for all executions would carry what one of them has
done over to the next, and the verdict would be worth nothing.  So every execution begins with the
set-up of its fixtures and ends with their tear-down, under control as the test itself; the class of
a method gets a fresh instance.  Fixtures of wider scope are set up once, as always.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

from mazurka.runtime.core.failures import explain_now
from mazurka.runtime.testing.decorator import run_case
from mazurka.runtime.testing.pytest.state import ItemState


def make_body(
    item: Any, function: Callable[..., Any], state: ItemState, found: object
) -> Callable[[], Any]:
    """Make the body of one execution of an item: set-up, the test, tear-down.

    The search of locks that exist already begins at what is returned here; so that holds what was
    found for it (`expose_reachable`).
    """
    call = call_case if is_case(item) else call_function
    if not is_set_up_anew(item):
        arguments = collect_arguments(item)

        def bare(_reachable: object = found) -> Any:
            state.begin()
            state.enter("call")
            return function(**arguments)

        return bare

    definitions = find_definitions(item)

    def body(_reachable: object = found) -> Any:
        state.begin()
        try:
            set_up(item)
            state.observe_output()
            state.enter("call")
            return call(item, function)
        except BaseException as error:
            explain_now(error)
            raise
        finally:
            state.enter("teardown")
            try:
                finish_cut(definitions, item._request)
            finally:
                tear_down(item)
                forget_finished(definitions)

    tear_down(item)
    return body


@contextmanager
def expose_reachable(item: Any) -> Iterator[tuple[dict[str, Any], ...]]:
    """Show what tests reach through pytest alone to the search of locks that exist already.

    These are the values of wider fixtures, with the functions that make them, and the names in each
    `conftest.py` (only one of several is found among the modules).  A value lies in a tuple that
    cannot be changed; for the time of the exploration it is a dictionary with the same numbers.
    """
    every = find_definitions(item)
    made = {
        found: found.cached_result
        for found in every
        if type(found.cached_result) is tuple and found.scope != "function"
    }
    for found, result in made.items():
        found.cached_result = dict(enumerate(result))
    known = set(map(id, sys.modules.values()))
    conftests = getattr(item.config.pluginmanager, "_conftest_plugins", ())
    try:
        yield (
            *({found.argname: found.cached_result} for found in made),
            *({found.argname: found.func} for found in every),
            {"conftest": [vars(module) for module in conftests if id(module) not in known]},
        )
    finally:
        for found, result in made.items():
            if type(found.cached_result) is dict:  # else it was set up again
                found.cached_result = result


def find_definitions(item: Any) -> list[Any]:
    """Find the fixtures that an item can ask for, also while it runs."""
    manager = item.session._fixturemanager
    tables = ("_arg2fixturedefs", "_arg2node2fixturedefs", "_arg2nodeid2fixturedefs")
    names = {name for table in tables for name in getattr(manager, table, ())}
    visible = [manager.getfixturedefs(name, item) or () for name in sorted(names)]
    return [*chain.from_iterable([*item._fixtureinfo.name2fixturedefs.values(), *visible])]


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
    """Whether a fixture of the narrowest scope can take part, besides parameters, or a class."""
    if item.cls is not None or "request" in item.fixturenames:
        return True
    parameters = set(item.callspec.params) if hasattr(item, "callspec") else set()
    definitions = item._fixtureinfo.name2fixturedefs
    return any(
        name not in parameters and found and found[-1].scope == "function"
        for name, found in definitions.items()
    )


def collect_arguments(item: Any) -> dict[str, Any]:
    return {name: item.funcargs[name] for name in item._fixtureinfo.argnames}


def set_up(item: Any) -> None:
    item._initrequest()
    item.session._setupstate.setup(item)


def finish_cut(definitions: list[Any], request: Any) -> None:
    """Finish fixtures in whose set-up the execution has ended.

    pytest has noted what to do at their end, and no result; without one it takes them for finished,
    does nothing of it, and the next set-up stumbles over the note.
    """
    for found in definitions:
        if found.cached_result is None and found._finalizers:
            found.cached_result = (None, None, None)
            try:
                found.finish(request)
            finally:
                finish_cut(definitions, request)


def forget_finished(definitions: list[Any]) -> None:
    """Let wider fixtures forget the narrow ones of an execution, which have been torn down.

    pytest notes with a fixture who has asked for it, so as to finish those first.  Each execution
    would add a note, with the request that it keeps alive.
    """
    for found in definitions:
        if found.scope != "function" and found._finalizers:
            found._finalizers[:] = [one for one in found._finalizers if not _is_narrow(one)]


def _is_narrow(finalizer: Any) -> bool:
    """Whether this finishes a fixture that belongs to one execution."""
    owner = getattr(getattr(finalizer, "func", None), "__self__", None)
    return getattr(owner, "scope", None) == "function"


def tear_down(item: Any) -> None:
    """Tear down the item alone, and leave its class and module as they are.

    pytest goes on after an exception that is an outcome of a test.  After any other (an execution
    ends where it stands, by `Unwind`), it forgets what is still to be torn down; such a fixture
    would seem to be set up in every later execution, and in later tests.
    """
    state = item.session._setupstate
    left, _ = state.stack.get(item, ([], None))
    try:
        state.teardown_exact(item.parent)
    finally:
        if left:
            state.stack[item] = left, None
            tear_down(item)
        item._obj = None
        item.__dict__.pop("_instance", None)


def call_function(item: Any, function: Callable[..., Any]) -> Any:
    instance = item.instance
    arguments = collect_arguments(item)
    return function(**arguments) if instance is None else function(instance, **arguments)


def call_case(item: Any, function: Callable[..., Any]) -> Any:
    return run_case(item.instance, function, (), {})


def is_skipped(item: Any) -> bool:
    """Whether `unittest.skip` stands above the test or its class."""
    holders = (item.obj, item.cls)
    return any(getattr(holder, "__unittest_skip__", False) for holder in holders)
