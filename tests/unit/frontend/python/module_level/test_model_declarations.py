"""Declarations of how data are shared: what they cover, and that they do nothing else."""

from __future__ import annotations

import textwrap
from dataclasses import replace

import pytest
from tests.unit.frontend.python.model_exploration import PRELUDE

from mazurka import model
from mazurka.errors import UnsupportedError
from mazurka.frontend.python.elaboration import elaborate
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import Program

MODEL = """\
class Account:
    def __init__(self):
        self.lock = threading.Lock()
        self.changed = threading.Condition(self.lock)
        self.balance = 0
        self.marks = Array(Int[0, 1], 2)
m = threading.Lock()
r = threading.RLock()
own = threading.Condition()
shared = threading.Condition(m)
locks = [Mutex() for _ in range(2)]
x: Int[0, 3] = 0
a = Array(Int[0, 3], 2)
grid = Array(Array(Bool, 2), 2)
account = Account()
accounts = [Account() for _ in range(2)]
{declaration}
def f():
    global x
    x = 1
threads = [f(), f()]
"""


def program_with(declaration: str) -> Program:
    return elaborate(PRELUDE + MODEL.format(declaration=declaration), "model.py")


def declared(program: Program) -> dict[str, str]:
    """`{"x": "protected m"}`: cells with what is said about them."""

    def said(kind: str, lock: int | None) -> str:
        return kind if lock is None else f"{kind} {program.cells[lock].name}"

    return {
        program.cells[cell].name: said(declaration.kind, declaration.lock)
        for cell, declaration in program.declared.items()
    }


BALANCES = {"account.balance": "protected m"}
MARKS = {f"account.marks[{k}]": "protected m" for k in range(2)}

COVERED = [
    ("protected_by(m, x)", {"x": "protected m"}),
    ("protected_by(r, x)", {"x": "protected r"}),
    ("protected_by(own, x)", {"x": "protected own"}),
    ("protected_by(shared, x)", {"x": "protected m"}),
    ("protected_by(locks[1], x, a[0])", {"x": "protected locks[1]", "a[0]": "protected locks[1]"}),
    ("protected_by(account.changed, x)", {"x": "protected account.lock"}),
    ("protected_by(locks, a)", {f"a[{k}]": f"protected locks[{k}]" for k in range(2)}),
    (
        "protected_by(locks, grid)",
        {f"grid[{k}][{j}]": f"protected locks[{k}]" for k in range(2) for j in range(2)},
    ),
    (
        "protected_by([one.lock for one in accounts], [one.balance for one in accounts])",
        {f"accounts[{k}].balance": f"protected accounts[{k}].lock" for k in range(2)},
    ),
    ("protected_by(m, account)", BALANCES | MARKS),
    ("protected_by(m, account.balance, account.marks)", BALANCES | MARKS),
    ("unprotected(x, a[-1])", {"x": "unprotected", "a[1]": "unprotected"}),
    ("unshared((x, a))", {"x": "unshared", "a[0]": "unshared", "a[1]": "unshared"}),
    ("import mazurka.model as said\nsaid.unshared(x)", {"x": "unshared"}),
    ("from mazurka.model import unshared as mine\nmine(x)", {"x": "unshared"}),
    ("pass", {}),
]


@pytest.mark.parametrize(("declaration", "expected"), COVERED)
def test_declarations_cover_the_data_of_a_place(declaration: str, expected: dict[str, str]) -> None:
    assert declared(program_with(declaration)) == expected


@pytest.mark.parametrize("declaration", [line for line, _ in COVERED])
def test_nothing_else_changes(declaration: str) -> None:
    """Without its declarations the program is the one of a model without any (but for places)."""
    lines = declaration.count("\n")
    silent = program_with("pass" + "\n" * lines)
    program = program_with(declaration)
    assert replace(program, declared={}, sources=silent.sources) == silent


def test_a_list_that_is_only_read_stays_a_constant() -> None:
    source = PRELUDE + textwrap.dedent("""\
        items = [1, 2]
        m = Mutex()
        protected_by(m, items)
        def f():
            x = items[0]
        threads = [f()]
        """)
    with pytest.raises(UnsupportedError, match="`items` is a constant"):
        elaborate(source, "model.py")


def test_passes_keep_declarations() -> None:
    raw = program_with("protected_by(m, x)\nunshared(a)")
    assert prepare(raw).declared == raw.declared == prepare(raw, merge=False).declared


def test_no_thread_is_made_for_a_declaration() -> None:
    assert [thread.name for thread in program_with("unshared(x)").threads] == ["f", "f#2"]


def test_a_function_of_that_name_is_an_ordinary_one() -> None:
    source = "def unshared(n): pass\ndef f():\n    unshared(1)\nthreads = [f()]\n"
    assert elaborate(source, "model.py").declared == {}


REFUSED = [
    ("protected_by(m)", "written `protected_by(lock, place)`, with any number of places"),
    ("unshared()", "written `unshared(place)`, with any number of places"),
    ("unprotected(place=x)", "written `unprotected(place)`"),
    ("protected_by(x, a)", "`x` is no lock"),
    ("protected_by(account, x)", "`account` is an object (Account), not a lock"),
    ("protected_by([m, x], a)", "is no lock"),
    ("protected_by(m, 3)", "`3` is no place"),
    ("protected_by(m, f)", "`f` is defined later"),
    ("protected_by(m, m.release)", "`m.release` is no field"),
    ("protected_by(m, locks)", "`locks` holds no data, only what synchronizes"),
    ("protected_by(m, own)", "`own` is a Condition, which synchronizes"),
    ("protected_by(m, a[x])", "`a[x]` is not known before the program runs"),
    ("protected_by(locks[x], a)", "`locks[x]` is not known before the program runs"),
    ("protected_by(locks[2], a)", "`locks[2]`: index 2 is out of range 0..1"),
    ("protected_by(locks, x)", "`locks` has 2 locks, one for each element, and `x` is no array"),
    ("protected_by(locks, [x])", "and `[x]` has 1"),
    ("unshared(missing)", "the name `missing` is not defined"),
    ("unshared(x, x)", "`x` has a declaration already"),
    ("for i in range(2): unshared(a[i])", "`unshared` is a declaration"),
    ("q = choose(1, 2)\nunshared(q)", "`q` is a variable of `main` alone"),
]


@pytest.mark.parametrize(("declaration", "message"), REFUSED)
def test_what_is_no_declaration_is_refused(declaration: str, message: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        program_with(declaration)
    assert message in caught.value.message
    first = PRELUDE.count("\n") + MODEL.split("{declaration}")[0].count("\n") + 1
    assert caught.value.line == first + declaration.count("\n")


def test_in_real_python_they_do_nothing() -> None:
    assert model.protected_by(object(), 1, 2) is None  # type: ignore[func-returns-value]
    assert model.unprotected(1) is None  # type: ignore[func-returns-value]
    assert model.unshared(1) is None  # type: ignore[func-returns-value]
