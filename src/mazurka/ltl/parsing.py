"""Read formulas: `G (req -> F ack)`.

The grammar, from the operators that bind least to those that bind most:

    formula  :=  implies ("<->" implies)*
    implies  :=  or ["->" implies]
    or       :=  and ("||" and)*
    and      :=  temporal ("&&" temporal)*
    temporal :=  unary [("U" | "W" | "R" | "V" | "M") temporal]
    unary    :=  ("!" | "X" | "F" | "G" | "<>" | "[]") unary | atom
    atom     :=  "true" | "false" | "(" formula ")" | THREAD "@" (LINE | "end") | sum [compare sum]
    sum      :=  term (("+" | "-") term)*
    term     :=  ["-"] (NUMBER | NAME | THREAD "." NAME)

`not`, `and` and `or` may be written for `!`, `&&` and `||`.  `true` and `false`, also `True` and
`False`, may be compared: `done == True`.  A thread's name may have arguments and a number, as
reports show it: `worker(0)@12`, `worker#2.i`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from mazurka.errors import OptionError, read_number
from mazurka.ir.expressions import Binary, Const, Expr, Unary
from mazurka.ltl.formulas import (
    FALSE,
    TRUE,
    Formula,
    always,
    atom,
    conjunction,
    disjunction,
    equivalence,
    eventually,
    implication,
    negation,
    next_time,
    release,
    strong_release,
    until,
    weak_until,
)
from mazurka.ltl.propositions import ProgramNames, UnknownNameError, as_truth, fits_a_word

UNARY_OPERATORS: dict[str, Callable[[Formula], Formula]] = {
    "!": negation, "not": negation, "X": next_time, "F": eventually, "<>": eventually, "G": always,
    "[]": always,
}  # fmt: skip
TEMPORAL_OPERATORS: dict[str, Callable[[Formula, Formula], Formula]] = {
    "U": until, "W": weak_until, "R": release, "V": release, "M": strong_release,
}  # fmt: skip
COMPARISON_OPERATORS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
TRUTH_VALUES = {"true": 1, "false": 0, "True": 1, "False": 0}
NOT_IN_SUMS = "propositions compare sums; let a variable of the model have this value"
MISTAKEN_SIGNS = {
    "=": "'==' compares",
    "&": "write '&&' or 'and'",
    "|": "write '||' or 'or'",
    "~": "write '!' or 'not'",
    "[": "an index is a number",
    **dict.fromkeys("*/%^", NOT_IN_SUMS),
}
"""What to write in place of a sign that formulas do not have."""
RESERVED = {*UNARY_OPERATORS, *TEMPORAL_OPERATORS, "and", "or", "true", "false"}

TOKEN = re.compile(
    r"""\s*(?:
      (?P<at>(?!(?:[XFGUWRVM]|true|false|not|and|or)\b)[A-Za-z_]\w*(?:\([^()]*\))?(?:\#\d+)?@\w+)
    | (?P<local>(?!(?:[XFGUWRVM]|true|false|not|and|or)\b)[A-Za-z_]\w*(?:\([^()]*\)(?:\#\d+)?|\#\d+)
        \.[A-Za-z_]\w*)
    | (?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[\d+\])*)
    | (?P<number>\d+)
    | (?P<sign><->|->|<>|\[\]|&&|\|\||==|!=|<=|>=|[-+!<>()])
    )""",
    re.VERBOSE,
)


class FormulaError(OptionError):
    """A formula that cannot be read; the message shows where."""


class Lexeme(NamedTuple):
    kind: str
    text: str
    start: int


def parse_formula(text: str, names: ProgramNames) -> Formula:
    """Read a formula whose propositions are about a program."""
    return _Parser(text, names).read()


class _Parser:
    def __init__(self, text: str, names: ProgramNames) -> None:
        self.text = text
        self.names = names
        self.tokens = self.split()
        self.position = 0

    def fail(self, message: str, start: int) -> FormulaError:
        return FormulaError(f"formula {self.text!r}, column {start + 1}: {message}")

    def split(self) -> list[Lexeme]:
        tokens, end = [], 0
        length = len(self.text.rstrip())
        while end < length:
            found = TOKEN.match(self.text, end)
            if found is None or found.lastgroup is None:
                start = end + len(self.text[end:]) - len(self.text[end:].lstrip())
                sign = self.text[start]
                advice = f"; {MISTAKEN_SIGNS[sign]}" if sign in MISTAKEN_SIGNS else ""
                raise self.fail(f"{sign!r} means nothing here{advice}", start)
            kind = found.lastgroup
            tokens.append(Lexeme(kind, found[kind], found.start(kind)))
            end = found.end()
        tokens.append(Lexeme("end", "", length))
        return tokens

    @property
    def token(self) -> Lexeme:
        return self.tokens[self.position]

    def take(self, *texts: str) -> bool:
        """Pass the next token if it is one of these."""
        if self.token.kind in ("sign", "name") and self.token.text in texts:
            self.position += 1
            return True
        return False

    def read(self) -> Formula:
        formula = self.read_equivalence()
        if self.token.kind != "end":
            expected = "an operator or the end"
            raise self.fail(f"{expected} was expected, not {self.token.text!r}", self.token.start)
        return formula

    def read_equivalence(self) -> Formula:
        left = self.read_implication()
        while self.take("<->"):
            left = equivalence(left, self.read_implication())
        return left

    def read_implication(self) -> Formula:
        left = self.read_disjunction()
        return implication(left, self.read_implication()) if self.take("->") else left

    def read_disjunction(self) -> Formula:
        left = self.read_conjunction()
        while self.take("||", "or"):
            left = disjunction(left, self.read_conjunction())
        return left

    def read_conjunction(self) -> Formula:
        left = self.read_temporal()
        while self.take("&&", "and"):
            left = conjunction(left, self.read_temporal())
        return left

    def read_temporal(self) -> Formula:
        left = self.read_unary()
        operator = self.token.text
        if self.take(*TEMPORAL_OPERATORS):
            return TEMPORAL_OPERATORS[operator](left, self.read_temporal())
        return left

    def read_unary(self) -> Formula:
        operator = self.token.text
        if self.take(*UNARY_OPERATORS):
            return UNARY_OPERATORS[operator](self.read_unary())
        return self.read_atom()

    def read_atom(self) -> Formula:
        kind, text, start = self.token
        if self.take("true"):
            return TRUE
        if self.take("false"):
            return FALSE
        if self.take("("):
            formula = self.read_equivalence()
            if not self.take(")"):
                raise self.fail("this parenthesis is not closed", start)
            return formula
        if kind == "at":
            self.position += 1
            thread, _, place = text.rpartition("@")
            if place != "end" and not place.isdigit():
                raise self.fail(f"after '@' comes a line or 'end', not {place!r}", start)
            return atom(self.look_up(lambda: self.names.location(thread, place), start))
        left = self.read_sum()
        compare = self.token.text
        if not self.take(*COMPARISON_OPERATORS):
            return atom(as_truth(left))
        proposition = Binary(COMPARISON_OPERATORS[compare], left, self.read_sum())
        if self.token.kind == "sign" and self.token.text in COMPARISON_OPERATORS:
            raise self.fail("comparisons do not form chains; join two with &&", self.token.start)
        return atom(proposition)

    def read_sum(self) -> Expr:
        start, left = self.token.start, self.read_term()
        while self.token.text in ("+", "-"):
            operator = "add" if self.take("+") else "sub"
            if operator == "sub":
                self.position += 1
            left = Binary(operator, left, self.read_term())
        if not fits_a_word(self.names.program, left):
            raise self.fail("this sum may need more than 64 bits", start)
        return left

    def read_term(self) -> Expr:
        if self.take("-"):
            return Unary("neg", self.read_term())
        kind, text, start = self.token
        if kind == "number":
            value = read_number(text)
            if value >= 1 << 63:
                raise self.fail("a number has at most 63 bits", start)
            self.position += 1
            return Const(value)
        if kind == "local":
            self.position += 1
            thread, _, name = text.rpartition(".")
            return self.look_up(lambda: self.names.local(thread, name), start)
        if kind == "name" and text in TRUTH_VALUES and not self.names.has(text):
            self.position += 1
            return Const(TRUTH_VALUES[text])
        if kind != "name" or text in RESERVED:
            found = f"not {text!r}" if text else "but the formula ends"
            raise self.fail(f"a proposition was expected, {found}", start)
        self.position += 1
        thread, dot, name = text.partition(".")
        if dot and text not in self.names.shared and thread in self.names.threads:
            return self.look_up(lambda: self.names.local(thread, name), start)
        return self.look_up(lambda: self.names.variable(text), start)

    def look_up(self, find: Callable[[], Expr], start: int) -> Expr:
        try:
            return find()
        except UnknownNameError as error:
            raise self.fail(str(error), start) from None
