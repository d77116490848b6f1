"""The record that every primitive declares, and what models of objects of Python classes share.

The objects of a class of C (a lock, a `SimpleQueue`) cannot be patched; a class of ours takes the
place of theirs, and its objects are models themselves (`Primitive.stand_ins`).  The methods of a
class of Python are replaced in place (`Patches.methods`), so that objects made before, subclasses
and names bound early are all reached; an object keeps its model in an attribute (`model_of`).

Whichever way, a call does the same: it goes to the real method if the thread is not under control,
and otherwise stands before an operation (`run.point`), which may have to wait, and then changes the
state of the model.
"""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, NoReturn, TypeAlias, TypeVar, cast

from mazurka.runtime.core.host import ControlSettings
from mazurka.runtime.core.insides import field_of
from mazurka.runtime.core.names import adopt, next_name
from mazurka.runtime.core.operations import Explain, Object, make_operation
from mazurka.runtime.core.patches import Patches, original
from mazurka.runtime.core.scheduler import Scheduler, session
from mazurka.runtime.sharing.monitoring import unobserved

ATTRIBUTE = "_mazurka"
"""Where a patched object of a Python class keeps its model."""

Look: TypeAlias = Callable[[Scheduler, Any, str], None]
"""Makes an operation of a read of an object's private attribute, before the value is read."""
Model = TypeVar("Model", bound="PatchedModel")


@dataclass(frozen=True, kw_only=True)
class Primitive:
    """All that the other rooms have to know of a primitive.

    The fields without a default say what every primitive has to think of; that one has been
    forgotten is an error when its module is imported.
    """

    words: tuple[str, ...]
    """What reports call such a thing, before its label: `semaphore`."""
    classes: tuple[type, ...]
    """The classes whose objects it controls; subclasses are controlled with them."""
    models: tuple[type[Object], ...]
    """The models of these objects.  Each says how it is taken over from an object that existed
    before the run (`Object.refresh`), and how that is put back (`Object.restore`)."""
    install: Callable[[Patches], None]
    """Replaces methods of the classes, and names in the library's modules."""
    private: Mapping[type, Mapping[str, Look]]
    """By class: what a program can read of an object past the calls that are under control, and
    what makes such a read an operation (`registry.look_inside`)."""
    parts: frozenset[str]
    """Attributes that hold other primitives which nobody names, since `with condition:` takes the
    lock inside: these have the label of what they are a part of."""
    stand_ins: Mapping[type, Callable[[], Any]] = field(default_factory=dict)
    """By type of C: what makes one of ours, which is put around a real one that existed before."""
    hidden: frozenset[str] = frozenset()
    """Other attributes through which no label leads."""
    replace: Callable[[Patches, ControlSettings], Sequence[tuple[Any, Any]]] = lambda _, __: ()
    """Returns pairs of functions or types and ours, which replace them wherever a module, a closure
    or a default argument has a name for them."""
    purposes: Mapping[CodeType, Explain] = field(default_factory=dict)
    """Functions of the library inside which threads wait, and what says for what."""
    begin_run: Callable[[], None] | None = None
    """Called before each run, to have it begin like all others."""
    end_run: Callable[[Scheduler], None] | None = None
    """Called after each run, to leave nothing behind that the next one could meet."""

    def __post_init__(self) -> None:
        for model in self.models:
            if model.refresh is Object.refresh:
                raise TypeError(f"{model.__name__} does not say how to adopt an existing object")
            if model.restore is Object.restore:
                raise TypeError(f"{model.__name__} does not say how to put an object back")
            if isinstance(model.kind, str) and model.kind not in self.words:
                raise TypeError(f"no word for {model.__name__}, whose kind is {model.kind}")
        for kind in (kind for kind in self.classes if kind not in self.stand_ins):
            if not field_of(kind, "__dictoffset__"):
                raise TypeError(f"{kind.__name__} has no __dict__, in which a model could be kept")
            if not any(base in self.private for base in kind.__mro__):
                raise TypeError(f"nothing is said of private attributes of {kind.__name__}")


class PatchedModel(Object):
    """The model of an object of a Python class, whose methods are patched in place."""

    __slots__ = ("home", "owner", "told")

    def __init__(self, name: str = "") -> None:
        super().__init__(name)
        self.home = 0
        """The identity of the object: a copy gets the same model with the other attributes."""
        self.owner: Any = None
        """The real thing, where it existed before the run."""
        self.told = 0
        """The run that has woken threads that nobody controls: what they were told stays."""


def create_model(run: Scheduler, owner: Any, model: Model) -> Model:
    """Give an object that the running thread creates its model; the caller sets its state."""
    model.name = next_name(run)
    model.epoch = run.epoch
    model.home = id(owner)
    setattr(owner, ATTRIBUTE, model)
    return model


def model_of(run: Scheduler, owner: Any, make: Callable[[], Model]) -> Model:
    """Return the model of an object; make one if the object existed before the run."""
    model: Model | None = owner.__dict__.get(ATTRIBUTE)
    if model is None:
        model = make()
        model.home = id(owner)
        setattr(owner, ATTRIBUTE, model)
        assert run.program is not None
        model.origin = run.program.label_of(owner)
        run.program.undo.append(lambda: delattr(owner, ATTRIBUTE))
    elif model.home != id(owner):
        refuse_copy(run, owner)
    if model.epoch != run.epoch:
        model.owner = owner
        adopt(run, model)
    return model


def with_real_locks(run: Scheduler, method: Callable[..., Any], *given: Any) -> None:
    """Call a real method as a thread that is not under control: it makes and uses real locks."""
    run.ident, ident = 0, run.ident
    try:
        method(*given)
    finally:
        run.ident = ident


def refuse_copy(run: Scheduler, owner: Any) -> NoReturn:
    """End the run in an error: a copy shares some parts with the original, and not others."""
    kind = type(owner).__name__
    run.refuse(f"{kind}: copies are not supported under control; create another {kind}")


LookInside = make_operation("look at", writes=False)
"""A look at the inside of an object, which never waits."""


def name_in_result(owner: type) -> Look:
    """Make a look that only names the attribute among what is not observed."""

    def look(run: Scheduler, thing: Any, name: str) -> None:
        unobserved.note(f"{owner.__name__}.{name}")

    return look


def refuse_to_show(owner: type) -> Look:
    """Make a look that ends the run in an error: under control, nothing is kept there."""

    def look(run: Scheduler, thing: Any, name: str) -> NoReturn:
        title = f"{owner.__name__}.{name}"
        run.refuse(f"{title} is not supported under control: nothing is kept there")

    return look


def show_after(look: Look, kind: type, attribute: str) -> Callable[[Any], str]:
    """Make a `__repr__` for a class: its text says in which state an object is, so that to write
    one out is to look at a private attribute."""

    def show(self: Any) -> str:
        run = session.current
        if run.ident == get_ident() and not run.over:
            look(run, self, attribute)
        return cast(str, original(kind, "__repr__")(self))

    return show
