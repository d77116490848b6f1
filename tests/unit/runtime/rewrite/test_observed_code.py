"""Modules are instrumented in place, and are as they were afterwards."""

from __future__ import annotations

import functools
import sys
from _thread import get_ident
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

import pytest
from tests.unit.runtime.observed_programs import module_of
from tests.unit.runtime.runtime_deciders import Follow

from mazurka.runtime.core.collection import is_frozen
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.sites import MARK, is_rewritten
from mazurka.runtime.program.program import RealProgram
from mazurka.runtime.rewrite.bytecode.assembly import UnknownCodeError
from mazurka.runtime.rewrite.observed_code import ObservedCode
from mazurka.runtime.rewrite.selection import named_modules, project_modules
from mazurka.runtime.sharing.monitoring import unobserved

SOURCE = """
import functools

def deco(f):
    @functools.wraps(f)
    def wrapper(*a):
        return f(*a)
    return wrapper

@deco
def hidden(o):
    return o.x

def plain(o):
    return o.x

class A:
    def method(self):
        return self.x
    @property
    def prop(self):
        return self.x
    @staticmethod
    def static(o):
        return o.x
    def with_super(self):
        return super().__init__, __class__
    class Inner:
        def method(self):
            return self.x

def maker(y):
    def inner(o):
        return o.x + y
    return inner

held = [maker(1)]
twins = [lambda o: o.x, lambda o: o.x]
"""


def instrument(module: ModuleType) -> ObservedCode:
    return ObservedCode(lambda name, file: name == module.__name__)


def test_functions_get_new_code_and_their_own_back(tmp_path: Path) -> None:
    module = module_of(tmp_path, SOURCE)
    functions = [
        module.plain,
        module.hidden.__wrapped__,
        module.hidden,
        module.A.method,
        module.A.prop.fget,
        module.A.static,
        module.A.with_super,
        module.A.Inner.method,
        module.held[0],
    ]
    codes = [function.__code__ for function in functions]
    with instrument(module) as active:
        assert module.__name__ in active.modules
        assert hasattr(module, MARK)
        for function, code in zip(functions, codes, strict=True):
            assert function.__code__ is not code
            assert function.__code__.co_firstlineno == code.co_firstlineno
        a = module.A()
        a.x = 4
        assert module.plain(a) == module.hidden(a) == a.method() == a.prop == 4
        assert module.held[0](a) == 5
        assert a.with_super()[1] is module.A
        assert active.functions >= len(functions)
    assert not hasattr(module, MARK)
    for function, code in zip(functions, codes, strict=True):
        assert function.__code__ is code


HOLDERS: dict[str, Callable[[FunctionType], object]] = {
    "name of another module": lambda function: setattr(sys, "held_here", function),
    "partial": lambda function: setattr(sys, "held_here", functools.partial(function, 1)),
    "generator": lambda function: setattr(sys, "held_here", (f for f in [function])),
    "class of another module": lambda f: setattr(sys, "held_here", type("K", (), {"f": f})),
    "cycle": lambda function: function.__dict__.update(itself=function),
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_functions_are_found_where_their_module_does_not_lead(
    holder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "held_here", None, raising=False)
    module = module_of(tmp_path, SOURCE)
    function = module.plain
    HOLDERS[holder](function)
    del module.plain
    code = function.__code__
    with instrument(module):
        assert function.__code__ is not code
    assert function.__code__ is code


def test_what_cannot_be_instrumented_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(code: CodeType, **_: bool) -> CodeType:
        raise UnknownCodeError("not this time")

    monkeypatch.setattr("mazurka.runtime.rewrite.bytecode.rewriting.rewrite_code", refuse)
    module = module_of(tmp_path, SOURCE)
    with instrument(module) as active:
        assert active.skipped == {}  # there are several functions on one line in it
    moved = module_of(tmp_path, "def f(): pass\n")
    assert moved.__file__ is not None
    Path(moved.__file__).write_text("\ndef f(): pass\n")
    with instrument(moved) as active:
        assert active.skipped == {f"{moved.__name__}.f": "made from other source"}
        assert unobserved.code == set()  # it has not run yet
        with monkeypatch.context() as patch:
            patch.setattr(session.current, "ident", get_ident())
            moved.f()
        assert unobserved.code == {"f (made from other source; not this time)"}
        unobserved.clear()
    broken = module_of(tmp_path, "def f(): pass\n")
    assert broken.__file__ is not None
    Path(broken.__file__).write_text("def f(: pass\n")
    with instrument(broken) as active:
        assert "SyntaxError" in active.skipped[f"{broken.__name__}.f"]
        assert active.functions == 0
    Path(broken.__file__).unlink()
    with instrument(broken) as active:
        assert active.skipped == {f"{broken.__name__}.f": "no source"}


def test_a_source_that_has_changed_is_not_used_for_old_functions(tmp_path: Path) -> None:
    module = module_of(tmp_path, "def f(a): return a.x\ndef g(a): return a.y\n")
    assert module.__file__ is not None
    Path(module.__file__).write_text("def g(b, c): return b.y\n\ndef f(a): return a.x\n")
    functions = (module.f, module.g)
    codes = [function.__code__ for function in functions]
    with instrument(module) as active:
        assert active.functions == 2
        assert all(is_rewritten(function.__code__) for function in functions)
        assert [function.__code__.co_varnames for function in functions] == [("a",), ("a",)]
    assert [function.__code__ for function in functions] == codes


def test_modules_that_are_imported_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "imported_meanwhile.py").write_text("def f(o): return o.x\n")
    monkeypatch.syspath_prepend(tmp_path)
    finders = list(sys.meta_path)
    with ObservedCode(lambda name, file: name == "imported_meanwhile") as active:
        import imported_meanwhile  # type: ignore[import-not-found]

        assert active.functions == 1
        assert hasattr(imported_meanwhile, MARK)
        new = imported_meanwhile.f.__code__
    assert imported_meanwhile.f.__code__ is not new
    assert sys.meta_path == finders
    del sys.modules["imported_meanwhile"]


def test_which_modules_belong_to_a_project(tmp_path: Path) -> None:
    is_wanted = project_modules(tmp_path)
    assert is_wanted("own", str(tmp_path / "own.py"))
    assert is_wanted("tests.test_own", str(tmp_path / "tests" / "test_own.py"))
    assert not is_wanted("x", str(tmp_path / "venv" / "lib" / "site-packages" / "x.py"))
    assert not is_wanted("x", str(tmp_path.parent / "elsewhere.py"))
    import json

    import mazurka

    for module in (json, mazurka):
        assert module.__file__ is not None
        assert not project_modules(Path(Path(module.__file__).anchor))(
            module.__name__, module.__file__
        )
    named = named_modules(["json"])
    assert named("json.decoder", "/anywhere/decoder.py")
    assert not named("own", str(tmp_path / "own.py"))


def test_objects_are_frozen_while_a_program_runs_and_not_after() -> None:
    """Python 3.12 has frozen objects of its own before any program runs."""
    frozen: list[bool] = []
    with RealProgram(lambda: frozen.append(is_frozen())) as program:
        with ObservedCode(lambda name, file: name == __name__) as instrument:
            assert instrument.functions > 0
        program.run(Follow())
    assert frozen == [True]
    assert not is_frozen()
    with ObservedCode(lambda name, file: name == __name__):
        assert not is_frozen()
