"""Every primitive declares all its parts; what is forgotten fails here, or when it is imported."""

from __future__ import annotations

import contextlib
import inspect
import re
import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from queue import Queue
from typing import Any, ClassVar

import pytest

import mazurka
from mazurka.runtime.core.operations import Object, RealOperation, Waiting, make_operation
from mazurka.runtime.core.patches import Patches
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.primitives import primitive as records
from mazurka.runtime.primitives import registry
from mazurka.runtime.primitives.primitive import PatchedModel, Primitive

PAGE = Path(__file__).parents[4] / "docs" / "python-threads.md"
EXAMPLES: dict[type, Callable[[], Any]] = {
    threading.Timer: lambda: threading.Timer(1, print),
}
"""How to make an object, for classes that need arguments other than one number."""
FIXED: dict[type, set[str]] = {
    threading.Barrier: {"_action", "_parties", "_timeout"},
    threading.Condition: {
        *("acquire", "release", "_acquire_restore", "_is_owned", "_release_save"),
        "locked",  # from Python 3.14 on
    },
    threading.BoundedSemaphore: {"_initial_value"},
    threading.Thread: {"_daemonic", "_initialized", "_invoke_excepthook", "_name", "_stderr"},
    threading.Timer: {"args", "finished", "function", "interval", "kwargs"},
    Queue: {"maxsize", "not_empty", "not_full", "all_tasks_done"},
    ThreadPoolExecutor: {
        *("_idle_semaphore", "_initargs", "_initializer", "_max_workers", "_shutdown_lock"),
        *("_thread_name_prefix", "_work_queue", "_create_worker_context", "_mp_context"),
        "_resolve_work_item_task",
    },
}
"""Attributes that no call changes, or that hold something which is under control itself; the
names and the daemon flags of threads are watched like all variables."""
BUILT_ON_OTHERS: dict[type, set[str]] = {
    threading.Barrier: {"__init__", "wait", "reset", "abort", "parties", "n_waiting", "broken"},
    threading.Condition: {"__exit__", "wait_for", "notifyAll", "_is_owned"},
    threading.Event: {"isSet"},
    threading.Semaphore: {"__exit__"},
    threading.BoundedSemaphore: {"__init__"},
    Future: {
        *("__init__", "__repr__", "cancel", "cancelled", "running", "done", "result", "exception"),
        *("add_done_callback", "set_running_or_notify_cancel", "set_result", "set_exception"),
        "_get_snapshot",  # from Python 3.14 on
    },
    Executor: {"__enter__", "__exit__", "map", "submit", "shutdown"},
    ThreadPoolExecutor: {"submit", "shutdown"},
    Queue: {"put_nowait", "get_nowait"},
    threading.Thread: {
        *("__repr__", "run", "name", "ident", "native_id", "daemon"),
        *("isDaemon", "setDaemon", "getName", "setName"),
    },
    threading.Timer: {"__init__", "cancel", "run"},
}
"""What reaches the state through other methods that are under control."""
LIBRARY_ONLY: dict[type, set[str]] = {
    threading.Barrier: {"_enter", "_release", "_wait", "_exit", "_break"},
    threading.Condition: {"_at_fork_reinit", "_release_save", "_acquire_restore"},
    threading.Event: {"_at_fork_reinit"},
    Future: {"_invoke_callbacks", "_Future__get_result"},
    ThreadPoolExecutor: {
        *("_counter", "_adjust_thread_count", "_initializer_failed", "prepare_context", "BROKEN"),
    },
    threading.Thread: {
        *("_after_fork", "_reset_internal_locks", "_bootstrap", "_bootstrap_inner", "_delete"),
        *("_set_ident", "_set_native_id", "_set_os_name", "_set_tstate_lock", "_stop"),
        *("_wait_for_tstate_lock", "_context"),
    },
}
"""What only the library itself calls, while it holds a lock or before anybody else can look."""
STATELESS = {"__class_getitem__", "__dict__", "__weakref__", "__annotations__", "__slotnames__"}
"""What a class has that tells nothing of its objects' state."""
PLAIN = (bool, int, str, tuple, frozenset, type(None))
"""Types of values in a class that never change."""
WRITTEN_IN_C = {kind for one in registry.PRIMITIVES.values() for kind in one.stand_ins}


