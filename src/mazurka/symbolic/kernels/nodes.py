"""Nodes of an and-inverter graph: folding, and structural hashing.

A literal is `2 * node + negated`.  Node 0 is false, so literal 0 is false and literal 1 is true.  A
node is an and of two literals, or has no operands (a latch or an input).  Operands have smaller
numbers than the node, so the order of the numbers is topological.

`make_and` never makes a node that the rules of one level (constants, equal and opposite operands)
or of two levels (Brummayer, Biere, *Local Two-Level And-Inverter Graph Minimization without
Blowup*, MEMICS 2006, rules 1 to 4) show to be another literal.  Each rule replaces an operand by
one of a smaller node, so its loop ends.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mazurka.compiled.pointers import compiled, halves_at
from mazurka.symbolic import blocks


class Nodes(NamedTuple):
    """A graph that grows: its block, the operands of its nodes, and the table that finds them."""

    block: Any
    fanins: Any
    table: Any
    mask: Any


@compiled
def nodes_in(block: Any) -> Any:
    fanins, table = halves_at(block[blocks.FANINS]), halves_at(block[blocks.TABLE])
    return Nodes(block, fanins, table, block[blocks.TABLE_SLOTS] - 1)


@compiled
def first_slot(first: Any, second: Any, mask: Any) -> Any:
    """Where the table is searched first for the and of two literals."""
    word = first * np.int64(0x1E3779B97F4A7C15) + second * np.int64(0x2545F4914F6CDD1D)
    return (word ^ (word >> np.int64(29))) & mask


@compiled
def find_or_add(nodes: Any, first: Any, second: Any) -> Any:
    """The literal of the node with these operands, which is made if it is not there."""
    fanins, table = nodes.fanins, nodes.table
    slot = first_slot(first, second, nodes.mask)
    node = np.int64(table[slot])
    while node != 0:
        if fanins[2 * node] == first and fanins[2 * node + 1] == second:
            return 2 * node
        slot = (slot + 1) & nodes.mask
        node = np.int64(table[slot])
    node = nodes.block[blocks.NODES]
    nodes.block[blocks.NODES] = node + 1
    fanins[2 * node], fanins[2 * node + 1] = first, second
    table[slot] = node
    return 2 * node


@compiled
def reduce_one_side(literal: Any, other: Any, left: Any, right: Any) -> Any:
    """What `other`, the and of `left` and `right` or its negation, is where `literal` holds too.

    Returns the literal that can take its place: 0, 1, or one of a smaller node; -1 for none.
    """
    if other & 1 == 0:
        if literal == left:
            return right
        if literal == right:
            return left
        return np.int64(0) if literal == left ^ 1 or literal == right ^ 1 else np.int64(-1)
    if literal == left ^ 1 or literal == right ^ 1:
        return np.int64(1)
    if literal == left:
        return right ^ 1
    return left ^ 1 if literal == right else np.int64(-1)


@compiled
def reduce_pair(first: Any, a: Any, b: Any, second: Any, c: Any, d: Any) -> Any:
    """What `second`, made of c and d, is where `first`, made of a and b, holds too; else -1."""
    if first & 1 == 0:
        found = reduce_one_side(a, second, c, d)
        if found < 0:
            found = reduce_one_side(b, second, c, d)
        # Where `second` is a conjunction, replacing it by a part of it would undo sharing.
        return found if second & 1 or found <= 0 else np.int64(-1)
    return np.int64(-1)


@compiled
def resolve(a: Any, b: Any, c: Any, d: Any) -> Any:
    """The literal that `not (a and b)` and `not (c and d)` together are; -1 for none."""
    if (a == c and b == d ^ 1) or (a == d and b == c ^ 1):
        return a ^ 1
    if (b == c and a == d ^ 1) or (b == d and a == c ^ 1):
        return b ^ 1
    return np.int64(-1)


@compiled
def make_and(nodes: Any, first: Any, second: Any) -> Any:
    """The literal for the conjunction of two literals."""
    fanins = nodes.fanins
    while True:
        if first > second:
            first, second = second, first
        if first <= 1:
            return second if first == 1 else np.int64(0)
        if first ^ second <= 1:
            return first if first == second else np.int64(0)
        a, b = np.int64(fanins[first & ~1]), np.int64(fanins[first | 1])
        c, d = np.int64(fanins[second & ~1]), np.int64(fanins[second | 1])
        if c >= 0:
            found = reduce_one_side(first, second, c, d)
            if found >= 0:
                if second & 1 == 0 and found > 0:
                    return second
                second = found
                continue
        if a >= 0:
            found = reduce_one_side(second, first, a, b)
            if found >= 0:
                if first & 1 == 0 and found > 0:
                    return first
                first = found
                continue
        if a >= 0 and c >= 0:
            if first & second & 1:
                found = resolve(a, b, c, d)
                if found >= 0:
                    return found
            found = reduce_pair(first, a, b, second, c, d)
            if found >= 0:
                second = found
                continue
            found = reduce_pair(second, c, d, first, a, b)
            if found >= 0:
                first = found
                continue
        return find_or_add(nodes, first, second)


@compiled
def make_or(nodes: Any, first: Any, second: Any) -> Any:
    return make_and(nodes, first ^ 1, second ^ 1) ^ 1


@compiled
def make_xor(nodes: Any, first: Any, second: Any) -> Any:
    """The literal for "exactly one of two"; operands without sign, so that it is found again."""
    sign = (first ^ second) & 1
    first, second = first & ~1, second & ~1
    both = make_and(nodes, first, second)
    neither = make_and(nodes, first ^ 1, second ^ 1)
    return make_and(nodes, both ^ 1, neither ^ 1) ^ sign


@compiled
def make_choice(nodes: Any, condition: Any, then: Any, otherwise: Any) -> Any:
    """The literal for "`then` if `condition`, else `otherwise`"."""
    if then == otherwise:
        return then
    if then == otherwise ^ 1:
        return make_xor(nodes, condition, otherwise)
    if condition & 1:
        condition, then, otherwise = condition ^ 1, otherwise, then
    yes = make_and(nodes, condition, then)
    no = make_and(nodes, condition ^ 1, otherwise)
    return make_and(nodes, yes ^ 1, no ^ 1) ^ 1


@compiled
def rehash(nodes: Any) -> None:
    """Enter all nodes in an empty table."""
    fanins, table = nodes.fanins, nodes.table
    for node in range(1, nodes.block[blocks.NODES]):
        first, second = np.int64(fanins[2 * node]), np.int64(fanins[2 * node + 1])
        if first < 0:
            continue
        slot = first_slot(first, second, nodes.mask)
        while table[slot] != 0:
            slot = (slot + 1) & nodes.mask
        table[slot] = node
