"""The tests of a file, without a test runner: functions and methods named `test*`."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from mazurka.errors import MazurkaError
from mazurka.runtime.exploring.options import (
    ExploreOptions,
    Test,
    combine_options,
    read_marker,
)
from mazurka.runtime.exploring.tokens import make_portable
from mazurka.runtime.testing.configuration import ConfigurationError, read_project
from mazurka.runtime.testing.decorator import (
    is_case,
    refuse_coroutines,
    run_case,
    skip_exceptions,
)
from mazurka.runtime.testing.importing import CollectionError, load_tests
from mazurka.runtime.testing.mark import find_decorated

if TYPE_CHECKING:
    import unittest


@dataclass(frozen=True)
class Found:
    """A test, and the options that its project, its decorator and its markers give."""

    test: Test
    options: ExploreOptions | None
    problem: MazurkaError | None = None
    """Why it cannot be run here."""
    case: type[unittest.TestCase] | None = None
    skipped: str | None = None
    """Why it is not to be run."""

    @contextmanager
    def surroundings(self) -> Iterator[None]:
        """Set up what a test case has once for its class."""
        if self.case is None:
            yield
            return
        self.case.setUpClass()
        try:
            yield
        finally:
            self.case.tearDownClass()
            self.case.doClassCleanups()


def split_target(target: str) -> tuple[str, str | None]:
    """Split `tests/test_bank.py::Class::test` into a path and a name."""
    path, separator, name = target.partition("::")
    return path, name if separator else None


def collect(target: str) -> list[Found]:
    """Collect the tests that a target names."""
    path, name = split_target(target)
    module = load_tests(path)
    found = list(collect_tests(module, make_portable(path)))
    if name is None:
        if not found:
            raise CollectionError("there is no function named test* in this file", file=path)
        return found
    inside = f"{name}::"  # a test, or a class with all of its tests
    named = [one for one in found if f"{one.test.name}::".partition("::")[2].startswith(inside)]
    if named:
        return named
    plain = resolve(module, name)
    if plain is None:
        there = ", ".join(one.test.name.partition("::")[2] for one in found) or "no tests"
        advice = "; tests with parameters are run by pytest" if "[" in name else ""
        raise CollectionError(f"there is no test {name!r}; there are {there}{advice}", file=path)
    return [collect_function(plain, f"{make_portable(path)}::{name}")]


def collect_tests(module: ModuleType, path: str) -> Iterator[Found]:
    """Collect tests in the order in which the file defines them.

    Values are asked for nothing, not even for their class (`isinstance` does so): a lazy proxy of
    the module would make what it stands for, and no execution would be the first to use it.
    """
    for name, value in list(vars(module).items()):
        if issubclass(type(value), type) and value.__module__ == module.__name__:
            yield from collect_methods(value, f"{path}::{name}")
        elif is_test(name, value) and value.__module__ == module.__name__:
            yield collect_function(value, f"{path}::{name}")


def is_test(name: str, value: Any) -> bool:
    return type(value) is FunctionType and (
        name.startswith("test") or find_decorated(value) is not None
    )


def collect_function(function: Callable[..., Any], name: str) -> Found:
    module = sys.modules.get(function.__module__)
    asked = read_request(function, module)
    test = Test(body=asked.function, name=name, function=asked.function, skips=skip_exceptions)
    skipped = find_skip(function, module)
    return Found(test, asked.options, find_problem(asked, name), skipped=skipped)


def find_skip(*holders: object) -> str | None:
    """Find why a test is not to be run, by `unittest.skip` or a mark of pytest, `skip` or `skipif`
    with a value, above it, its class or its module."""
    for holder in holders:
        if getattr(holder, "__unittest_skip__", False):
            return str(getattr(holder, "__unittest_skip_why__", ""))
        marks = getattr(holder, "pytestmark", ())
        for mark in marks if isinstance(marks, list | tuple) else (marks,):
            met = any(given for given in mark.args if type(given) is not str)
            if mark.name == "skip" or (mark.name == "skipif" and met):
                return str(mark.kwargs.get("reason", *mark.args[:1] or ("",)))
    return None


@dataclass(frozen=True)
class RequestedTest:
    """The user's own function, and how it wants to be explored."""

    function: Callable[..., Any]
    options: ExploreOptions | None = None
    marked: bool = False
    """It has the decorator or the marker."""
    refused: str | None = None
    """What is wrong with its marker: an error of this test, whichever others are in the file."""


