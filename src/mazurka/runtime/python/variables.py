"""Accesses to attributes, global variables and captured variables.

Each event does what its construct does.  Before that, if its thread is under control, it notes the
access or stands before it.  The common cases come first and are short: no control, no other thread,
a location that only this thread has used.
"""

from __future__ import annotations

from _thread import get_ident
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any, Final

from mazurka.runtime.core.insides import find_in_class, qualified_name
from mazurka.runtime.core.moment import now
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.primitives.registry import look_inside
from mazurka.runtime.python import attributes
from mazurka.runtime.python.attributes import (
    INSIDE,
    NOWHERE,
    Settled,
    accessor_in_c,
    approach_entry,
    depend_on,
    home_found,
    home_of,
    is_computed_by_c,
    is_entry,
    settle_class,
    settled,
    variable_of,
)
from mazurka.runtime.python.calls import call, hold_method
from mazurka.runtime.python.catalogue import BUILT_IN
from mazurka.runtime.python.classes import changing, parts_of_assignment, read_classes
from mazurka.runtime.python.containers import (
    Part,
    PendingAccess,
    approach_all,
    enter,
    perform,
)
from mazurka.runtime.python.library.weak_references import PROXIES, follow_proxy
from mazurka.runtime.python.opaque import (
    meet_older,
    note_looked_inside,
    operate,
    parts_of_itself,
    parts_of_operands,
    parts_of_owner_in_c,
)
from mazurka.runtime.python.reentry import compute, perform_in_turns
from mazurka.runtime.python.wrappers import is_field, looks_up_in_c, use_wrapper
from mazurka.runtime.sharing import locations
from mazurka.runtime.sharing.accesses import (
    DataAccess,
    How,
    Read,
    ReadSeveral,
    SharedVariable,
    Together,
    Write,
)
from mazurka.runtime.sharing.kept_by_c import memory_of
from mazurka.runtime.sharing.locations import (
    CHANGING_PARTIALS,
    NOBODY,
    SEVERAL,
    SharedLocation,
    learned,
    points,
    suspect,
)
from mazurka.runtime.sharing.monitoring import unobserved
from mazurka.runtime.sharing.names import EVERYBODY, Seen, held, known, names, see
from mazurka.runtime.sharing.older_fields import evaluates_annotations, makes_annotations
from mazurka.runtime.sharing.older_state import older_state, read_variables

OPEN: Final = Settled.OPEN
OWN: Final = Settled.OWN
_SETTLED: Final = SharedLocation()
"""Stands for attributes that need no location."""
_SETTLED.owner = -3


# -- locations -----------------------------------------------------------------------------------


def touch(seen: Seen, name: str, site: int, written: bool) -> None:
    """Note an access to a variable of an object, or stand before it."""
    location = seen.get(name)
    if location is None or location is _SETTLED:
        location = seen[name] = _new_location(name)
    run = session.current
    if run.over:
        return
    if site in points and not now.alone:
        _stand(location, _variable(location, seen, name), site, written)
        return
    if written:
        location.use(site, True)
        run.running.rounds = None
        now.idle = 0
    else:
        _read(location, site)


def _stand(location: SharedLocation, variable: SharedVariable, site: int, written: bool) -> None:
    """Stand before an access until it is chosen."""
    session.current.point(Write(variable, site) if written else Read(variable, site))
    location.use_at_point(site, written)
    if written:
        location.shared.state += 1


def touch_attribute(
    thing: Any, name: str, site: int, find_home: Callable[[Any, str], Any] = home_of
) -> None:
    """Note a read of an attribute, or stand before it, wherever the attribute lives."""
    thing = _owner_of(thing, name)
    name = variable_of(thing, name)
    if is_field(type(thing), name):
        approach_all(parts_of_itself(thing, How.READ_ALL), site)
        return
    if name == "__dict__":
        attributes.expose(thing)
    if changing.any:
        read_classes((thing,), site)
    home = find_home(thing, name)
    if home is NOWHERE or name == "__annotations__":
        names.note_older(thing, name)  # what computes it may give away what the object keeps
    if home is NOWHERE:
        seen = known(id(thing))
        if seen is not None:
            seen.setdefault(name, _SETTLED)
    elif home is INSIDE:
        look_inside(thing, name)
    elif type(home) is tuple:
        _touch_several([see(asked) for asked in home], name, site, _entry_of(thing, name, How.READ))
    elif (
        learned.moving and is_entry(thing, name) and approach_entry(thing, name, site, How.READ)[0]
    ):
        return
    else:
        touch(see(thing), name, site, False)


