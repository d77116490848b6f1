"""Registries and settings that C code keeps: who changes them, and that they come back."""

from __future__ import annotations

import _csv
import codecs
import collections.abc
import importlib.machinery
import importlib.util
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from observed_programs import module_of

import mazurka
from mazurka.report.answer import HOLDS, INCONCLUSIVE, VIOLATED
from mazurka.runtime.story.result import Result

HEAD = """
import codecs, collections.abc, csv, sys, threading, tracemalloc
def together(*bodies):
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def explore(folder: Path, body: str, **options: object) -> Result:
    module = module_of(folder, f"{HEAD}def program():\n    {body}")
    result: Result = mazurka.explore(module.program, preemptions=2, **options)  # type: ignore[call-overload]
    return result


@pytest.fixture
def stranger() -> Iterator[ModuleType]:
    """A package with C code of which nobody knows what it keeps: a copy of `_csv`."""
    file = getattr(_csv, "__file__", None)
    if file is None:
        pytest.skip("this interpreter has no file of _csv that could be loaded once more")
    loader = importlib.machinery.ExtensionFileLoader("stranger._csv", file)
    spec = importlib.util.spec_from_loader("stranger._csv", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    package = ModuleType("stranger")
    sys.modules.update({"stranger": package, "stranger._csv": module})
    yield module
    del sys.modules["stranger"], sys.modules["stranger._csv"]


REGISTER = (
    "import stranger._csv as s; together(lambda: s.register_dialect('x', delimiter=';'),"
    " lambda: s.list_dialects())"
)


@pytest.mark.usefixtures("stranger")
def test_nothing_is_proved_if_c_code_of_a_package_changes_what_it_keeps(tmp_path: Path) -> None:
    result = explore(tmp_path, REGISTER)
    assert result.verdict == INCONCLUSIVE
    assert "stranger._csv.register_dialect (changes what C code keeps)" in result.not_observed


@pytest.mark.usefixtures("stranger")
def test_leaving_the_package_out_accepts_that(tmp_path: Path) -> None:
    result = explore(tmp_path, REGISTER, leave_out="stranger")
    assert (result.verdict, result.left_out) == (HOLDS, ("stranger",))


@pytest.mark.usefixtures("stranger")
def test_c_code_that_computes_something_hides_nothing(tmp_path: Path) -> None:
    body = "import stranger._csv as s; together(s.list_dialects, lambda: s.field_size_limit())"
    result = explore(tmp_path, body)
    assert (result.verdict, result.not_observed) == (HOLDS, ("stranger",))


def test_what_is_registered_before_threads_start_hides_nothing(tmp_path: Path) -> None:
    body = "codecs.register(len); sys.setrecursionlimit(5_000); together(lambda: 1, lambda: 2)"
    result = explore(tmp_path, body)
    assert (result.verdict, result.not_observed) == (HOLDS, ())


def test_registries_and_settings_come_back(tmp_path: Path) -> None:
    """A run finds them as they were, and so does whoever comes after the exploration."""

    limit, dialects = _csv.field_size_limit(), _csv.list_dialects()
    result = explore(
        tmp_path,
        "assert 'mine' not in csv.list_dialects() and not tracemalloc.is_tracing()\n"
        "    csv.register_dialect('mine', delimiter=';'); csv.unregister_dialect('excel')\n"
        "    csv.field_size_limit(7); tracemalloc.start(); codecs.register(find_mine)\n"
        "    assert 'a'.encode('mine') == b'mine' and 'mine' in csv.list_dialects()\n"
        "    collections.abc.Sized.register(Mine); assert issubclass(Mine, collections.abc.Sized)\n"
        "    together(lambda: csv.field_size_limit(), lambda: csv.list_dialects())\n\n"
        "class Mine: pass\n\n"
        "def find_mine(name):\n"
        "    if name == 'mine':\n"
        "        return codecs.CodecInfo(lambda text, errors='': (b'mine', len(text)), None)\n",
    )
    assert (result.verdict, result.not_observed) == (HOLDS, ()), result.report()
    assert (_csv.field_size_limit(), sorted(_csv.list_dialects())) == (limit, sorted(dialects))
    assert not tracemalloc.is_tracing()
    assert not any(one().__name__ == "Mine" for one in _dump(collections.abc.Sized))
    with pytest.raises(LookupError):
        codecs.lookup("mine")


def _dump(kind: type) -> set[object]:
    found: set[object] = __import__("_abc")._get_dump(kind)[0]
    return found


ASKED = """
import abc, threading
class Asking(abc.ABCMeta):
    def __instancecheck__(cls, thing):
        return abc.ABCMeta.__instancecheck__(cls, thing)
    def __subclasscheck__(cls, kind):
        return abc.ABCMeta.__subclasscheck__(cls, kind)
class Base(metaclass=Asking):
    pass
class Derived(Base):
    pass
class Other:
    pass
def run(*bodies):
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
def asked():
    found = []
    one = Derived()
    run(lambda: found.append(isinstance(one, Base)), lambda: found.append(isinstance(4, Base)))
    assert sorted(found) == [False, True]
def registered():
    found = []
    run(lambda: found.append(isinstance(Other(), Base)), lambda: abc.ABCMeta.register(Base, Other))
    assert found == [True]
"""


@pytest.mark.parametrize(("name", "verdict"), [("asked", HOLDS), ("registered", VIOLATED)])
def test_a_metaclass_may_pass_on_what_it_is_asked(name: str, verdict: str, tmp_path: Path) -> None:
    """Before, `ABCMeta.__instancecheck__(kind, thing)` raised an error of Mazurka's own."""
    program = getattr(module_of(tmp_path, ASKED), name)
    assert mazurka.explore(program, preemptions=2).verdict == verdict
