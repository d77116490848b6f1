"""Where an attribute lives: which object's location an attribute access touches.

The lookup follows the interpreter's: data descriptors come first, then the object's own dictionary,
then the class.  What is computed (properties, `__getattr__`, methods) is a call and no location;
the code that is called shows its own accesses.  Functions that a class or a module holds are
assumed to stay where they are.

Which objects an access touches must not depend on the moment at which its thread arrives there: by
the time the access is chosen, other threads may have added and removed attributes.  So the present
contents of an instance and its classes decide nothing.  An attribute that an instance may have is
read there, found or not.  The attributes of classes rarely change, and need no location; where a
run shows that one does, its name is *moving* from then on, for the whole exploration
(`Learned.moving`), and every object that could have it is read.

An attribute and the entry of its object's dictionary are one variable.  As long as the program does
not ask for `o.__dict__` or `globals()`, attributes are locations of their own.  Once a run shows
that it asks for the dictionary of some object, the class of that object is *exposed*, for the whole
exploration: attributes of all objects of that class are entries of their dictionaries, and accesses
to them are accesses to containers, methods included: an entry of that name would hide the method.
The same holds for modules and their global variables.

The dictionary of a class can be read, and never written to but by assignments to attributes of the
class.  Once a run shows that the program asks for it, these assignments are accesses to the
dictionary, too, in the same operation; reading an attribute of a class stays as it was.
"""

from __future__ import annotations

import _thread
import builtins
import threading
import types
import weakref
from _thread import get_ident
from enum import Enum, auto
from gc import get_referents
from types import FunctionType, MethodType, ModuleType
from typing import Any, Final

from mazurka.runtime.core.class_versions import FIXED, is_same, version_of
from mazurka.runtime.core.insides import (
    ancestors,
    attributes,
    find_in_class,
    has_in_class,
    names_in,
    names_in_class,
)
from mazurka.runtime.core.moment import now
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.sites import MARK
from mazurka.runtime.primitives.registry import is_private, note_change
from mazurka.runtime.python.catalogue import (
    BUILT_IN,
    DESCRIPTORS,
    CachedFunction,
    is_made,
    is_value,
)
from mazurka.runtime.python.classes import changing, first_name
from mazurka.runtime.python.containers import Part, PendingAccess, approach
from mazurka.runtime.python.opaque import hides_state
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.exempt import is_exempt
from mazurka.runtime.sharing.locations import learned
from mazurka.runtime.sharing.monitoring import unobserved
from mazurka.runtime.sharing.names import EVERYBODY, Seen, names, objects, see
from mazurka.runtime.sharing.older_state import older_state

NOWHERE: Final = object()
"""No location: a call, or something that does not change."""
INSIDE: Final = object()
"""An attribute of a library object that is under control as a whole, such as a semaphore."""

PROPERTIES_OF_THREADS: Final = {"_name": "name", "_daemonic": "daemon"}
"""By attribute of a thread object: the property that shows it, which is the same variable."""
COMPUTED = (_thread._local, super, weakref.ProxyType, weakref.CallableProxyType)
"""Built-in types that keep their attributes outside of the object."""
_SETTLED = (
    *(types.FunctionType, types.ModuleType, staticmethod, classmethod, property, type),
    *(*BUILT_IN, *DESCRIPTORS, types.ClassMethodDescriptorType, types.GetSetDescriptorType),
)
"""Types of values that classes and modules are assumed to keep for ever."""
_MISSING: Final = object()

_OWN: Final = 0
"""No class has it: it can only be in the instance."""
_DATA: Final = 1
"""A class has a value for it, or a descriptor without `__set__`, which an instance may hide.

Such a descriptor often stores what it has computed in the instance, so that it is not asked again
(`functools.cached_property`): whether the instance has a value of its own has to be read.
"""
_CALL: Final = 2
"""A class has a function for it, which an instance may hide."""
_COMPUTE: Final = 3
"""A data descriptor or a C type computes it."""
_SLOT: Final = 4
"""It is in the instance, but not in its dictionary."""
_INSIDE: Final = 5
"""See `INSIDE`."""