def _entry_of(thing: Any, name: str, how: How) -> list[Part]:
    """Describe the entry of an object's dictionary that may be an attribute; none unless the
    program asks for the dictionary."""
    space = attributes.space_of(thing)
    return [] if space is None else [(space, dict, how, name)]


def _owner_of(thing: Any, name: str) -> Any:
    """Find the object that has an attribute: a method gives away those of its function."""
    while type(thing) is MethodType and name not in ("__self__", "__func__"):
        thing = thing.__func__
    return thing


def touch_found(thing: Any, name: str, site: int) -> None:
    """Note a read of an attribute as `object.__getattribute__` performs it."""
    touch_attribute(thing, name, site, home_found)


def _touch_several(asked: list[Seen], name: str, site: int, entries: Sequence[Part]) -> None:
    """Note a read of an attribute that several objects may have, and the dictionary of one of them:
    all are read."""
    run = session.current
    if run.over:
        return
    touched = [variable_at(seen, name)[0] for seen in asked]
    pending = enter(entries, site)
    operations: list[DataAccess] = [access.operation for access in pending]
    is_at_point = site in points and not now.alone
    if is_at_point:
        variables = [_variable(*pair, name) for pair in zip(touched, asked, strict=True)]
        operations.insert(0, ReadSeveral(variables, site))
    if operations:
        run.point(operations[0] if len(operations) == 1 else Together(operations))
    for access in pending:
        access.begin()
    if is_at_point:
        for location in touched:
            location.use_at_point(site, False)
    else:
        for location in touched:
            location.use(site, False)
        now.idle += 1
        if now.idle > now.limit:
            suspect(site)


def _new_location(name: str) -> SharedLocation:
    """Make a location; the short cases do not apply if other objects may have the attribute."""
    location = SharedLocation()
    if name in learned.moving or changing.any:
        location.open()
        location.direct = False
    return location


def variable_at(seen: Seen, name: str) -> tuple[SharedLocation, Callable[[], SharedVariable]]:
    """Find a location of an object, and what makes the variable that stands for it."""
    location = seen.get(name)
    if location is None or location is _SETTLED:
        location = seen[name] = _new_location(name)
    return location, lambda: _variable(location, seen, name)


def _variable(location: SharedLocation, seen: Seen, name: str) -> SharedVariable:
    variable: SharedVariable | None = location.shared
    if variable is None:
        variable = location.shared = SharedVariable(f"{seen.name}.{name}")
        variable.origin = f"{seen.origin or seen.name}.{name}"
    return variable


# -- attributes ----------------------------------------------------------------------------------


