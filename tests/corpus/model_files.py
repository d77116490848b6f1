"""Model files that state their own expected verdict, and what it takes to hold them to it.

The comment block at the top of a model is read line by line:

    # expect: holds | inconclusive | violated KIND ["part of the message"]
    # check: options of `mazurka check`, where the defaults will not do
    # states: how many states there are, derived in the docstring
"""

from __future__ import annotations

import argparse
import shlex
import zlib
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path

from mazurka import check
from mazurka.checking import check_program
from mazurka.frontend.python import load_model
from mazurka.ir.passes.prepare import choose_steps, simplify
from mazurka.ir.program import Program
from mazurka.report.verdict import Verdict
from mazurka.search import (
    Observer,
    SearchOptions,
    SearchResult,
    Silent,
    Strategy,
    registry,
)
from mazurka.search.registry import strategy_names
from mazurka.search.request import USUAL, CheckOptions
from mazurka.stateful.quotient import code_for
from mazurka.stateful.reference.full import StateSpace, explore
from mazurka.stateless.explored import TRANSITIONS
from tests.soundness.amounts import SHARES
from tests.soundness.schedules import ends

load_strategy = lru_cache(registry.load_strategy)
"""What stands in a strategy's file is looked at once."""
REDUCTIONS = tuple(
    name
    for name in [*strategy_names("stateful"), *strategy_names("stateless")]
    if name != "full" and load_strategy(name).sound
)
MOST_STEPS = 5_000
"""What a search over schedules may take, about half a second: some models have millions of them."""
FEW_STEPS = 1_000
"""What is left for a search that has about as many schedules as one that had too many."""
REFERENCE_LIMIT = 20_000
"""State spaces beyond this are left to the native search alone."""

OPTIONAL_KINDS = frozenset({"assert", "deadlock", "hang", "race"})
"""Violations that are reported only where `--property` asks for them."""


@dataclass(frozen=True)
class Expectation:
    """What the head of a model file says."""

    path: Path
    verdict: str
    kind: str | None = None
    message: str = ""
    arguments: tuple[str, ...] = ()
    states: int | None = None
    properties: tuple[str, ...] = USUAL
    definitions: dict[str, str] = field(default_factory=dict)
    max_threads: int = 8
    max_depth: int = 8

    def verdict_of(
        self,
        *,
        order: str = "dfs",
        merge: bool = True,
        all_: bool = False,
        strategy: str = "full",
        movers: str = "inferred",
        properties: tuple[str, ...] | None = None,
        symmetry: bool = True,
    ) -> Verdict:
        return check(
            self.path,
            symmetry=symmetry,
            order=order,
            merge=merge,
            explore_all=all_,
            strategy=strategy,
            movers=movers,
            properties=properties or self.properties,
            definitions=self.definitions,
            max_threads=self.max_threads,
            max_depth=self.max_depth,
        )

    def verdict_on(
        self,
        program: Program,
        strategy: Strategy,
        *,
        order: str = "dfs",
        all_: bool = False,
        movers: str = "inferred",
        limit_transitions: int | None = None,
        symmetry: bool = True,
    ) -> Verdict:
        """The verdict on the model's program, which is made once for many strategies."""
        options = CheckOptions(
            strategy=strategy.name,
            order=order,
            explore_all=all_,
            tuning={"movers": movers},
            properties=self.properties,
            symmetry=symmetry,
        )
        strategy = limited(strategy, limit_transitions)
        return check_program(str(self.path), program, strategy, options, Silent())

    def program(self, *, merge: bool = True) -> Program:
        return self._prepared(merge=merge).program

    def reference(self, *, merge: bool = True) -> StateSpace:
        return self._prepared(merge=merge).reference

    def surely_ends(self, *, merge: bool) -> bool:
        """Whether the reference interpreter has seen that all executions end."""
        return self._prepared(merge=merge).surely_ends

    def _prepared(self, *, merge: bool) -> Prepared:
        definitions = tuple(sorted(self.definitions.items()))
        return _prepared(self.path, definitions, self.max_threads, self.max_depth, merge)

    def asked_of(self, strategy: Strategy) -> Expectation:
        """What to expect of a strategy that is asked only for what it preserves.

        A model has violations of one kind, so what is left of a race nobody looks for is a model
        in which everything holds."""
        properties = tuple(name for name in self.properties if name in strategy.preserves)
        if self.kind in OPTIONAL_KINDS - strategy.preserves:
            return replace(self, properties=properties, verdict="holds", kind=None, message="")
        return replace(self, properties=properties)

    def kinds_in(self, found: StateSpace) -> set[str]:
        """The violations of an exploration that these options ask for."""
        return found.kinds - (OPTIONAL_KINDS - set(self.properties))

    @property
    def kinds(self) -> set[str]:
        """The violations there must be, all of them."""
        if self.verdict == "inconclusive":
            return {"bound"}
        return {self.kind} if self.kind else set()


