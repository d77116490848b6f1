"""And-inverter graphs in flat arrays: literals, structural hashing, cones, clauses, simulation.

A literal is `2 * node + negated`; `FALSE` is 0 and `TRUE` is 1, so `literal ^ 1` is the negation.
Nodes are conjunctions of two literals, and leaves (`add_leaf`).  The two arrays of 32-bit numbers
behind a graph, the operands of the nodes and the table that finds a node by its operands, take 16
bytes a node, and up to twice as much after they have grown; no node is a Python object.

What works on single literals is here; `mazurka.symbolic.graphs.words` has numbers.

Whatever goes through a whole graph looks at the time limit first (`mazurka.deadline`), so that
nobody who does such things again and again has to.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from mazurka.compiled.cache import kernel
from mazurka.deadline import check_time
from mazurka.errors import UnsupportedError
from mazurka.search import Observer, Silent
from mazurka.symbolic import blocks

FALSE, TRUE = 0, 1
FIRST_NODES = 1 << 12
FIRST_BITS = 1 << 14
MOST_NODES = 1 << 30
"""Literals are signed numbers of 32 bits."""
NODES_A_BIT = 16
"""More nodes than any operator makes for one bit of its result, but for products and quotients."""
INTS_A_DEFINITION = 16
"""What the clauses that define a node take at most: four of three literals, each ended by 0."""

Numbers = NDArray[np.int32]
Lanes = NDArray[np.uint64]


class Aig:
    """An and-inverter graph that grows."""

    def __init__(self, observer: Observer | None = None) -> None:
        observer = observer or Silent()
        self._operate: Callable[[int], int] = kernel("operators", observer)
        self._traverse: Callable[[int], int] = kernel("cones", observer)
        self._simulate: Callable[[int], int] = kernel("simulation", observer)
        self._block = np.zeros(blocks.BLOCK_WORDS, np.int64)
        self.block = self._block.data
        self.address = self._block.ctypes.data
        self._fanins = np.full((FIRST_NODES, 2), -1, np.int32)
        self._fanins[0] = 0
        self._table = np.zeros(2 * FIRST_NODES, np.int32)
        self._bits = np.zeros(FIRST_BITS, np.int32)
        self.bits = self._bits.data
        """The bits of all words; `mazurka.symbolic.graphs.words` says which are whose."""
        self.used_bits = 0
        self.leaves: list[int] = []
        """The nodes without operands, in the order in which they were made."""
        self.block[blocks.NODES] = 1
        self._enter()

    def _enter(self) -> None:
        block = self.block
        block[blocks.FANINS], block[blocks.TABLE] = _address(self._fanins), _address(self._table)
        block[blocks.TABLE_SLOTS] = len(self._table)
        block[blocks.BITS] = _address(self._bits)

    @property
    def nodes(self) -> int:
        """How many nodes there are, the constant and the leaves among them."""
        return self.block[blocks.NODES]

    @property
    def fanins(self) -> Numbers:
        """The operands of each node, one row a node; -1 for leaves.  It changes as nodes come."""
        return self._fanins[: self.nodes]

    @property
    def bytes(self) -> int:
        """The memory that the arrays take."""
        return self._fanins.nbytes + self._table.nbytes + self._bits.nbytes

    # --- room ---------------------------------------------------------------------------------

    def reserve(self, nodes: int, bits: int = 0) -> None:
        """Make sure that so many more nodes, and so many bits behind the used ones, have room."""
        if self.block[blocks.NODES] + nodes > len(self._fanins):
            self._grow(self.nodes + nodes)
        if self.used_bits + bits > len(self._bits):
            larger = np.zeros(max(2 * len(self._bits), self.used_bits + bits), np.int32)
            larger[: len(self._bits)] = self._bits
            self.bits.release()
            self._bits, self.bits = larger, larger.data
            self._enter()

    def _grow(self, wanted: int) -> None:
        size = len(self._fanins)
        while size < wanted:
            size *= 2
        if size > MOST_NODES:
            raise UnsupportedError(f"the circuit has more than {MOST_NODES:,} nodes")
        larger = np.full((size, 2), -1, np.int32)
        larger[: self.nodes] = self.fanins
        self._fanins, self._table = larger, np.zeros(2 * size, np.int32)
        self._enter()
        self.run(blocks.REHASH)

    def run(self, operation: int) -> int:
        """Let the kernel do what the block says."""
        self.block[blocks.OPERATION] = operation
        return self._operate(self.address)

    # --- literals -----------------------------------------------------------------------------

    def add_leaf(self) -> int:
        """Make a node without operands; return its literal."""
        self.reserve(1)
        node = self.block[blocks.NODES]
        self.block[blocks.NODES] = node + 1
        self.leaves.append(node)
        return 2 * node

    def both(self, first: int, second: int) -> int:
        """The conjunction of two literals."""
        if first <= TRUE:
            return second if first else FALSE
        if second <= TRUE:
            return first if second else FALSE
        self.reserve(NODES_A_BIT)
        block = self.block
        block[blocks.A], block[blocks.B] = first, second
        return self.run(blocks.AND)

    def either(self, first: int, second: int) -> int:
        """The disjunction of two literals."""
        return self.both(first ^ 1, second ^ 1) ^ 1

    def differ(self, first: int, second: int) -> int:
        """Exactly one of two literals."""
        self.reserve(NODES_A_BIT)
        self.block[blocks.A], self.block[blocks.B] = first, second
        return self.run(blocks.XOR)

    def choose(self, condition: int, then: int, otherwise: int) -> int:
        """One of two literals."""
        if condition <= TRUE:
            return then if condition else otherwise
        self.reserve(NODES_A_BIT)
        block = self.block
        block[blocks.CONDITION], block[blocks.A], block[blocks.B] = condition, then, otherwise
        return self.run(blocks.CHOOSE)

    def every(self, literals: Iterable[int]) -> int:
        """The conjunction of literals, as a balanced tree."""
        distinct = dict.fromkeys(literals)
        distinct.pop(TRUE, None)
        if FALSE in distinct:
            return FALSE
        if len(distinct) <= 1:
            return next(iter(distinct), TRUE)
        count = len(distinct)
        self.reserve(count, count)
        start, block = self.used_bits, self.block
        self.bits[start : start + count] = array("i", distinct)
        block[blocks.A], block[blocks.A_WIDTH] = start, count
        return self.run(blocks.ALL)

    def some(self, literals: Iterable[int]) -> int:
        """The disjunction of literals, as a balanced tree."""
        return self.every([literal ^ 1 for literal in literals]) ^ 1

    # --- cones --------------------------------------------------------------------------------

    def mark_cone(self, roots: Sequence[int]) -> NDArray[np.uint8]:
        """By node 1 if one of the literals depends on it, else 0."""
        marks = np.zeros(max(self.nodes, 1), np.uint8)
        stack = np.empty(max(self.nodes, 1), np.int32)
        wanted = np.array(roots, np.int32)
        block = self.block
        block[blocks.MARKS], block[blocks.STACK] = _address(marks), _address(stack)
        block[blocks.ROOTS], block[blocks.ROOT_COUNT] = _address(wanted), len(wanted)
        self._run_on_cones(blocks.CONE)
        return marks

    def find_support(self, roots: Sequence[int]) -> list[int]:
        """The leaves' literals that the given literals depend on, as far as the graph shows."""
        leaves = np.array(self.leaves, np.int64)
        found: list[int] = (2 * leaves[self.mark_cone(roots)[leaves] != 0]).tolist()
        return found

    def substitute(self, roots: Sequence[int], images: dict[int, int]) -> list[int]:
        """The literals with leaves replaced: `images` maps leaves' literals to literals."""
        image = np.arange(0, 2 * self.nodes, 2, dtype=np.int32)
        for leaf, literal in images.items():
            image[leaf >> 1] = literal
        copied = self.copy_from(self.fanins.copy(), self.mark_cone(roots), image)
        return [int(copied[root >> 1]) ^ (root & 1) for root in roots]

    def copy_from(self, source: Numbers, marks: NDArray[np.uint8], image: Numbers) -> Numbers:
        """Rebuild the marked nodes of another graph here; returns `image`, filled in.

        `source` are the other graph's `fanins`; `image` has by node the literal that stands for it
        here, and is given for the constant (0) and for all leaves.
        """
        self.reserve(len(source))
        source = np.ascontiguousarray(source)
        block = self.block
        block[blocks.SOURCE], block[blocks.SOURCE_NODES] = _address(source), len(source)
        block[blocks.MARKS], block[blocks.IMAGE] = _address(marks), _address(image)
        self._run_on_cones(blocks.COPY)
        return image

    def _run_on_cones(self, operation: int) -> int:
        check_time()
        self.block[blocks.OPERATION] = operation
        return self._traverse(self.address)

    # --- simulation ---------------------------------------------------------------------------

    def evaluate(self, values: Lanes) -> None:
        """Fill in the values of all nodes, given those of the leaves.

        `values` has a row a node; each bit of a row is the node's value in another run.  Row 0 must
        be zero.
        """
        check_time()
        assert values.shape[0] >= self.nodes
        assert values.flags.c_contiguous
        self.block[blocks.VALUES], self.block[blocks.LANES] = _address(values), values.shape[1]
        self._simulate(self.address)