def read_attribute(thing: Any, name: str, site: int) -> Any:
    """`thing.name`"""
    if session.current.ident != get_ident():
        return getattr(thing, name)
    if now.alone:
        if id(thing) in held:  # it is given no name: later runs would name it earlier
            older_state.meet(thing)
        if (settled.get((id(type(thing)), name)) or _settle(type(thing), name)) is OPEN:
            _meet_before_others(thing, name)
        return _hold(getattr(thing, name), site)
    seen = known(id(thing))
    if seen is not None:
        location = seen.get(name)
        if location is not None:
            if site in points:
                if location.shared is not None and location.direct and seen.maker == EVERYBODY:
                    _stand(location, location.shared, site, False)
                    return getattr(thing, name)
            elif location.owner == now.thread:
                location.read = now.count
                location.read_site = site
                now.idle = idle = now.idle + 1
                if idle > now.limit:
                    suspect(site)
                return getattr(thing, name)
            elif (last := location.uses.get((now.thread, False))) and last[0] == now.count:
                # Read since the last operation of this thread: whoever writes it meets that read.
                now.idle = idle = now.idle + 1
                if idle > now.limit:
                    suspect(site)
                return getattr(thing, name)
            elif location.owner == SEVERAL and location.direct and seen.maker == EVERYBODY:
                if not session.current.over:
                    _read(location, site)
                return _hold(getattr(thing, name), site)
            if location is _SETTLED:
                return _hold(getattr(thing, name), site)
    kind = type(thing)
    found = settled.get((id(kind), name)) or _settle(kind, name)
    if found is not OPEN:
        if found is OWN:
            touch(see(thing), name, site, False)
        return _hold(getattr(thing, name), site)
    if kind in PROXIES:
        target = follow_proxy(thing)
        return getattr(thing, name) if target is None else read_attribute(target, name, site)
    if looks_up_in_c(kind) or is_field(kind, name):
        value = use_wrapper(thing, site, getattr, thing, name)
        note_looked_inside(thing, name)
        return _hold(value, site)
    if is_computed_by_c(kind, name):
        reading, changes = (parts_of_owner_in_c(thing, how) for how in (How.READ_ALL, How.CHANGE))
        look = partial(_look_at, thing, [part[0] for part in changes])
        return _hold(compute(reading, changes, look, site, getattr, thing, name), site)
    if (getter := accessor_in_c(kind, name, "fget")) is not None:
        return _call_getter(getter, thing, name, site)
    if name == "maxlen" and issubclass(kind, deque):
        return perform((thing, deque, How.LOOK, None), site, getattr, thing, name)
    if kind is partial and name == "keywords":
        learned.learn_moving(CHANGING_PARTIALS)
    touch_attribute(thing, name, site)
    if name == "__annotations__":
        owner = _owner_of(thing, name)
        makes = name in learned.moving and makes_annotations(owner)
        if evaluates_annotations(owner) or makes:
            value = getattr(thing, name)
            if makes:
                names.note_older(owner, name)
            touch(see(owner), name, site, True)
            return _hold(value, site)
    return _hold(getattr(thing, name), site)


def _look_at(thing: Any, changed: Sequence[Any]) -> Any:
    """Give what differs once C code has stored something in one of these objects."""
    return list(map(id, read_variables(thing).values())), list(map(memory_of, changed))


def _meet_before_others(thing: Any, name: str) -> None:
    """Note what C code may change of an older object when a thread that is alone asks for an
    attribute that C code finds or computes."""
    thing = _owner_of(thing, name)
    names.note_older(thing, name)
    if not names.is_older(thing):
        return
    kind = type(thing)
    if looks_up_in_c(kind) or is_field(kind, name):
        meet_older(thing)
    elif is_computed_by_c(kind, name):
        for part in parts_of_owner_in_c(thing, How.CHANGE):
            older_state.meet(part[0])


def _call_getter(getter: Any, thing: Any, name: str, site: int) -> Any:
    """Read an attribute that a property reads by C code."""
    if changing.any:
        read_classes((thing,), site)
    try:
        return call(getter, site)(thing)
    except AttributeError:
        asked = find_in_class(type(thing), "__getattr__")
        if asked is None:
            raise
        return asked.__get__(thing, type(thing))(name)


def _settle(kind: type, name: str) -> Settled:
    """Find what every access to an attribute of objects of a class comes to, and keep it."""
    depend_on(kind)
    older_state.hold_attribute(kind, name)
    by_c = kind in PROXIES or looks_up_in_c(kind) or is_field(kind, name)
    by_c = by_c or is_computed_by_c(kind, name) or (kind is partial and name == "keywords")
    by_c = by_c or (name == "maxlen" and issubclass(kind, deque))
    found = OPEN if by_c else settle_class(kind, name)
    settled[id(kind), name] = found
    return found


def _read(location: SharedLocation, site: int) -> None:
    location.use(site, False)
    now.idle += 1
    if now.idle > now.limit:
        suspect(site)


def read_dict(thing: Any, site: int) -> Any:
    """`thing.__dict__`"""
    if session.current.ident == get_ident():
        attributes.expose(thing)
        if "__dict__" in learned.moving and not now.alone:
            touch(see(thing), "__dict__", site, False)
    return thing.__dict__


def _hold(value: Any, site: int) -> Any:
    return hold_method(value, site) if type(value) in BUILT_IN else value