def parts_of(name: str) -> dict[str, type]:
    """Return the classes that the module of a primitive defines."""
    module = import_module(f"mazurka.runtime.primitives.{name}")
    return {
        key: value
        for key, value in vars(module).items()
        if inspect.isclass(value) and value.__module__ == module.__name__
    }


def make(kind: type) -> Any:
    if kind in EXAMPLES:
        return EXAMPLES[kind]()
    try:
        return kind()
    except TypeError:
        return kind(1)


@pytest.mark.parametrize("name", registry.PRIMITIVES)
def test_steps_and_models_say_what_they_are(name: str) -> None:
    for title, part in parts_of(name).items():
        if issubclass(part, RealOperation) and not part.__subclasses__():
            assert part.kind != "step", f"{title} has no word for what it does"
        if issubclass(part, (RealOperation, Object)):
            assert part.__doc__, f"{title} has no docstring"


@pytest.mark.parametrize("name", registry.PRIMITIVES)
def test_every_attribute_of_an_object_is_declared(name: str) -> None:
    one = registry.PRIMITIVES[name]
    for kind in set(one.classes) - WRITTEN_IN_C:
        known = one.parts | one.hidden
        for base in kind.__mro__:
            known |= FIXED.get(base, set()) | set(one.private.get(base, ()))
        forgotten = sorted(set(vars(make(kind))) - known)
        assert not forgotten, f"{kind.__name__} has attributes of which nothing is said"


@pytest.mark.parametrize("name", registry.PRIMITIVES)
def test_the_page_names_every_class(name: str) -> None:
    section = PAGE.read_text().partition("### What is under control")[2].partition("\n## ")[0]
    for kind in registry.PRIMITIVES[name].classes:
        known = {"lock": "Lock"}.get(kind.__name__, kind.__name__)
        assert re.search(rf"`{known}`", section), f"{PAGE.name} has no row for {known}"


def declare(**changed: Any) -> Primitive:
    class Latch:
        pass

    class LatchModel(PatchedModel):
        kind = "latch"

        def refresh(self) -> None:
            self.state = 0

        def restore(self, state: Hashable) -> None:
            self.state = state

    fields: dict[str, Any] = {
        "words": ("latch",),
        "classes": (Latch,),
        "models": (LatchModel,),
        "private": {Latch: {}},
        "parts": frozenset(),
        "install": lambda patches: None,
    } | changed
    return Primitive(**{name: value for name, value in fields.items() if value is not None})


class Bare(PatchedModel):
    kind = "latch"


class Kept(Bare):
    """Adopts an object, and does not put it back."""

    def refresh(self) -> None:
        self.state = 0


class Slotted:
    __slots__ = ()


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"words": ()}, "no word for LatchModel"),
        ({"models": (Bare,)}, "Bare does not say how to adopt an existing object"),
        ({"models": (Kept,)}, "Kept does not say how to put an object back"),
        ({"private": {}}, "nothing is said of private attributes of Latch"),
        ({"classes": (Slotted,)}, "Slotted has no __dict__"),
        *(({name: None}, name) for name in ("words", "classes", "models", "parts", "install")),
    ],
)
def test_a_record_that_forgets_a_part_is_refused(changed: dict[str, Any], complaint: str) -> None:
    declare()
    with pytest.raises(TypeError, match=complaint):
        declare(**changed)


def test_a_waiting_operation_says_in_which_states_it_goes_on() -> None:
    with pytest.raises(TypeError, match="Pass does not say in which states it goes on"):
        type("Pass", (Waiting,), {"kind": "pass"})


def test_a_verb_that_waits_is_told_once() -> None:
    latch = Object("latch")
    assert make_operation("wait for")(latch).waits_for(None) == "for object latch"
    assert make_operation("enter")(latch).waits_for(None) == "to enter object latch"


