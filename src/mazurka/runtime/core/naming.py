"""Names of shared objects that are the same in every run, and their models.

An object that a run creates is named after the thread that created it and how many that thread
had created before.  One that existed before is met by whoever touches it first; it gets a name
then that it keeps for the whole exploration, and its state is what it really is.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from typing import Any, TypeVar

from mazurka.runtime.core import leash
from mazurka.runtime.core.operations import Object
from mazurka.runtime.core.scheduler import Scheduler, session
from mazurka.runtime.core.sites import user_frame

ATTRIBUTE = "_mazurka"
"""Where a patched object of a Python class keeps its model."""

Model = TypeVar("Model", bound="Owned")


class Owned(Object):
    """The model of an object of a Python class, whose methods are patched in place."""

    __slots__ = ("owner",)

    def __init__(self, name: str = "") -> None:
        super().__init__(name)
        self.owner: Any = None
        """The real thing, where it existed before the run."""


def name_of(run: Scheduler, number: int) -> str:
    """The name of the n-th object that the running thread creates: the same in every run."""
    me = run.running
    while len(me.names) <= number:
        me.names.append(f"{me.path}#{len(me.names) + 1}")
        frame = user_frame(_getframe(1))
        if frame is not None:
            created[me.names[-1]] = (frame.f_code.co_filename, frame.f_lineno or 0)
    return me.names[number]


created: dict[str, tuple[str, int]] = {}
"""Where objects were created, by name; what a recorded run says holds for that run."""


def forget_names() -> None:
    """Let the next run name its objects as if it were the first, and note where they come from."""
    created.clear()
    for task in session.current.tasks:
        if task is not None:
            task.names.clear()


def next_name(run: Scheduler) -> str:
    me = run.running
    me.objects += 1
    return name_of(run, me.objects - 1)


def adopt(run: Scheduler, shared: Object) -> None:
    """Meet an object that this run has not created: name it for good, and see how it is."""
    assert run.program is not None
    run.program.keep(shared)
    shared.epoch = run.epoch
    run.ident, ident = 0, run.ident
    shared.refresh()
    run.ident = ident
    run.found.append((shared, shared.state))


def spend(run: Scheduler, seconds: float) -> None:
    """Time passes for the running thread."""
    if seconds > 0:
        run.timed = True
        me = run.running
        me.time += seconds
        run.latest = max(run.latest, me.time)
    if run.running.daemon:
        leash.watch(run)


def create(run: Scheduler, owner: Any, model: Model) -> Model:
    """Give an object that the running thread creates its model."""
    model.name = next_name(run)
    model.epoch = run.epoch
    setattr(owner, ATTRIBUTE, model)
    return model


def model_of(run: Scheduler, owner: Any, make: Callable[[], Model]) -> Model:
    """The model of an object, made where it has none yet."""
    model: Model | None = owner.__dict__.get(ATTRIBUTE)
    if model is None:
        model = make()
        setattr(owner, ATTRIBUTE, model)
        assert run.program is not None
        model.origin = run.program.takeover.label_of(owner)
        run.program.undo.append(lambda: delattr(owner, ATTRIBUTE))
    if model.epoch != run.epoch:
        model.owner = owner
        adopt(run, model)
    return model
