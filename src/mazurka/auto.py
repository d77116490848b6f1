"""`auto` of all engines: states are stored first; where they cannot be, a circuit replaces them.

Storing states is the fastest way to search most models (`mazurka.stateful.auto`).  It fails where
values are wide: a counter of 32 bits has more values than memory has room for, and a step with
100,000 outcomes more successors than a search takes.  To a circuit (`portfolio` of the symbolic
engine) such a number is 32 wires.  So `auto` turns to the circuit

- *at once*, where the search of states refuses the program: too many outcomes, too many threads;
- *beside it*, where the search of states has not ended in its trials, and some value is wide, or
  there are processors enough for both (`MANY_PROCESSORS`): both search, and the first that decides
  has the answer.  With `--deterministic` the circuit comes after `STEPS_BEFORE_TURNING`
  transitions, and for wide values only;
- *beside it, late*, where half of the time that was given is used up, the number of states grows as
  it has from the beginning (`StateGrowth`), and there is another processor: the first choice goes
  on undisturbed, so that nothing is lost which it would have found in time;
- *in its place*, where it has used up the memory.  Where no time was given, the circuit has as long
  as the search of states has taken, and a minute at least: nobody who has waited for the end of the
  memory should wait for ever.

**Soundness.**  The answer is always that of one strategy that has come to its own end, about the
whole program: nothing is put together from two searches that were cut short.  The search of states
has found no violation before `auto` turns, or it would have been the answer.  What the circuit does
not decide either is inconclusive: the counts are then those of the states, the limits those of both
searches, and a note says how far the circuit came.

Beside the circuit, executions are searched as partial orders of events (`events`): where threads
end and share little, that is smaller by far than copies of the whole state.  Whoever decides first
has the answer.

A refusal by a strategy that `auto` has chosen itself is no answer while another one may have one:
where the circuit refuses the program, states are searched, or what they have shown stands.

The circuit knows no hangs.  Where these were asked for by name, `auto` does not turn; where they
are only usual, the verdict says that they were not looked for.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from mazurka.errors import OptionError, UnsupportedError
from mazurka.ir.native.layout import make_layout
from mazurka.ir.passes.samples import MOST_OUTCOMES, take_samples
from mazurka.ir.program import Program
from mazurka.search import Chosen, Observer, Round, SearchOptions, SearchResult, Statistics
from mazurka.search.registry import load_strategy
from mazurka.search.resources import address_space_is_limited, processors
from mazurka.search.strategy import Strategy
from mazurka.stateful import auto as stored
from mazurka.stateful.race import Contender, Race

CIRCUIT = "portfolio"
EVENTS = "events"
WIDE_BITS = 16
"""A value that takes so many bits is wide."""
MANY_OUTCOMES = 1 << 10
"""So many successors by one step are many."""
STEPS_BEFORE_TURNING = 1 << 22
MANY_PROCESSORS = 3
"""With so many processors a circuit is searched beside states of any kind."""
TIME_SHARE = 0.5
"""After this part of the time the circuit may begin beside the states."""
WINDOW = 0.25
"""The last part of a search, in which its growth is measured."""
UNABATED = 0.5
"""A search that finds new states at this part of its usual rate, or more, is not about to end."""
LEAST_SECONDS = 1e-9
PASSING = frozenset({"transitions", "cancelled"})
"""Limits of the search of states that are not the user's."""
LEAST_LEFT = 0.2
"""With fewer seconds left, `auto` does not turn."""
LEAST_TURN = 60.0
"""How many seconds the circuit has at least behind the end of the memory."""
LEAST_BYTES = 150_000_000
"""What two solvers take before they begin: with less, `auto` does not turn."""


def search(program: Program, options: SearchOptions, observer: Observer) -> Chosen:
    """Search states, and turn to the circuit where that leads nowhere."""
    circuit = load_strategy(CIRCUIT)
    if not may_turn(circuit, options):
        return stored.search(program, options, observer)
    return TurningSearch(program, circuit, options, observer).run()


def may_turn(circuit: Strategy, options: SearchOptions) -> bool:
    """Whether the circuit could answer what is asked: not counts, and not hangs."""
    kept = options.properties - options.dispensable <= circuit.preserves
    whole = options.stop_at_first and not options.self_check
    room = options.limit_bytes is None or options.limit_bytes >= LEAST_BYTES
    return kept and whole and room and options.order in circuit.orders