_sorts: dict[tuple[int, str], int] = {}
"""By identity of a class and name: one of the constants above."""


class Settled(Enum):
    """What every access to an attribute of an object of a class comes to."""

    OWN = auto()
    """It reads or writes what the object itself holds under that name."""
    METHOD = auto()
    """A read finds a function in the class."""
    OPEN = auto()
    """It has to be looked at each time."""


settled: dict[tuple[int, str], Settled] = {}
"""By identity of a class and name; made anew when another attribute is learned to move, or a class
is exposed."""


_versions: dict[int, dict[int, tuple[type, int]]] = {}
"""By class of which something is kept here: the classes on which that depends, and the versions
that these had.  Keys are identities here and below, since `__hash__` and `__eq__` of a metaclass
may be code of the program; these entries keep the classes alive."""
_moving = 0
"""How many attributes were known to move when the run began."""


def forget_classes() -> None:
    """Begin a run: forget what depends on classes that have changed since they were looked at, or
    that an earlier run has made, and on what has been learned meanwhile."""
    global _moving
    _exposed.clear()
    _shown.clear()
    changing.begin_run()
    if len(learned.moving) != _moving:
        _moving = len(learned.moving)
        settled.clear()
    changed = []
    for kind, versions in _versions.items():
        for one, version in versions.values():
            if version != FIXED and not is_same(one, version):
                changed.append(kind)
                break
    for kind in changed:
        del _versions[kind]
    for found in _FOUND if changed else ():
        for key in [key for key in found if key[0] in changed]:
            del found[key]


def forget_all_classes() -> None:
    """Begin or end an exploration."""
    _forget_sorts()
    _exposed.clear()
    _shown.clear()
    changing.begin_run()


def _forget_sorts() -> None:
    for found in _FOUND:
        found.clear()
    _versions.clear()


def depend_on(kind: type, sort: type | None = None) -> None:
    """Note that something is about to be kept about a class, and the type of what it has."""
    versions = _versions.get(id(kind))
    if versions is None:
        versions = _versions[id(kind)] = {id(kind): (kind, version_of(kind))}
    if sort is not None and id(sort) not in versions:
        versions[id(sort)] = sort, version_of(sort)


def variable_of(thing: Any, name: str) -> str:
    """Find the name of the variable that an attribute is."""
    is_shown = name in PROPERTIES_OF_THREADS and issubclass(type(thing), threading.Thread)
    return PROPERTIES_OF_THREADS[name] if is_shown else name


def settle_class(kind: type, name: str) -> Settled:
    """Find what accesses to an attribute come to, where C code does not look it up itself."""
    if name in PROPERTIES_OF_THREADS and issubclass(kind, threading.Thread):
        return Settled.OPEN
    is_special = kind is FunctionType or kind is MethodType or issubclass(kind, (type, ModuleType))
    if is_special or name in _LINKS or asks_first(kind):
        return Settled.OPEN
    if learned.moving and (name in learned.moving or _is_exposed(kind) or changing.among(kind)):
        return Settled.OPEN
    sort = _sort(kind, name)
    if sort == _CALL:
        return Settled.METHOD
    if sort == _SLOT and _find_kept(kind, name) is not None:
        return Settled.OPEN  # an assignment has to be noted, if the object is older
    return Settled.OWN if sort in (_OWN, _DATA, _SLOT) else Settled.OPEN


def _sort(kind: type, name: str) -> int:
    found = _sorts.get((id(kind), name))
    if found is None:
        found = _sorts[id(kind), name] = _find_sort(kind, name)
    return found


def _find_sort(kind: type, name: str) -> int:
    depend_on(kind)
    if issubclass(kind, COMPUTED):
        return _SLOT if _is_in_slot(kind, name) else _COMPUTE
    if is_private(kind, name):
        return _INSIDE
    if issubclass(kind, threading.Thread) and name in PROPERTIES_OF_THREADS.values():
        return _SLOT  # properties of the library's around variables
    for base in ancestors(kind):
        value = names_in_class(base).get(name, _MISSING)
        if value is _MISSING:
            continue
        sort = type(value)
        depend_on(kind, sort)
        if sort is types.MemberDescriptorType:
            return _SLOT
        if sort is types.GetSetDescriptorType and _is_kept_by_c(kind, name):
            return _SLOT
        if has_in_class(sort, "__set__") or has_in_class(sort, "__delete__"):
            return _COMPUTE
        return _CALL if issubclass(sort, _SETTLED) else _DATA
    return _OWN


