"""Graphs: literals, folding, growing, cones and clauses."""

from __future__ import annotations

import itertools
import random

import numpy as np

from mazurka.symbolic.graphs.graph import FALSE, FIRST_NODES, TRUE, Aig, ClauseWriter

INPUTS = 5


def table_of(graph: Aig, literals: list[int]) -> list[int]:
    """The truth tables of literals over the graph's first leaves, as bits."""
    rows = np.zeros((graph.nodes, 1), np.uint64)
    for place, leaf in enumerate(graph.leaves[:INPUTS]):
        rows[leaf, 0] = sum(1 << run for run in range(1 << INPUTS) if run >> place & 1)
    graph.evaluate(rows)
    every = (1 << (1 << INPUTS)) - 1
    return [int(rows[each >> 1, 0]) & every ^ (every if each & 1 else 0) for each in literals]


def random_graph(seed: int, size: int) -> tuple[Aig, list[int], list[int]]:
    """A graph made by random operators; its literals, and their truth tables worked out beside."""
    chance, graph = random.Random(seed), Aig()
    every = (1 << (1 << INPUTS)) - 1
    literals = [graph.add_leaf() for _ in range(INPUTS)]
    tables = table_of(graph, literals)
    for _ in range(size):
        (p, x), (q, y), (r, z) = (
            (literals[k] ^ n, tables[k] ^ (every if n else 0))
            for k, n in ((chance.randrange(len(literals)), chance.randrange(2)) for _ in range(3))
        )
        made = chance.choice(
            [
                (graph.both(p, q), x & y),
                (graph.either(p, q), x | y),
                (graph.differ(p, q), x ^ y),
                (graph.choose(p, q, r), x & y | ~x & z & every),
                (graph.every([p, q, r]), x & y & z),
                (graph.some([p, q, r]), x | y | z),
            ]
        )
        literals.append(made[0])
        tables.append(made[1])
    return graph, literals, tables


def test_operators_compute_their_functions() -> None:
    for seed in range(20):
        graph, literals, tables = random_graph(seed, 60)
        assert table_of(graph, literals) == tables


def test_small_laws_make_no_nodes() -> None:
    graph = Aig()
    a, b, c = (graph.add_leaf() for _ in range(3))
    ab = graph.both(a, b)
    before = graph.nodes
    assert graph.both(b, a) == ab
    assert graph.both(a, FALSE) == FALSE
    assert graph.both(a, TRUE) == a
    assert graph.both(a, a) == a
    assert graph.both(a, a ^ 1) == FALSE
    assert graph.both(a, ab) == ab
    assert graph.both(a ^ 1, ab) == FALSE
    assert graph.both(a ^ 1, ab ^ 1) == a ^ 1
    assert graph.choose(a, b, b) == b
    assert graph.every([]) == TRUE
    assert graph.some([]) == FALSE
    assert graph.every([a, a, TRUE]) == a
    assert graph.some([a, b, TRUE]) == TRUE
    assert graph.nodes == before
    assert graph.both(a, ab ^ 1) == graph.both(a, b ^ 1)
    abc = graph.both(ab, c)
    assert graph.both(ab ^ 1, graph.both(a, b ^ 1) ^ 1) == a ^ 1
    assert graph.both(abc, b ^ 1) == FALSE or table_of(graph, [graph.both(abc, b ^ 1)]) == [0]


def test_a_graph_grows_and_finds_its_nodes_again() -> None:
    graph = Aig()
    leaves = [graph.add_leaf() for _ in range(300)]
    pairs = list(itertools.combinations(leaves, 2))
    made = [graph.both(a, b) for a, b in pairs]
    assert graph.nodes == 1 + len(leaves) + len(pairs) > FIRST_NODES
    assert [graph.both(b, a) for a, b in pairs] == made
    assert graph.bytes < 100 * graph.nodes


def test_leaves_are_replaced() -> None:
    for seed in range(10):
        graph, literals, _ = random_graph(seed, 40)
        a, b, *others = literals[:INPUTS]
        images = {a: b ^ 1, b: others[0]}
        roots = literals[-5:]
        replaced = graph.substitute(roots, images)
        rows = np.zeros((graph.nodes, 1), np.uint64)
        before = table_of(graph, literals[:INPUTS])
        every = (1 << (1 << INPUTS)) - 1
        rows[a >> 1, 0], rows[b >> 1, 0] = before[1] ^ every, before[2]
        for place in range(2, INPUTS):
            rows[literals[place] >> 1, 0] = before[place]
        graph.evaluate(rows)
        expected = [int(rows[r >> 1, 0]) & every ^ (every if r & 1 else 0) for r in roots]
        assert table_of(graph, replaced) == expected
        if a not in (b, others[0]):
            assert a not in graph.find_support(replaced)


def test_clauses_have_exactly_the_graphs_models() -> None:
    for seed in range(10):
        graph, literals, tables = random_graph(seed, 30)
        writer = ClauseWriter(graph)
        inputs, roots = literals[:INPUTS], literals[-3:]
        flat = [*writer.define(inputs), *writer.define(roots[:1]), *writer.define(roots)]
        clauses, clause = [], []
        for number in flat:
            if number == 0:
                clauses.append(clause)
                clause = []
            else:
                clause.append(int(number))
        for run in range(1 << INPUTS):
            values = {writer.literal(x): bool(run >> k & 1) for k, x in enumerate(inputs)}
            known = propagate(clauses, values)
            for root, table in zip(roots, tables[-3:], strict=True):
                name = writer.literal(root)
                assert known[abs(name)] == (bool(table >> run & 1) == (name > 0))


def propagate(clauses: list[list[int]], values: dict[int, bool]) -> dict[int, bool]:
    """Unit propagation: with all leaves given, definitions leave nothing open."""
    known, changed = dict(values), True
    while changed:
        changed = False
        for clause in clauses:
            if any(known.get(abs(x)) == (x > 0) for x in clause):
                continue
            left = [x for x in clause if abs(x) not in known]
            assert left, "the clauses contradict each other"
            if len(left) == 1:
                known[abs(left[0])] = left[0] > 0
                changed = True
    return known
