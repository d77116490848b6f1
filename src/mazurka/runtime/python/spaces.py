"""Attributes that are reached through the dictionary that holds them: `o.__dict__`, `globals()`.

An attribute and the entry of its object's dictionary are one variable.  As long as nobody asks for
the dictionary, attributes are locations of their own.  Where a run shows that the program asks for
the dictionary of some object, its class is *exposed* from then on, for the whole exploration
(`Learned.moving`): attributes of all objects of that class are entries of their dictionaries, and
accesses to them are accesses to containers.  The same goes for modules and their global variables.
"""

from __future__ import annotations

from _thread import get_ident
from gc import get_referents
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any, Final

from mazurka.runtime.core.insides import attributes, names_in
from mazurka.runtime.core.moment import now
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.python.containers import Standing, approach
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.locations import learned
from mazurka.runtime.sharing.monitoring import unobserved
from mazurka.runtime.sharing.names import EVERYBODY, Seen, names, objects, see

_exposed: dict[Any, bool] = {}
"""By class or module: whether it is exposed."""
_classes: dict[int, tuple[Any, type]] = {}
"""By the identity of the dictionary of a class: the dictionary, and the class."""
_MADE: Final = 1 << 9
"""The flag of classes that statements have made; no others keep variables in dictionaries."""


def forget_spaces() -> None:
    """A run begins."""
    _exposed.clear()
    _classes.clear()


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
        _classes[id(space)] = (space, thing)
        return
    holder = thing if type(thing) is ModuleType else type(thing)
    if holder is not thing and not holder.__flags__ & _MADE:
        return
    if not _is_exposed(holder):
        label = _label(holder)
        learned.moving.add(label)
        learned.news.append(label)
        _exposed[holder] = True
    space_of(thing)


def class_behind(proxy: MappingProxyType[Any, Any]) -> type | None:
    """The class whose dictionary it shows, if the program has it from there."""
    found = _classes.get(id(get_referents(proxy)[0]))
    return None if found is None else found[1]


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


def approach_entry(thing: Any, name: str, site: int, how: How) -> tuple[bool, Standing | None]:
    """Stand before an access to an attribute of an object that is exposed: whether it is one."""
    space = space_of(thing)
    if space is None:
        return False, None
    return True, approach((space, dict, how, name), site)


def is_computed_store(thing: Any) -> bool:
    """Whether code of the program stores the attributes of an object; that code is watched."""
    return isinstance(type(thing).__setattr__, FunctionType)


def shown_space(space: dict[str, Any], module: ModuleType) -> dict[str, Any]:
    """`globals()`"""
    if session.current.ident == get_ident():
        expose(module)
    return space


def replaced(name: str) -> None:
    """Something is given another dictionary, or another class."""
    if not now.alone:
        unobserved.note(f"assignment to {name}")
