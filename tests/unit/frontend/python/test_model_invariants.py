"""Invariants: the thread that watches, what it sees, and what a condition may be made of."""

from __future__ import annotations

import textwrap
from dataclasses import replace

import pytest
from tests.unit.frontend.python.model_exploration import PRELUDE, Findings, explore

from mazurka import model
from mazurka.errors import UnsupportedError
from mazurka.frontend.python.elaboration import elaborate
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import (
    FINISHED,
    FIRST_LOCATION,
    Assign,
    Cell,
    Mode,
    Program,
    Role,
    Thread,
)

MODEL = """\
x: Int[0, 3] = 0
y = 0
a = Array(Int[0, 3], 2)
m = Mutex()
e = Event()
N = 3
def f():
    global x, y
    x = 1
    y = 1
    return x
def twice(n):
    return 2 * n
def pick():
    return choose(0, 1)
def later():
    yield_()
    return 1
{declaration}
threads = [f(), f()]
"""
LINE = PRELUDE.count("\n") + MODEL[: MODEL.index("{")].count("\n") + 1
"""Where the declaration stands."""


def program_with(*declarations: str) -> Program:
    source = PRELUDE + MODEL.format(declaration="\n".join(declarations))
    return elaborate(source, "model.py")


def findings_of(declaration: str) -> Findings:
    return explore(MODEL.format(declaration=declaration))


def observers(program: Program) -> list[Thread]:
    return [thread for thread in program.threads if thread.observer]


# --- the thread that watches -------------------------------------------------------------------


def test_each_invariant_is_watched_by_one_thread_behind_all_others() -> None:
    program = program_with("invariant(x < 3)", "invariant(y < 3)")
    names = [thread.name for thread in program.threads]
    assert names == ["f", "f#2", "invariant 1", "invariant 2"]
    assert [thread.observer for thread in program.threads] == [False, False, True, True]
    assert [thread.counter for thread in program.threads] == [1, 2, 3, 4]
    for number, thread in enumerate(program.threads):
        assert program.cells[thread.counter].owner == number
        assert program.cells[thread.counter].initial == FIRST_LOCATION


def test_observer_takes_one_atomic_step_and_ends() -> None:
    for raw in (program_with("invariant(a[x] + sum(a) < 4 and (x < 1 or a[0] < 2))"),):
        for program in (raw, prepare(raw), prepare(raw, merge=False)):
            (thread,) = observers(program)
            modes = [place.mode for place in thread.locations[FIRST_LOCATION:]]
            assert modes == [Mode.VISIBLE] + [Mode.ATOMIC] * (len(modes) - 1)
            assert all(edge.indivisible for edge in thread.edges)
            assert all(edge.target != FIRST_LOCATION for edge in thread.edges)
            assert any(edge.target == FINISHED for edge in thread.edges)


def test_observer_writes_nothing_but_its_own_cells() -> None:
    program = program_with("invariant(all(twice(item) < 3 for item in a))")
    (thread,) = observers(program)
    for edge in thread.edges:
        for operation in edge.operations:
            if isinstance(operation, Assign):
                address = operation.address
                assert program.cells[getattr(address, "value", 0)].owner == 2


def test_models_without_invariants_have_the_program_they_had() -> None:
    """Apart from the observer and what it owns nothing is added, and nothing is another size."""
    plain, watched = program_with(""), program_with("invariant(x + y < 3)")

    def shared(program: Program) -> list[Cell]:
        return [replace(c, span=None) for c in program.cells if c.owner is None]

    assert not observers(plain)
    assert shared(plain) == shared(watched)
    own = [cell for cell in watched.cells if cell.owner == 2 and cell.role is not Role.COUNTER]
    assert len(watched.cells) == len(plain.cells) + 1 + len(own)


def test_observers_do_not_count_as_threads_of_the_program() -> None:
    """A lock's holders, a condition's waiters: objects keep the sizes that the threads need."""
    source = """\
        c = Condition()
        x: Int[0, 2] = 0
        {}
        def f():
            with c:
                c.wait()
                c.notify()
        threads = [f(), f()]
        """
    sizes = []
    for declaration in ("", "invariant(x == 0)"):
        text = textwrap.dedent(source).format(declaration)
        cells = elaborate(PRELUDE + text, "model.py").cells
        sizes.append([(c.name, c.low, c.high) for c in cells if c.owner is None])
    assert sizes[0] == sizes[1]


# --- what it sees ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "condition",
    [
        "x + y <= 2",
        "x in (0, 1) and y in range(2)",
        "0 <= x <= N",
        "not e.is_set()",
        "not m.locked()",
        "len(a) == 2 and sum(a) == 0",
        "all(a[i] == 0 for i in range(2))",
        "not any(item for item in a if item > x)",
        "twice(x) <= 2",
        "max(a) <= (x if x else 0)",
        "N == 3",
    ],
)
def test_condition_that_holds(condition: str) -> None:
    assert findings_of(f"invariant({condition})").fine


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("x == 0", "invariant violated: x == 0"),
        ("x == y", "invariant violated: x == y"),
        ("twice(x) < 2", "invariant violated: twice(x) < 2"),
        ("all(item > 0 for item in a), 'a is empty'", "invariant violated: a is empty"),
        ("x < 1, f'x is {x}'", "invariant violated: x is {x}"),
        ("N > 3", "invariant violated: N > 3"),
        ("not (x and y)", "invariant violated: not (x and y)"),
    ],
)
def test_condition_that_fails(condition: str, message: str) -> None:
    assert findings_of(f"invariant({condition})").faults == {("assert", message)}


