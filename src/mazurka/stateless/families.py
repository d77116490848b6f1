"""Strategies that run schedules to their end, and differ in the reduction alone."""

from __future__ import annotations

from mazurka.ir.program import Program
from mazurka.search import Observer, SearchOptions, SearchResult, Strategy


def schedule_strategy(name: str, summary: str) -> Strategy:
    """A strategy that searches with the reduction of its name (`iterative.REDUCTIONS`)."""

    def run(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
        from mazurka.stateless.answering import answer

        return answer(program, options, observer, name)

    return Strategy(
        name=name,
        summary=summary,
        preserves=frozenset({"assert", "deadlock"}),
        orders=("dfs",),
        run=run,
        over_schedules=True,
    )