class ClauseWriter:
    """Writes nodes of a graph as clauses: Tseitin's encoding, each node once.

    `define` returns new clauses as one array of 32-bit numbers, each clause ended by 0.  Variables
    are positive numbers; `literal` is what a literal of the graph is called in clauses.
    """

    def __init__(self, graph: Aig) -> None:
        self.graph = graph
        self.variables = np.zeros(FIRST_NODES, np.int32)
        """By node its variable, 0 for none."""
        self.count = 0
        """The last variable that was given out."""

    def new_variable(self) -> int:
        """A variable that stands for no node."""
        self.count += 1
        return self.count

    def define(self, roots: Sequence[int]) -> Numbers:
        """The clauses that define the given literals, without what has been defined before."""
        graph, nodes = self.graph, self.graph.nodes
        if len(self.variables) < nodes:
            larger = np.zeros(max(nodes, 2 * len(self.variables)), np.int32)
            larger[: len(self.variables)] = self.variables
            self.variables = larger
        undefined = nodes - int(np.count_nonzero(self.variables[:nodes]))
        clauses = np.empty(INTS_A_DEFINITION * undefined + 2, np.int32)
        stack, wanted = np.empty(undefined + 1, np.int32), np.array(roots, np.int32)
        block = graph.block
        block[blocks.VARIABLES], block[blocks.VARIABLE_COUNT] = _address(self.variables), self.count
        block[blocks.CLAUSES], block[blocks.STACK] = _address(clauses), _address(stack)
        block[blocks.ROOTS], block[blocks.ROOT_COUNT] = _address(wanted), len(wanted)
        used = graph._run_on_cones(blocks.ENCODE)
        self.count = block[blocks.VARIABLE_COUNT]
        return clauses[:used].copy()

    def literal(self, literal: int) -> int:
        """A literal of the graph, which has been defined, as clauses call it."""
        number = int(self.variables[literal >> 1])
        assert number, "a literal that has not been defined"
        return -number if literal & 1 else number

    def has(self, literal: int) -> bool:
        """Whether the literal has been defined."""
        node = literal >> 1
        return node < len(self.variables) and bool(self.variables[node])


def _address(numbers: NDArray[np.int32] | NDArray[np.uint8] | Lanes) -> int:
    return numbers.ctypes.data