ACCESSORS: Final = {"__get__": "fget", "__set__": "fset", "__delete__": "fdel"}
"""By the method that the interpreter calls: what a property calls then."""
_accessors: dict[tuple[int, str, str], Any] = {}
"""By identity of a class, name and part of a property: what is called, if that is C code."""


def accessor_in_c(kind: type, name: str, part: str) -> Any:
    """Find the callable of C code by which a property reads an attribute, or writes it (`part`);
    None if there is none: code in Python shows what it does."""
    key = id(kind), name, part
    if key not in _accessors:
        depend_on(kind)
        found = next(
            (n[name] for base in ancestors(kind) if name in (n := names_in_class(base))), 0
        )
        accessor = getattr(found, part, None) if issubclass(type(found), property) else None
        called = accessor.__func__ if type(accessor) is types.MethodType else accessor
        _accessors[key] = None if type(called) is FunctionType else accessor
    return _accessors[key]


def note_initialized(thing: Any) -> None:
    """Name a call that gives other functions to a property, a static or a class method: reads of
    these are not seen."""
    if not now.alone:
        name = f"{type(thing).__qualname__}.__init__"
        unobserved.note_code(name, "nobody sees which accesses come before it")


def show_module(module: ModuleType) -> None:
    """Note that C code writes variables of a module: its name, text and loader."""
    expose(module)
    if not now.alone:
        reason = "nobody sees which accesses come before it"
        unobserved.note_code(f"{names_in(module).get('__name__')}.__init__", reason)


def _is_in_slot(kind: type, name: str) -> bool:
    """Tell whether an attribute is kept in a slot, as those that a `threading.local` has are: these
    are the same for all threads."""
    found = (names_in_class(base).get(name) for base in ancestors(kind))
    return type(next(filter(None, found), None)) is types.MemberDescriptorType


def _is_kept_by_c(kind: type, name: str) -> bool:
    """Whether an attribute that C code computes holds a value all the same: `error.args`."""
    if kind is types.FunctionType:
        return name not in _LINKS and name not in _CODE
    return not is_value(kind) and name not in _LINKS


_LINKS: Final = ("__dict__", "__class__", "__weakref__")
_CODE: Final = ("__code__", "__globals__", "__closure__", "__builtins__")
_CALLED_WITH: Final = ("__code__", "__defaults__", "__kwdefaults__")
"""Attributes of a function that each of its calls reads, without showing it."""


_by_c: dict[tuple[int, str], bool] = {}


def is_computed_by_c(kind: type, name: str) -> bool:
    """Tell whether a descriptor of C code computes an attribute, and may store it somewhere.

    Functions, wrappers of functions and fields (`wrappers.is_field`) store nothing.
    """
    found = _by_c.get((id(kind), name))
    if found is None:
        found = _by_c[id(kind), name] = _find_by_c(kind, name)
    return found


def _find_by_c(kind: type, name: str) -> bool:
    depend_on(kind)
    if issubclass(kind, (type, tuple, ModuleType, *COMPUTED)):
        return False
    for base in ancestors(kind):
        if name in names_in_class(base):
            sort = type(names_in_class(base)[name])
            depend_on(kind, sort)
            return not issubclass(sort, _STORING_NOTHING) and _gets_in_c(sort)
    return False


def _gets_in_c(sort: type) -> bool:
    """Tell whether a type is one of descriptors of C code that are no functions."""
    names = [names_in_class(base) for base in ancestors(sort)]
    get = next((one["__get__"] for one in names if "__get__" in one), None)
    is_function = any("__name__" in one or "__wrapped__" in one for one in names)
    return type(get) is types.WrapperDescriptorType and not is_function and hides_state(sort)


