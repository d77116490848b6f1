"""Numbers in a circuit: words of literals with known bounds, and the operators of the IR on them.

A `Word` denotes a number between `low` and `high`; its bits are the low ones of its two's
complement representation, as few as the bounds need.  Operators compute what `docs/semantics.md`
defines, bit for bit: the exact result where the bounds show that it fits 64 bits, else the result
modulo 2**64.

The bounds are a promise of whoever makes the word.  They may be promised for some circumstances
only (a value that was tested before); in others the bits mean nothing, and the caller does not use
them.  Operators with faults (division by zero, shifts outside 0..63) leave it to the caller to see
to these cases (`mazurka.symbolic.steps`).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from mazurka.ir import arithmetic
from mazurka.ir.values.intervals import LARGEST, SMALLEST, binary_bounds, fits, unary_bounds
from mazurka.symbolic import blocks
from mazurka.symbolic.graphs.graph import FALSE, NODES_A_BIT, TRUE, Aig

WORD_BITS = 64
SHIFT_BITS = 6
"""A shift by more than 63 is a fault, so no more bits of the distance count."""
FIRST_CASES = 64
CASE_WORDS = 4


class Word(NamedTuple):
    """A number between `low` and `high`: `width` literals from `start` on in `Aig.bits`."""

    start: int
    width: int
    low: int
    high: int

    @property
    def signed(self) -> bool:
        return self.low < 0

    @property
    def is_constant(self) -> bool:
        return self.low == self.high


def width_for(low: int, high: int) -> int:
    """The bits that numbers between the bounds need; one of them for the sign, if some need it."""
    if low >= 0:
        return high.bit_length()
    return max((-low - 1).bit_length(), high.bit_length()) + 1


class Words:
    """Makes the words of one graph."""

    def __init__(self, graph: Aig) -> None:
        self.graph = graph
        self._constants: dict[int, Word] = {}
        self._cases = np.zeros(CASE_WORDS * FIRST_CASES, np.int64)
        self.alternatives: dict[Word, dict[int, int]] = {}
        """For words that have few values, each value and the literal that says it is this one."""

    # --- making words -------------------------------------------------------------------------

    def constant(self, value: int) -> Word:
        found = self._constants.get(value)
        if found is None:
            width = width_for(value, value)
            found = self.from_bits([value >> i & 1 for i in range(width)], value, value)
            self._constants[value] = found
        return found

    def from_bits(self, literals: Sequence[int], low: int, high: int) -> Word:
        """The number with these bits, as many as the bounds need."""
        assert len(literals) == width_for(low, high)
        start = self._place(len(literals))
        self.graph.bits[start : start + len(literals)] = array("i", literals)
        return Word(start, len(literals), low, high)

    def from_truth(self, literal: int) -> Word:
        """1 if the literal holds, else 0."""
        if literal <= TRUE:
            return self.constant(literal)
        return self.from_bits([literal], 0, 1)

    def from_alternatives(self, alternatives: dict[int, int]) -> Word:
        """The value whose literal holds, where exactly one does."""
        if len(alternatives) == 1:
            return self.constant(next(iter(alternatives)))
        cases = [(literal, self.constant(value)) for value, literal in alternatives.items()]
        word = self.pick(cases, None)
        if not word.is_constant:
            self.alternatives[word] = alternatives
        return word

    def add_leaves(self, low: int, high: int) -> Word:
        """A number whose bits are new leaves; all patterns of bits are possible, so the bounds are
        a promise."""
        width = width_for(low, high)
        return self.from_bits([self.graph.add_leaf() for _ in range(width)], low, high)

    def literals(self, word: Word, width: int | None = None) -> list[int]:
        """The bits of a word, the low one first; as many as asked for."""
        width = word.width if width is None else width
        kept = min(width, word.width)
        found = self.graph.bits[word.start : word.start + kept].tolist()
        top = found[-1] if word.signed and found else FALSE
        return found + [top] * (width - kept)

    def clip(self, word: Word, low: int, high: int) -> Word:
        """The same number, of which the caller knows closer bounds."""
        low, high = max(low, word.low), min(high, word.high)
        if (low, high) == (word.low, word.high):
            return word
        if low >= high:  # one value, or none: it does not matter which
            return self.constant(low)
        clipped = Word(word.start, width_for(low, high), low, high)
        if word in self.alternatives:
            inside = {v: at for v, at in self.alternatives[word].items() if low <= v <= high}
            self.alternatives[clipped] = inside
        return clipped

    def _place(self, width: int, room: int = 0) -> int:
        """Where a new word begins, with room for intermediate bits behind it."""
        self.graph.reserve(0, width + room)
        start = self.graph.used_bits
        self.graph.used_bits += width
        return start

    # --- operators ----------------------------------------------------------------------------

    def _enter(self, a: Word, b: Word | None = None) -> None:
        block = self.graph.block
        block[blocks.A], block[blocks.A_WIDTH], block[blocks.A_SIGNED] = a[0], a[1], a[2] < 0
        if b is not None:
            block[blocks.B], block[blocks.B_WIDTH], block[blocks.B_SIGNED] = b[0], b[1], b[2] < 0

    def _make(
        self, operation: int, a: Word, b: Word, bounds: tuple[int, int], nodes: int = 0
    ) -> Word:
        """Run an operator of the kernel whose result is a word."""
        width = width_for(*bounds)
        self.graph.reserve(nodes or NODES_A_BIT * (width + 1))
        start = self._place(width)
        self._enter(a, b)
        block = self.graph.block
        block[blocks.OUT], block[blocks.OUT_WIDTH] = start, width
        self.graph.run(operation)
        return Word(start, width, *bounds)

    def select(self, condition: int, then: Word, otherwise: Word) -> Word:
        """`then` if the condition holds, else `otherwise`."""
        if condition == TRUE or then == otherwise:
            return then
        if condition == FALSE:
            return otherwise
        bounds = min(then.low, otherwise.low), max(then.high, otherwise.high)
        self.graph.block[blocks.CONDITION] = condition
        return self._make(blocks.SELECT, then, otherwise, bounds)

    def pick(self, cases: Iterable[tuple[int, Word]], default: Word | None) -> Word:
        """The word of the case that holds, where at most one does, else the default.

        Without a default one of the cases holds, or the result does not matter.
        """
        by_word: dict[Word, list[int]] = {}
        for condition, word in cases:
            if condition == TRUE:
                return word
            if condition != FALSE and word != default:
                by_word.setdefault(word, []).append(condition)
        merged = [(self.graph.some(each), word) for word, each in by_word.items()]
        if default is None and len(merged) <= 2:
            if not merged:
                return self.constant(0)
            return self.select(merged[0][0], merged[0][1], merged[-1][1])
        if default is not None and len(merged) <= 1:
            return self.select(*merged[0], default) if merged else default
        words = [word for _, word in merged] + ([] if default is None else [default])
        return self._pick(merged, default, (min(w.low for w in words), max(w.high for w in words)))

    def _pick(
        self, cases: list[tuple[int, Word]], default: Word | None, bounds: tuple[int, int]
    ) -> Word:
        count, width = len(cases), width_for(*bounds)
        if CASE_WORDS * count > len(self._cases):
            self._cases = np.zeros(2 * CASE_WORDS * count, np.int64)
        flat = [part for c, w in cases for part in (c, w.start, w.width, int(w.signed))]
        self._cases[: len(flat)] = flat
        self.graph.reserve((2 * count + 2) * (width + 1))
        start = self._place(width, room=count + 1)
        block = self.graph.block
        block[blocks.CASES], block[blocks.CASE_COUNT] = self._cases.ctypes.data, count
        self._enter(default if default is not None else Word(0, -1, 0, 0))
        block[blocks.OUT], block[blocks.OUT_WIDTH] = start, width
        self.graph.run(blocks.PICK)
        return Word(start, width, *bounds)

    def equal(self, a: Word, b: Word) -> int:
        if a == b:
            return TRUE
        if a.high < b.low or b.high < a.low:
            return FALSE
        if a.is_constant and b.is_constant:
            return TRUE
        for one, other in ((a, b), (b, a)):
            if other.is_constant and one in self.alternatives:
                return self.alternatives[one].get(other.low, FALSE)
        width = width_for(min(a.low, b.low), max(a.high, b.high))
        self.graph.reserve(NODES_A_BIT * width, width)
        self._enter(a, b)
        self.graph.block[blocks.OUT] = self.graph.used_bits
        self.graph.block[blocks.OUT_WIDTH] = width
        return self.graph.run(blocks.EQUAL)

    def equals(self, word: Word, value: int) -> int:
        """Whether the word is a given number."""
        return self.equal(word, self.constant(value))

    def is_true(self, word: Word) -> int:
        """Whether the word is not 0."""
        if (word.low, word.high) == (0, 1):
            return self.graph.bits[word.start]
        return self.equals(word, 0) ^ 1

    def less(self, a: Word, b: Word) -> int:
        if a.high < b.low:
            return TRUE
        if a.low >= b.high:
            return FALSE
        if b.is_constant and b.low == a.low + 1:
            return self.equals(a, a.low)
        if a.is_constant and a.low == b.high - 1:
            return self.equals(b, b.high)
        if b.is_constant and b.low == a.high:
            return self.equals(a, a.high) ^ 1
        if a.is_constant and a.low == b.low:
            return self.equals(b, b.low) ^ 1
        bounds = min(a.low, b.low), max(a.high, b.high)
        return self._less(a, b, width_for(*bounds), signed=bounds[0] < 0)

    def _less(self, a: Word, b: Word, width: int, *, signed: bool) -> int:
        self.graph.reserve(NODES_A_BIT * width)
        self._enter(a, b)
        self.graph.block[blocks.OUT_WIDTH] = width
        return self.graph.run(blocks.LESS if signed else blocks.LESS_UNSIGNED)

    def unsigned_less(self, a: Word, b: Word) -> int:
        """`a < b`, both taken as 64 bits without a sign."""
        if a.low >= 0 and b.low >= 0:
            return self.less(a, b)
        return self._less(a, b, WORD_BITS, signed=False)

    def unary(self, operator: str, a: Word) -> Word:
        """One of the IR's operators with one operand."""
        if a.is_constant:
            return self.constant(arithmetic.UNARY[operator](a.low))
        if operator == "not":
            return self.from_truth(self.is_true(a) ^ 1)
        bounds = unary_bounds(operator, (a.low, a.high))
        bounds = bounds if fits(bounds) else (SMALLEST, LARGEST)
        if operator == "invert":
            return self._make(blocks.SUBTRACT, self.constant(-1), a, bounds)
        if operator == "neg":
            return self._make(blocks.SUBTRACT, self.constant(0), a, bounds)
        return self._absolute(a, bounds)

    def _absolute(self, a: Word, bounds: tuple[int, int]) -> Word:
        """The magnitude; bounds are those of the result, which may be wrapped around."""
        if a.low >= 0:
            return a
        negated = self._make(blocks.SUBTRACT, self.constant(0), a, bounds)
        if a.high < 0:
            return negated
        self.graph.block[blocks.CONDITION] = self.literals(a)[-1]
        return self._make(blocks.SELECT, negated, a, bounds)

    def binary(self, operator: str, a: Word, b: Word) -> Word:
        """One of the IR's operators with two operands, which are no fault."""
        if a.is_constant and b.is_constant:
            result = arithmetic.binary(operator, a.low, b.low)
            return self.constant(0 if result is None else result)
        if operator in _COMPARISONS:
            return self.from_truth(self.compare(operator, a, b))
        if operator in ("min", "max"):
            other = self.less(b, a) if operator == "min" else self.less(a, b)
            bounds = binary_bounds(operator, (a.low, a.high), (b.low, b.high))
            assert bounds is not None
            return self.clip(self.select(other, b, a), *bounds)
        bounds = binary_bounds(operator, (a.low, a.high), (b.low, b.high))
        if bounds is None:  # always a fault
            return self.constant(0)
        bounds = bounds if fits(bounds) else (SMALLEST, LARGEST)
        if bounds[0] == bounds[1]:
            return self.constant(bounds[0])
        if operator in _DIVISIONS:
            return self._divide(operator, a, b, bounds)
        if operator in _SHIFTS:
            return self._shift(operator, a, b, bounds)
        if operator == "mul":
            first, second = (b, a) if a.is_constant else (a, b)
            width = width_for(*bounds)
            return self._make(blocks.MULTIPLY, first, second, bounds, NODES_A_BIT * width * width)
        if operator == "or":
            return self._or(a, b, bounds)
        return self._make(_PLAIN[operator], a, b, bounds)

    def compare(self, operator: str, a: Word, b: Word) -> int:
        """One of the IR's comparisons, as a literal."""
        match operator:
            case "eq":
                return self.equal(a, b)
            case "ne":
                return self.equal(a, b) ^ 1
            case "lt":
                return self.less(a, b)
            case "ge":
                return self.less(a, b) ^ 1
            case "gt":
                return self.less(b, a)
            case "le":
                return self.less(b, a) ^ 1
            case "ult":
                return self.unsigned_less(a, b)
            case _:
                return self.unsigned_less(b, a) ^ 1

    def _or(self, a: Word, b: Word, bounds: tuple[int, int]) -> Word:
        """Bitwise or: the complement of the and of the complements."""
        width = width_for(*bounds)
        x, y = self.literals(a, width), self.literals(b, width)
        either = self.graph.either
        return self.from_bits([either(p, q) for p, q in zip(x, y, strict=True)], *bounds)

    def _shift(self, operator: str, a: Word, b: Word, bounds: tuple[int, int]) -> Word:
        distance = Word(b.start, min(b.width, SHIFT_BITS), 0, 63)
        nodes = NODES_A_BIT * SHIFT_BITS * WORD_BITS
        if operator == "shl":
            return self._make(blocks.SHIFT_LEFT, a, distance, bounds, nodes)
        if operator == "lshr":
            a = self._as_unsigned(a)
        span = min(a.low, 0), max(a.high, 0)
        shifted = self._make(blocks.SHIFT_RIGHT, a, distance, span, nodes)
        return self._reread(shifted, bounds)

    def _as_unsigned(self, word: Word) -> Word:
        """The 64 bits of a number as a number without a sign."""
        if word.low >= 0:
            return word
        return self.from_bits(self.literals(word, WORD_BITS), 0, 2**WORD_BITS - 1)

    def _reread(self, word: Word, bounds: tuple[int, int]) -> Word:
        """The low bits of a word as a number between the bounds."""
        return self.from_bits(self.literals(word, width_for(*bounds)), *bounds)

    def _divide(self, operator: str, a: Word, b: Word, bounds: tuple[int, int]) -> Word:
        if operator in ("udiv", "urem") and (a.low < 0 or b.low < 0):
            quotient, rest = self._divide_naturals(self._as_unsigned(a), self._as_unsigned(b))
            return self._reread(quotient if operator == "udiv" else rest, bounds)
        size = max(abs(a.low), abs(a.high)), max(abs(b.low), abs(b.high))
        x, y = self._absolute(a, (0, size[0])), self._absolute(b, (0, size[1]))
        quotient, rest = self._divide_naturals(x, y)
        negative_a, negative_b = (self.literals(w)[-1] if w.low < 0 else FALSE for w in (a, b))
        opposite = self.graph.differ(negative_a, negative_b)
        if operator in ("div", "udiv"):
            return self._negate_if(opposite, quotient, bounds)
        if operator in ("rem", "urem"):
            return self._negate_if(negative_a, rest, bounds)
        down = self.graph.both(opposite, self.is_true(rest))
        if operator == "floordiv":
            one = self.from_truth(down)
            larger = self._make(blocks.ADD, quotient, one, (0, quotient.high + 1))
            return self._negate_if(opposite, larger, bounds)
        signed = self._negate_if(negative_a, rest, (-rest.high, rest.high))
        added = self._make(blocks.ADD, signed, b, bounds)
        self.graph.block[blocks.CONDITION] = down
        return self._make(blocks.SELECT, added, signed, bounds)

    def _negate_if(self, condition: int, word: Word, bounds: tuple[int, int]) -> Word:
        negated = self._make(blocks.SUBTRACT, self.constant(0), word, bounds)
        self.graph.block[blocks.CONDITION] = condition
        return self._make(blocks.SELECT, negated, word, bounds)

    def _divide_naturals(self, a: Word, b: Word) -> tuple[Word, Word]:
        """The quotient and the remainder of numbers that are not negative; b is not 0."""
        n, m = a.width, b.width
        self.graph.reserve(2 * NODES_A_BIT * (n + 1) * (m + 1))
        start = self._place(n + m, room=2 * (m + 2))
        self._enter(a, b)
        self.graph.block[blocks.OUT] = start
        self.graph.run(blocks.DIVIDE)
        rest_high = min(a.high, max(b.high - 1, 0))
        rest = Word(start + n, width_for(0, rest_high), 0, rest_high)
        return Word(start, n, 0, a.high), rest

    def convert(self, word: Word, width: int, signed: bool) -> Word:
        """The low bits of a number, read as a signed or an unsigned number."""
        if width == WORD_BITS:
            return word
        low = -(1 << width - 1) if signed else 0
        high = low + (1 << width) - 1
        if low <= word.low and word.high <= high:
            return word
        if word.is_constant:
            return self.constant(arithmetic.convert(word.low, width, signed))
        return self._reread(word, (low, high))


_COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge", "ult", "ule"})
_DIVISIONS = frozenset({"floordiv", "mod", "div", "rem", "udiv", "urem"})
_SHIFTS = frozenset({"shl", "shr", "lshr"})
_PLAIN = {
    "add": blocks.ADD,
    "sub": blocks.SUBTRACT,
    "and": blocks.BOTH_BITS,
    "xor": blocks.OTHER_BITS,
}
