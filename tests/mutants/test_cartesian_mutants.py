"""Deliberately broken cartesian searches: verdicts or counts must tell each from ours.

A mutant that is unsound loses the violation of one model.  A wasteful one gives the right verdict
and explores too much, so it is told by a count.  Most break the search as written
(`stateful.reference.cartesian`), some the kernel, which takes long to compile.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

import pytest

from mazurka.analysis.channels import find_channels
from mazurka.compiled.cache import Kernel
from mazurka.frontend.python.elaboration import elaborate
from mazurka.ir.interpreter import State, Step
from mazurka.ir.native.step import native
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import Program
from mazurka.search import SearchOptions, SearchResult, Silent
from mazurka.stateful.reference import cartesian
from mazurka.stateful.reference.cartesian import (
    Cartesian,
    Prefix,
    StuckEnd,
    Transition,
    explore_cartesian,
)
from mazurka.stateful.reference.full import explore, is_dead_end
from mazurka.stateful.searches import kernel_search
from mazurka.stateful.searches.cartesian import Vectors
from mazurka.stateful.searches.cartesian_workers import search_cartesian
from tests.mutants.mutant_kernels import KernelMutant, compile_mutants

OPTIONS = SearchOptions(properties=frozenset({"assert", "deadlock"}), stop_at_first=False)

MODELS = {
    # The first thread waits for what the second one does.
    "waits": """
        go = Event()
        def one():
            go.wait()
            assert False
        def other():
            go.set()
        threads = [one(), other()]
    """,
    # The second thread reads x between the two steps of the first.
    "for a moment": """
        x: Int[0, 2] = 0
        own = Array(Bool, 2)
        def one():
            global x
            own[0] = True
            x = 1
            x = 2
        def other():
            own[1] = True
            seen: Int[0, 2] = x
            assert seen != 1
        threads = [one(), other()]
    """,
    # The second thread reads x when the first has gone on.
    "some time ago": """
        x: Int[0, 1] = 0
        own = Array(Bool, 2)
        def one():
            global x
            x = 1
            own[0] = True
        def other():
            own[1] = True
            own[1] = False
            seen: Int[0, 1] = x
            assert seen != 1
        threads = [one(), other()]
    """,
    # The first thread comes back to its place, yet not to its state.
    "counts up": """
        x: Int[0, 3] = 0
        def one():
            global x
            while True:
                with atomic():
                    x = (x + 1) % 4
        def other():
            seen: Int[0, 3] = x
            assert seen != 2
        threads = [one(), other()]
    """,
    # Each thread takes a step of its own, and then waits for ever.
    "wait apart": """
        never = Event()
        own = Array(Bool, 2)
        def one(me):
            own[me] = True
            never.wait()
        threads = [one(0), one(1)]
    """,
    # The second of two choices, made after another step, is the wrong one.
    "chooses later": """
        own: Bool = False
        def one():
            global own
            own = True
            wrong: Bool = choose(False, True)
            assert not wrong
        def other():
            yield_()
        threads = [one(), other()]
    """,
    # The receiver, who waits at first, looks at x between the sender's put and its next step.
    "put and gone on": """
        q = Queue(2, Int[0, 1])
        x: Int[0, 1] = 0
        def one():
            global x
            q.put(1)
            x = 1
        def other():
            got = q.get()
            assert x == 1
        threads = [one(), other()]
    """,
    # Each thread takes a step, and then goes round for ever.
    "go round": """
        own = Array(Bool, 4)
        def one(me):
            own[me] = True
            while True:
                own[me + 2] = not own[me + 2]
        threads = [one(0), one(1)]
    """,
}

original_next_trans = Cartesian.next_trans
original_extend = Cartesian.extend


def program_of(model: str) -> Program:
    source = "from mazurka.model import *\n" + textwrap.dedent(MODELS[model])
    return prepare(elaborate(source, model), merge=False)


def finds(model: str) -> bool:
    """Whether the search as written finds what can happen."""
    program = program_of(model)
    kinds = explore(program, races=False).kinds
    assert kinds
    return not kinds.isdisjoint(explore_cartesian(program).kinds)


def search_natively(model: str) -> SearchResult:
    return search_cartesian(native(program_of(model)), OPTIONS, Silent(), Vectors())


def without_guard_reads(self: Cartesian, state: State, thread: int) -> list[Transition]:
    """What a thread waits for is not among what its step touches."""
    return [
        (choice, step if step.happened else step._replace(footprint_reads=frozenset()))
        for choice, step in original_next_trans(self, state, thread)
    ]


def without_queues(self: Cartesian, state: State, thread: int) -> list[Transition]:
    """Puts and gets are independent, also where one of them waits for the other."""
    channels = find_channels(self.program)
    cells = {cell for channel in channels.channels.values() for cell in channel.cells}
    return [
        (
            choice,
            step._replace(
                footprint_reads=step.footprint_reads - cells,
                footprint_writes=step.footprint_writes - cells,
            ),
        )
        for choice, step in original_next_trans(self, state, thread)
    ]


def returns_to_its_place(self: Cartesian, prefix: Prefix, step: Step) -> bool:
    """A finite prefix is marked as infinite where the thread's own cells are as before."""
    own = self.own_cells[step.thread]
    return any(all(s[a] == step.state[a] for a in own) for s in prefix.states)


