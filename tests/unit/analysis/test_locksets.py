"""Which cells threads share, and under which locks: found by the text, true in every execution."""

from __future__ import annotations

import textwrap
from collections import defaultdict
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.soundness.amounts import shares
from tests.soundness.disciplined_programs import disciplined_program
from tests.soundness.profiles import random_programs
from tests.soundness.random_programs import random_program
from tests.unit.ir.programs import Builder, equals, put

from mazurka.analysis.locksets import Protection, classify_cells
from mazurka.frontend.python.elaboration import elaborate
from mazurka.ir.expressions import ZERO, Conditional, Expr
from mazurka.ir.interpreter import Interpreter, State, Step
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import DEAD_ENDS, FINISHED, Check, Fault, Kind, Mode, Program
from mazurka.stateful.reference.full import explore

PRELUDE = """\
import threading
from mazurka.model import *
m = threading.Lock()
n = Mutex()
r = threading.RLock()
locks = [threading.Lock() for _ in range(3)]
x: Int[0, 3] = 0
y: Int[0, 3] = 0
a = Array(Int[0, 3], 3)
flag = False
"""


def classes(source: str) -> dict[str, str]:
    """`{"x": "protected m"}` for the cells of a model."""
    program = prepare(elaborate(PRELUDE + textwrap.dedent(source), "model.py"))
    return described(program)


def described(program: Program) -> dict[str, str]:
    found = {}
    for address, protection in classify_cells(program).cells.items():
        locks = sorted(program.cells[lock].name for lock in protection.locks)
        names = locks if protection.kind == "protected" else []
        found[program.cells[address].name] = " ".join([protection.kind, *names])
    return found


SECTIONS = [
    ("with m:\n    x = 1", "protected m"),
    ("with n:\n    x = 1", "protected n"),
    ("with r:\n    x = 1", "protected r"),
    ("m.acquire()\nx = 1\nm.release()", "protected m"),
    ("with m:\n    with n:\n        x = 1\n    x = 2", "protected m"),
    ("with m:\n    with n:\n        x = 1", "protected m n"),
    ("with m:\n    x = 1\nwith n:\n    x = 2", "unprotected"),
    ("with m:\n    x = 1\ny = x", "unprotected"),
    ("x = 1", "unprotected"),
    ("if choose(0, 1):\n    m.acquire()\n    x = 1\n    m.release()", "protected m"),
    ("if choose(0, 1):\n    m.acquire()\nx = 1", "unprotected"),
    # Whether a lock that was tried is held depends on a value, which is not followed.
    ("if m.acquire(blocking=False):\n    x = 1\n    m.release()", "unprotected"),
    ("if n.acquire(timeout=1):\n    x = 1\n    n.release()", "unprotected"),
    ("with n:\n    x = 1\nif n.acquire(blocking=False):\n    n.release()", "protected n"),
    (
        "while True:\n    with m:\n        if x == 1:\n            break\n        x = 1",
        "protected m",
    ),
    ("with atomic():\n    with m:\n        x = 1", "unprotected"),
    ("with m:\n    with atomic():\n        x = 1\n        y = x", "protected m"),
]


@pytest.mark.parametrize(("section", "expected"), SECTIONS)
def test_critical_sections(section: str, expected: str) -> None:
    body = textwrap.indent(section, "    ")
    source = f"def f():\n    global x, y\n{body}\nthreads = [f(), f()]\n"
    assert classes(source)["x"] == expected


def test_a_lock_that_others_release_protects_nothing() -> None:
    found = classes("""
        def f():
            global x
            with m:
                x = 1
        def breaker():
            m.release()
        threads = [f(), f(), breaker()]
    """)
    assert found["x"] == "unprotected"


def test_unshared_and_read_only() -> None:
    found = classes("""
        def f():
            global x, flag
            x = 1
            flag = y == a[0]
        def g():
            assert y == 0 and a[0] == 0
        def h(i):
            global y
            a[i] = y
        threads = [f(), g(), g()]
    """)
    assert found["x"] == found["flag"] == "unshared"
    assert found["a[0]"] == "read-only"
    assert found["a[1]"] == "unshared"


def test_elements_have_the_lock_of_their_own_index() -> None:
    found = classes("""
        def f(i):
            for k in (i, i + 1):
                with locks[k]:
                    a[k] = 1
        threads = [f(0), f(1), f(0)]
    """)
    assert [found[f"a[{k}]"] for k in range(3)] == [
        "protected locks[0]",
        "protected locks[1]",
        "unshared",
    ]


def test_an_unknown_index_may_be_any() -> None:
    found = classes("""
        def f():
            k = choose(range(3))
            with m:
                a[k] = 1
        def g():
            with m:
                with locks[0]:
                    a[0] = 2
        def h():
            a[1] = 2
        threads = [f(), g(), h()]
    """)
    assert [found[f"a[{k}]"] for k in range(3)] == ["protected m", "unprotected", "unshared"]


@pytest.mark.parametrize("lock", ["", "m", "n", "r"])
@pytest.mark.parametrize("wait", ["wait()", "wait(timeout=1)"])
def test_a_condition_keeps_its_lock_for_data_and_waiters(lock: str, wait: str) -> None:
    found = classes(f"""
        c = threading.Condition({lock})
        def f():
            global x
            with c:
                while x == 0:
                    c.{wait}
                x = 0
        def g():
            global x
            with c:
                x = 1
                c.notify()
        threads = [f(), f(), g()]
    """)
    protected = f"protected {lock or 'c'}"
    assert found["x"] == protected
    waiters = [kind for name, kind in found.items() if name.startswith("c.waiting")]
    assert set(waiters) == {protected}