def is_descriptor_of_c(value: Any) -> bool:
    """Return whether a value is a descriptor by which C code would compute an attribute."""
    sort = type(value)
    if issubclass(sort, property):
        return type(value.fget) is not FunctionType
    return not issubclass(sort, _STORING_NOTHING) and _gets_in_c(sort)


_STORING_NOTHING: Final = (*_SETTLED, types.MemberDescriptorType, CachedFunction)


def is_entry(thing: Any, name: str) -> bool:
    """Tell whether an attribute is an entry of its object's dictionary, if there is one."""
    kind = type(thing)
    if kind is types.ModuleType:
        return True
    return not issubclass(kind, type) and _sort(kind, name) in (_OWN, _DATA, _CALL)


def asks_first(kind: type) -> bool:
    """Tell whether code of the program is asked for each attribute of objects of a class."""
    return type(find_in_class(kind, "__getattribute__")) is FunctionType


def home_of(thing: Any, name: str) -> Any:
    """Find the object whose location a read of an attribute touches; or NOWHERE, or INSIDE.

    Returns a tuple of objects where each of them may have the attribute.
    """
    if asks_first(type(thing)):
        return NOWHERE  # its code says what is found, and is watched
    return home_found(thing, name)


def home_found(thing: Any, name: str) -> Any:
    """Find the same for a read by C code, `object.__getattribute__`, whatever the class has."""
    kind = type(thing)
    if name == "__class__" and issubclass(kind, (type, ModuleType)):
        return (thing,) if name in learned.moving else NOWHERE
    if kind is types.ModuleType:
        value = names_in(thing).get(name, _MISSING)
        settled = issubclass(type(value), _SETTLED) and name not in learned.moving
        return NOWHERE if settled else thing
    if issubclass(kind, type):
        return _home_in_class(thing, name)
    if kind is FunctionType and name == "__annotations__":
        return thing
    if name in learned.moving:
        if issubclass(kind, super):
            return _bases_behind(thing) or NOWHERE
        if is_made(kind):
            return (thing, *_changeable_bases(kind))
    sort = _sort(kind, name)
    if sort == _INSIDE:
        return INSIDE
    if sort == _CALL:
        return thing if learned.moving and _is_exposed(kind) else NOWHERE
    return thing if sort in (_OWN, _DATA, _SLOT) else NOWHERE


def _changeable_bases(kind: type) -> list[type]:
    return [base for base in ancestors(kind) if is_made(base)]


def _bases_behind(thing: super) -> tuple[type, ...]:
    """The classes in which `super().name` is looked for, as far as they can change."""
    this, kind = (get(thing) for get in _OF_SUPER)
    bases = ancestors(kind) if kind is not None else ()
    behind = bases[bases.index(this) + 1 :] if this in bases else ()
    return tuple(base for base in behind if is_made(base))


_OF_SUPER: Final = [vars(super)[name].__get__ for name in ("__thisclass__", "__self_class__")]


def _home_in_class(thing: type, name: str) -> Any:
    if name in learned.moving:
        return (*_changeable_bases(thing), *_changeable_bases(type(thing))) or NOWHERE
    if name == "__annotations__":
        return thing  # which keeps them under another name from Python 3.14 on, and makes them
    if _is_computed_in_class(thing, name):
        return NOWHERE
    for base in ancestors(thing):
        value = names_in_class(base).get(name, _MISSING)
        if value is not _MISSING:
            return (
                NOWHERE
                if issubclass(type(value), (*_SETTLED, types.MemberDescriptorType))
                else thing
            )
    return NOWHERE if has_in_class(type(thing), name) else thing


def _is_computed_in_class(thing: type, name: str) -> bool:
    """Tell whether the metaclass of a class computes an attribute, as by a property."""
    return type(thing) is not type and _sort(type(thing), name) == _COMPUTE


