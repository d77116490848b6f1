"""Formulas as they are written, and the messages about those that cannot be read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mazurka.frontend.python.elaboration import elaborate
from mazurka.ir.expressions import Binary, Const, Load
from mazurka.ir.passes.prepare import prepare
from mazurka.ltl.formulas import Formula, always, atom, eventually, implication, negation, until
from mazurka.ltl.parsing import FormulaError, parse_formula
from mazurka.ltl.propositions import ProgramNames, reads_only_shared

MODEL = """\
from mazurka.model import *
N = 3
flag = Array(Bool, 2)
turn: Int[0, 3] = 0
wide: Int[0, 2**62 - 1] = 0
m = Mutex()
def worker(i):
    global turn, wide
    k = choose(0, 1)
    wide = choose(range(2**62))
    with m:
        turn = k
    flag[i] = True
threads = [worker(0), worker(1)]
"""
PROGRAM = prepare(elaborate(MODEL, "model.py"), merge=False)
NAMES = ProgramNames(PROGRAM)


def cell(name: str) -> Load:
    return Load(Const(NAMES.shared[name]))


def variable(name: str) -> Formula:
    return atom(Binary("ne", cell(name), Const(0)))


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("G (flag[0] -> F m)", always(implication(variable("flag[0]"), eventually(variable("m"))))),
        ("[] <> m", always(eventually(variable("m")))),
        ("!m U m U turn", until(negation(variable("m")), until(variable("m"), variable("turn")))),
        ("turn + 1 == 3", atom(Binary("eq", Binary("add", cell("turn"), Const(1)), Const(3)))),
        ("turn - 1 < N", atom(Binary("lt", Binary("sub", cell("turn"), Const(1)), Const(3)))),
        ("not m and m || m", parse_formula("((!m) && m) or m", NAMES)),
        ("m -> m -> turn", parse_formula("m -> (m -> turn)", NAMES)),
        ("F m && G turn", parse_formula("(F m) && (G turn)", NAMES)),
        ("flag[0] == True", atom(Binary("eq", cell("flag[0]"), Const(1)))),
        ("flag[0] != false", atom(Binary("ne", cell("flag[0]"), Const(0)))),
    ],
)  # fmt: skip
def test_reads(text: str, formula: Formula) -> None:
    assert parse_formula(text, NAMES) == formula


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("G (m", "column 3: this parenthesis is not closed"),
        ("G", "column 2: a proposition was expected, but the formula ends"),
        ("m U", "column 4: a proposition was expected, but the formula ends"),
        ("m m", "column 3: an operator or the end was expected, not 'm'"),
        ("trun", "column 1: there is no shared variable 'trun'; did you mean 'turn'?"),
        ("flag", "'flag' has parts; name one of them, as in 'flag[0]'"),
        ("k == 1", "'k' is local; name the thread as well, as in 'worker(0).k'"),
        ("worker(0).z", "thread 'worker(0)' has no local variable 'z'"),
        ("worker@7", "there is no thread 'worker'; there are: worker(0), worker(1)"),
        ("worker(0)@99", "does nothing in line 99; it has: 9, 10, 11, 12, 13"),
        ("worker(0)@x", "after '@' comes a line or 'end', not 'x'"),
        ("0 < turn < 2", "comparisons do not form chains; join two with &&"),
        ("wide + wide + wide == 2", "column 1: this sum may need more than 64 bits"),
        ("m ? 1", "column 3: '?' means nothing here"),
        ("turn = 1", "column 6: '=' means nothing here; '==' compares"),
        ("m & m", "column 3: '&' means nothing here; write '&&' or 'and'"),
        ("m | m", "column 3: '|' means nothing here; write '||' or 'or'"),
        ("~m", "column 1: '~' means nothing here; write '!' or 'not'"),
        ("flag[turn]", "column 5: '[' means nothing here; an index is a number"),
        ("turn % 2 == 0", "column 6: '%' means nothing here; propositions compare sums; let a"),
        ("", "column 1: a proposition was expected, but the formula ends"),
    ],
)
def test_refuses(text: str, message: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse_formula(text, NAMES)
    assert message in str(caught.value)


def test_a_name_of_several_variables_is_refused() -> None:
    twice = replace(PROGRAM, cells=(*PROGRAM.cells, PROGRAM.cells[NAMES.shared["turn"]]))
    with pytest.raises(FormulaError, match="several shared variables are called 'turn'"):
        parse_formula("turn == 1", ProgramNames(twice))


def test_tells_what_is_local() -> None:
    def is_shared(text: str) -> bool:
        return reads_only_shared(PROGRAM, parse_formula(text, NAMES).propositions)

    assert is_shared("G (m -> turn == 1)")
    assert not is_shared("F worker(0).k == 1")
    assert not is_shared("G(worker(1)@end)")


def test_a_variable_may_be_called_true_where_the_language_has_no_such_word() -> None:
    """As in a C program: the name is that of the variable."""
    cells = [replace(each, name="True") if each.name == "turn" else each for each in PROGRAM.cells]
    names = ProgramNames(replace(PROGRAM, cells=tuple(cells)))
    assert parse_formula("True == 2", names) == atom(Binary("eq", cell("turn"), Const(2)))
