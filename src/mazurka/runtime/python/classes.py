"""The class of an object, as something that threads change while others use the object.

What the interpreter does with an object depends on its class: which code adds it to another one,
what a call of it runs, whether it is an instance of some class.  No event says that the class is
read, since hardly any program gives an object another one.  Where a run shows that a thread assigns
to `__class__` of an object, or to a special method or `__bases__` of a class, while others run, all
that is done with objects of these classes reads their classes from then on, for the whole
exploration (`Learned.moving`).

As a part of an operation (`containers.Part`), an object stands for which class it has, and a class
for its special methods and bases.

*Subclasses.*  `kind.__subclasses__()` reads which classes are made of a class.  A class is there
before any event tells of it, so making one cannot be a scheduling point; if nothing orders it with
such a question, nothing is proved.
"""

from __future__ import annotations

from _thread import get_ident
from typing import Any, Final

from mazurka.runtime.core.insides import ancestors, field_of, module_of, qualified_name
from mazurka.runtime.core.moment import now
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.sites import AccessSite, number_of
from mazurka.runtime.python.catalogue import METHODS, PLAIN, is_made
from mazurka.runtime.python.containers import Part, family, perform, perform_all, use_at_end
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.locations import learned
from mazurka.runtime.sharing.monitoring import unobserved

_LABEL: Final = "the class of objects of the type"
_SUBCLASSES: Final = "the subclasses of classes"
_DATA: Final = frozenset(
    {"__doc__", "__name__", "__qualname__", "__module__", "__annotations__", "__dict__"}
    | {"__firstlineno__", "__static_attributes__", "__type_params__", "__annotate__"}
    | {"__class__", "__weakref__", "__slots__", "__dataclass_fields__", "__dataclass_params__"}
    | {"__orig_bases__", "__parameters__", "__wrapped__"}
)
"""Special names of a class under which the interpreter finds nothing that it calls."""


class ChangingClasses:
    """The classes of which a run has shown that they change, or that objects lose them."""

    def __init__(self) -> None:
        self.any = False
        """Whether there are any: nothing is asked otherwise."""
        self._bases: dict[type, tuple[type, ...]] = {}
        """By class: those among it and its bases that change."""

    def begin_run(self) -> None:
        """Forget classes that the run before has made."""
        self._bases.clear()
        _named.clear()
        self.any = any(one.startswith(_LABEL) for one in learned.moving)

    def learn(self, kind: type) -> None:
        """Learn that a class changes, or that objects of it get another one."""
        label = _label(kind)
        if label not in learned.moving:
            learned.learn_moving(label)
            self._bases.clear()
            self.any = True

    def among(self, kind: type) -> tuple[type, ...]:
        """Find the changing classes among a class and its bases."""
        found = self._bases.get(kind)
        if found is None:
            bases = (base for base in ancestors(kind) if is_made(base))
            found = self._bases[kind] = tuple(b for b in bases if _label(b) in learned.moving)
        return found


def _label(kind: type) -> str:
    return f"{_LABEL} {first_name(kind)}"


_named: dict[int, tuple[type, str]] = {}
"""By identity of a class: it, and its name when this run first asked."""


def first_name(kind: type) -> str:
    """Return the full name of a class.  A run that changes it must still know the class by the
    name that the run before has learned."""
    found = _named.get(id(kind))
    if found is None:
        found = _named[id(kind)] = kind, f"{module_of(kind)}.{qualified_name(kind)}"
    return found[1]


changing: Final = ChangingClasses()


def parts_of_classes(values: Any) -> list[Part]:
    """Describe reads of the classes of some values, as far as these change."""
    parts: list[Part] = []
    for value in values:
        kind = type(value)
        if issubclass(kind, type):
            parts += [(base, None, How.LOOK, None) for base in changing.among(value)]
        elif kind not in PLAIN and (found := changing.among(kind)):
            parts.append((value, _built_on(value), How.LOOK, None))
            parts += [(base, None, How.LOOK, None) for base in found]
    return parts


def _built_on(value: Any) -> Any:
    found = family(value)
    return found if found in METHODS else None


def read_classes(values: Any, site: int) -> None:
    """Read the classes of values, before the interpreter finds by them what to do."""
    if session.current.ident == get_ident():
        perform_all(parts_of_classes(values), site, _nothing)


def _nothing() -> None:
    pass


def parts_of_assignment(thing: Any, name: str) -> list[Part]:
    """Describe what an assignment to an attribute changes, if that is the class of an object, or
    what the interpreter finds in a class."""
    is_class = issubclass(type(thing), type)
    if name != "__class__" and not (is_class and _is_special(name)):
        return []
    kind = thing if is_class else type(thing)
    if not now.alone and is_made(kind):
        changing.learn(kind)
    elif not now.alone and not is_class:
        reason = "nobody sees who depends on the class of a module"
        unobserved.note_code("assignment to __class__", reason)
    return [(thing, None if is_class else _built_on(thing), How.CHANGE, None)]


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and name not in _DATA


# -- subclasses ----------------------------------------------------------------------------------

_MADE: Final = number_of(AccessSite(__file__, 1, 0, 1, 0, "end"))
learned.ends[_MADE] = "the making of a class (other threads ask for subclasses meanwhile)"


def list_subclasses(function: Any, site: int) -> Any:
    """`kind.__subclasses__()`"""
    if session.current.ident == get_ident():
        learned.learn_moving(_SUBCLASSES)
    return perform((function.__self__, None, How.READ_ALL, None), site, function)


def note_made(kind: Any) -> None:
    """Note that the running thread has made a class."""
    if _SUBCLASSES not in learned.moving or now.alone or session.current.ident != get_ident():
        return
    for base in field_of(kind, "__bases__") if issubclass(type(kind), type) else ():
        use_at_end(base, _MADE, written=True)
