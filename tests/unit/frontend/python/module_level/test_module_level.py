"""The module level is read as Python runs it: what happens before the threads start, and when."""

from __future__ import annotations

import pytest
from tests.unit.frontend.python.model_exploration import PRELUDE, explore

from mazurka.errors import OptionError, UnsupportedError
from mazurka.frontend.python.elaboration import elaborate

HEAD = len(PRELUDE.splitlines())


def finals(source: str, name: str = "x") -> set[int]:
    findings = explore(source)
    assert findings.fine, findings.faults
    return findings.final_values(name)


SHARED = "x: Int[0, 9] = 1\ny: Int[0, 9] = 0\nxs = [3, 4]\nl = threading.Lock()\n"
STORE = "def f(n=0):\n    global x\n    x = n\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("threads = [f(x), f(x + 1)]", {1, 2}),
        ("threads = [f(n) for n in xs]\nxs[0] = 9", {3, 4}),
        ("xs[1] = xs[0] + 2\nthreads = [f(xs[1])]", {5}),
        ("threads = [f(choose(5, 6))]", {5, 6}),
        ("k = 2\nk += 1\nthreads = [f(k)]\nk += 1", {3}),
        ("k = 2\nk += choose(0, 1)\nthreads = [f(k), f(k)]", {2, 3}),
        ("x = 8\ndef g(n=x): f(n)\nx = 7\nthreads = [g()]", {8}),
        ("threads = [f(1)]\nthreads = [f(2)]\n", {2}),
        ("threads = [f(1)] + ([f(2)] if x == 1 else [f(3)])", {1, 2}),
        ("threads = [f(1) if x else f(3), *[f(2)]]", {1, 2}),
        ("threads = [f(1)]\nthreads = threads + [f(2)]", {1, 2}),
        ("threads = (f(1), f(2))", {1, 2}),
        ("l.acquire()\ndef g():\n    l.release()\n    f(4)\nthreads = [g()]", {4}),
        ("with l:\n    x = 5\nthreads = [f(x)]", {5}),
        ("def g():\n    global x\n    x += 1\n    return x\nthreads = [f(g() + g())]", {5}),
        ("for _ in range(2):\n    for k in range(3):\n        pass\nthreads = [f(k)]", {2}),
        ("x, y = 5, x\nx, y = y, x\nthreads = [f(y)]", {5}),
        ("y = choose(4, 5)\nthreads = [f(y)]", {4, 5}),
        ("if x == 1:\n    threads = [f(7)]\nelse:\n    threads = [f(8)]", {7}),
        ("q = queue.Queue(2)\nq.put(6)\ndef g(): f(q.get())\nthreads = [g()]", {6}),
        ("x = 6\nthreads = [f(2)]\ny = x", {2}),
    ],
)
def test_threads_start_with_what_the_module_has_left(source: str, expected: set[int]) -> None:
    assert finals(SHARED + STORE + source) == expected


def test_statements_below_the_list_run_beside_the_threads() -> None:
    reader = "def g(): assert y < 3\n"
    assert finals(SHARED + STORE + reader + "threads = [f(2), g()]\ny = x", "y") == {1, 2}


def test_statements_below_the_list_in_a_branch_run_beside_the_threads() -> None:
    branch = "if x:\n    threads = [f(2)]\n    y = x\nelse:\n    threads = [f(3)]\n"
    assert finals(SHARED + STORE + branch + "def g(): return y", "y") == {1, 2}


def test_a_branch_that_adds_no_threads_leaves_the_list_as_it_is() -> None:
    assert finals(SHARED + STORE + "threads = [f(2)]\nif y:\n    threads += [f(3)]") == {2}


def test_a_number_that_only_the_module_assigns_again_is_a_constant() -> None:
    source = "N = 2\nN = 3\nx = 0\n" + STORE + "def g(a: Int[0, N]): f(a)\nthreads = [g(N)]"
    program = elaborate(PRELUDE + source, "model.py")
    assert program.constants["N"] == 3
    with pytest.raises(OptionError, match="assigned more than once"):
        elaborate(PRELUDE + source, "model.py", {"N": "4"})


