"""What threads see of the end of an object."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable

import pytest

import mazurka
from mazurka.runtime.python.library import weak_references
from mazurka.runtime.python.library.weak_references import Lifetime


class Box:
    """Something to which there are weak references."""


def together(*bodies: Callable[[], object]) -> None:
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def end_beside_a_call() -> None:
    boxes = [Box()]
    reference = weakref.ref(boxes[0])
    together(boxes.clear, reference)


def end_beside_a_lookup() -> None:
    table: weakref.WeakValueDictionary[str, Box] = weakref.WeakValueDictionary()

    def make() -> None:
        box = Box()
        table["k"] = box

    together(make, lambda: table.get("k"))


def end_under_a_lock() -> None:
    boxes = [Box()]
    reference = weakref.ref(boxes[0])
    lock = threading.Lock()

    def drop() -> None:
        with lock:
            boxes.clear()

    def look() -> None:
        with lock:
            reference()

    together(drop, look)


def end_after_all_calls() -> None:
    box = Box()
    reference = weakref.ref(box)
    known: weakref.WeakSet[Box] = weakref.WeakSet()
    known.add(box)

    def look() -> None:
        assert reference() is next(iter(known))

    together(look, look)
    del box
    assert reference() is None
    assert len(known) == 0


@pytest.mark.parametrize("program", [end_beside_a_call, end_beside_a_lookup])
def test_nothing_is_proved_of_an_end_beside_a_call(program: Callable[[], None]) -> None:
    result = mazurka.explore(program, preemptions=2)
    assert result.verdict == "inconclusive"
    assert "the end of an object of the type" in result.scope


@pytest.mark.parametrize("program", [end_under_a_lock, end_after_all_calls])
def test_ends_that_are_ordered_with_all_calls_are_no_obstacle(program: Callable[[], None]) -> None:
    assert mazurka.explore(program, preemptions=2).verdict == "holds"


def unnoted_end(self: Lifetime, _: object) -> None:
    """Nobody is told of the end."""


def unnoted_call(self: Lifetime) -> None:
    """Calls are not kept in mind."""


@pytest.mark.parametrize(
    ("name", "broken"), [("_note_end", unnoted_end), ("note_call", unnoted_call)]
)
def test_the_mutant_of_lives_is_caught(
    name: str, broken: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weak_references.Lifetime, name, broken)
    assert mazurka.explore(end_beside_a_call, preemptions=2).verdict == "holds"


class Bell:
    def ring(self) -> None: ...


def test_a_failure_that_depends_on_the_end_of_an_object_is_told() -> None:
    def program() -> None:
        boxes, found = [Box()], []
        reference = weakref.ref(boxes[0])
        together(boxes.clear, lambda: found.append(reference() is not None))
        assert found == [True]

    result = mazurka.explore(program, preemptions=1)
    assert result.verdict == "violated"
    assert result.story is not None


def test_calls_of_weak_methods_are_noted() -> None:
    def program() -> None:
        bells, found = [Bell()], []
        reference = weakref.WeakMethod(bells[0].ring)
        together(lambda: found.append(reference() is not None), bells.clear)
        assert found == [True]

    assert mazurka.explore(program, preemptions=1).verdict != "holds"
