"""Kernel: copy a graph into another, find cones, and write them as clauses."""

from __future__ import annotations

from typing import Any

import numpy as np

from mazurka.compiled.pointers import bytes_at, compiled, halves_at, numbers_at
from mazurka.symbolic import blocks
from mazurka.symbolic.kernels.nodes import make_and, nodes_in


@compiled
def copy(block: Any) -> None:
    """Rebuild the source's marked nodes on top of the literals that its leaves stand for."""
    nodes = nodes_in(block)
    source, image = halves_at(block[blocks.SOURCE]), halves_at(block[blocks.IMAGE])
    marks = bytes_at(block[blocks.MARKS])
    for node in range(1, block[blocks.SOURCE_NODES]):
        first, second = np.int64(source[2 * node]), np.int64(source[2 * node + 1])
        if first >= 0 and marks[node] != 0:
            one = np.int64(image[first >> 1]) ^ (first & 1)
            other = np.int64(image[second >> 1]) ^ (second & 1)
            image[node] = make_and(nodes, one, other)


@compiled
def mark_cone(block: Any) -> Any:
    """Mark all nodes that the roots depend on; returns how many are new."""
    fanins, roots = halves_at(block[blocks.FANINS]), halves_at(block[blocks.ROOTS])
    marks, stack = bytes_at(block[blocks.MARKS]), halves_at(block[blocks.STACK])
    top, found = np.int64(0), np.int64(0)
    for i in range(block[blocks.ROOT_COUNT]):
        node = np.int64(roots[i]) >> 1
        if marks[node] == 0:
            marks[node] = 1
            stack[top] = node
            top += 1
            found += 1
    while top > 0:
        top -= 1
        node = np.int64(stack[top])
        for side in range(2):
            operand = np.int64(fanins[2 * node + side])
            if operand >= 0 and marks[operand >> 1] == 0:
                marks[operand >> 1] = 1
                stack[top] = operand >> 1
                top += 1
                found += 1
    return found


@compiled
def require_variable(block: Any, literal: Any, top: Any) -> Any:
    """Give the node of a literal a variable and note that it has to be defined; the new top."""
    variables, stack = halves_at(block[blocks.VARIABLES]), halves_at(block[blocks.STACK])
    node = literal >> 1
    if variables[node] != 0:
        return top
    block[blocks.VARIABLE_COUNT] += 1
    variables[node] = block[blocks.VARIABLE_COUNT]
    stack[top] = node
    return top + 1


@compiled
def variable(variables: Any, literal: Any) -> Any:
    """A literal as solvers write it."""
    number = np.int64(variables[literal >> 1])
    return -number if literal & 1 else number


@compiled
def find_choice(fanins: Any, first: Any, second: Any) -> Any:
    """Where `not first and not second` is a choice: which operands are its condition; -1 if not.

    Bit 1 of the result is the operand of `first`, bit 0 that of `second`; they are opposite.
    """
    if first & second & 1 == 0:
        return -1
    for i in range(2):
        for j in range(2):
            condition = np.int64(fanins[(first & ~1) + i])
            if condition >= 0 and condition ^ 1 == fanins[(second & ~1) + j]:
                return 2 * i + j
    return -1


@compiled
def put_clause(clauses: Any, used: Any, x: Any, y: Any, z: Any) -> Any:
    """Write a clause of two or three literals (z is 0 for two); the new length."""
    clauses[used], clauses[used + 1] = x, y
    used += 2
    if z != 0:
        clauses[used] = z
        used += 1
    clauses[used] = 0
    return used + 1


@compiled
def encode(block: Any) -> Any:
    """Write clauses that define the roots' nodes, as far as these have no variables yet.

    Tseitin's encoding.  A choice (and with it an exclusive or) is defined by four clauses over its
    three operands; the two ands inside get variables only if something else needs them.  The
    constant's node is no exception: its variable is defined to be false.
    """
    fanins, variables = halves_at(block[blocks.FANINS]), halves_at(block[blocks.VARIABLES])
    roots, stack = halves_at(block[blocks.ROOTS]), halves_at(block[blocks.STACK])
    clauses = halves_at(block[blocks.CLAUSES])
    top, used = np.int64(0), np.int64(0)
    for i in range(block[blocks.ROOT_COUNT]):
        top = require_variable(block, np.int64(roots[i]), top)
    while top > 0:
        top -= 1
        node = np.int64(stack[top])
        this = np.int64(variables[node])
        first, second = np.int64(fanins[2 * node]), np.int64(fanins[2 * node + 1])
        if node == 0:
            clauses[used], clauses[used + 1] = -this, 0
            used += 2
            continue
        if first < 0:
            continue
        sides = find_choice(fanins, first, second)
        if sides >= 0:
            i, j = sides >> 1, sides & 1
            condition = np.int64(fanins[(first & ~1) + i])
            then = np.int64(fanins[(first & ~1) + 1 - i])
            otherwise = np.int64(fanins[(second & ~1) + 1 - j])
            top = require_variable(block, condition, top)
            top = require_variable(block, then, top)
            top = require_variable(block, otherwise, top)
            c, t = variable(variables, condition), variable(variables, then)
            e = variable(variables, otherwise)
            used = put_clause(clauses, used, -c, -t, -this)
            used = put_clause(clauses, used, -c, t, this)
            used = put_clause(clauses, used, c, -e, -this)
            used = put_clause(clauses, used, c, e, this)
            continue
        top = require_variable(block, first, top)
        top = require_variable(block, second, top)
        x, y = variable(variables, first), variable(variables, second)
        used = put_clause(clauses, used, -this, x, 0)
        used = put_clause(clauses, used, -this, y, 0)
        used = put_clause(clauses, used, this, -x, -y)
    return used


@compiled
def run(address: Any) -> Any:
    block = numbers_at(address)
    operation = block[blocks.OPERATION]
    if operation == blocks.COPY:
        copy(block)
        return np.int64(0)
    if operation == blocks.CONE:
        return mark_cone(block)
    return encode(block)
