"""Code without source is watched: compiled modules, and what `exec` and `eval` have made."""

from __future__ import annotations

import importlib
import itertools
import py_compile
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest
from tests.unit.runtime.observed_programs import find, module_of

from mazurka.report.answer import HOLDS, VIOLATED
from mazurka.runtime.core.sites import MARK, is_rewritten
from mazurka.runtime.exploring.entry import explore_test
from mazurka.runtime.exploring.options import ExploreOptions
from mazurka.runtime.rewrite.bytecode import rewriting
from mazurka.runtime.rewrite.bytecode.assembly import UnknownCodeError
from mazurka.runtime.rewrite.observed_code import has_code
from mazurka.runtime.story.result import Result
from mazurka.runtime.testing.decorator import make_test

_numbers = itertools.count()

LIBRARY = """
import functools
import threading

class Account:
    def __init__(self):
        self.balance = 0
        self.lock = threading.Lock()
    def deposit(self, amount):
        self.balance += amount
    def deposit_safely(self, amount):
        with self.lock:
            self.balance += amount

total = 0
table = {}
def add(amount):
    global total
    total += amount
def count(word):
    table[word] = table.get(word, 0) + 1
def reset():
    global total
    total = 0
    table.clear()
def counter():
    n = 0
    def bump():
        nonlocal n
        n += 1
    return bump, lambda: n
flag = False
def raise_flag():
    global flag
    flag = True
def wait_for_flag():
    while not flag:
        pass
def lower_flag():
    global flag
    flag = False
made = []
@functools.lru_cache
def one_of_a_kind():
    return object()
"""


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a module of which only the compiled file is there."""
    name = f"compiled_{next(_numbers)}"
    source = tmp_path / "elsewhere.py"
    source.write_text(LIBRARY)
    py_compile.compile(str(source), str(tmp_path / f"{name}.pyc"), f"{name}.py", doraise=True)
    source.unlink()
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    yield name
    sys.modules.pop(name, None)


HEAD = """
import threading
def together(*functions):
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
"""


def explored(folder: Path, source: str) -> Result:
    module = module_of(folder, HEAD + textwrap.dedent(source))
    return explore_test(make_test(module.program, module.program), ExploreOptions(preemptions=2))


LOST = {
    "attribute": """
        account = lib.Account()
        together(lambda: account.deposit(1), lambda: account.deposit(1))
        assert account.balance == 2
    """,
    "global": """
        lib.reset()
        together(lambda: lib.add(1), lambda: lib.add(1))
        assert lib.total == 2
    """,
    "element": """
        lib.reset()
        together(lambda: lib.count("a"), lambda: lib.count("a"))
        assert lib.table["a"] == 2
    """,
    "cell": """
        bump, get = lib.counter()
        together(bump, bump)
        assert get() == 2
    """,
    "cache": """
        lib.one_of_a_kind.cache_clear()
        got = []
        together(*[lambda: got.append(lib.one_of_a_kind())] * 2)
        assert got[0] is got[1]
    """,
}


@pytest.mark.parametrize("name", LOST)
def test_a_lost_update_in_a_compiled_module_is_found(
    tmp_path: Path, compiled: str, name: str
) -> None:
    body = textwrap.indent(textwrap.dedent(LOST[name]), "    ")
    result = explored(tmp_path, f"import {compiled} as lib\ndef program():\n{body}")
    assert result.verdict == VIOLATED
    assert result.not_observed == ()


def test_with_a_lock_it_holds(tmp_path: Path, compiled: str) -> None:
    result = explored(
        tmp_path,
        f"""
import {compiled} as lib
def program():
    account = lib.Account()
    together(lambda: account.deposit_safely(1), lambda: account.deposit_safely(1))
    assert account.balance == 2
""",
    )
    assert result.verdict == HOLDS
    assert result.executions == 2
    assert result.not_observed == ()


def test_a_compiled_loop_that_waits_is_seen_to_wait(tmp_path: Path, compiled: str) -> None:
    result = explored(
        tmp_path,
        f"""
import {compiled} as lib
def program():
    lib.lower_flag()
    together(lib.wait_for_flag, lib.raise_flag)
""",
    )
    assert result.verdict == HOLDS, result.report()
    assert result.not_observed == ()


def test_a_compiled_module_that_is_imported_by_the_test(tmp_path: Path, compiled: str) -> None:
    result = explored(
        tmp_path,
        f"""
def program():
    import {compiled} as lib
    account = lib.Account()
    together(lambda: account.deposit(1), lambda: account.deposit(1))
    assert account.balance == 2
""",
    )
    assert result.verdict == VIOLATED
    assert set(result.not_observed) <= {compiled}  # its body has run before it was known


def test_the_module_is_as_it_was_afterwards(tmp_path: Path, compiled: str) -> None:
    lib = importlib.import_module(compiled)
    functions = [value for value in vars(lib).values() if type(value) is FunctionType]
    codes = [function.__code__ for function in functions]
    explored(tmp_path, f"import {compiled} as lib\ndef program():\n    lib.add(1)\n")
    assert [function.__code__ for function in functions] == codes
    assert not any(map(is_rewritten, codes))
    assert MARK not in vars(lib)


def test_what_is_refused_is_named(
    tmp_path: Path, compiled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = rewriting.rewrite_code

    def refuse(code: CodeType, **options: bool) -> CodeType:
        if code.co_name == "add":
            raise UnknownCodeError("not this one")
        return real(code, **options)

    monkeypatch.setattr(rewriting, "rewrite_code", refuse)
    result = explored(tmp_path, f"import {compiled} as lib\ndef program():\n    lib.add(1)\n")
    assert result.not_observed == ("add (no source; not this one)",)


# -- what `exec` and `eval` have made ------------------------------------------------------------

MADE = {
    "in a namespace of its own": """
