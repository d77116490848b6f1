"""Annotations are honoured or refused: a range that is overlooked would be a check left out."""

# ruff: noqa: E501 - a table is easier to read unbroken

from __future__ import annotations

import pytest
from tests.unit.frontend.python.model_exploration import PRELUDE

from mazurka.errors import MazurkaError, OptionError
from mazurka.frontend.python.elaboration import elaborate
from mazurka.ir.passes.ranges import UnboundedError, infer_ranges
from mazurka.ir.program import Check, Fault, Program, Role

THREADS = "\nthreads = [f()]\n"
IDLE = "\ndef f(): pass"
NOT_IMPORTED = "the name `Int` is not defined; add `from mazurka.model import Int`"
RESULT = "the range of `-> Int[0, 5]` would not be checked; write `-> int`, and declare a variable for the result: `result: Int[0, 5] = ...`"

WITHOUT_IMPORT = {
    "shared": "x: Int[0, 5] = 0" + IDLE,
    "constant": "N: Int[0, 5] = 9" + IDLE,
    "local": "def f():\n    y: Int[0, 5] = 7",
    "parameter": "def g(a: Int[0, 5]): pass\ndef f(): g(7)",
    "result": "def g() -> Int[0, 5]: return 7\ndef f(): g()",
    "field": "class A:\n    x: Int[0, 5] = 0\na = A()" + IDLE,
    "field in init": "class A:\n    def __init__(self):\n        self.x: Int[0, 5] = 0\na = A()" + IDLE,
    "string": 'x: "Int[0, 5]" = 0' + IDLE,
}  # fmt: skip

REFUSED = [
    ("typo", "x: Itn[0, 5] = 0" + IDLE, "the name `Itn` is not defined; did you mean `Int`?"),
    ("parentheses", "x: Int(0, 5) = 0" + IDLE, "a range is written `Int[0, 5]`, with brackets"),
    ("or None", "x: Int[0, 5] | None = 0" + IDLE, "annotation `Int[0, 5] | None` is not understood; use Int[lo, hi], Bool, int or bool"),
    ("inside a list", "x: list[Int[0, 5]] = [0]" + IDLE, "annotation `list[Int[0, 5]]` is not understood; use Int[lo, hi], Bool, int or bool"),
    ("no range", "x: Int = 0" + IDLE, "`Int` needs a range here: `Int[lo, hi]`"),
    ("float", "x: float = 0" + IDLE, "annotation `float` is not understood; use Int[lo, hi], Bool, int or bool"),
    ("bad string", 'x: "Int[0," = 0' + IDLE, "annotation `'Int[0,'` is not understood; use Int[lo, hi], Bool, int or bool"),
    ("result", "def g() -> Int[0, 5]: return 7\ndef f(): g()", RESULT),
    ("twice", "x: Int[0, 5] = 0\nx: Int[0, 9] = 7\ndef f(): assert x", "declare the range of `x` where it is first assigned"),
    ("field in a method", "class A:\n    x: Int[0, 5]\n    def m(self):\n        self.x: Int[0, 3] = 1\na = A()\ndef f(): a.m()", "declare the range of `self.x` in its class or in `__init__`"),
    ("parameter of init", "class A:\n    def __init__(self, n: Int[0, 5]):\n        self.n = n\na = A(7)" + IDLE, "the argument `n` is outside Int[0, 5]"),
    ("object for a range", "m = Mutex()\ndef g(a: Int[0, 5]): pass\ndef f(): g(m)", "`a` is declared as Int[0, 5] but gets an object (Mutex)"),
    ("hides", "x: Int[0, 5] = 0\ndef f():\n    x = 3", "`x` here is a local variable that hides the shared `x`; add `global x`, or give the local another name"),
    ("loop hides", "x: Bool = False\ndef f():\n    for x in range(3): pass", "`x` here is a local variable that hides the shared `x`; add `global x`, or give the local another name"),
    ("module string", "s = 'hello'" + IDLE, "`s` is a string; models have numbers only (-1, 0, 1, ...)"),
    ("module strings", "s = ['a', 'b']" + IDLE, "`s` holds strings; models have numbers only"),
    ("result of a test", "def g() -> Bool: return 7\ndef f(): g()", "the range of `-> Bool` would not be checked; write `-> bool`, and declare a variable for the result: `result: Bool = ...`"),
    ("call for a local", "def f():\n    y: Itn(0, 5)\n    y = 7", "the name `Itn` is not defined; did you mean `Int`?"),
    ("empty list", "items = []\ndef f():\n    items.append(1)", "lists have a fixed length, which `items.append(1)` (line 6) would change; use Array(Int[0, 9], n) or queue.Queue()"),
    ("no length", "N = 0\nflags = [False] * N\ndef f():\n    flags[0] = True", "the length of `flags` is 0: `[False] * N` has no items"),
    ("list of None", "cache = [None] * 2\ndef f():\n    cache[0] = 1", "a list holds numbers or objects, not None; use a number that stands for it, such as -1: `[-1] * n`"),
    ("None at first", "cache = None\ndef f():\n    global cache\n    cache = 1", "`cache` is None at first and gets a value later; begin with a number that stands for None, such as `cache = -1`"),
    ("name", "lock = Mutex()\ndef f():\n    with lokc: pass", "the name `lokc` is not defined; did you mean `lock`?"),
]  # fmt: skip


def refusal(source: str) -> MazurkaError:
    with pytest.raises(MazurkaError) as caught:
        elaborate(source + THREADS, "model.py")
    assert caught.value.line is not None
    return caught.value