class TurningSearch:
    """One search by `auto`."""

    def __init__(
        self, program: Program, circuit: Strategy, options: SearchOptions, observer: Observer
    ) -> None:
        self.program, self.circuit = program, circuit
        self.options, self.observer = options, observer
        self.began = time.perf_counter()
        self.missing = find_missing(circuit, options)
        """What to install before the circuit can be searched."""

    def run(self) -> Chosen:
        growth = StateGrowth(self.options, self.observer)
        wide = describe_wide_choice(self.program)
        refusal: UnsupportedError | None = None
        if wide is not None and self.missing is None:
            try:
                return self.search_circuit(f"states cannot be stored: {wide}")
            except UnsupportedError as error:
                refusal = error
                self.observer.message(f"{CIRCUIT} refuses: {error.message}")
        try:
            chosen = self.search_states(growth, beside=refusal is None)
        except UnsupportedError as error:
            if refusal is not None:
                raise refusal from error
            if self.missing is not None:
                raise UnsupportedError(f"{error.message}; {self.missing}") from None
            refused = f"states cannot be stored: {error.message.partition(';')[0]}"
            return self.search_circuit(refused)
        if refusal is not None:
            return chosen
        why = self.explain_turning(chosen.result)
        if wide is not None and chosen.result.violation is None:
            why = f"states cannot be stored: {wide}"
        if why is None:
            return chosen
        if self.missing is not None:
            notes = (*chosen.result.notes, self.missing)
            return replace(chosen, result=replace(chosen.result, notes=notes))
        if self.has_no_time():
            kept = [each for each in chosen.result.limits if each not in PASSING]
            limits = tuple(dict.fromkeys((*kept, "time")))
            return replace(chosen, result=replace(chosen.result, limits=limits))
        try:
            turned = self.search_circuit(why, after_memory="memory" in chosen.result.limits)
        except UnsupportedError as error:
            notes = (*chosen.result.notes, f"{CIRCUIT} refuses: {error.message}")
            if PASSING.isdisjoint(chosen.result.limits):
                return replace(chosen, result=replace(chosen.result, notes=notes))
            return self.search_states(growth, beside=False)
        result = turned.result
        if result.violation is not None or not result.limits:
            return replace(turned, result=put_before(result, chosen.result, why))
        return replace(chosen, result=join(chosen.result, result))

    def has_no_time(self) -> bool:
        """Whether the time is up: a circuit beside the states has had its part of it."""
        limit = self.options.limit_seconds
        return limit is not None and time.perf_counter() - self.began > limit - LEAST_LEFT

    def search_states(self, growth: StateGrowth, *, beside: bool = True) -> Chosen:
        """Search states; `beside` says whether a circuit may go on beside them, or from there."""
        options = self.options
        if self.missing is not None or not beside:
            return stored.search(self.program, options, self.observer)
        if options.deterministic and describe_width(self.program) is not None:
            short = replace(options, limit_transitions=STEPS_BEFORE_TURNING)
            return stored.search(self.program, short, self.observer)
        return stored.search(self.program, options, growth, partial(self.find_rivals, growth))

    def find_rivals(self, growth: StateGrowth) -> list[Contender]:
        """The circuit and the events, where values are wide, or where processors are left; else
        the circuit alone, when states have no end in sight."""
        why = describe_width(self.program)
        if why is None and processors() >= MANY_PROCESSORS:
            why = "states have not ended in their trials"
        if why is None:
            if self.options.limit_seconds is None or processors() == 1:
                return []
            late = "states grow without an end in sight"
            return [Contender(self.circuit, late, apart=True, begins=growth.is_endless)]
        self.observer.message(f"{CIRCUIT} and {EVENTS} beside it: {why}")
        return self.list_circuits(why)

    def list_circuits(self, why: str) -> list[Contender]:
        """Those that search without storing states, the circuit first."""
        circuit = Contender(self.circuit, why, apart=True)
        events = load_strategy(EVENTS)
        kept = self.options.properties - self.options.dispensable <= events.preserves
        if self.options.deterministic or not kept or address_space_is_limited():
            return [circuit]
        return [circuit, Contender(events, why, apart=True)]

    def explain_turning(self, result: SearchResult) -> str | None:
        """Why the circuit should go on from here; None where it should not."""
        if result.violation is not None:
            return None
        after = f"after {result.statistics.states:,} states"
        if "transitions" in result.limits:
            return f"{describe_width(self.program)}, and states have no end {after}"
        full = "memory" in result.limits and not self.options.deterministic
        return f"no memory for more states {after}" if full else None

    def search_circuit(self, why: str, *, after_memory: bool = False) -> Chosen:
        """Search the circuit in what is left of the time, and events beside it; where the memory
        has set an end to the search of states, and nobody has, in as much time as that took."""
        self.observer.message(f"{CIRCUIT}: {why}")
        options, spent = self.options, time.perf_counter() - self.began
        lost = options.dispensable - self.circuit.preserves
        options = replace(options, properties=options.properties - lost)
        if options.limit_seconds is not None:
            left = max(options.limit_seconds - spent, LEAST_SECONDS)
            options = replace(options, limit_seconds=left)
        elif after_memory:
            options = replace(options, limit_seconds=max(spent, LEAST_TURN))
        return Race(self.program, self.list_circuits(why), options, self.observer).run()


