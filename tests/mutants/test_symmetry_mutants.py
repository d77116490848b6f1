"""Deliberately broken symmetry: the comparisons with all renamings must tell each from ours.

Broken canonical forms are caught by the comparisons of `tests/soundness/renaming.py`, over a
fixed series of random programs.  A broken analysis changes the verdict of one model.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

import pytest

from mazurka.analysis import interchangeable
from mazurka.analysis.interchangeable import Flows
from mazurka.errors import InternalError
from mazurka.frontend.python.elaboration import elaborate
from mazurka.ir.native import canonical
from mazurka.ir.native.step import NativeProgram
from mazurka.ir.passes import gather as gathering
from mazurka.ir.passes.prepare import prepare
from mazurka.ir.program import Program, Thread
from mazurka.ir.symmetry import ThreadClass
from mazurka.search import Move, SearchOptions, Silent
from mazurka.search.registry import load_strategy
from mazurka.stateful import quotient
from mazurka.stateful.reference.full import explore
from tests.soundness.renaming import (
    Subject,
    draw_keeping,
    draw_subject,
    require_automorphisms,
    require_one_of_each,
)
from tests.soundness.replaying import replays

PROGRAMS = 60

Text = canonical._ClassText
Image = interchangeable._Image
Search = interchangeable._Search


def is_caught(require: Callable[[Subject], None]) -> bool:
    """Whether something that must be true is not, for one of some random programs."""
    for seed in range(PROGRAMS):
        subject = draw_subject(Random(seed), faults=seed % 2 == 0)
        try:
            if subject is not None:
                require(subject)
        except (AssertionError, InternalError):
            return True
    return False


def require_searches(subject: Subject) -> None:
    require_one_of_each(subject, "dfs")


# --- the canonical form in native code ------------------------------------------------------------

original_parts = Text.collect_parts


def all_but_the_last(self: Any) -> Iterator[Any]:
    """A local cell is left out of the key, and stays where it is."""
    yield from list(original_parts(self))[:-1]


def write_no_holder(self: Any, field: Any, slot: Any, keys: Any) -> None:
    """The owner of a lock is not renamed."""


def compare_first_words(self: Any, one: Sequence[str], other: Sequence[str]) -> str:
    """Some threads that are out of order are taken to be in order."""
    less: str = self.value(f"icmp ult i64 {one[0]}, {other[0]}")
    odd = self.value(f"trunc i64 {one[0]} to i1")
    return str(self.value(f"and i1 {less}, {odd}"))


def no_holder_in_the_key(slot: Any, member: int) -> int | None:
    """Holders are not looked at at all."""
    return None


NATIVE: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "a key without a local cell": (Text, "collect_parts", all_but_the_last),
    "owners not renamed": (Text, "write_holder", write_no_holder),
    "threads left out of order": (Text, "is_less", compare_first_words),
    "owners not in the key": (canonical, "_code", no_holder_in_the_key),
}


@pytest.mark.parametrize("name", NATIVE)
def test_native_mutants_are_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, attribute, mutant = NATIVE[name]
    monkeypatch.setattr(owner, attribute, mutant)
    assert is_caught(require_searches)


# --- which threads are interchangeable ------------------------------------------------------------


def first_member_only(self: Any, thread: Thread, twin: Thread) -> bool:
    """Only texts of threads that change places are compared."""
    return thread is twin or bool(original_is_image(self, thread, twin))


original_is_image = Image.is_image
original_flows = Flows.__init__


def nothing_computed(self: Flows, footprints: Any) -> None:
    """Numbers of threads may be computed with."""
    original_flows(self, footprints)
    self.computed = set()


def no_kept_cells(program: Program) -> set[int]:
    """A thread may keep the number of another one."""
    return set()


def anything_goes(self: Any, *arguments: Any) -> bool:
    """Threads of the same shape are interchangeable, whatever they compare."""
    return True


JUDGED = """
    last: Int[0, 2] = 0
    count: Int[0, 2] = 0
    def worker(me):
        global last, count
        with atomic():
            last = me
            count += 1
    def judge():
        with atomic():
            assert count != 1 or last != 2
    threads = [worker(1), worker(2), judge()]
"""
ADDED = """
    last: Int[0, 2] = 0
    count: Int[0, 2] = 0
    def worker(me):
        global last, count
        with atomic():
            last = me
            count += 1
        with atomic():
            assert count != 1 or last + 1 != 3
    threads = [worker(1), worker(2)]