def only_first_states(prefixes: list[Prefix]) -> Iterator[StuckEnd]:
    """Threads that are stuck at the ends of their prefixes are not put together."""
    first_steps = [prefix.transitions[0][1] for prefix in prefixes]
    if not any(step.happened for step in first_steps):
        outcomes = frozenset(step.outcome for step in first_steps)
        yield StuckEnd(prefixes[0].states[0], outcomes)


def extends_by_one_choice(self: Cartesian, prefix: Prefix, vector: list[Prefix]) -> None:
    """A prefix does not stop before a step with several outcomes."""
    self.next_trans = lambda *place: original_next_trans(self, *place)[:1]  # type: ignore[method-assign]
    original_extend(self, prefix, vector)
    del self.next_trans


# name, object, attribute, replacement, model whose violation is lost
MUTANTS: list[tuple[str, Any, str, Any, str]] = [
    ("dependence without guard reads", Cartesian, "next_trans", without_guard_reads, "waits"),
    ("puts and gets never in conflict", Cartesian, "next_trans", without_queues,
     "put and gone on"),
    ("extension past a conflicting last transition", Prefix, "last_depends_on",
     lambda *a: False, "for a moment"),
    ("extension past a conflicting earlier transition", Prefix, "earlier_depends_on",
     lambda *a: False, "some time ago"),
    ("a finite prefix marked infinite", Cartesian, "returns", returns_to_its_place, "counts up"),
    ("stuck ends not combined", cartesian, "stuck_ends", only_first_states, "wait apart"),
    ("one choice where a prefix is extended", Cartesian, "extend", extends_by_one_choice,
     "chooses later"),
]  # fmt: skip

unsound = pytest.mark.parametrize(
    ("owner", "attribute", "replacement", "model"),
    [mutant[1:] for mutant in MUTANTS],
    ids=[mutant[0] for mutant in MUTANTS],
)


@unsound
def test_mutant_loses_a_violation(
    monkeypatch: pytest.MonkeyPatch, owner: Any, attribute: str, replacement: Any, model: str
) -> None:
    monkeypatch.setattr(owner, attribute, replacement)
    assert not finds(model)


@unsound
def test_without_the_mutant_nothing_is_lost(
    owner: Any, attribute: str, replacement: Any, model: str
) -> None:
    assert finds(model)
    assert search_natively(model).violation is not None


def test_mutant_pushes_infinite_prefixes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is to be explored in "go round" behind the vector of the initial state.  If the ends
    are, where a thread has taken its first step, then so is the state where both have."""
    assert len(explore_cartesian(program_of("go round")).covered) == 1
    assert search_natively("go round").statistics.states == 1
    always = property(lambda self: not is_dead_end(self.last_tran))
    monkeypatch.setattr(Prefix, "goes_on", always)
    assert len(explore_cartesian(program_of("go round")).covered) == 4


# --- the kernel -------------------------------------------------------------------------------


# name, part of the kernel, its text, what takes its place, model, whether it is found, states
KERNEL_MUTANTS = [
    ("extension past a conflict in the kernel", "vectors",
     "stop_both(vector, prefix, threads, block[blocks.PREFIX_COUNT])", "pass",
     "for a moment", False, 1),
    ("infinite prefix pushed in the kernel", "cartesian",
     "flags & (INFINITE | DEAD_END) == 0", "flags & DEAD_END == 0",
     "go round", False, 4),
]  # fmt: skip


@pytest.fixture(scope="module")
def compiled(
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[KernelMutant, Kernel]:
    mutants = [KernelMutant("cartesian", *mutant[1:4]) for mutant in KERNEL_MUTANTS]
    return compile_mutants(tmp_path_factory.mktemp("kernels"), mutants)


@pytest.mark.parametrize(
    ("part", "text", "replacement", "model", "found", "states"),
    [mutant[1:] for mutant in KERNEL_MUTANTS],
    ids=[mutant[0] for mutant in KERNEL_MUTANTS],
)
def test_kernel_mutant_is_told_apart(
    compiled: dict[KernelMutant, Kernel],
    monkeypatch: pytest.MonkeyPatch,
    part: str,
    text: str,
    replacement: str,
    model: str,
    found: bool,
    states: int,
) -> None:
    right = search_natively(model)
    run = compiled[KernelMutant("cartesian", part, text, replacement)]
    monkeypatch.setattr(kernel_search, "early_kernel", lambda name, observer: run)
    broken = search_natively(model)
    assert (broken.violation is not None) == found
    assert broken.statistics.states == states
    assert (right.violation is not None, right.statistics.states) != (found, states)