def read_request(function: Callable[..., Any], *around: object) -> RequestedTest:
    """Read how a test wants to be explored; `around` are its class and its module."""
    decorated = find_decorated(function)
    inner = function if decorated is None else decorated.function
    marks = [list(find_marks(holder)) for holder in (function, *around)]
    marked = decorated is not None or any(marks)
    try:
        layers = [read_marker(mark) for some in reversed(marks[1:]) for mark in some]
        own = [read_marker(mark) for mark in marks[0]]
        middle = [] if decorated is None else [decorated.given]
        file = inspect.unwrap(inner).__code__.co_filename
        options = combine_options(read_project(file), *([*layers, *middle, *own] or [{}]))
        return RequestedTest(inner, options, marked)
    except ConfigurationError:
        raise
    except (MazurkaError, TypeError) as error:
        return RequestedTest(inner, None, True, str(error))


def find_marks(holder: object) -> Iterator[Any]:
    """Find the marks of a function, a class with its bases, or a module; the first comes last."""
    kinds = reversed(holder.__mro__) if isinstance(holder, type) else (holder,)
    for kind in kinds:
        marks = getattr(kind, "__dict__", {}).get("pytestmark", ())
        for mark in reversed(marks if isinstance(marks, list | tuple) else (marks,)):
            if getattr(mark, "name", None) == "mazurka":
                yield mark


def collect_methods(kind: type, path: str) -> Iterator[Found]:
    case: Any = kind if is_case(kind) else None
    wanted = case is not None or kind.__name__.startswith("Test")
    if not wanted or "__init__" in vars(kind):
        return
    for name, value in inspect.getmembers(kind, inspect.isfunction):
        if is_test(name, value):
            asked = read_request(value, kind, sys.modules.get(kind.__module__))
            inner = asked.function
            body = make_case_body(kind, name, inner) if case else make_method_body(kind, inner)
            test = Test(body=body, name=f"{path}::{name}", function=inner, skips=skip_exceptions)
            problem = find_problem(asked, test.name, given=1)
            skipped = find_skip(value, kind, sys.modules.get(kind.__module__))
            yield Found(test, asked.options, problem, case, skipped)


def make_case_body(kind: type, name: str, function: Callable[..., Any]) -> Callable[[], Any]:
    return lambda: run_case(kind(name), function, (), {})


def make_method_body(kind: type, function: Callable[..., Any]) -> Callable[[], Any]:
    """Make a body that runs a method on a fresh instance, with its set-up and tear-down."""

    def body() -> Any:
        instance = kind()
        call_if_there(instance, "setup_method", function)
        try:
            return function(instance)
        finally:
            call_if_there(instance, "teardown_method", function)

    return body


def call_if_there(instance: object, name: str, function: Callable[..., Any]) -> None:
    method = getattr(instance, name, None)
    if method is not None:
        method(function) if inspect.signature(method).parameters else method()


def resolve(module: ModuleType, name: str) -> Callable[..., Any] | None:
    """Find any function of the module, also one that is not named like a test."""
    value = vars(module).get(name)
    return value if inspect.isfunction(value) else None


def find_problem(asked: RequestedTest, name: str, given: int = 0) -> MazurkaError | None:
    """Why a test cannot be run here, with its place: its marker is wrong, a call runs nothing of
    it, or it needs arguments, which only a test runner has."""
    path, _, test = name.partition("::")
    line = inspect.unwrap(asked.function).__code__.co_firstlineno
    if asked.refused is not None:
        wrong = f"the marker of {test} is wrong: {asked.refused}"
        return CollectionError(wrong, file=path, line=line)
    try:
        refuse_coroutines(asked.function)
    except MazurkaError as error:
        return CollectionError(error.message, file=path, line=line)
    needed = [
        parameter.name
        for parameter in list(inspect.signature(asked.function).parameters.values())[given:]
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    if not needed:
        return None
    first = "" if asked.marked else "mark it with @pytest.mark.mazurka and "
    return CollectionError(
        f"{test} has arguments ({', '.join(needed)}), and it is pytest that gives fixtures and"
        f" parameters: {first}run `pytest {name}`, which explores it as well",
        file=path,
        line=line,
    )