@pytest.mark.parametrize(
    ("condition", "kind"),
    [("a[x + 1] == 0", "index"), ("6 // x > 0", "exception"), ("later_check(x)", "assert")],
)
def test_condition_that_cannot_be_evaluated(condition: str, kind: str) -> None:
    helper = "def later_check(n):\n    assert n < 1\n    return True\n"
    assert findings_of(f"{helper}invariant({condition})").kinds() == {kind}


def test_failure_is_at_the_line_of_the_invariant() -> None:
    program = program_with("invariant(", "    x <", "    1", ")")
    checks = [edge for edge in observers(program)[0].edges if edge.operations and edge.text]
    assert {edge.span.line for edge in checks if str(edge.kind) == "assert"} == {LINE}


def test_statements_of_main_are_steps_too() -> None:
    source = """\
        total = 0
        invariant(total < 2)
        for i in range(3):
            total = i
        """
    assert explore(source).kinds() == {"assert"}
    assert explore(source.replace("< 2", "< 3")).fine


def test_names_of_generators_are_their_own() -> None:
    source = """\
        a = Array(Int[0, 1], 2)
        for i in range(2):
            a[i] = 1
        invariant(all(a[i] < 2 for i in range(2)))
        """
    assert explore(source).fine


def test_constants_can_be_overridden() -> None:
    source = "N = 3\nx: Int[0, 1] = 0\ninvariant(x < N)\ndef f(): pass\nthreads = [f()]"
    assert explore(source).fine
    assert explore(source, {"N": "0"}).kinds() == {"assert"}


@pytest.mark.parametrize(
    "spelling",
    [
        "from mazurka.model import invariant as always\nalways",
        "import mazurka.model as m\nm.invariant",
        "import mazurka.model\nmazurka.model.invariant",
    ],
)
def test_spellings(spelling: str) -> None:
    source = f"x = 0\n{spelling}(x < 1)\ndef f():\n    global x\n    x = 1\nthreads = [f()]\n"
    assert len(observers(elaborate(source, "model.py"))) == 1


def test_functions_of_that_name_are_functions() -> None:
    source = "def invariant(n): return n\nx = invariant(3)\ndef f(): pass\nthreads = [f()]"
    assert not observers(elaborate(source, "model.py"))


# --- what is refused ---------------------------------------------------------------------------

PLACE = "`invariant` is a declaration; write it at module level, on a line of its own"
FORM = "`invariant` is written"
MEDDLING = "an invariant may only look at data; this does more: "


@pytest.mark.parametrize(
    ("declaration", "line", "message"),
    [
        ("def g():\n    invariant(x < 3)\ng()", LINE + 1, PLACE),
        ("if x < 3:\n    invariant(x < 3)", LINE + 1, PLACE),
        ("ok = invariant(x < 3)", LINE, PLACE),
        ("invariant()", LINE, FORM),
        ("invariant(x < 3, 'no', 'more')", LINE, FORM),
        ("invariant(x < 3, message='no')", LINE, FORM),
        ("invariant(f() == 1)", LINE - 10, MEDDLING + "write x"),
        ("invariant(pick() == 1)", LINE - 4, MEDDLING + "choose(0, 1)"),
        ("invariant(later())", LINE - 2, MEDDLING + "yield"),
        ("invariant(fetch_add(x, 1) == 0)", LINE, MEDDLING + "fetch_add x"),
        ("invariant(m.acquire(blocking=False))", LINE, MEDDLING + "try to acquire m"),
        ("invariant(e.wait())", LINE, MEDDLING + "wait for e"),
        ("invariant(spawn(f) is None)", LINE, MEDDLING + "create f"),
        ("invariant(threading.Thread(target=f) is None)", LINE, "this makes a thread"),
        ("invariant(z == 0)", LINE, "the name `z` is not defined"),
        ("invariant(z == 0)\nz = 0", LINE, "`z` is defined later, at line 23"),
        ("invariant(lambda: x < 3)", LINE, "is a lambda, not a condition"),
        ("invariant('x < 3')", LINE, "is a string, not a condition"),
        ("invariant(x / 2 < 1)", LINE, "`/` gives a float"),
        ("t = spawn(f)\ninvariant(t.is_alive())", LINE, "`t` is used by an invariant"),
        ("k = choose(1, 2)\nx = k\ninvariant(k < 3)", LINE, "`k` is used by an invariant"),
        ("for k in range(choose(1, 2)):\n    x = k\ninvariant(k < 3)", LINE + 2, "of `main` alone"),
    ],
)
def test_refused(declaration: str, line: int, message: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        program_with(*declaration.split("\n"))
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"model.py:{line}:")


def test_in_python_nothing_happens() -> None:
    model.invariant(False)
    model.invariant(False, "message")  # an error would be raised otherwise
    assert "invariant" in model.__all__