@pytest.mark.parametrize(
    ("make", "wait", "wake"),
    [
        (lambda: threading.Semaphore(0), "acquire", "release"),
        (lambda: threading.BoundedSemaphore(9), "acquire", "release"),
        (threading.Event, "wait", "set"),
    ],
)
def test_a_thread_that_nobody_controls_is_woken(
    make: Callable[[], Any], wait: str, wake: str
) -> None:
    thing = make()
    while isinstance(thing, threading.BoundedSemaphore) and thing.acquire(blocking=False):
        pass
    outside = threading.Thread(target=getattr(thing, wait), daemon=True)
    outside.start()
    while not thing._cond._waiters:
        time.sleep(0.001)
    result = mazurka.explore(lambda: getattr(thing, wake)(), preemptions=2)
    assert result.verdict == "holds", result.report(200)
    outside.join(10)
    assert not outside.is_alive()


@pytest.mark.parametrize("kind", [threading.Event, threading.Semaphore])
def test_a_constructor_that_fails_leaves_the_thread_under_control(
    kind: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: object) -> None:
        raise MemoryError

    def program() -> None:
        with contextlib.suppress(MemoryError):
            kind()
        assert session.current.ident == threading.get_ident()

    monkeypatch.setattr(kind, "__init__", fail)
    assert mazurka.explore(program, preemptions=2).verdict == "holds"


def test_every_module_of_the_package_is_a_primitive() -> None:
    files = {file.stem for file in Path(records.__file__).parent.glob("*.py")}
    assert set(registry.PRIMITIVES) == files - {"__init__", "primitive", "registry"}


def forgotten_in(kind: type, replaced: dict[type, set[str]], one: Primitive) -> list[str]:
    """Return what a class has that could show or change the state past what is under control.

    Python calls special methods without an attribute's being read, so `private` is not enough for
    them.
    """
    private = {name for base in kind.__mro__ for name in one.private.get(base, ())}
    known = STATELESS | {name for name in private if not name.startswith("__")}
    return [
        f"{base.__name__}.{key}"
        for base in kind.__mro__
        if base is not object
        for key, value in vars(base).items()
        if not isinstance(value, PLAIN)
        and key not in known | replaced.get(base, set())
        and key not in BUILT_ON_OTHERS.get(base, set()) | LIBRARY_ONLY.get(base, set())
    ]


@pytest.mark.parametrize("name", registry.PRIMITIVES)
def test_everything_that_a_class_defines_is_under_control(name: str) -> None:
    one = registry.PRIMITIVES[name]
    kinds = [kind for kind in one.classes if kind not in WRITTEN_IN_C]
    before = {kind: dict(vars(kind)) for kind in kinds}
    undo = Patches()
    registry.install(undo)
    replaced = {
        kind: {key for key, value in vars(kind).items() if before[kind].get(key) is not value}
        for kind in kinds
    }
    undo.undo()
    for kind in kinds:
        forgotten = forgotten_in(kind, replaced, one)
        assert not forgotten, f"{kind.__name__} has names that are neither replaced nor declared"


def test_special_static_and_inherited_methods_are_not_overlooked() -> None:
    class Shown:
        def __repr__(self) -> str: ...

    class Latch(Shown):
        title = "latch"
        waiting: ClassVar[list[object]] = []

        def __len__(self) -> int: ...
        @staticmethod
        def look(latch: object) -> int: ...
        @classmethod
        def make(cls) -> object: ...
        @property
        def count(self) -> int: ...
        def count_down(self) -> None: ...

    one = declare(classes=(Latch,), private={Latch: {"__len__": print, "count": print}})
    assert forgotten_in(Latch, {Latch: {"count_down"}}, one) == [
        *("Latch.waiting", "Latch.__len__", "Latch.look", "Latch.make", "Shown.__repr__"),
    ]


def test_a_method_that_is_not_there_cannot_be_replaced() -> None:
    class Latch:
        def count_down(self) -> None: ...

    undo = Patches()
    with pytest.raises(TypeError, match="Latch has no countdown that could be replaced"):
        undo.methods(Latch, countdown=print)


def test_what_is_installed_is_put_back() -> None:
    def state() -> list[dict[str, Any]]:
        kinds = [kind for kind in registry.CLASSES if kind not in WRITTEN_IN_C]
        return [dict(vars(kind)) for kind in kinds] + [dict(vars(threading))]

    before = state()
    undo = Patches()
    registry.install(undo)
    assert state() != before
    undo.undo()
    assert state() == before
