"""Search a program whose choices have too many outcomes to try them all: try some.

`mazurka.ir.passes.samples` chooses which, and proves when these are enough.  Where they are not,
the search meets the fault `bound` as soon as it comes to such a choice, and is inconclusive unless
it finds a violation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from mazurka.search.options import SearchOptions
from mazurka.search.result import Move, SearchResult, Violation
from mazurka.search.strategy import Observer, Search

if TYPE_CHECKING:
    from mazurka.ir.passes.samples import SampledProgram
    from mazurka.ir.program import Program


HANG = frozenset({"hang"})
NO_HANGS = "hangs were not looked for: a choice has too many outcomes to try them all"


def describe_samples(sampled: SampledProgram) -> Iterator[str]:
    """Say which outcomes stand for all others."""
    for number, sample in sampled.samples.items():
        edge = sampled.origin.edges[number]
        if sample.exact:
            yield (
                f"{len(sample.numbers)} of the {edge.choices:,} outcomes at {edge.span} stand for"
                " all of them: the others make no difference"
            )


def with_samples(search: Search) -> Search:
    """Return a search that tries some outcomes of choices that have too many."""

    def search_samples(
        program: Program, options: SearchOptions, observer: Observer
    ) -> SearchResult:
        from mazurka.ir.passes.samples import take_samples

        sampled = take_samples(program)
        if sampled is None:
            return search(program, options, observer)
        asked = replace(options, properties=options.properties - HANG)
        result = search(sampled.program, asked, observer)
        told = dict.fromkeys(
            describe_samples(sampled)
        )  # threads that run the same code say the same
        result = replace(result, notes=(*result.notes, *told))
        if result.violation is not None:
            return replace(result, violation=translate(sampled, result.violation))
        if options.properties & HANG:
            result = replace(result, limits=(*result.limits, NO_HANGS))
        return result

    return search_samples


def translate(sampled: SampledProgram, violation: Violation) -> Violation:
    """Tell a violation of a sampled program by the choices of the program itself."""
    from mazurka.ir.passes.samples import Translation

    translation = Translation(sampled)
    path = tuple(
        Move(move.thread, translation.follow(move.thread, move.choice)) for move in violation.path
    )
    racing = violation.racing
    if racing is not None:
        first, second = (
            Move(move.thread, translation.choice(move.thread, move.choice)) for move in racing
        )
        racing = first, second
    return replace(violation, path=path, racing=racing)