def write_attribute(value: Any, thing: Any, name: str, site: int) -> None:
    """`thing.name = value`"""
    run = session.current
    if run.ident == get_ident():
        seen = known(id(thing))
        location = _SETTLED if seen is None else seen.get(name, _SETTLED)
        if site in points:
            variable = location.shared
            if variable is None or not location.stored or now.alone:
                _write_slowly(value, thing, name, site)
                return
            run.point(Write(variable, site))
            uses = location.point_uses
            if uses and location.owner < 0 and not location.uses:
                uses[now.thread, True] = (now.count, site)
            else:
                location.use_at_point(site, True)
            variable.state += 1
        else:
            if location.owner == now.thread and (location.stored or _is_own(thing, name)):
                location.write = now.count
                location.write_site = site
            elif location.stored and location.owner == SEVERAL and not run.over:
                location.use(site, True)
            elif location.stored and location.owner == NOBODY and now.alone and not location.shared:
                pass  # whoever else begins later comes after this
            else:
                _write_slowly(value, thing, name, site)
                return
            now.idle = 0
            run.running.rounds = None
    setattr(thing, name, value)


def _is_own(thing: Any, name: str) -> bool:
    """Return whether the object itself is known to hold an attribute.  For a class that is not so:
    objects of the class have its attributes, too."""
    return settled.get((id(type(thing)), name)) is OWN


def _write_slowly(value: Any, thing: Any, name: str, site: int) -> None:
    """`thing.name = value`, where the location is new or not known to be the only one."""
    kind = type(thing)
    if (settled.get((id(kind), name)) or _settle(kind, name)) is not OWN:
        write_own(thing, name, site, How.WRITE, setattr, thing, name, value)
        return
    seen = see(thing)
    if name in seen or site in points or learned.moving or session.current.over:
        _touch_stored(seen, name, site)
    else:
        _write_first(seen, name, site)
    setattr(thing, name, value)


def _write_first(seen: Seen, name: str, site: int) -> None:
    """Note the first access to a variable that the object itself holds, at no scheduling point."""
    location = seen[name] = SharedLocation()
    if not now.alone:
        location.owner = now.thread
        location.write = now.count
        location.write_site = site
    location.stored = seen.maker == EVERYBODY
    session.current.running.rounds = None
    now.idle = 0


def _touch_stored(seen: Seen, name: str, site: int) -> None:
    """Note a write of a variable that the object itself holds, or stand before it."""
    touch(seen, name, site, True)
    if seen.maker == EVERYBODY:
        location = seen[name]
        location.stored = location.direct


def write_own(
    thing: Any, name: str, site: int, how: How, action: Callable[..., Any], *arguments: Any
) -> Any:
    """Write or delete an attribute by calling `action`."""
    pending: Sequence[PendingAccess] = ()
    if session.current.ident == get_ident():
        kind = type(thing)
        if kind in PROXIES and (target := follow_proxy(thing)) is not None:
            thing, kind = target, type(target)
        if changing.any:
            read_classes((thing,), site)
        attributes.note_assigned(thing, name)
        if issubclass(kind, type) and not now.alone:
            _note_replaced(thing, name, arguments[2:])
        if looks_up_in_c(kind) or is_field(kind, name):
            return operate(thing, site, action, *arguments)
        if is_computed_by_c(kind, name):
            parts = [*parts_of_operands((thing,)), *parts_of_owner_in_c(thing, How.CHANGE)[1:]]
            return perform_in_turns(parts, site, action, *arguments)
        setter = accessor_in_c(kind, name, "fset" if how is How.WRITE else "fdel")
        if setter is not None and action in _COMPUTING:
            return call(setter, site)(*arguments[:1], *arguments[2:])
        is_direct = action not in _COMPUTING or not attributes.is_computed_store(thing, how)
        pending = _touch_own(thing, name, site, how, is_direct)
    if not pending and name != "__class__":
        return action(*arguments)
    try:
        return action(*arguments)
    finally:
        for access in pending:
            access.settle()
        if name == "__class__" and session.current.ident == get_ident():
            attributes.expose(thing)  # objects of the new class, too
            parts_of_assignment(thing, name)


def _note_replaced(kind: type, name: str, values: Sequence[Any]) -> None:
    """Note an assignment to an attribute of a class, if C code computes the attribute before or
    after it: accesses to such attributes are accesses to what the C code uses, not to the class."""
    by_c = looks_up_in_c(kind) or is_field(kind, name) or is_computed_by_c(kind, name)
    by_c = by_c or accessor_in_c(kind, name, "fget") is not None
    if by_c or any(map(attributes.is_descriptor_of_c, values)):
        where = f"assignment to {name} of {qualified_name(kind)}"
        unobserved.note_code(where, "nobody sees which accesses come before it")


