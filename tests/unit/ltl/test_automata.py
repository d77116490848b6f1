"""The automata of formulas, against the truth of the formulas on random words and against SPIN."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
from random import Random

import pytest
from tests.limits import ENOUGH
from tests.unit.ltl.random_formulas import Word, accepts, random_formula

from mazurka.ir.expressions import Const, Expr, Load
from mazurka.ltl.automata import BuchiAutomaton, Letter, degeneralize, expand, translate
from mazurka.ltl.formulas import Formula, always, atom, eventually, negation, push_negations
from mazurka.ltl.words import holds_on

P, Q, R = (Load(Const(each)) for each in (1, 2, 3))
PROPOSITIONS: list[Expr] = [P, Q, R]


def test_automata_accept_the_words_on_which_the_formula_holds() -> None:
    rng = Random(1)
    for _ in range(150):
        formula = random_formula(rng, PROPOSITIONS, rng.randint(0, 5))
        automaton = translate(formula)
        plain = degeneralize(automaton)
        opposite = translate(negation(formula))
        for _ in range(6):
            word = Word(rng, PROPOSITIONS)
            expected = holds_on(formula, word.length, word.loop_start, word.truth)
            assert accepts(automaton, word) is expected, formula
            assert accepts(plain, word) is expected, formula
            assert accepts(opposite, word) is not expected, formula


def test_negations_move_to_the_atoms() -> None:
    formula = push_negations(negation(always(eventually(atom(P)))))

    assert formula == eventually(always(negation(atom(P))))


def test_sizes_of_small_automata() -> None:
    assert len(translate(always(eventually(atom(P)))).transitions) == 2
    assert len(translate(eventually(always(atom(P)))).transitions) == 2
    assert expand(frozenset({Formula("false")})) == []


def spell(formula: Formula) -> str:
    """The formula as SPIN reads it."""
    signs = {"not": "!", "and": "&&", "or": "||", "until": "U", "release": "V", "next": "X"}
    match formula.operator, formula.operands:
        case "atom", _:
            assert formula.proposition is not None
            return "pqr"[PROPOSITIONS.index(formula.proposition)]
        case (("true" | "false"), _):
            return formula.operator
        case operator, (operand,):
            return f"({signs[operator]} {spell(operand)})"
        case operator, (left, right):
            return f"({spell(left)} {signs[operator]} {spell(right)})"
    raise AssertionError(formula)


def letters_of(guard: str) -> list[Letter]:
    """The letters, in full, on which a guard of SPIN's is true."""
    words = {"&&": " and ", "||": " or ", "!": " not ", "true": "True", "false": "False"}
    text = re.sub(r"&&|\|\||!|true|false", lambda found: words[found[0]], guard)
    found = []
    for values in itertools.product([False, True], repeat=len(PROPOSITIONS)):
        if eval(text.strip(), {}, dict(zip("pqr", values, strict=True))):
            found.append(frozenset(zip(PROPOSITIONS, values, strict=True)))
    return found


def read_claim(text: str) -> BuchiAutomaton:
    """The automaton in a never claim; a state without transitions stays where it is."""
    names: list[str] = []
    rows: dict[str, list[tuple[str, str]]] = {}
    aliases: dict[str, str] = {}
    began = False
    for line in text.splitlines():
        if label := re.match(r"(\w+):", line.strip()):
            if names and not rows[names[-1]] and not began:
                aliases[label[1]] = names[-1]  # two labels of one state
                continue
            names.append(label[1])
            rows[label[1]] = []
            began = False
        elif line.strip() == "do":
            began = True
        elif names and "skip" in line:
            rows[names[-1]].append(("1", names[-1]))
        elif names and (arrow := re.match(r":: (.*) -> goto (\w+)", line.strip())):
            rows[names[-1]].append((arrow[1], arrow[2]))
        elif names and (arrow := re.match(r":: atomic { (.*) -> assert", line.strip())):
            rows[names[-1]].append((arrow[1], "accept_all"))  # the claim ends: all is accepted
    order = sorted(names, key=lambda name: not name.endswith("init"))
    numbers = {name: number for number, name in enumerate(order)}
    transitions = []
    for name in order:
        row: list[tuple[Letter, int]] = []
        for guard, target in rows[name]:
            number = numbers[aliases.get(target, target)]
            row.extend((letter, number) for letter in letters_of(guard))
        transitions.append(tuple(row))
    accepting = frozenset(numbers[name] for name in order if name.startswith("accept"))
    return BuchiAutomaton(tuple(transitions), accepting)


@pytest.mark.skipif(shutil.which("spin") is None, reason="SPIN is not installed")
def test_automata_agree_with_spin() -> None:
    rng = Random(2)
    for _ in range(25):
        formula = random_formula(rng, PROPOSITIONS, rng.randint(1, 4), has_next=False)
        command = ["spin", "-f", spell(formula)]
        claim = subprocess.run(command, capture_output=True, text=True, check=True, timeout=ENOUGH)
        if "goto" not in claim.stdout and "skip" not in claim.stdout:
            continue
        theirs, ours = read_claim(claim.stdout), translate(formula)
        for _ in range(8):
            word = Word(rng, PROPOSITIONS)
            assert accepts(theirs, word) is accepts(ours, word), claim.stdout