@pytest.mark.parametrize("source", WITHOUT_IMPORT.values(), ids=WITHOUT_IMPORT)
def test_int_must_be_imported(source: str) -> None:
    assert refusal(source).message == NOT_IMPORTED


def test_int_must_be_imported_before() -> None:
    error = refusal("x: Int[0, 5] = 0\nfrom mazurka.model import Int" + IDLE)
    assert error.message == "`Int` is imported later, at line 2"


@pytest.mark.parametrize(
    ("source", "message"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_refused(source: str, message: str) -> None:
    assert refusal(PRELUDE + source).message == message


@pytest.mark.parametrize(
    "source",
    [
        "def g(i: int, m: Mutex, l: threading.Lock, t: threading.Thread | None) -> None: pass\ndef f() -> None: pass",
        "class A:\n    x: Int[0, 1]\ndef g(a: A, b: 'A', c: list[int], d: tuple[int, ...]) -> bool: return True\ndef f(): pass",
        "x: int = 0\nflag: bool = False\ndef f():\n    global x\n    y: int = 1\n    x = y",
        "from typing import Final, Optional\nN: Final = 3\nM: Final[int] = 2\ndef f(o: Optional[int] = 0): pass",
        "x = 0\ndef f():\n    x = 1\n    assert x == 1",
        "x: Int[0, 5] = 0\ndef g(x): return [x for x in range(2)]\ndef f(): pass",
    ],
)  # fmt: skip
def test_harmless(source: str) -> None:
    elaborate(PRELUDE + source + THREADS, "model.py")


def range_checks(program: Program) -> list[Check]:
    operations = (o for thread in program.threads for edge in thread.edges for o in edge.operations)
    return [o for o in operations if isinstance(o, Check) and o.fault is Fault.RANGE]


def test_a_string_declares_its_range() -> None:
    source = 'x: "Int[0, 5]" = 0\ndef f():\n    global x\n    x = 3'
    program = elaborate(PRELUDE + source + THREADS, "model.py")
    (cell,) = (cell for cell in program.cells if cell.name == "x")
    assert (cell.low, cell.high, cell.inferred) == (0, 5, False)


@pytest.mark.parametrize(("argument", "checks"), [("7", 1), ("5", 0), ("choose(1, 7)", 1)])
def test_a_parameter_is_checked_at_the_call(argument: str, checks: int) -> None:
    source = f"def g(a: Int[0, 5]): pass\ndef f(): g({argument})"
    found = range_checks(elaborate(PRELUDE + source + THREADS, "model.py"))
    assert [check.message for check in found] == ["the argument `a` is outside Int[0, 5]"] * checks


def test_a_parameter_of_a_thread_is_checked() -> None:
    source = "def f(a: Int[0, 5]): pass\nthreads = [f(7)]\n"
    assert len(range_checks(elaborate(PRELUDE + source, "model.py"))) == 1


def test_a_function_that_may_end_without_return() -> None:
    source = "def take(n):\n    if n: return 1\ndef f():\n    c = take(choose(0, 1))\n    d = c + 1"
    line = PRELUDE.count("\n") + 1
    expected = f"`take` can end without `return` (line {line}), so `c` may be None"
    assert refusal(PRELUDE + source).message == expected


def test_a_shared_variable_that_may_get_none() -> None:
    source = "x = 0\ndef take(n):\n    if n: return 1\ndef f():\n    global x\n    x = take(choose(0, 1))"
    line = PRELUDE.count("\n") + 2
    expected = f"the shared variable `x` holds a number, not None, which `take` (line {line}) gives where it ends without `return`"
    assert refusal(PRELUDE + source).message == expected


def test_a_failing_assertion_does_not_return() -> None:
    source = "def take(n):\n    if n: return 1\n    assert False\ndef f():\n    c = take(choose(0, 1)) + 1"
    elaborate(PRELUDE + source + THREADS, "model.py")


def test_threads_above_their_function() -> None:
    with pytest.raises(MazurkaError, match=r"^model.py:1:12: `a` is defined later, at line 2$"):
        elaborate("threads = [a()]\ndef a(): pass\n", "model.py")


def test_a_definition_of_a_shared_variable() -> None:
    source = "sold = 0\ndef f():\n    global sold\n    sold = 1"
    with pytest.raises(OptionError, match="`sold` is a shared variable, not a constant"):
        elaborate(source + THREADS, "model.py", {"sold": "5"})


def test_a_list_of_truth_values() -> None:
    program = elaborate("flags = [False] * 2\ndef f():\n    flags[0] = True" + THREADS, "model.py")
    assert [c.role for c in program.cells if c.name.startswith("flags")] == [Role.BOOL] * 2


@pytest.mark.parametrize(
    ("source", "advice"),
    [
        ("ball = 0\ndef f():\n    global ball\n    while True: ball += 1", "`ball: Int[0, 10] = 0` (with `from mazurka.model import Int`)"),
        ("from mazurka.model import (\n    Mutex,\n    Int,\n)\nball = 0\ndef f():\n    global ball\n    while True: ball += 1", "`ball: Int[0, 10] = 0`"),
        ("xs = [0] * 3\ndef f():\n    while True: xs[1] += 1", "`xs = Array(Int[0, 10], 3)` (with `from mazurka.model import Array, Int`)"),
    ],
)  # fmt: skip
def test_advice_for_a_range_names_the_import(source: str, advice: str) -> None:
    with pytest.raises(UnboundedError) as caught:
        infer_ranges(elaborate(source + THREADS, "model.py"))
    assert caught.value.message.endswith(f"for example {advice}")
