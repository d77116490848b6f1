"""Where an attribute lives: which object's location an attribute access touches.

The real lookup, read off the classes: data descriptors come first, then the object's own
dictionary, then the class.  What is computed (properties, `__getattr__`, methods) is a call and no
location; the code that is called is watched itself.  Functions that a class or a module holds are
taken to stay where they are.

Which objects an access touches must not depend on the moment at which its thread arrives there: by
the time it is chosen, others may have added and removed attributes.  So what an instance and its
classes have at the moment decides nothing.  An attribute that an instance may have is read there,
found or not.  What classes have does not change, as a rule, and needs no location; where a run
shows that it does, the name is *moving* from then on, for the whole exploration (`Learned.moving`),
and all objects that could have it are read.
"""

from __future__ import annotations

import _thread
import functools
import threading
import types
import weakref
from _thread import get_ident
from gc import get_referents
from types import FunctionType, ModuleType
from typing import Any, Final

from mazurka.runtime.core.insides import attributes, names_in
from mazurka.runtime.core.moment import now
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.primitives.registry import is_private, note_change
from mazurka.runtime.python.catalogue import BUILT_IN, is_made, is_value
from mazurka.runtime.python.containers import PendingAccess, approach, classes_shown
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.locations import learned
from mazurka.runtime.sharing.monitoring import unobserved
from mazurka.runtime.sharing.names import EVERYBODY, Seen, names, objects, see

NOWHERE: Final = object()
"""No location: a call, or something that does not change."""
INSIDE: Final = object()
"""An object of the library has it, which is under control as a whole."""

_COMPUTED = (_thread._local, super, weakref.ProxyType, weakref.CallableProxyType)
"""Built-in types whose attributes are not kept in the object itself."""
_SETTLED = (
    types.FunctionType,
    *BUILT_IN,
    types.ModuleType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    staticmethod,
    classmethod,
    property,
    type,
)
_MISSING: Final = object()

_OWN: Final = 0
"""Instances have it, or nobody has."""
_DATA: Final = 1
"""A class has it, and instances may have their own."""
_CALL: Final = 2
"""A class has a function for it, and instances may have their own."""
_COMPUTE: Final = 3
"""It is computed, and instances have nothing to say."""
_SLOT: Final = 4
"""Instances have it, but not in a dictionary."""

_INSIDE: Final = 5
"""See `INSIDE`."""

_sorts: dict[tuple[type, str], int] = {}
"""By class and name: what reading the attribute of an instance means."""


def forget_classes() -> None:
    """Classes may have changed between runs."""
    _sorts.clear()
    forget_spaces()


def _sort(kind: type, name: str) -> int:
    found = _sorts.get((kind, name))
    if found is None:
        found = _sorts[kind, name] = _find_sort(kind, name)
    return found


def _find_sort(kind: type, name: str) -> int:
    if issubclass(kind, _COMPUTED):
        return _COMPUTE
    if is_private(kind, name):
        return _INSIDE
    if issubclass(kind, threading.Thread) and name in ("name", "daemon"):
        return _SLOT  # properties of the library's around variables
    for base in kind.__mro__:
        value = base.__dict__.get(name, _MISSING)
        if value is _MISSING:
            continue
        sort = type(value)
        if sort is types.MemberDescriptorType:
            return _SLOT
        if sort is types.GetSetDescriptorType and _keeps_something(kind, name):
            return _SLOT
        if sort is functools.cached_property:
            return _DATA
        if sort is property and not isinstance(value.fget, types.FunctionType):
            unobserved.note(f"the property {name}")
        if hasattr(sort, "__set__") or hasattr(sort, "__delete__"):
            return _COMPUTE
        return _CALL if hasattr(sort, "__get__") or isinstance(value, _SETTLED) else _DATA
    return _OWN


def _keeps_something(kind: type, name: str) -> bool:
    """Whether an attribute that C code computes is a variable all the same: `error.args`."""
    if kind is types.FunctionType:
        return name not in _LINKS and name not in _CODE
    return not is_value(kind) and name not in _LINKS


_LINKS: Final = ("__dict__", "__class__", "__weakref__")
_CODE: Final = ("__code__", "__globals__", "__closure__", "__builtins__")
_CALLED_WITH: Final = ("__code__", "__defaults__", "__kwdefaults__")
"""What calls of a function read, which no location shows."""


def is_entry(thing: Any, name: str) -> bool:
    """Whether an attribute is kept in a dictionary, if there is one."""
    kind = type(thing)
    if kind is types.ModuleType:
        return True
    return not issubclass(kind, type) and _sort(kind, name) in (_OWN, _DATA, _CALL)


def home_of(thing: Any, name: str) -> Any:
    """The object to which the attribute belongs that is about to be read; or NOWHERE.

    A tuple where others may have it, too, and all of them decide what is read.
    """
    kind = type(thing)
    if kind is types.ModuleType:
        value = thing.__dict__.get(name, _MISSING)
        settled = isinstance(value, _SETTLED) and name not in learned.moving
        return NOWHERE if settled else thing
    if issubclass(kind, type):
        return _home_in_class(thing, name)
    if isinstance(kind.__getattribute__, types.FunctionType):
        return NOWHERE  # its code says what is found, and is watched
    if name in learned.moving and is_made(kind):
        return (thing, *_changing(kind))
    sort = _sort(kind, name)
    if sort == _INSIDE:
        return INSIDE
    return thing if sort in (_OWN, _DATA, _SLOT) else NOWHERE


