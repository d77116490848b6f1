"""Kernel: operators on literals and on words of literals.

A word is a run of literals in `BITS`, the low bit first.  Beyond its width it continues with its
top bit (signed) or with zeros, so operands of any widths go together.  Results are modulo two to
the power of `OUT_WIDTH`.  What each operator means for numbers is in
`mazurka.symbolic.graphs.words`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mazurka.compiled.pointers import compiled, halves_at, numbers_at
from mazurka.symbolic import blocks
from mazurka.symbolic.kernels.nodes import (
    make_and,
    make_choice,
    make_or,
    make_xor,
    nodes_in,
    rehash,
)

CASE_WORDS = 4


class Operand(NamedTuple):
    """A word: the literals, where it begins, its width, whether its top bit goes on."""

    bits: Any
    start: Any
    width: Any
    signed: Any


@compiled
def bit(word: Any, position: Any) -> Any:
    """A literal of a word; positions beyond its width are allowed."""
    if position < word.width:
        return np.int64(word.bits[word.start + position])
    if word.signed != 0 and word.width > 0:
        return np.int64(word.bits[word.start + word.width - 1])
    return np.int64(0)


@compiled
def conjoin(nodes: Any, bits: Any, start: Any, count: Any) -> Any:
    """The conjunction of literals, as a balanced tree; overwrites them."""
    if count == 0:
        return np.int64(1)
    while count > 1:
        half = count // 2
        for i in range(half):
            first = np.int64(bits[start + 2 * i])
            bits[start + i] = make_and(nodes, first, np.int64(bits[start + 2 * i + 1]))
        if count % 2:
            bits[start + half] = bits[start + count - 1]
            half += 1
        count = half
    return np.int64(bits[start])


@compiled
def add_with_carry(nodes: Any, x: Any, y: Any, carry: Any) -> Any:
    """The sum bit and the carry of three bits."""
    half = make_xor(nodes, x, y)
    total = make_xor(nodes, half, carry)
    over = make_or(nodes, make_and(nodes, x, y), make_and(nodes, half, carry))
    return total, over


@compiled
def add(nodes: Any, a: Any, b: Any, invert: Any, out: Any, width: Any) -> None:
    """a + b, or a - b where `invert` is 1."""
    carry = invert
    for i in range(width):
        total, carry = add_with_carry(nodes, bit(a, i), bit(b, i) ^ invert, carry)
        a.bits[out + i] = total


@compiled
def multiply(nodes: Any, a: Any, b: Any, out: Any, width: Any) -> None:
    """Add `a`, shifted, for each bit of `b`."""
    bits = a.bits
    for i in range(width):
        bits[out + i] = 0
    for i in range(width):
        factor = bit(b, i)
        if factor == 0:
            continue
        carry = np.int64(0)
        for j in range(i, width):
            part = make_and(nodes, bit(a, j - i), factor)
            total, carry = add_with_carry(nodes, np.int64(bits[out + j]), part, carry)
            bits[out + j] = total


@compiled
def divide(nodes: Any, a: Any, b: Any, out: Any) -> None:
    """Long division of unsigned words: quotient (width of a), remainder (width of b), room."""
    bits, n, m = a.bits, a.width, b.width
    rest = out + n
    difference = rest + m + 1
    for i in range(m + 1):
        bits[rest + i] = 0
    for i in range(n - 1, -1, -1):
        for j in range(m, 0, -1):
            bits[rest + j] = bits[rest + j - 1]
        bits[rest] = bit(a, i)
        fits = np.int64(1)
        for j in range(m + 1):
            value = np.int64(bits[rest + j])
            total, fits = add_with_carry(nodes, value, bit(b, j) ^ 1, fits)
            bits[difference + j] = total
        bits[out + i] = fits
        for j in range(m + 1):
            less = np.int64(bits[difference + j])
            bits[rest + j] = make_choice(nodes, fits, less, np.int64(bits[rest + j]))


@compiled
def shift_left(nodes: Any, a: Any, b: Any, out: Any, width: Any) -> None:
    bits = a.bits
    for i in range(width):
        bits[out + i] = bit(a, i)
    for stage in range(b.width):
        factor, distance = bit(b, stage), np.int64(1) << np.int64(stage)
        for i in range(width - 1, -1, -1):
            moved = np.int64(bits[out + i - distance]) if i >= distance else np.int64(0)
            bits[out + i] = make_choice(nodes, factor, moved, np.int64(bits[out + i]))


@compiled
def shift_right(nodes: Any, a: Any, b: Any, out: Any, width: Any) -> None:
    bits = a.bits
    for i in range(width):
        bits[out + i] = bit(a, i)
    filling = bit(a, width)
    for stage in range(b.width):
        factor, distance = bit(b, stage), np.int64(1) << np.int64(stage)
        for i in range(width):
            moved = np.int64(bits[out + i + distance]) if i + distance < width else filling
            bits[out + i] = make_choice(nodes, factor, moved, np.int64(bits[out + i]))


@compiled
def is_equal(nodes: Any, a: Any, b: Any, out: Any, width: Any) -> Any:
    for i in range(width):
        a.bits[out + i] = make_xor(nodes, bit(a, i), bit(b, i)) ^ 1
    return conjoin(nodes, a.bits, out, width)


@compiled
def is_less(nodes: Any, a: Any, b: Any, width: Any, flip: Any) -> Any:
    """a < b; `flip` is 1 where the top bits of the given width are signs."""
    result = np.int64(0)
    for i in range(width):
        x, y = bit(a, i), bit(b, i)
        if i == width - 1:
            x, y = x ^ flip, y ^ flip
        result = make_choice(nodes, make_xor(nodes, x, y), y, result)
    return result


@compiled
def pick(nodes: Any, block: Any, default: Any, out: Any, width: Any) -> None:
    """The word of the case whose condition holds, where at most one does; else the default.

    Each bit is an or of ands, as a balanced tree.  Without a default (its width is negative) some
    case holds, or it does not matter what comes out.
    """
    cases, count, bits = numbers_at(block[blocks.CASES]), block[blocks.CASE_COUNT], default.bits
    room = out + width
    none = np.int64(0)
    if default.width >= 0:
        for k in range(count):
            bits[room + k] = cases[CASE_WORDS * k] ^ 1
        none = conjoin(nodes, bits, room, count)
    for i in range(width):
        used = np.int64(0)
        for k in range(count):
            at = CASE_WORDS * k
            word = Operand(bits, cases[at + 1], cases[at + 2], cases[at + 3])
            bits[room + used] = make_and(nodes, cases[at], bit(word, i)) ^ 1
            used += 1
        if none != 0:
            bits[room + used] = make_and(nodes, none, bit(default, i)) ^ 1
            used += 1
        bits[out + i] = conjoin(nodes, bits, room, used) ^ 1


@compiled
def decide(nodes: Any, block: Any, operation: Any, a: Any, b: Any) -> Any:
    """Operators whose result is one literal."""
    out, width, condition = block[blocks.OUT], block[blocks.OUT_WIDTH], block[blocks.CONDITION]
    if operation == blocks.AND:
        return make_and(nodes, a.start, b.start)
    if operation == blocks.XOR:
        return make_xor(nodes, a.start, b.start)
    if operation == blocks.CHOOSE:
        return make_choice(nodes, condition, a.start, b.start)
    if operation == blocks.ALL:
        return conjoin(nodes, a.bits, a.start, a.width)
    if operation == blocks.EQUAL:
        return is_equal(nodes, a, b, out, width)
    flip = np.int64(1) if operation == blocks.LESS else np.int64(0)
    return is_less(nodes, a, b, width, flip)


@compiled
def operate(nodes: Any, block: Any, operation: Any, a: Any, b: Any) -> None:
    """Operators whose result is a word."""
    out, width, condition = block[blocks.OUT], block[blocks.OUT_WIDTH], block[blocks.CONDITION]
    if operation == blocks.SELECT:
        for i in range(width):
            a.bits[out + i] = make_choice(nodes, condition, bit(a, i), bit(b, i))
    elif operation == blocks.ADD:
        add(nodes, a, b, np.int64(0), out, width)
    elif operation == blocks.SUBTRACT:
        add(nodes, a, b, np.int64(1), out, width)
    elif operation == blocks.MULTIPLY:
        multiply(nodes, a, b, out, width)
    elif operation == blocks.DIVIDE:
        divide(nodes, a, b, out)
    elif operation == blocks.SHIFT_LEFT:
        shift_left(nodes, a, b, out, width)
    elif operation == blocks.SHIFT_RIGHT:
        shift_right(nodes, a, b, out, width)
    elif operation == blocks.BOTH_BITS:
        for i in range(width):
            a.bits[out + i] = make_and(nodes, bit(a, i), bit(b, i))
    elif operation == blocks.OTHER_BITS:
        for i in range(width):
            a.bits[out + i] = make_xor(nodes, bit(a, i), bit(b, i))
    elif operation == blocks.PICK:
        pick(nodes, block, a, out, width)
    else:
        rehash(nodes)


@compiled
def run(address: Any) -> Any:
    block = numbers_at(address)
    nodes = nodes_in(block)
    bits = halves_at(block[blocks.BITS])
    a = Operand(bits, block[blocks.A], block[blocks.A_WIDTH], block[blocks.A_SIGNED])
    b = Operand(bits, block[blocks.B], block[blocks.B_WIDTH], block[blocks.B_SIGNED])
    operation = block[blocks.OPERATION]
    if operation < blocks.SELECT:
        return decide(nodes, block, operation, a, b)
    operate(nodes, block, operation, a, b)
    return np.int64(0)
