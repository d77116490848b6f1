"""Mistakes that new users make, and input nobody would write: each gets a precise answer."""

# ruff: noqa: E501 - a table is easier to read unbroken

from __future__ import annotations

import pytest
from tests.unit.frontend.python.model_exploration import PRELUDE

from mazurka.errors import MazurkaError, OptionError
from mazurka.frontend.python.elaboration import elaborate

THREADS = "\nthreads = [f()]\n"

ADVICE = [
    ("assignment in await_", "x: Int[0, 1] = 0\ndef f():\n    await_(x = 1)", "`await_` takes a condition: `await_(x == 1)`"),
    ("lambda in await_", "x: Int[0, 1] = 0\ndef f():\n    await_(lambda: x == 1)", "`await_` takes the condition itself, which it evaluates again and again: `await_(x == 1)`"),
    ("with acquire", "m = Mutex()\ndef f():\n    with m.acquire(): pass", "`with` acquires and releases the lock: `with m:`"),
    ("target that is called", "def g(x): pass\ndef f():\n    t = threading.Thread(target=g(1))", "`g(1)` is called here, not by the new thread; write `Thread(target=g, args=(1,))`"),
    ("get with a timeout", "q = Queue(1)\ndef f():\n    x = q.get(timeout=1)", "`get` with a timeout may raise an exception, which models cannot catch; test `empty()` inside `with atomic():`, then `get`"),
    ("return in finally", "def f():\n    try: pass\n    finally: return", "`return` inside `finally` would drop what is going on; put it behind the `try`"),
    ("break in finally", "def f():\n    while True:\n        try: pass\n        finally: break", "`break` inside `finally` would drop what is going on; put it behind the `try`"),
    ("sorted", "def f():\n    for x in sorted([2, 1]): pass", "`sorted` is not supported; sort an Array with loops, or use `min`"),
    ("random", "import random\ndef f(): pass", "a model cannot import `random`; use `choose(...)` of `mazurka.model`, which tries every value"),
    ("none in a queue", "q = Queue(1)\ndef f():\n    q.put(None)", "a queue holds numbers, not None; put a number that stands for it, such as -1"),
    ("subclass of Thread", "class W(threading.Thread):\n    def run(self): pass\nw = W()\ndef f(): pass", "`W` inherits; give a plain class a method `run` and use `Thread(target=object.run)`"),
    ("object in the class", "class A:\n    lock = Mutex()\na = A()\ndef f(): pass", "all instances would share this `lock`; set it in `__init__`, or write a field: `lock: Type`"),
    ("list in a field", "class A:\n    def __init__(self):\n        self.items = []\na = A()\ndef f(): pass", "the field `items` cannot be such a list; use an Array or a Queue"),
    ("release without a call", "m = Mutex()\ndef f():\n    m.release", "`m.release` alone does nothing; call it: `m.release()`"),
    ("comparison for an assignment", "x: Int[0, 1] = 0\ndef f():\n    x == 1", "`x == 1` alone does nothing; `x = 1` assigns, `assert x == 1` checks"),
    ("condition alone", "x: Int[0, 1] = 0\ndef f():\n    not x", "`not x` alone does nothing; `assert not x` checks it"),
    ("name alone", "x: Int[0, 1] = 0\ndef f():\n    x", "`x` alone does nothing; leave it out"),
    ("comparison alone in the module", "x: Int[0, 1] = 0\nx == 1\ndef f(): pass", "`x == 1` alone does nothing; `x = 1` assigns, `assert x == 1` checks"),
    ("return on one path", "x: Int[0, 3] = 0\ndef g():\n    if x == 1:\n        return 5\ndef f():\n    y = g()\n    assert y == 5", "`g` can end without `return` (line 5), so `y` may be None"),
    ("invariant above its variable", "invariant(x == 0)\nx: Int[0, 1] = 0\ndef f(): pass", "`x` is defined later, at line 5"),
    ("star on the left", "def f():\n    first, *rest = (1, 2, 3)", "`*rest` is not supported on the left; name each item"),
    ("appending to a list", "log = []\ndef f():\n    log.append(1)", "lists have a fixed length, which `log.append(1)` (line 6) would change; use Array(Int[0, 9], n) or queue.Queue()"),
    ("sum with a start", "xs = Array(Int[0, 1], 2)\ndef f():\n    x = sum(xs, 3)", "`sum` takes one argument in models"),
    ("unknown keyword", "def g(x): pass\ndef f():\n    t = threading.Thread(target=g, kwargs={'z': 1})", "`g` cannot be given `z` here"),
    ("kwargs by name", "def g(x): pass\ndef f():\n    k = 1\n    t = threading.Thread(target=g, kwargs=k)", '`kwargs` must be written out: `kwargs={"name": 1}`'),
    ("empty range after the loop", "def f():\n    for i in range(0): pass\n    assert i == 0", "`i` may have no value here; assign it on every path that leads here"),
    ("huge number", "def f():\n    x = 0x" + "f" * 6000, "the number 0x" + "f" * 38 + "... does not fit in 64 bits"),
    ("huge shift", "def f():\n    x = 1 << 10**10", "`1 << 10 ** 10` does not fit in 64 bits"),
    ("huge list", "def f():\n    x = [0] * 10**9", "a list of more than 10,000 items is too long"),
    ("huge comprehension", "def f():\n    x = [a + b + c for a in range(900) for b in range(900) for c in range(900)]", "a list of more than 10,000 items is too long"),
    ("huge sum", "a = Array(Int[0, 1], 5000)\ndef f():\n    x = sum(a)", "5,000 items are too many to write out (at most 1,000)"),
    ("sum of more numbers than fit", "def f():\n    x = sum(range(-2**62, 2**62 + 2))", "9,223,372,036,854,775,810 items are too many to write out (at most 1,000)"),
    ("choice among more numbers than fit", "def f():\n    x = choose(range(-2**62, 2**62 + 2))", "`choose(range(-2 ** 62, 2 ** 62 + 2))` has 9,223,372,036,854,775,810 numbers to choose from; 9,223,372,036,854,775,808 is the most"),
    ("names for more numbers than fit", "A, B = range(-2**62, 2**62 + 2)\ndef f(): pass", "9,223,372,036,854,775,810 items are too many to write out (at most 1,000)"),
    ("beyond the largest number", "def f():\n    x = 2 ** 63", "`2 ** 63` is no 64-bit integer"),
    ("number beyond the smallest", "def f():\n    x = -9223372036854775809", "the number 9223372036854775809 does not fit in 64 bits"),
    ("builtin with advice", "x: Int[0, 9] = 0\ndef f():\n    y = divmod(x, 2)", "Python's `divmod` is not part of the model language; use `//` and `%`"),
    ("builtin with a name like another", "def f():\n    y = set()", "Python's `set` is not part of the model language; use an Array of Bool"),
    ("builtin without advice", "def f():\n    y = hash(1)", "Python's `hash` is not part of the model language"),
    ("assert about a tuple", "x: Int[0, 1] = 0\ndef f():\n    assert (x == 1, 'message')", "`(x == 1, 'message')` is a tuple, which always holds; write `x == 1, 'message'` without the parentheses around it"),
    ("invariant about a tuple", "x: Int[0, 1] = 0\ninvariant((x == 1, 'message'))\ndef f(): pass", "`(x == 1, 'message')` is a tuple, which always holds; write `x == 1, 'message'` without the parentheses around it"),
    ("name in a message", "x: Int[0, 1] = 0\ndef f():\n    assert x == 1, f'{x} and {nope}'", "the name `nope` is not defined"),
    ("name in the message of an invariant", "x: Int[0, 1] = 0\ninvariant(x == 1, f'{x} and {nope}')\ndef f(): pass", "the name `nope` is not defined"),
    ("string on the left", "def f():\n    s = 'hi'\n    assert s == 'hi'", "`s` is a string, not a number"),
    ("string on the right", "def f():\n    assert 0 < 1 < 'hi'", "`'hi'` is a string, not a number"),
    ("string in a tuple", "def f():\n    assert 'a' in (1, 2)", "`'a'` is a string, not a number"),
    ("length of a list", "N = 3\ndef f():\n    global N\n    N = 4\n    xs = [0] * N", "the length of `[0] * N` must be a constant, which `N` is not"),
    ("item of a slice", "z = [1, 2, 3]\ndef f():\n    y = z[1:]\n    y[0] = 9", "`y[0]` cannot be assigned: `y` is a tuple or a slice, which stays as it is in a model; use an Array"),
    ("call in spawn", "def g(): pass\ndef f():\n    spawn(g())", "a thread runs a function of the model, not None; write `g`, without the parentheses that call it"),
    ("call with arguments in spawn", "def g(x): pass\ndef f():\n    spawn(g(1))", "a thread runs a function of the model, not None; its arguments are given apart, so that it is not called here: `spawn(g, 1)`"),
    ("class for a lock", "l = Mutex\ndef f():\n    with l: pass", "`with l` needs a lock; this is `mazurka.model.Mutex`; make one: `l = Mutex()`"),
    ("method of a class for a lock", "l = threading.Lock\ndef f():\n    l.acquire()", "`threading.Lock.acquire` is not part of the model language; did you forget the parentheses of `Lock()`?"),
    ("wait in atomic", "c = Condition()\ndef f():\n    with atomic():\n        with c: c.wait()", "`c.wait()` inside `atomic()` can never go through: others would have to run and notify in the middle of the step; put it outside, or use `await_`"),
    ("classes of classes", "class A0:\n    v: Int[0, 1]\n" + "".join(f"class A{i}:\n    l: A{i - 1}\n    r: A{i - 1}\n" for i in range(1, 30)) + "x = A29()\ndef f(): pass", "`A14` is too large: over 10,000 cells"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "message"), [row[1:] for row in ADVICE], ids=[row[0] for row in ADVICE]
)
def test_advice(source: str, message: str) -> None:
    with pytest.raises(MazurkaError) as caught:
        elaborate(PRELUDE + source + THREADS, "model.py")
    assert caught.value.message == message
    assert caught.value.line is not None
    assert caught.value.column is not None


