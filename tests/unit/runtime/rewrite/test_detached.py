"""What `exec` has made before the exploration, in a namespace of its own, is watched or named."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
from tests.unit.runtime.observed_programs import module_of

from mazurka.report.answer import HOLDS, INCONCLUSIVE, VIOLATED
from mazurka.runtime.exploring.entry import explore_test
from mazurka.runtime.exploring.options import ExploreOptions
from mazurka.runtime.rewrite.bytecode import rewriting
from mazurka.runtime.rewrite.bytecode.assembly import UnknownCodeError
from mazurka.runtime.story.result import Result
from mazurka.runtime.testing.decorator import make_test

HEAD = """
import functools
import operator
import threading
def together(*functions):
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
class Thing:
    n = 0
INC = "def inc(o):\\n    o.n += 1\\n"
def executed(text, **names):
    exec(text, names)
    return names
"""
CALLED_TWICE = """
def program():
    thing = Thing()
    together(lambda: call(thing), lambda: call(thing))
    assert thing.n == 2
"""
CALLS = {
    "a dictionary": 'space = executed(INC)\ndef call(o): space["inc"](o)',
    "a list": 'handlers = [executed(INC)["inc"]]\ndef call(o): handlers[0](o)',
    "a set": 'handlers = {executed(INC)["inc"]}\ndef call(o):\n    for one in handlers: one(o)',
    "a set, for C code": """
handlers = {executed(INC)["inc"]}
def call(o):
    for one in handlers: list(map(one, [o]))
""",
    "an attribute": """
class Plugin:
    def __init__(self): self.run = executed(INC)["inc"]
plugin = Plugin()
def call(o): plugin.run(o)
""",
    "an attribute of a class": """
class Registry:
    handlers = {"a": [executed(INC)["inc"]]}
def call(o): Registry.handlers["a"][0](o)
""",
    "a partial function": 'call = functools.partial(executed(INC)["inc"])',
    "a decorator": """
def decorated(f):
    @functools.wraps(f)
    def around(*arguments): return f(*arguments)
    return around
call = decorated(executed(INC)["inc"])
""",
    "what C code calls": 'inc = executed(INC)["inc"]\ndef call(o): list(map(inc, [o]))',
    "the name of the module": """
space = {"__name__": __name__}
exec(compile(INC, __file__, "exec"), space)
def call(o): space["inc"](o)
""",
    "the name of no module": 'call = executed(INC, __name__="nowhere")["inc"]',
    "a function that it calls": 'call = executed(INC + "def f(o): list(map(inc, [o]))")["f"]',
    "a generator": """
space = executed("def steps(o):\\n    o.n += 1\\n    yield\\n")
def call(o): list(space["steps"](o))
""",
    "a lambda": """call = eval("lambda o: setattr(o, 'n', o.n + 1)", {})""",
}


def explored(folder: Path, source: str) -> Result:
    module = module_of(folder, HEAD + textwrap.dedent(source))
    return explore_test(make_test(module.program, module.program), ExploreOptions(preemptions=2))


@pytest.mark.parametrize("place", CALLS)
def test_a_lost_update_is_found_wherever_the_function_lies(tmp_path: Path, place: str) -> None:
    result = explored(tmp_path, CALLS[place] + CALLED_TWICE)
    assert result.verdict == VIOLATED
    assert result.not_observed == ()


CLASSES = {
    "a method": """
space = executed("class A:\\n n = 0\\n def inc(self): self.n += 1")
def program():
    a = space["A"]()
    together(a.inc, a.inc)
    assert a.n == 2
""",
    "the target of a thread": """
targets = {executed("def inc(): o.n += 1", o=Thing)["inc"]}
def program():
    Thing.n = 0
    for target in targets:
        threads = [threading.Thread(target=target) for _ in range(2)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert Thing.n == 2
""",
    "a method that is the target of a thread": """
objects = {executed("class A:\\n n = 0\\n def inc(self): self.n += 1")["A"]()}
def program():
    for a in objects:
        a.n = 0
        threads = [threading.Thread(target=a.inc) for _ in range(2)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert a.n == 2
""",
    "an operator of an object": """
a = executed("class A:\\n n = 0\\n def __lt__(self, other):\\n  self.n += 1\\n  return True")["A"]()
def program():
    a.n = 0
    together(*[lambda: sorted([a, a])] * 2)
    assert a.n == 2
""",
    "an operator of a class that only the program finds": """
space = executed("class A:\\n n = 0\\n def __iadd__(self, m):\\n  self.n += m\\n  return self")
kinds = {space.pop("A")}
del space
def program():
    for kind in kinds:
        a = kind()
    together(*[lambda: operator.iadd(a, 1)] * 2)
    assert a.n == 2
""",
    "a property": """
A = executed("class A:\\n n = 0\\n @property\\n def next(self):\\n  self.n += 1")["A"]
def program():
    a = A()
    together(*[lambda: a.next] * 2)
    assert a.n == 2
""",
    "what dataclasses made": '''
A = executed("""
import dataclasses
@dataclasses.dataclass
class A:
    x: int = 0
    y: int = 0
""")["A"]
def program():
    a, b, found = A(1, 1), A(2, 2), []
    def write():
        a.x = 2
        a.y = 2
        a.x = 1
    together(write, lambda: found.append(a == b))
    assert not found[0]
''',
    "a variable of the namespace": """
space = executed("n = 0\\ndef inc():\\n    global n\\n    n += 1\\n")
def program():
    space["n"] = 0
    together(space["inc"], space["inc"])
    assert space["n"] == 2
""",
    "a cache": """
text = "import functools\\n@functools.cache\\ndef one(): return object()\\n"
space = executed(text)
def program():
    space["one"].cache_clear()
    got = []
    together(*[lambda: got.append(space["one"]())] * 2)
    assert got[0] is got[1]
""",
}


@pytest.mark.parametrize("what", CLASSES)
def test_what_is_called_otherwise_is_watched_too(tmp_path: Path, what: str) -> None:
    assert explored(tmp_path, CLASSES[what]).verdict == VIOLATED


SAFE = """
space = executed("def inc(o):\\n    with lock: o.n += 1\\n", lock=threading.Lock())
def call(o): space["inc"](o)
"""


def test_with_a_lock_it_holds(tmp_path: Path) -> None:
    result = explored(tmp_path, SAFE + CALLED_TWICE)
    assert result.verdict == HOLDS
    assert result.not_observed == ()
    assert result.executions > 1


@pytest.mark.parametrize("place", ["a dictionary", "a set"])
def test_functions_get_their_own_code_back(tmp_path: Path, place: str) -> None:
    module = module_of(tmp_path, HEAD + CALLS[place] + CALLED_TWICE)
    held: Any = getattr(module, "handlers", None) or [module.space["inc"]]
    function = next(iter(held))
    code = function.__code__
    result = explore_test(make_test(module.program, module.program), ExploreOptions(preemptions=2))
    assert result.verdict == VIOLATED
    assert function.__code__ is code


@pytest.mark.parametrize("place", ["a dictionary", "a set"])
def test_what_cannot_be_watched_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise UnknownCodeError("strange instructions")

    monkeypatch.setattr(rewriting, "rewrite_code", unknown)
    result = explored(tmp_path, CALLS[place] + CALLED_TWICE)
    assert result.verdict == INCONCLUSIVE
    assert result.not_observed == ("inc (made where nobody watches; strange instructions)",)