def home_of_store(thing: Any, name: str) -> Any:
    """Find the object whose location a write of an attribute touches; or NOWHERE."""
    kind = type(thing)
    if kind is types.ModuleType:
        is_settled = issubclass(type(names_in(thing).get(name)), _SETTLED)
        if is_settled:
            _learn_moving(name)
        if not now.alone and (thing is builtins or (is_settled and _reads_by_name(thing))):
            reason = "nobody sees which code reads it by its name alone"
            unobserved.note_code(f"assignment to {name} of {thing.__name__}", reason)
        return thing
    if issubclass(kind, type):
        if name not in learned.moving and _is_computed_in_class(thing, name):
            return NOWHERE
        _forget_sorts()
        _learn_moving(name)
        return thing
    if kind is FunctionType and name in _CALLED_WITH:
        _note_called_with(thing, name)
    if kind is FunctionType and name == "__annotations__":
        return thing
    if kind is types.CellType and name not in objects.get(id(thing), ()) and not now.alone:
        unobserved.note_code("assignment to cell_contents", "nobody sees which functions read it")
    sort = _sort(kind, name)
    if sort == _CALL:
        _learn_moving(name)
    if sort == _INSIDE:
        note_change(kind, name)
        return NOWHERE
    return thing if sort != _COMPUTE or name in learned.moving else NOWHERE


def _reads_by_name(module: ModuleType) -> bool:
    """Tell whether code of a module is observed, which reads its functions and classes by their
    names alone."""
    space = names_in(module)
    return MARK in space and not is_exempt(str(space.get("__name__")))


def _learn_moving(name: str) -> None:
    """Learn that an attribute changes; while a thread is alone, no other can see the change."""
    if not now.alone and name not in learned.moving:
        learned.moving.add(name)
        learned.news.append(f"attribute {name}")
        settled.clear()


# -- attributes that are reached through dictionaries --------------------------------------------

_exposed: dict[int, tuple[Any, bool]] = {}
"""By identity of a class or module: it, and whether it is exposed."""


def _label(holder: Any) -> str:
    if type(holder) is ModuleType:
        return f"variables of {holder.__name__}"
    return f"attributes of {first_name(holder)}"


def _is_exposed(holder: Any) -> bool:
    found = _exposed.get(id(holder))
    if found is None:
        found = _exposed[id(holder)] = holder, _label(holder) in learned.moving
    return found[1]


def expose(thing: Any) -> None:
    """Learn that the program asks for the dictionary of an object; to be called under control."""
    if issubclass(type(thing), type):
        _show_class(thing)
        return
    holder: Any = thing if type(thing) is ModuleType else type(thing)
    if holder is not thing and (issubclass(holder, COMPUTED) or attributes(holder) is None):
        return
    if not _is_exposed(holder):
        label = _label(holder)
        learned.moving.add(label)
        learned.news.append(label)
        _exposed[id(holder)] = holder, True
        settled.clear()
    space_of(thing)


def space_of(thing: Any) -> dict[str, Any] | None:
    """Return the dictionary of an exposed object, whose entries are its attributes; or None."""
    if not learned.moving:
        return None
    if type(thing) is ModuleType:
        found: Any = names_in(thing) if _is_exposed(thing) else None
    elif _is_exposed(type(thing)):
        get = attributes(type(thing))
        found = None if get is None else get(thing)
    else:
        return None
    if not issubclass(type(found), dict):
        return None
    if id(found) not in objects:
        _name_space(found, thing)
    space: dict[str, Any] = found
    return space


_shown: dict[int, tuple[type, bool]] = {}
"""By identity of a class: it, and whether the program asks for its dictionary."""


def _is_shown(kind: type) -> bool:
    found = _shown.get(id(kind))
    if found is None:
        found = _shown[id(kind)] = kind, _label_of_shown(kind) in learned.moving
    return found[1]


def _label_of_shown(kind: type) -> str:
    return f"dictionary of {first_name(kind)}"


def _show_class(kind: type) -> None:
    """Learn that the program asks for the dictionary of a class, if that can change."""
    if is_made(kind):
        if not _is_shown(kind):
            label = _label_of_shown(kind)
            learned.moving.add(label)
            learned.news.append(label)
            _shown[id(kind)] = kind, True
        class_space(kind)


def class_space(kind: type) -> dict[str, Any]:
    """Return the dictionary of a class, with a name."""
    space: dict[str, Any] = get_referents(names_in_class(kind))[0]
    if id(space) not in objects:
        _name_space(space, kind)
    return space