"""
KEPT = """
    last: Int[0, 2] = 0
    def worker(me):
        global last
        seen = last
        last = me
        yield_()
        assert seen != me
    threads = [worker(1), worker(2)]
"""

ANALYSIS: dict[str, tuple[Any, str, Callable[..., Any], str]] = {
    "threads that know others not looked at": (Image, "is_image", first_member_only, JUDGED),
    "numbers that are computed with": (Flows, "__init__", nothing_computed, ADDED),
    "numbers kept from step to step": (interchangeable, "find_kept_cells", no_kept_cells, KEPT),
    "identity compared": (Search, "is_automorphism", anything_goes, JUDGED),
}


def verdict_of(source: str) -> str:
    text = "from mazurka.model import *\n" + textwrap.dedent(source)
    program = prepare(elaborate(text, "model.py"))
    try:
        result = load_strategy("full").run(program, SearchOptions(symmetry=True), Silent())
    except InternalError:
        return "internal error"
    if result.violation is None:
        return "holds"
    return "violated" if replays(program, result.violation) else "not confirmed"


@pytest.mark.parametrize("name", ANALYSIS)
def test_mutants_of_the_analysis_change_a_verdict(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, attribute, mutant, model = ANALYSIS[name]
    assert verdict_of(model) == ("holds" if model is KEPT else "violated")
    monkeypatch.setattr(owner, attribute, mutant)
    assert verdict_of(model) != ("holds" if model is KEPT else "violated")


# --- chains of starts and joins ----------------------------------------------------------------

LOOKING = """
    import threading
    never = threading.Event()
    def quiet():
        never.wait()
    def nosy():
        assert second.is_alive()
    second = threading.Thread(target=quiet)
    def main():
        first = threading.Thread(target=nosy)
        first.start()
        second.start()
    threads = [main()]
"""
PERHAPS = """
    import threading
    def worker():
        pass
    def main():
        first, second = threading.Thread(target=worker), threading.Thread(target=worker)
        if choose(False, True):
            first.start()
            second.start()
        first.join()
        second.join()
    threads = [main()]
"""

CHAINS: dict[str, tuple[Any, str, str]] = {
    "starts that others look at": (gathering._Starts, "is_private", LOOKING),
    "joins of threads that may not run": (gathering._Chains, "is_after", PERHAPS),
}


@pytest.mark.parametrize("name", CHAINS)
def test_mutants_of_gathering_are_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, attribute, model = CHAINS[name]
    text = "from mazurka.model import *\n" + textwrap.dedent(model)
    real = explore(prepare(elaborate(text, "model.py"))).kinds
    assert real - {"deadlock"}
    monkeypatch.setattr(owner, attribute, anything_goes)
    gathered = gathering.gather(prepare(elaborate(text, "model.py")))
    assert gathered is not None
    assert explore(gathered.program).kinds != real


# --- the canonical form of the interpreter --------------------------------------------------------


def without_holders(self: ThreadClass, state: tuple[int, ...]) -> list[tuple[int, ...]]:
    """A key does not say which holders name the thread."""
    return [
        tuple(state[column[position]] for column in self.columns)
        for position in range(len(self.members))
    ]


INTERPRETER = {"a key without holders": without_holders}


@pytest.mark.parametrize("name", INTERPRETER)
def test_mutants_of_the_interpreter_are_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ThreadClass, "keys", INTERPRETER[name])
    assert is_caught(require_automorphisms)


# --- paths of canonical states --------------------------------------------------------------------


class ReadsCanonicalForm(quotient._Follower):
    """Takes the numbers of the real state's canonical form, which may not be the path's state."""

    def __init__(self, code: NativeProgram) -> None:
        super().__init__(code)
        self.real = self.state

    def real_move(self, move: Move) -> Move:
        original = {new: old for old, new in self.symmetry.rename(self.real)[1].items()}
        return Move(original.get(move.thread, move.thread), move.choice)

    def follow(self, move: Move) -> bool:
        real = self.real_move(move)
        self.real = self.interpreter.step(self.real, real.thread, real.choice).state
        return super().follow(move)


@pytest.mark.parametrize("seed", [97, 117])
def test_paths_are_followed_where_classes_share_cells(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    subject = draw_keeping(Random(seed), faults=True)
    assert subject is not None
    require_searches(subject)
    monkeypatch.setattr(quotient, "_Follower", ReadsCanonicalForm)
    with pytest.raises((AssertionError, InternalError)):
        require_searches(subject)
