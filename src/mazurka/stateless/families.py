"""Strategies that run schedules to their end, and differ in the reduction alone."""

from __future__ import annotations

from mazurka.cluster.option import CLUSTER
from mazurka.errors import OptionError
from mazurka.ir.program import Program
from mazurka.search import Observer, SearchOptions, SearchResult, Strategy


def schedule_strategy(name: str, summary: str, *, undivided: str = "") -> Strategy:
    """A strategy that searches with the reduction of its name (`iterative.REDUCTIONS`).

    `undivided`: why several workers cannot share the search (`stateless.branches`), if they cannot.

    A race is a failure in a program with marks (`mazurka.ir.passes.race_marks.program`), which ends
    if the program does.
    """

    def run(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
        from mazurka.stateless.answering import answer

        if "race" not in options.properties:
            return answer(program, options, observer, name)
        from mazurka.marked_search import search_with_marks

        return search_with_marks(
            program, options, lambda marked, asked: answer(marked, asked, observer, name)
        )

    def refuse(options: SearchOptions) -> None:
        if undivided and options.value(CLUSTER):
            raise OptionError(
                f"--cluster is not for {name}, {undivided}; --strategy source-dpor runs as many"
                " executions"
            )

    return Strategy(
        name=name,
        summary=summary,
        preserves=frozenset({"assert", "deadlock", "race"}),
        orders=("dfs",),
        run=run,
        over_schedules=True,
        options=(CLUSTER,),
        refuse=refuse,
    )