def put_before(result: SearchResult, before: SearchResult, why: str) -> SearchResult:
    """A result with an earlier search, and its rounds, in front."""
    earlier = (*before.rounds, Round(before.statistics, why))
    return replace(result, rounds=(*earlier, *result.rounds))


def join(before: SearchResult, circuit: SearchResult) -> SearchResult:
    """What is known if the circuit has not decided either."""
    figures = circuit.statistics
    far = f"{figures.unrolled or 0:,} {figures.unrolled_unit}s"
    ended = "; ".join(circuit.limits)
    note = f"{CIRCUIT} went on from there: no violation within {far}, then {ended}"
    kept = [each for each in before.limits if each not in PASSING]
    return replace(
        before,
        limits=tuple(dict.fromkeys((*kept, *circuit.limits))),
        notes=(*before.notes, *circuit.notes, note),
        rounds=(*before.rounds, Round(figures, f"{CIRCUIT} has not decided")),
    )


def find_missing(circuit: Strategy, options: SearchOptions) -> str | None:
    """What to install before a circuit can be searched; None where all is there."""
    try:
        if circuit.refuse is not None:
            circuit.refuse(options)
    except OptionError as error:
        return f"where states cannot be stored, a circuit may give an answer: {error.message}"
    return None


def describe_wide_choice(program: Program) -> str | None:
    """The choice with the most outcomes, where these can neither be listed nor be represented by a
    few of them; None where there is none."""
    sampled = take_samples(program)
    if sampled is None or sampled.is_exact:
        return None
    wide = [number for number, sample in sampled.samples.items() if not sample.exact]
    most = max(program.edges[number].choices for number in wide)
    if most <= MOST_OUTCOMES:
        return "an atomic section chooses in a loop"
    return f"one step has {most:,} nondeterministic outcomes"


def describe_width(program: Program) -> str | None:
    """What is wide in a program, for people; None where nothing is.

    Bits of the packed state count, not declared ranges: a variable of 32 bits that has only three
    values takes two."""
    sampled = take_samples(program)
    layout = make_layout(program if sampled is None else sampled.program)
    wide = [
        (slot.width, cell.name)
        for slot, cell in zip(layout.slots, program.cells, strict=True)
        if slot.width >= WIDE_BITS
    ]
    if wide:
        bits, name = max(wide, key=lambda each: each[0])
        return f"`{name}` takes {bits} bits"
    outcomes = max(max(bounds, default=1) for bounds in layout.choices)
    return f"one step has {outcomes:,} outcomes" if outcomes >= MANY_OUTCOMES else None


class StateGrowth:
    """An observer that tells from the counts of a search whether it is about to end.

    A search that has seen most states finds fewer and fewer new ones: what is behind most
    transitions has been visited.  One whose states grow as fast as ever has most of them before it.
    """

    def __init__(
        self,
        options: SearchOptions,
        observer: Observer,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.observer, self.clock = observer, clock
        self.began = clock()
        self.patience = TIME_SHARE * (options.limit_seconds or float("inf"))
        self.endless = False
        """Whether it was said that there is no end in sight."""
        self.samples: list[tuple[float, int]] = []
        """Seconds and states of the search that was heard of last."""

    def progress(self, statistics: Statistics) -> None:
        if self.samples and statistics.states < self.samples[-1][1]:
            self.samples.clear()  # another search
        self.samples.append((statistics.seconds, statistics.states))
        self.observer.progress(statistics)

    def message(self, text: str) -> None:
        self.observer.message(text)

    def notice(self, text: str) -> None:
        self.observer.notice(text)

    def is_endless(self) -> bool:
        """Whether enough time was spent, and the states grow as they have from the beginning."""
        if not self.endless and self.clock() - self.began >= self.patience:
            self.endless = self.rate() >= UNABATED
        return self.endless

    def rate(self) -> float:
        """How fast states were found in the last part of the search, compared with all of it."""
        if not self.samples or not self.samples[-1][0] or not self.samples[-1][1]:
            return 0.0
        seconds, states = self.samples[-1]
        start = seconds * (1 - WINDOW)
        place = bisect_right(self.samples, start, key=lambda sample: sample[0])
        before = self.samples[max(place - 1, 0)]
        if seconds <= before[0]:
            return 0.0
        recent = (states - before[1]) / (seconds - before[0])
        return recent * seconds / states
