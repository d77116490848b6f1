"""A trap looks like the function that it is set in, and lets the call go on with its arguments."""

from __future__ import annotations

import gc
import inspect
import subprocess
import sys
import weakref
from _thread import get_ident
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
from tests.limits import ENOUGH

from mazurka.runtime.core.scheduler import session
from mazurka.runtime.rewrite.live_functions import live_functions
from mazurka.runtime.rewrite.traps import Traps, is_trap


def take_all(a: Any, b: Any = 2, /, c: Any = 3, *d: Any, e: Any = 5, **f: Any) -> Any:
    return a, b, c, d, e, f


def capture_all(a: Any, *b: Any, c: Any = 3, **d: Any) -> Any:
    def show() -> Any:
        return a, b, c, d

    return show()


def make_closure(first: Any) -> Callable[..., Any]:
    def add(a: Any) -> Any:
        def inner() -> Any:
            return first + a

        return inner()

    return add


def count(a: int) -> Any:
    yield a
    yield a + 1


async def wait(a: int) -> int:
    return a


class Derived(dict[str, int]):
    def size(self) -> int:
        return super().__len__()


CALLS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "all kinds of arguments": (take_all, lambda f: f(1, 2, 3, 4, e=6, g=7)),
    "defaults": (take_all, lambda f: f(1)),
    "captured arguments": (capture_all, lambda f: f(1, 2, c=4, g=5)),
    "a closure": (make_closure(1), lambda f: f(2)),
    "a generator": (count, lambda f: list(f(1))),
    "super": (Derived.size, lambda f: f(Derived(a=1))),
}


@pytest.mark.parametrize("is_controlled", [False, True])
@pytest.mark.parametrize("what", CALLS)
def test_calls_go_on(monkeypatch: pytest.MonkeyPatch, what: str, is_controlled: bool) -> None:
    function, call = CALLS[what]
    expected, code = call(function), function.__code__
    met: list[FunctionType] = []

    def meet(entered: FunctionType) -> None:
        met.append(entered)
        traps.remove(entered)

    traps = Traps(meet)
    traps.set_all([function])
    assert is_trap(function.__code__)
    try:
        with monkeypatch.context() as patch:
            if is_controlled:
                patch.setattr(session.current, "ident", get_ident())
            assert call(function) == expected
    finally:
        traps.remove_all()
    assert met == [function] * is_controlled
    assert function.__code__ is code


def test_nobody_sees_a_difference() -> None:
    traps = Traps(lambda function: None)
    functions: list[Any] = [take_all, count, wait]
    before = [inspect.signature(function) for function in functions]
    traps.set_all(functions)
    try:
        assert [inspect.signature(function) for function in functions] == before
        assert inspect.isgeneratorfunction(count)
        assert inspect.iscoroutinefunction(wait)
        assert inspect.getsource(take_all).startswith("def take_all")
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'a'"):
            functions[0]()
    finally:
        traps.remove_all()


def test_a_trap_keeps_no_function_alive() -> None:
    traps = Traps(lambda function: None)
    function: Any = make_closure(1)
    assert function(2) == 3
    traps.set_all([function])
    assert function(2) == 3
    traps.remove_all()
    left = weakref.ref(function)
    gc.disable()
    try:
        del function
        assert left() is None
    finally:
        gc.enable()


def trapped_in(parts: frozenset[str], *functions: FunctionType) -> list[bool]:
    """Which functions of one namespace get traps, if only parts of it do."""
    lives = [live_functions.know(function) for function in functions]
    traps = Traps(lambda function: None)
    traps.set_in_parts(lives[0].group, parts)
    try:
        return [is_trap(function.__code__) for function in functions]
    finally:
        traps.remove_all()


def test_parts_of_a_namespace_are_those_of_the_moment() -> None:
    """What is known of a namespace from one exploration to the next: functions that come, go or
    change are noticed, whether or not they have been chosen before."""
    space: dict[str, Any] = {}
    exec("def one(): pass\ndef two(): pass", space)
    one, two = space["one"], space["two"]
    names = frozenset({"one"})
    assert trapped_in(names, one, two) == [True, False]
    assert trapped_in(names, one, two) == [True, False]
    assert trapped_in(frozenset({"two"}), one, two) == [False, True]
    assert trapped_in(names, one, two) == [True, False]
    two.__code__ = one.__code__
    assert trapped_in(names, one, two) == [True, True]
    exec("def three(): pass", space)
    one.__code__ = space["three"].__code__
    assert trapped_in(names, one, two, space["three"]) == [False, True, False]
    exec("def one(): pass", space)
    assert trapped_in(names, one, two, space["three"], space["one"]) == [False, True, False, True]


HOOKED = """
import sys, threading
sys.path.insert(0, sys.argv[1])
import package_with_hook
import mazurka

def test():
    thread = threading.Thread(target=lambda: eval("1"))
    thread.start()
    thread.join()

result = mazurka.explore(test, preemptions=1)
print(result.verdict, *result.not_observed)
"""


def test_an_audit_hook_is_not_called_because_of_its_trap(tmp_path: Path) -> None:
    """It cannot be removed, so it is set in another process."""
    package, project = tmp_path / "package", tmp_path / "project"
    package.mkdir()
    project.mkdir()
    (package / "package_with_hook.py").write_text(
        "import sys\ndef hook(event, given):\n    pass\nsys.addaudithook(hook)\n"
    )
    (project / "pyproject.toml").touch()
    (project / "hooked.py").write_text(HOOKED)
    done = subprocess.run(
        [sys.executable, "hooked.py", str(package)],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=ENOUGH,
        check=False,
    )
    assert done.stdout == "inconclusive hook (an audit hook)\n", done.stderr