_COMPUTING: Final = (setattr, delattr)
"""What calls `__setattr__` or `__delattr__` of the object, which may be Python code.  Others store
the value themselves (`object.__setattr__`)."""


def _touch_own(
    thing: Any, name: str, site: int, how: How, is_direct: bool
) -> Sequence[PendingAccess]:
    if name in ("__dict__", "__class__"):
        return _touch_all_own(thing, name, site)
    name = variable_of(thing, name)
    home = attributes.home_of_store(thing, name)
    if home is NOWHERE:
        locations.progress()  # `threading.local`, a field of a C object: no frame shows it
        return approach_all(parts_of_assignment(thing, name), site)
    parts: list[Part] = []
    if learned.moving and is_direct:
        if name in learned.moving and type(thing) is not ModuleType:
            parts += _entry_of(thing, name, how)
        elif is_entry(thing, name):
            is_one, pending = approach_entry(thing, name, site, how)
            if is_one:
                return () if pending is None else (pending,)
    parts += parts_of_assignment(thing, name)
    space = attributes.space_of_store(thing)
    if space is not None:
        parts.append((space, dict, how, name))
    if parts:
        return _touch_with_parts(see(home), name, site, parts)
    if issubclass(type(thing), (type, ModuleType)):
        touch(see(home), name, site, True)
    else:
        _touch_stored(see(home), name, site)
    return ()


def _touch_all_own(thing: Any, name: str, site: int) -> Sequence[PendingAccess]:
    """Note that a thread gives an object another class or dictionary: what all attributes are
    changes."""
    attributes.note_replaced(thing, name)
    attributes.expose(thing)
    parts = parts_of_assignment(thing, name)
    space = attributes.space_of(thing)
    if space is not None:
        parts.append((space, dict, How.CHANGE, None))
    return _touch_with_parts(see(thing), name, site, parts)


def _touch_with_parts(
    seen: Seen, name: str, site: int, parts: Sequence[Part]
) -> Sequence[PendingAccess]:
    """Note a write of a variable together with accesses to containers, such as an entry of a
    dictionary, or stand before all at once."""
    location, variable = variable_at(seen, name)
    pending = enter(parts, site)
    operations: list[DataAccess] = [access.operation for access in pending]
    run = session.current
    is_at_point = site in points and not now.alone and not run.over
    if is_at_point:
        operations.insert(0, Write(variable(), site))
    elif not run.over:
        location.use(site, True)
        run.running.rounds = None
        now.idle = 0
    if operations:
        run.point(operations[0] if len(operations) == 1 else Together(operations))
    for access in pending:
        access.begin()
    if is_at_point:
        location.use_at_point(site, True)
        location.shared.state += 1
    return pending


def write_fields(
    thing: Any,
    names: Sequence[str],
    site: int,
    action: Callable[..., Any],
    /,
    *given: Any,
    **named: Any,
) -> Any:
    """Call C code that writes several variables of an object, as one operation."""
    run = session.current
    if run.ident != get_ident() or run.over:
        return action(*given, **named)
    seen = see(thing)
    found = [variable_at(seen, name) for name in names]
    run.running.rounds = None
    now.idle = 0
    if site in points and not now.alone:
        run.point(Together([Write(variable(), site) for _, variable in found]))
        for location, _ in found:
            location.use_at_point(site, True)
            location.shared.state += 1
    else:
        for location, _ in found:
            location.use(site, True)
    return action(*given, **named)


def raise_error(error: Any, has_cause: bool, site: int) -> Any:
    """Note that an exception is about to be raised, which gives it a traceback and a context."""
    if not issubclass(type(error), BaseException):
        return error  # a class, of which the interpreter makes one
    names = (*_RAISED, "__cause__") if has_cause else _RAISED
    return write_fields(error, names, site, lambda: error)


_RAISED: Final = ("__traceback__", "__context__")


def delete_attribute(thing: Any, name: str, site: int) -> None:
    """`del thing.name`"""
    write_own(thing, name, site, How.REMOVE, delattr, thing, name)


