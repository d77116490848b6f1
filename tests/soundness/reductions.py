"""Compares a strategy's verdicts with the interpreter's unreduced search.

*Holds* against *violated*, either way, is a disagreement; so is *holds* where the program passes a
bound, a violation that does not replay, one of a kind that cannot be reached, and a class of a cell
that some state contradicts.  A search that gives up although the program passes no bound is
inconclusive: not wrong, yet to be counted.

A strategy that runs schedules to their end claims nothing about a program with executions that have
none, and is not asked about large programs: it sees each state many times.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from random import Random

from mazurka.ir.program import Program
from mazurka.search import PROPERTIES, SearchOptions, SearchResult, Silent, Strategy
from mazurka.stateful.reference.full import StateSpace, explore
from mazurka.stateful.variants import MOVERS, PROVISO
from tests.limits import ENOUGH
from tests.soundness.classification import Use, uses_of_cells, wrong_class
from tests.soundness.disciplined_programs import WAITING_CHOICES, disciplined_program
from tests.soundness.polling import with_polling
from tests.soundness.queue_bounds import ENDLESS, kinds_beside_full_queues
from tests.soundness.queue_programs import queue_program
from tests.soundness.random_programs import random_program
from tests.soundness.replaying import replays
from tests.soundness.schedules import ends
from tests.soundness.sharpening import sharpen
from tests.soundness.stopping_programs import stopping_program
from tests.soundness.variants import prepared

STOPPING = 1_000_000
"""From this seed on programs are those of `stopping_programs`."""
CHOOSING = 2_000_000
"""From this seed on they are disciplined ones whose threads choose between waiting and going on."""
STATES = 3000
"""Programs with more states are left out: the interpreter is slow."""
SCHEDULED_STATES = 400
"""Programs with more states are not searched by schedules."""
USUAL_SETS = ((frozenset({"assert"}), False), (frozenset({"assert", "deadlock"}), True))
RARE_SETS = (
    (frozenset({"assert", "hang"}), True),
    (frozenset({"assert"}), True),
    (frozenset({"assert", "race"}), True),
    (frozenset(PROPERTIES), True),
)
PROPERTY_SETS = USUAL_SETS + RARE_SETS
"""Properties, and whether to stop at the first violation."""


STOPPED_NOTES = ("in ", "no execution runs")
"""How notes about states in which nobody moves begin."""
LOOPING_NOTE = "threads go round for ever"
"""How the note about hangs that are none because of an assumption begins."""


class Agreement(enum.StrEnum):
    AGREES = "agrees"
    DISAGREES = "disagrees"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True)
class Comparison:
    """How one search of a program ended, held against what can happen in it."""

    strategy: str
    options: SearchOptions
    agreement: Agreement
    message: str = ""
    states: int = 0

    def __str__(self) -> str:
        asked = ",".join(sorted(self.options.properties))
        rest = "" if self.options.stop_at_first else ", all states"
        proviso = self.options.value(PROVISO)
        rest += "" if proviso == PROVISO.default else f", {proviso}"
        movers = self.options.value(MOVERS)
        return f"{self.strategy} ({asked}; {movers}{rest}): {self.agreement}: {self.message}"


@dataclass(frozen=True)
class Subject:
    """A random program, by number: which generator, which passes."""

    seed: int

    @property
    def generator(self) -> str:
        if self.seed >= CHOOSING:
            return "choosing"
        if self.seed >= STOPPING:
            return "stopping"
        return "queues" if self.seed % 10 == 9 else ("disciplined", "random")[self.seed % 2]

    @property
    def variant(self) -> str:
        return ("raw", "prepared")[self.seed // 2 % 2]

    @property
    def polls(self) -> bool:
        """Whether threads also wait actively for each other."""
        return self.seed // 32 % 2 == 1

    def program(self) -> Program:
        """The program, in an object of its own: analyses and native code are kept in it."""
        return replace(self._made())

    @lru_cache(maxsize=512)  # noqa: B019 - many tests are about the same few subjects
    def _made(self) -> Program:
        rng = Random(self.seed)
        if self.generator == "stopping":
            program = stopping_program(rng)
        elif self.generator == "choosing":
            program = disciplined_program(rng, WAITING_CHOICES)
        elif self.generator == "disciplined":
            program = disciplined_program(rng)
        elif self.generator == "queues":
            program = sharpen(queue_program(rng), rng, STATES)
        elif self.seed // 4 % 2:
            program = random_program(rng)
        else:
            program = sharpen(random_program(rng, faults=False), rng, STATES)
        if self.polls:
            program = with_polling(program, rng)
        return prepared(program) if self.variant == "prepared" else program

    def __str__(self) -> str:
        polling = ", polling" if self.polls else ""
        return f"seed {self.seed} ({self.generator}, {self.variant}{polling})"


@dataclass(frozen=True)
class Oracle:
    """All that can happen in a program."""

    program: Program
    whole: StateSpace

    @cached_property
    def uses(self) -> dict[int, set[Use]]:
        return uses_of_cells(self.program, self.whole.states)

    @cached_property
    def ends(self) -> bool:
        """Whether every execution of the program has an end."""
        return ends(self.program, self.whole)

    def kinds_for(self, strategy: Strategy) -> set[str]:
        """What a strategy must not overlook; `bound` is among it."""
        if strategy.name in ENDLESS:
            return kinds_beside_full_queues(self.program, self.whole)
        return self.whole.kinds

    def reachable(self, properties: frozenset[str]) -> set[str]:
        """The kinds of violation that a search for the given properties must see one of."""
        return self.whole.kinds - {"bound"} - ({"deadlock", "hang", "race"} - properties)


def consult(program: Program, limit: int = STATES) -> Oracle | None:
    """Explore the program; None if it has more states than that."""
    whole = explore(program, hangs=True, limit=limit)
    return Oracle(program, whole) if whole.complete else None


def searches(
    strategy: Strategy,
    movers: str = "inferred",
    turn: int | None = None,
    proviso: str = PROVISO.default,
) -> Iterator[SearchOptions]:
    """What a strategy is asked for: whatever it keeps, and for assertions also all states.

    With a `turn`, only one of the sets of properties that are worth less on their own.
    """
    asked = PROPERTY_SETS if turn is None else (*USUAL_SETS, RARE_SETS[turn % len(RARE_SETS)])
    for properties, stop_at_first in asked:
        if properties <= strategy.preserves:
            yield SearchOptions(
                properties=properties,
                tuning={"movers": movers, "proviso": proviso},
                limit_seconds=ENOUGH,
                stop_at_first=stop_at_first,
            )


def compare(oracle: Oracle, strategy: Strategy, options: SearchOptions) -> Comparison:
    """Run a search and judge its answer by all that can happen in the program."""
    try:
        result = strategy.run(oracle.program, options, Silent())
    except Exception as error:  # whatever it is, the strategy gave no verdict
        message = f"{type(error).__name__}: {error}"
        return Comparison(strategy.name, options, Agreement.DISAGREES, message)
    agreement, message = _judge(oracle, strategy, options, result)
    return Comparison(strategy.name, options, agreement, message, result.statistics.states)


def _judge(
    oracle: Oracle, strategy: Strategy, options: SearchOptions, result: SearchResult
) -> tuple[Agreement, str]:
    real, kinds = oracle.reachable(options.properties), oracle.kinds_for(strategy)
    violation = result.violation
    if violation is not None:
        if violation.kind not in real:
            return Agreement.DISAGREES, f"reports {violation.kind}, which cannot happen"
        if not replays(oracle.program, violation, options.properties):
            return Agreement.DISAGREES, f"reports {violation.kind} with a wrong schedule"
        return Agreement.AGREES, f"violated ({violation.kind})"
    if not strategy.sound:
        return Agreement.AGREES, "claims nothing"
    if result.limits:
        endless = strategy.over_schedules and "time" not in result.limits and not oracle.ends
        expected = endless or ("bound" in oracle.whole.kinds and not real)
        agreement = Agreement.AGREES if expected else Agreement.INCONCLUSIVE
        return agreement, f"gives up: {', '.join(result.limits)}"
    if real:
        return Agreement.DISAGREES, f"holds, although {', '.join(sorted(real))} can happen"
    if "bound" in kinds:
        return Agreement.DISAGREES, "holds, although a bound is passed"
    if strategy.over_schedules and not oracle.ends:
        return Agreement.DISAGREES, "holds, although some execution never ends"
    problem: object = wrong_notes(oracle, strategy, options, result)
    problem = problem or wrong_hang_note(oracle, options, result)
    problem = problem or (result.classification and wrong_class(oracle.uses, result.classification))
    return (Agreement.DISAGREES, str(problem)) if problem else (Agreement.AGREES, "holds")


def wrong_notes(
    oracle: Oracle, strategy: Strategy, options: SearchOptions, result: SearchResult
) -> str | None:
    """What a search says of states in which nobody moves, where it is not what the oracle has seen.

    A search for vectors counts some of the states only, one with a circuit knows one of each kind.
    """
    stops = oracle.whole.stops
    if "deadlock" not in options.properties or stops is None:
        return None
    expected = stops.notes(complete=True, properties=options.properties - {"hang"})
    told = [note for note in result.notes if note.startswith(STOPPED_NOTES)]
    if strategy.engine == "symbolic":
        counted = [note for note in (*expected, *told) if note.startswith("in ")]
        rest = [note for note in told if note not in counted]
        same = rest == [note for note in expected if note not in counted]
        known = bool(stops.excused) == any(note in counted for note in told)
        return None if same and known else f"says {told}, but {expected} is right"
    if strategy.name != "cartesian":
        return None if list(expected) == told else f"says {told}, which should be {expected}"
    return None if bool(stops.excused) == bool(told) else f"says {told}, but {expected} is right"


def wrong_hang_note(oracle: Oracle, options: SearchOptions, result: SearchResult) -> str | None:
    """Whether a search says wrongly, or does not say, that an assumption excuses a hang."""
    stops = oracle.whole.stops
    if "hang" not in options.properties or stops is None:
        return None
    told = any(note.startswith(LOOPING_NOTE) for note in result.notes)
    return None if told == stops.looping else f"says {result.notes} of threads that go round"


def compare_all(
    oracle: Oracle,
    strategy: Strategy,
    movers: str = "inferred",
    turn: int | None = None,
    proviso: str = PROVISO.default,
) -> list[Comparison]:
    """All searches; none by schedules of a program that is too large for them."""
    if strategy.over_schedules and len(oracle.whole.states) > SCHEDULED_STATES:
        return []
    asked = list(searches(strategy, movers, turn, proviso))
    if strategy.over_schedules:
        # Those that find nothing run the same schedules to the end.
        vain = [options for options in asked if not oracle.reachable(options.properties)]
        vain.sort(key=lambda options: len(options.properties))
        asked = [options for options in asked if options not in vain[:-1]]
    return [compare(oracle, strategy, options) for options in asked]


def disagreement(
    program: Program, strategy: Strategy, options: SearchOptions, limit: int = STATES
) -> str | None:
    """What is wrong with a search of a program; None also where the program is too large."""
    oracle = consult(program, limit)
    if oracle is None:
        return None
    comparison = compare(oracle, strategy, options)
    return comparison.message if comparison.agreement is Agreement.DISAGREES else None