def space_of_store(thing: Any) -> dict[str, Any] | None:
    """Return the dictionary of a class that the program asks for, where an assignment to an
    attribute of the class changes it; None for other objects."""
    if learned.moving and issubclass(type(thing), type) and _is_shown(thing):
        return class_space(thing)
    return None


def parts_of_names(thing: Any) -> list[Part]:
    """Describe the accesses of `dir(thing)`: to the dictionaries of an object and its classes."""
    is_class = issubclass(type(thing), type)
    parts: list[Part] = []
    if not is_class:
        expose(thing)
        space = space_of(thing)
        if space is not None:
            parts.append((space, dict, How.LOOK, None))
    if type(thing) is not ModuleType:
        for base in _changeable_bases(thing if is_class else type(thing)):
            expose(base)
            parts.append((class_space(base), dict, How.LOOK, None))
    return parts


def _name_space(space: dict[str, Any], thing: Any) -> None:
    """Name a dictionary that no thread has met after the object that it belongs to."""
    if names.is_pinned(space):
        return
    owner = see(thing)
    older_state.show_whole(thing)
    number = owner.number if owner.vague else 0
    objects[id(space)] = Seen(space, EVERYBODY, f"{owner.name}.__dict__", number)


def approach_entry(thing: Any, name: str, site: int, how: How) -> tuple[bool, PendingAccess | None]:
    """Stand before an access to an attribute of an exposed object.

    Returns whether the object is exposed, and what is to be settled after the access.
    """
    space = space_of(thing)
    if space is None:
        return False, None
    return True, approach((space, dict, how, name), site)


def is_computed_store(thing: Any, how: How) -> bool:
    """Tell whether Python code stores or deletes the attributes of an object; that code shows its
    accesses."""
    kind = type(thing)
    method = "__delattr__" if how is How.REMOVE else "__setattr__"
    return type(find_in_class(kind, method)) is FunctionType


def show_space(space: dict[str, Any], module: ModuleType) -> dict[str, Any]:
    """Note that the program has got the namespace of a module: `globals()`."""
    if session.current.ident == get_ident():
        expose(module)
    return space


def note_replaced(thing: Any, name: str) -> None:
    """Note an assignment to `__dict__` or `__class__`.  Which entries an attribute is depends on
    the former: where another thread may have used the object, nothing is proved."""
    if now.alone:
        return
    if name == "__dict__":
        seen = see(thing)
        if seen.maker == now.thread and not seen.met:
            unobserved.note(f"assignment to {name}")
        else:
            unobserved.note_code(
                f"assignment to {name}", "nobody sees which accesses come before it"
            )
    _learn_moving(name)


_kept: dict[tuple[int, str], types.GetSetDescriptorType | None] = {}
"""By identity of a class and name: what reads and writes an attribute that C code keeps; None for
others."""
_FOUND: Final[tuple[dict[Any, Any], ...]] = (_sorts, _by_c, _kept, _accessors, settled)
"""All that is kept by class and name."""


def note_assigned(thing: Any, name: str) -> None:
    """Note an assignment to an attribute that C code keeps, if the object is older than the run."""
    if name == "__annotations__" and issubclass(type(thing), (type, ModuleType)):
        see(thing)
        older_state.show_whole(thing)  # they are in the namespace, and reading would make them
        return
    key = id(type(thing)), name
    if key not in _kept:
        _kept[key] = _find_kept(type(thing), name)
    kept = _kept[key]
    if kept is not None:
        see(thing)
        if older_state.has_met(thing):
            older_state.note_assigned(thing, kept)


def _find_kept(kind: type, name: str) -> types.GetSetDescriptorType | None:
    depend_on(kind)
    for base in ancestors(kind):
        if name in names_in_class(base):
            found = names_in_class(base)[name]
            return found if type(found) is types.GetSetDescriptorType else None
    return None


def _note_called_with(function: FunctionType, name: str) -> None:
    """Note an assignment to what each call of a function reads, where nobody sees that."""
    if not now.alone:
        reason = "nobody sees which calls come before it"
        unobserved.note_code(f"assignment to {name} of {function.__qualname__}", reason)
    elif name == "__code__":
        unobserved.note(f"assignment to {name}")