def test_a_thread_that_nobody_starts() -> None:
    with pytest.raises(
        MazurkaError, match="makes a thread that nobody starts; call its `start"
    ) as caught:
        elaborate("import threading\ndef f(): pass\nt = threading.Thread(target=f)\n", "model.py")
    assert caught.value.line == 3


def test_what_may_stand_alone() -> None:
    """Docstrings, `...`, and expressions in which something is called."""
    source = "x: Int[0, 1] = 0\ndef f():\n    'text'\n    ...\n    x == 0 or cas(x, 0, 1)"
    elaborate(PRELUDE + source + THREADS, "model.py")


@pytest.mark.parametrize("text", ["99999999999999999999", "-0x" + "f" * 6000])
def test_a_definition_must_fit(text: str) -> None:
    with pytest.raises(OptionError, match="does not fit in 64 bits") as caught:
        elaborate("N = 1\ndef f(): assert N" + THREADS, "model.py", {"N": text})
    assert len(str(caught.value)) < 120


FORGOTTEN = """
done = False
seen = 0
def worker():
    done = True
def counter(seen):
    seen = 1
def reader():
    assert not done and seen == 0
threads = [worker(), counter(0), reader()]
"""


def test_a_forgotten_global_is_remarked():
    assert elaborate(FORGOTTEN, "m.py").remarks == (
        "`worker` assigns a variable `done` of its own (line 5); the module's `done` is never"
        " changed: is `global done` missing?",
    )


def test_a_forgotten_global_beside_one_that_is_there():
    source = """
x = 0
def f():
    global x
    x = 1
def g():
    x = 2
def h():
    assert x <= 1
threads = [f(), g(), h()]
"""
    assert elaborate(source, "m.py").remarks == (
        "`g` assigns a variable `x` of its own (line 7): is `global x` missing?",
    )


def test_own_variables_are_not_remarked():
    source = """
N = 2
k = 0
def f():
    for N in range(3): pass
    n = N
def g():
    k = 1
threads = [f(), g()]
"""
    assert elaborate(source, "m.py").remarks == ()
