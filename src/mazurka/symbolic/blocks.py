"""The block of 64-bit words through which Python and the kernels of a graph share everything.

A kernel gets one argument, the address of such a block; arrays appear as their addresses.
Positions are plain numbers, which the kernels take in as constants.
"""

from __future__ import annotations

# The graph.
(
    FANINS,            # array of 32-bit literals, two a node; -1 for a node without operands
    NODES,             # how many there are; node 0 is the constant false
    TABLE,             # array of 32-bit node numbers: open addressing by the operands, 0 is free
    TABLE_SLOTS,       # a power of two
    BITS,              # array of 32-bit literals: the bits of words, each word from its low bit on
) = range(5)  # fmt: skip

# What is to be done, and with what.
(
    OPERATION,         # one of the numbers below
    A,                 # a literal, or where a word's bits begin
    A_WIDTH,
    A_SIGNED,          # whether the word continues with its top bit, or with zeros
    B,
    B_WIDTH,
    B_SIGNED,
    CONDITION,         # a literal
    OUT,               # where the result's bits go; behind them is room for intermediate ones
    OUT_WIDTH,
    CASES,             # array of 64-bit words for PICK: condition, start, width, signed, ...
    CASE_COUNT,
) = range(5, 17)  # fmt: skip

# Copying cones, writing clauses, simulating.
(
    SOURCE,            # array like FANINS: the graph to copy from
    SOURCE_NODES,
    IMAGE,             # array of 32-bit literals by node of the source; leaves are filled in
    MARKS,             # array of bytes by node, for CONE
    ROOTS,             # array of 32-bit literals
    ROOT_COUNT,
    STACK,             # array of 32-bit node numbers, as long as there are nodes
    VARIABLES,         # array of 32-bit numbers by node: its variable in clauses, 0 for none
    VARIABLE_COUNT,    # the last variable in use
    CLAUSES,           # array of 32-bit literals for a solver, each clause ended by 0
    VALUES,            # array of 64-bit words by node, LANES each
    LANES,
) = range(17, 29)  # fmt: skip

BLOCK_WORDS = 32

# Operations of the kernel `operators`: first those that return a literal, then those for words.
AND, XOR, CHOOSE, ALL, EQUAL, LESS, LESS_UNSIGNED = range(7)
SELECT, ADD, SUBTRACT, MULTIPLY, DIVIDE, SHIFT_LEFT, SHIFT_RIGHT = range(7, 14)
BOTH_BITS, OTHER_BITS, PICK, REHASH = range(14, 18)

# Operations of the kernel `cones`.
COPY, CONE, ENCODE = range(3)