@dataclass(frozen=True)
class Prepared:
    """A model's program, with its native code once that is compiled, and all its states."""

    program: Program

    @cached_property
    def reference(self) -> StateSpace:
        return explore(self.program, races=True, hangs=True, limit=REFERENCE_LIMIT)

    @cached_property
    def surely_ends(self) -> bool:
        return self.reference.complete and ends(self.program, self.reference)


@lru_cache(maxsize=4)
def _prepared(
    path: Path,
    definitions: tuple[tuple[str, str], ...],
    max_threads: int,
    max_depth: int,
    merge: bool,
) -> Prepared:
    """What the tests of one model share: they follow each other."""
    simplified = _simplified(path, definitions, max_threads, max_depth)
    return Prepared(choose_steps(simplified, merge=merge))


@lru_cache(maxsize=2)
def _simplified(
    path: Path, definitions: tuple[tuple[str, str], ...], max_threads: int, max_depth: int
) -> Program:
    """What preparing a model with merging and without have in common."""
    return simplify(
        load_model(path, dict(definitions), max_threads=max_threads, max_depth=max_depth)
    )


def limited(strategy: Strategy, transitions: int | None) -> Strategy:
    """The strategy, which stops after so many steps."""

    def run(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
        return strategy.run(program, replace(options, limit_transitions=transitions), observer)

    return replace(strategy, run=run)


def read_expectation(path: Path) -> Expectation:
    """Parse the comment block at the top; a file without an expectation is an error."""
    lines: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("# "):
            break
        key, _, value = line[2:].partition(":")
        lines[key] = value.strip()
    unknown = lines.keys() - {"expect", "check", "states"}
    assert not unknown, f"{path.name}: what does `{unknown.pop()}` mean?"
    words = shlex.split(lines["expect"])
    verdict, kind, message = (*words, "", "")[:3]
    assert verdict in ("holds", "violated", "inconclusive"), f"{path.name}: {verdict}?"
    assert bool(kind) == (verdict == "violated"), f"{path.name}: name the kind of violation"
    arguments = shlex.split(lines.get("check", ""))
    options = _options(arguments)
    return Expectation(
        path=path,
        verdict=verdict,
        kind=kind or None,
        message=message,
        arguments=tuple(arguments),
        states=int(lines["states"]) if "states" in lines else None,
        properties=tuple(options.property.split(",")),
        definitions=dict(definition.split("=") for definition in options.define),
        max_threads=options.max_threads,
        max_depth=options.max_depth,
    )


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(exit_on_error=False)
    parser.add_argument("--property", default=",".join(USUAL))
    parser.add_argument("-D", dest="define", action="append", default=[])
    parser.add_argument("--max-threads", type=int, default=8)
    parser.add_argument("--max-depth", type=int, default=8)
    return parser.parse_args(arguments)


def require_verdict(expected: Expectation, verdict: Verdict) -> None:
    """The verdict is the one stated, with the kind and the message stated."""
    assert verdict.verdict == expected.verdict, verdict.scope
    if expected.kind is None:
        assert verdict.violation is None
        return
    assert verdict.violation is not None
    assert verdict.violation.kind == expected.kind
    assert expected.message in verdict.violation.message
    assert verdict.trace is not None


def require_verdict_in_order(expected: Expectation, order: str) -> None:
    """Depth first the verdict on the file, as users have it, is the one stated; in another order
    the verdict on its program, which is there already."""
    if order == "dfs":
        require_verdict(expected, expected.verdict_of(order=order))
    else:
        full = load_strategy("full")
        require_verdict(expected, expected.verdict_on(expected.program(), full, order=order))


def require_verdict_without_merging(expected: Expectation) -> None:
    program = expected.program(merge=False)
    require_verdict(expected, expected.verdict_on(program, load_strategy("full")))


def require_verdict_of_movers(expected: Expectation, movers: str) -> None:
    """The verdict is the one stated, wherever movers are taken from."""
    program, strategy = expected.program(), load_strategy("cpc")
    require_verdict(expected, expected.verdict_on(program, strategy, movers=movers))


def require_reduced_verdicts(expected: Expectation) -> None:
    """The verdict of every reduction is the one stated, with merging, and of half of them without.

    Which half differs from model to model; `benchmarks/random_tests.py` asks all of them.
    All reductions over schedules have about as many of them to go through, so where one of them has
    too many the others would, too; and without merging, which leaves no fewer schedules, and longer
    ones."""
    steps = MOST_STEPS
    first = zlib.crc32(expected.path.name.encode()) % 2
    unmerged = REDUCTIONS[first::2] if SHARES == 1 else REDUCTIONS
    for merge, names in ((True, REDUCTIONS), (False, unmerged)):
        for name in names:
            limits = require_reduced_verdict(expected, name, merge=merge, steps=steps)
            steps = FEW_STEPS if TRANSITIONS in limits else steps


def require_reduced_verdict(
    expected: Expectation, name: str, *, merge: bool, steps: int = MOST_STEPS
) -> tuple[str, ...]:
    """The verdict of a reduction is the one stated, as far as it preserves what is asked.

    A search over schedules may have too many, and has no answer where some execution never ends;
    it says so only if that is true.  Returns what has kept it from an answer."""
    strategy = load_strategy(name)
    asked, program = expected.asked_of(strategy), expected.program(merge=merge)
    if not strategy.over_schedules:
        require_verdict(asked, asked.verdict_on(program, strategy))
        return ()
    verdict = asked.verdict_on(program, strategy, limit_transitions=steps)
    if verdict.verdict != "inconclusive":
        require_verdict(asked, verdict)
    elif TRANSITIONS not in verdict.limits and asked.verdict != "inconclusive":
        assert all("never ends" in limit for limit in verdict.limits)
        assert not expected.surely_ends(merge=merge)
    return verdict.limits


def require_agreement(expected: Expectation) -> None:
    """The reference interpreter finds the same violations, with and without merging, and no others;
    with merging, the native search has counted as many states and transitions, and with symmetry as
    many states as there are up to renaming."""
    found = expected.reference()
    if not found.complete:
        return
    assert expected.kinds_in(found) == expected.kinds
    program, full = expected.program(), load_strategy("full")
    for order in ("dfs", "bfs"):
        apart = expected.verdict_on(program, full, order=order, all_=True, symmetry=False)
        assert apart.statistics is not None
        assert apart.statistics.states == len(found.states)
        assert apart.statistics.transitions == found.transitions
        code = code_for(program, SearchOptions(symmetry=True, order=order))
        if code.symmetry is not None:
            whole = found if code.program is program else explore(code.program, hangs=True)
            assert expected.kinds_in(whole) == expected.kinds
            together = expected.verdict_on(program, full, order=order, all_=True)
            assert together.statistics is not None
            assert together.statistics.states == len(
                set(map(code.symmetry.canonical, whole.states))
            )
    unmerged = expected.reference(merge=False)
    if unmerged.complete:
        assert expected.kinds_in(unmerged) == expected.kinds