def both(left: Expr, right: Expr) -> Expr:
    return Conditional(left, right, ZERO)


def guard_looks_at_x(*, second: bool) -> Program:
    """Takes the lock if x is 0, where x is read before; on the second way it does not."""
    builder = Builder()
    lock, x = builder.lock(), builder.shared("x", 0, 1)
    for _ in range(2):
        body = builder.thread()
        start, inside, after = body.at(), body.at(), body.at()
        free = equals(lock, 0)
        body.edge(start, inside, put(lock, body.number + 1), guard=both(free, equals(x, 0)))
        if second:
            body.edge(start, FINISHED, guard=equals(x, 1))
        body.edge(inside, after, put(x, 1))
        body.edge(after, FINISHED, put(lock, 0), kind=Kind.RELEASE)
    return builder.program()


def test_a_guard_belongs_to_every_way_of_its_location() -> None:
    assert described(guard_looks_at_x(second=False))["x"].startswith("protected")
    assert described(guard_looks_at_x(second=True))["x"] == "unprotected"


@pytest.mark.parametrize(("fault", "kind"), [(Fault.ASSERT, "unprotected"), (None, "protected")])
def test_a_step_that_fails_before_it_takes_the_lock_does_not_hold_it(
    fault: Fault | None, kind: str
) -> None:
    builder = Builder()
    lock, x = builder.lock(), builder.shared("x", 0, 1)
    for _ in range(2):
        body = builder.thread()
        start, inside = body.at(), body.at()
        take = (put(x, 1), put(lock, body.number + 1))
        check = () if fault is None else (Check(equals(x, 0), fault, "x"),)
        body.edge(start, inside, *check, *take, guard=equals(lock, 0), kind=Kind.ACQUIRE)
        body.edge(inside, FINISHED, put(lock, 0), kind=Kind.RELEASE)
    assert described(builder.program())["x"].split()[0] == kind


def test_a_section_that_may_never_end_holds_nothing_afterwards() -> None:
    """It loops while x is 1, and takes the lock afterwards: without the lock it has read x."""
    builder = Builder()
    lock, x = builder.lock(), builder.shared("x", 0, 1)
    for _ in range(2):
        body = builder.thread()
        start, loop, inside = body.at(), body.at(Mode.ATOMIC), body.at()
        body.edge(start, loop)
        body.edge(loop, loop, guard=equals(x, 1))
        body.edge(
            loop, inside, put(lock, body.number + 1), guard=both(equals(x, 0), equals(lock, 0))
        )
        body.edge(inside, FINISHED, put(x, 1), put(lock, 0), kind=Kind.RELEASE)
    assert described(builder.program())["x"] == "unprotected"


# --- in every execution ----------------------------------------------------------------------


def broken_promise(program: Program, limit: int = 1500) -> str | None:
    """An access, in one of the first states of a program, that the analysis has excluded."""
    cells = classify_cells(program).cells
    interpreter = Interpreter(program)
    users: dict[int, set[int]] = defaultdict(set)
    for state in explore(program, races=False, limit=limit).states:
        for _, step in interpreter.steps(state):
            if not step.happened:
                continue
            for address in (step.footprint_reads | step.footprint_writes) & cells.keys():
                users[address].add(step.thread)
                problem = _problem(cells[address], address, state, step)
                if problem or (cells[address].kind == "unshared" and len(users[address]) > 1):
                    return f"{program.cells[address].name}: {problem or 'is shared'}"
    return None


def _problem(protection: Protection, address: int, state: State, step: Step) -> str | None:
    if protection.kind == "read-only" and address in step.footprint_writes:
        return "is written"
    ended = step.fault is not None and step.fault.fault in DEAD_ENDS
    for lock in protection.locks:
        if step.thread + 1 in (state[lock], step.state[lock]):
            continue
        if not (ended and state[lock] == 0):
            return f"is used without lock {lock}"
    return None


@settings(random_programs, max_examples=shares(30))
@given(seed=st.integers(0, 2**32), faults=st.booleans(), merge=st.sampled_from((None, True, False)))
def test_promises_hold_on_random_programs(seed: int, faults: bool, merge: bool | None) -> None:
    program = random_program(Random(seed), faults=faults)
    assert broken_promise(program if merge is None else prepare(program, merge=merge)) is None


@settings(random_programs, max_examples=shares(40))
@given(seed=st.integers(0, 2**32), merge=st.booleans())
def test_promises_hold_on_programs_with_locks(seed: int, merge: bool) -> None:
    assert broken_promise(prepare(disciplined_program(Random(seed)), merge=merge)) is None


def test_random_programs_have_cells_of_every_class() -> None:
    """The tests above would be empty otherwise."""
    kinds = {
        protection.kind
        for seed in range(60)
        for protection in classify_cells(disciplined_program(Random(seed))).cells.values()
    }
    assert kinds == {"unshared", "read-only", "protected", "unprotected"}


def test_a_broken_promise_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """An analysis that takes every lock for disciplined promises too much."""
    monkeypatch.setattr(
        "mazurka.ir.passes.held.Ownership._find_broken", lambda self, number: iter(())
    )
    found = (broken_promise(random_program(Random(seed))) for seed in range(300))
    assert any(found)
