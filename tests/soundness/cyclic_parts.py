"""The parts of a graph whose edges lie on cycles, found by asking for every path.

Compares `mazurka.analysis.quiet_loops.split`, on which it depends whether hangs are looked for.
"""

from __future__ import annotations

from random import Random

from mazurka.analysis.quiet_loops import split
from mazurka.ir.program import Edge, Kind, Span

GRAPHS = 600
MOST_PLACES = 9


def draw_edges(rng: Random) -> list[Edge]:
    """A random graph, sparse or dense, with loops of one edge and edges that are there twice."""
    places = rng.randint(1, MOST_PLACES)
    count = rng.randint(0, 2 * places)
    span = Span("graph.py", 1)
    return [
        Edge(rng.randrange(places), rng.randrange(places), Kind.LOCAL, span) for _ in range(count)
    ]


def find_reachable(edges: list[Edge], place: int) -> frozenset[int]:
    """Where paths of any length lead to, 0 included."""
    reached = {place}
    for _ in edges:
        reached |= {edge.target for edge in edges if edge.source in reached}
    return frozenset(reached)


def split_plainly(edges: list[Edge]) -> set[frozenset[int]]:
    """The edges, by position, whose ends reach each other, by the places that they do it with."""
    reached = {place: find_reachable(edges, place) for place in range(MOST_PLACES)}
    parts: dict[frozenset[int], set[int]] = {}
    for position, edge in enumerate(edges):
        if edge.source in reached[edge.target]:
            part = frozenset(p for p in reached[edge.source] if edge.source in reached[p])
            parts.setdefault(part, set()).add(position)
    return {frozenset(part) for part in parts.values()}


def is_split_right(edges: list[Edge]) -> bool:
    """Whether `split` finds these parts, with each edge in one of them, once."""
    position = {id(edge): number for number, edge in enumerate(edges)}
    parts = [[position[id(edge)] for edge in part] for part in split(edges)]
    found = {frozenset(part) for part in parts}
    return found == split_plainly(edges) and sum(map(len, parts)) == sum(map(len, found))