TEXT = "def bump(o):\\n    o.n += 1\\n"
def make():
    space = {}
    exec(TEXT, space)
    return space["bump"]
""",
    "in this namespace": """
def make():
    exec("def bump(o):\\n    o.n += 1\\n", globals())
    return globals()["bump"]
""",
    "by eval": """
def make():
    return eval("lambda o: setattr(o, 'n', o.n + 1)")
""",
    "from a code object": """
CODE = compile("def bump(o):\\n    o.n += 1\\n", "<made>", "exec")
def make():
    space = {}
    exec(CODE, space)
    return space["bump"]
""",
    "by the type of functions": """
import types
CODE = compile("def bump(o):\\n    o.n += 1\\n", "<made>", "exec").co_consts[0]
def make():
    return types.FunctionType(CODE, {})
""",
    "when the module was imported": """
exec("def bump(o):\\n    o.n += 1\\n")
def make():
    return bump
""",
    "when the module was imported, in a namespace of its own": """
space = {}
exec("def bump(o):\\n    o.n += 1\\n", space)
bump = space["bump"]
def make():
    return bump
""",
    "as a method": """
space = {}
exec("def bump(o):\\n    o.n += 1\\n", space)
class Bumping:
    bump = staticmethod(space["bump"])
def make():
    return Bumping.bump
""",
    "anew for each thread": """
def make():
    def bump(o):
        exec("o.n += 1", {"o": o})
    return bump
""",
}
PROGRAM = """
class Box:
    n = 0
def program():
    box = Box()
    box.n = 0
    bump = make()
    def work():
        LOCKED
    together(work, work)
    assert box.n == 2
"""


@pytest.mark.parametrize("name", MADE)
def test_a_lost_update_in_made_code_is_found(tmp_path: Path, name: str) -> None:
    result = explored(tmp_path, MADE[name] + PROGRAM.replace("LOCKED", "bump(box)"))
    assert result.verdict == VIOLATED
    assert result.not_observed == ()


@pytest.mark.parametrize("name", MADE)
def test_with_a_lock_made_code_holds(tmp_path: Path, name: str) -> None:
    locked = "\n".join(("with guard:", "            bump(box)"))
    source = f"guard = threading.Lock()\n{MADE[name]}{PROGRAM.replace('LOCKED', locked)}"
    result = explored(tmp_path, source)
    assert result.verdict == HOLDS, result.report()
    assert result.executions == 2
    assert result.not_observed == ()


def test_names_outside_of_functions_are_variables_of_their_namespace(tmp_path: Path) -> None:
    source = """
def program():
    space = {"n": 0}
    def work():
        exec("n += 1", space)
    together(work, work)
    return space["n"]
"""
    assert find(tmp_path, HEAD + source).outcomes == {1, 2}


def test_global_names_of_made_code_are_those_of_the_module(tmp_path: Path) -> None:
    source = """
n = 0
def program():
    global n
    n = 0
    def by_text():
        exec("global n\\nn += 1")
    def by_source():
        global n
        n += 1
    together(by_text, by_source)
    return n
"""
    assert find(tmp_path, HEAD + source).outcomes == {1, 2}


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring tells what begins")
def test_made_code_that_nobody_has_seen_is_named(tmp_path: Path) -> None:
    source = """
CODE = compile("def bump(o):\\n    o.n += 1\\n", "<made>", "exec").co_consts[0]
class Box:
    n = 0
def bump(o):
    pass
def program():
    bump.__code__ = CODE
    bump(Box())
"""
    found = find(tmp_path, HEAD + source)
    assert "bump (made where nobody watches)" in found.not_observed


def test_a_module_whose_source_is_broken_since(tmp_path: Path) -> None:
    module = module_of(
        tmp_path, HEAD + PROGRAM.replace("LOCKED", "box.n += 1").replace("bump = make()", "pass")
    )
    assert module.__file__ is not None
    Path(module.__file__).write_text("def program(:\n")
    result = explore_test(make_test(module.program, module.program), ExploreOptions(preemptions=2))
    assert result.verdict == VIOLATED
    assert result.not_observed == ()


def test_extension_modules_have_no_code(tmp_path: Path) -> None:
    module: Any = ModuleType("native")
    module.__file__ = str(tmp_path / f"native{importlib.machinery.EXTENSION_SUFFIXES[0]}")
    assert not has_code(module)


def test_functions_of_extension_modules_are_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """mypyc compiles a module, but for methods that a decorator makes: dataclasses have some."""
    native: Any = ModuleType("native")
    native.__file__ = str(tmp_path / f"native{importlib.machinery.EXTENSION_SUFFIXES[0]}")
    monkeypatch.setitem(sys.modules, "native", native)
    exec("def bump(box):\n    box.n += 1\n", vars(native))
    source = """
import native
class Box:
    n = 0
def program():
    box = Box()
    def work():
        native.bump(box)
    together(work, work)
    return box.n
"""
    assert find(tmp_path, HEAD + source).outcomes == {1, 2}
