"""Every interleaving, unreduced: what all reductions are measured against.

Visits each reachable state once, depth-first or breadth-first.  It delays no thread, so there is
no ignoring problem, and it keeps every property Mazurka knows.
"""

from __future__ import annotations

from dataclasses import replace

from mazurka.ir.program import Program
from mazurka.search import CUT_SHORT, Observer, SearchOptions, SearchResult, Strategy


def run(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
    from mazurka.ir.native.step import native
    from mazurka.stateful.breadth_first import BreadthFirst
    from mazurka.stateful.depth_first import DepthFirst

    kind = BreadthFirst if options.order == "bfs" else DepthFirst
    result = kind(native(program), options, observer).run()
    if not options.self_check or CUT_SHORT.intersection(result.limits):
        return result
    from mazurka.stateful.self_check import check_full

    return replace(result, notes=(*result.notes, check_full(program, options, result)))


STRATEGY = Strategy(
    name="full",
    summary="every interleaving, unreduced",
    preserves=frozenset({"assert", "deadlock", "race"}),
    orders=("dfs", "bfs"),
    run=run,
    reduces=False,
)