def _changing(kind: type) -> list[type]:
    return [base for base in kind.__mro__ or () if is_made(base)]


def _home_in_class(thing: type, name: str) -> Any:
    if name in learned.moving:
        return (*_changing(thing), *_changing(type(thing))) or NOWHERE
    if _is_computed_in_class(thing, name):
        return NOWHERE
    for base in thing.__mro__ or ():
        value = base.__dict__.get(name, _MISSING)
        if value is not _MISSING:
            return NOWHERE if isinstance(value, (*_SETTLED, types.MemberDescriptorType)) else thing
    return NOWHERE if hasattr(type(thing), name) else thing


def _is_computed_in_class(thing: type, name: str) -> bool:
    """Whether the class of a class, like the class of any object, has a property of that name."""
    return type(thing) is not type and _sort(type(thing), name) == _COMPUTE


def home_of_store(thing: Any, name: str) -> Any:
    """The object to which the attribute belongs that is about to be written; or NOWHERE."""
    kind = type(thing)
    if kind is types.ModuleType:
        if isinstance(thing.__dict__.get(name), _SETTLED):
            _move(name)
        return thing
    if issubclass(kind, type):
        if name not in learned.moving and _is_computed_in_class(thing, name):
            return NOWHERE
        _sorts.clear()
        _move(name)
        return thing
    if kind is types.FunctionType:
        _note_given(name)
    sort = _sort(kind, name)
    if sort == _CALL:
        _move(name)
    if sort == _INSIDE:
        note_change(kind, name)
        return NOWHERE
    return thing if sort != _COMPUTE or name in learned.moving else NOWHERE


def _note_given(name: str) -> None:
    """A function is given something."""
    if name in _CALLED_WITH and (name == "__code__" or not now.alone):
        unobserved.note(f"assignment to {name}")


def _move(name: str) -> None:
    """Something changes that was taken to stay; while a thread is alone, nobody can tell."""
    if not now.alone and name not in learned.moving:
        learned.moving.add(name)
        learned.news.append(f"attribute {name}")


_exposed: dict[Any, bool] = {}
"""By class or module: whether it is exposed."""


def forget_spaces() -> None:
    """A run begins."""
    _exposed.clear()
    classes_shown.clear()


def _label(holder: Any) -> str:
    if type(holder) is ModuleType:
        return f"variables of {holder.__name__}"
    return f"attributes of {holder.__module__}.{holder.__qualname__}"


def _is_exposed(holder: Any) -> bool:
    found = _exposed.get(holder)
    if found is None:
        found = _exposed[holder] = _label(holder) in learned.moving
    return found


def expose(thing: Any) -> None:
    """The program asks for the dictionary of an object; to be called under control."""
    if issubclass(type(thing), type):
        space = get_referents(vars(thing))[0]
        classes_shown[id(space)] = (space, thing)
        return
    holder: Any = thing if type(thing) is ModuleType else type(thing)
    if holder is not thing and not is_made(holder):
        return
    if not _is_exposed(holder):
        label = _label(holder)
        learned.moving.add(label)
        learned.news.append(label)
        _exposed[holder] = True
    space_of(thing)


def space_of(thing: Any) -> dict[str, Any] | None:
    """The dictionary whose entries the attributes of an object are; None if it is not exposed."""
    if not learned.moving:
        return None
    if type(thing) is ModuleType:
        found: Any = names_in(thing) if _is_exposed(thing) else None
    elif _is_exposed(type(thing)):
        get = attributes(type(thing))
        found = None if get is None else get(thing)
    else:
        return None
    if type(found) is not dict:
        return None
    if id(found) not in objects:
        _name(found, thing)
    return found


def _name(space: dict[str, Any], thing: Any) -> None:
    """A dictionary that nobody has met is called after the object that it belongs to."""
    if names.is_pinned(space):
        return
    owner = see(thing)
    number = owner.number if owner.vague else 0
    objects[id(space)] = Seen(space, EVERYBODY, f"{owner.name}.__dict__", number)


def approach_entry(thing: Any, name: str, site: int, how: How) -> tuple[bool, PendingAccess | None]:
    """Stand before an access to an attribute of an object that is exposed: whether it is one."""
    space = space_of(thing)
    if space is None:
        return False, None
    return True, approach((space, dict, how, name), site)


def is_computed_store(thing: Any) -> bool:
    """Whether code of the program stores the attributes of an object; that code is watched."""
    return isinstance(type(thing).__setattr__, FunctionType)


def show_space(space: dict[str, Any], module: ModuleType) -> dict[str, Any]:
    """`globals()`"""
    if session.current.ident == get_ident():
        expose(module)
    return space


def note_replaced(name: str) -> None:
    """Something is given another dictionary, or another class."""
    if not now.alone:
        unobserved.note(f"assignment to {name}")