def accesses_to_slot(slot: Any, name: str, site: int) -> dict[str, Callable[..., Any]]:
    """Return the replacements of the methods of a slot.  By the time of the access the class may
    have something else under the slot's name."""

    def read(thing: Any, *kind: Any) -> Any:
        if session.current.ident != get_ident() or now.alone:
            return read_attribute(thing, name, site)
        touch_attribute(thing, name, site)
        return _hold(slot.__get__(thing), site)

    def write(thing: Any, value: Any) -> None:
        write_own(thing, name, site, How.WRITE, slot.__set__, thing, value)

    def delete(thing: Any) -> None:
        write_own(thing, name, site, How.REMOVE, slot.__delete__, thing)

    return {"__get__": read, "__set__": write, "__delete__": delete}


# -- globals -------------------------------------------------------------------------------------


def read_global_of(seen_by: Any, name: str, site: int) -> None:
    """Note that a global variable of a module is about to be read."""
    if session.current.ident != get_ident() or now.alone:
        return
    seen = known(id(seen_by))
    location = None if seen is None else seen.get(name)
    if location is not None and location.owner == now.thread and site not in points:
        location.read = now.count
        location.read_site = site
        now.idle = idle = now.idle + 1
        if idle > now.limit:
            suspect(site)
    elif not (learned.moving and approach_entry(seen_by, name, site, How.READ)[0]):
        touch(see(seen_by), name, site, False)


def write_global_of(value: Any, seen_by: Any, name: str, site: int) -> Any:
    """Note that a global variable of a module is about to be bound to a value; return it."""
    if session.current.ident == get_ident():
        space = attributes.space_of(seen_by)
        if space is None:
            touch(see(attributes.home_of_store(seen_by, name)), name, site, True)
        else:  # what is known of the dictionary has to be right afterwards
            write_own(seen_by, name, site, How.WRITE, space.__setitem__, name, value)
    return value


def delete_global_of(seen_by: Any, name: str, site: int) -> None:
    """`del name`, for a global variable of a module."""
    if name not in vars(seen_by) and session.current.ident != get_ident():
        raise NameError(f"name {name!r} is not defined", name=name)
    try:
        write_own(seen_by, name, site, How.REMOVE, vars(seen_by).__delitem__, name)
    except KeyError:
        raise NameError(f"name {name!r} is not defined", name=name) from None


# -- captured variables --------------------------------------------------------------------------


def read_captured(look: FunctionType, site: int) -> None:
    """Note that a captured variable is about to be read: the only free variable of `look`."""
    if session.current.ident != get_ident():
        return
    if not now.alone:
        touch(_see_cell(look), "cell_contents", site, False)
    elif look.__closure__ and id(look.__closure__[0]) in held:
        older_state.meet(look.__closure__[0])


def write_captured(value: Any, look: FunctionType, site: int) -> Any:
    """Note that a captured variable is about to be bound to a value; return it."""
    if session.current.ident == get_ident():
        touch(_see_cell(look), "cell_contents", site, True)
    return value


def _see_cell(look: FunctionType) -> Seen:
    assert look.__closure__ is not None
    cell: CellType = look.__closure__[0]
    seen = see(cell)
    if not seen.origin:
        seen.origin = look.__code__.co_freevars[0]
    return seen


# -- several targets, and augmented assignments ---------------------------------------------------


class Target:
    """An assignment target: setting `value` performs the assignment, as in `a, b.c = ...`."""

    __slots__ = ("_store",)

    def __init__(self, store_value: Callable[[Any], None]) -> None:
        self._store = store_value

    @property
    def value(self) -> Any:
        raise AttributeError("an assignment target has no value")

    @value.setter
    def value(self, value: Any) -> None:
        self._store(value)


def attribute_target(thing: Any, name: str, site: int) -> Target:
    """Make an assignment target of an attribute."""
    return Target(lambda value: write_attribute(value, thing, name, site))


def captured_target(look: FunctionType, site: int) -> Target:
    """Make an assignment target of a captured variable."""
    assert look.__closure__ is not None
    cell = look.__closure__[0]
    return Target(lambda value: setattr(cell, "cell_contents", write_captured(value, look, site)))


def hold_attribute(thing: Any, name: str, site: int) -> tuple[Any, str, Any]:
    """The first half of `thing.name += ...`: return the object, the name and the present value."""
    return thing, name, read_attribute(thing, name, site)