def test_foreseen_statements_take_no_steps() -> None:
    """One thread with one step: two states, and `main` is not there."""
    program = elaborate(PRELUDE + "x = 0\nx = 4\n" + STORE + "threads = [f(x)]", "model.py")
    assert [thread.name for thread in program.threads] == ["f(4)"]


@pytest.mark.parametrize(
    ("source", "line", "message"),
    [
        ("x = choose(1, 2)\ndef g(a=x): pass\nthreads = [g()]", 2, "evaluated at `def`"),
        ("threads = [f(1)]\ndef g(a=x): pass\ng()", 2, "evaluated at `def`"),
        ("def g(a=N): pass\nN = 2\nthreads = [g()]", 1, "`N` is defined later"),
        ("def g(a=threading.Lock()): pass\nthreads = [g()]", 1, "one object for all calls"),
        ("class A:\n    v: int = 1\n    def m(self, k=v): pass\nthreads = [f()]", 3, "is a field"),
        ("class A:\n    v: list = [1]\na = A()\nthreads = [f()]", 2, "all instances would share"),
        ("threads = [f(), l.acquire()]", 1, "a method of a Lock"),
        ("threads = [f(), 3]", 1, "it contains a number"),
        ("threads = f", 1, "the model has no threads"),
        ("thread = [f(), f()]", 1, "no thread but `main`"),
        ("f()\nworkers = [f() for _ in xs]", 2, "no thread but `main`"),
        ("others = [f(), f()]\nthreads = [f()]", 1, "runs here at once"),
        ("for k in xs:\n    threads = [f(), f()]", 2, "runs here at once"),
        ("def g():\n    return 1\ndef h():\n    threads = [g()]\nh()", 4, "one after the other"),
        ("threads = []\nfor k in xs:\n    threads.append(f())\nspawn(f)", 3, "returns nothing"),
        ("threads = [f()]\nif choose(0, 1):\n    threads = [f(1)]", 2, "not known"),
        ("def g(a, *, b): pass\ndef h(): g(1, 2)\nthreads = [h()]", 2, "without a name"),
        ("def g(a, /): pass\ndef h(): g(a=1)\nthreads = [h()]", 2, "by its position only"),
        ("def g(): pass\ndef g(): pass\nthreads = [g()]", 2, "defined twice"),
        ("def g(): h()\ng()\ndef h(): pass", 1, "`h` is defined later"),
        ("x = 2 ** 62\nx = x * 2\nthreads = [f()]", 2, "does not fit in 64 bits"),
        ("choose(0, 1)\nthreads = [f()]\nthreads += [f()]", 3, "the whole list at once"),
        ("threads = [f()]\nx = 2\nif y:\n    threads += [f()]", 2, "below the `threads` list"),
    ],
)
def test_refused(source: str, line: int, message: str) -> None:
    before = SHARED.replace("x: Int[0, 9]", "x") + STORE
    with pytest.raises(UnsupportedError) as caught:
        elaborate(PRELUDE + before + source, "model.py")
    assert message in caught.value.message
    assert caught.value.line == HEAD + len(before.splitlines()) + line


@pytest.mark.parametrize(
    "statement",
    ["z = g()", "z: Int[0, 9] = g()", "z = x", "z, a = g(), 1", "def h(n=g()): pass",
     "class A:\n    v: int = x"],
)  # fmt: skip
def test_values_below_a_list_that_counts_after_all(statement: str) -> None:
    does = "def g():\n    global x\n    x = 2\n    return x\n"
    source = PRELUDE + SHARED + STORE + does + "threads = [f()]\n"
    after = "\nif y:\n    threads += [f()]\n"
    with pytest.raises(UnsupportedError, match="below the `threads` list") as caught:
        elaborate(source + statement + after, "model.py")
    assert caught.value.line == len(source.splitlines()) + 1
    elaborate(source + statement + after.replace("if y", "if x"), "model.py")


def test_a_failure_above_the_list_is_a_violation() -> None:
    for statement in ("assert x == 2", "x = 10", "y = 1 // (x - 1)", "l.release()"):
        findings = explore(SHARED + statement + "\n" + STORE + "threads = [f()]")
        assert findings.faults, statement
