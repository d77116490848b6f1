"""The state of objects that are older than the runs: every run has to find it as the first one did.

A test may change what outlives its runs: a module's variable that is set when it is first needed, a
cache in a dictionary, an attribute of a class.  The second run would find the variable set, and no
run after the first would set it; a race there would never be seen again.  So what a run has changed
in such objects is put back when the run has ended.

Objects are known to be older if they have names of their own (`sharing.names`): modules, classes,
and whatever modules and the test lead to; and so is what an older object held.  Each is copied,
one level deep, when a thread first meets it; observed code shows an object before it changes it.
A run that enters a module for the first time finds nothing of it named.  There, what its functions
and classes hold is older, and so on, step by step as the run comes to it.
After a run, those that it has met are compared with their copies, by identity, and no code of the
program runs.

What the test function itself captures is left alone: those who call `explore` gather there what
executions have shown.

What a module's code does when it is imported stays, since no later run imports it again.  What C
code keeps (an iterator, a file) cannot be put back, and neither can a generator that is older than
the runs: after a run that has resumed one, everything stays (`keep_all`), and nothing is proved.  A
cache of `functools` that was empty is emptied, and a generator of random numbers (`random.Random`)
goes on where it was.
"""

from __future__ import annotations

from _random import Random
from array import array
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from operator import is_
from types import (
    CellType,
    GetSetDescriptorType,
    MemberDescriptorType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, Final, TypeAlias
from weakref import finalize

from mazurka.runtime.core.insides import (
    ancestors,
    attributes,
    is_machinery,
    is_own,
    names_in,
    names_in_class,
    qualified_name,
    slots,
)
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.sharing.captured import find_captured
from mazurka.runtime.sharing.kept_by_c import hides_something, older_in_c, read_hidden_in_class
from mazurka.runtime.sharing.older_caches import CACHED, is_same, put_entries_back, read_entries
from mazurka.runtime.sharing.older_fields import OlderFields, Values, find_fields

Slots: TypeAlias = dict[str, MemberDescriptorType]
_MISSING: Final = object()
_CELL: Final = "cell_contents"
_LISTS: Final = (list, deque)
_BUFFERS: Final = (bytearray, array)
_OURS: Final = "_mazurka"
"""How names begin that are Mazurka's own."""
Elements: TypeAlias = list[Any]
"""A list of the elements of a container, or one of its keys and one of its values."""


class OlderState:
    """What objects held when the runs of an exploration first met them."""

    def __init__(self) -> None:
        self._first: dict[int, tuple[Any, Holding]] = {}
        """By identity: each object, and what it held."""
        self._met: dict[int, Any] = {}
        """By identity: those that the present run has met."""
        self._copied: list[int] = []
        """The identities of those that the present run was the first to meet."""
        self.held: set[int] = set()
        """The identities of what these objects and modules held: that is older, too."""
        self.own: set[int] = set()
        """The identities of what the test itself captures."""
        self._kept: list[Any] = []
        """Keeps alive what modules held."""
        self._passing: list[Any] = []
        """Keeps alive what is known to be older only for the present run."""
        self._whole: set[int] = set()
        """The identities of modules and classes whose namespaces the present run has got hold of:
        it may have changed any of their variables."""
        self._assigned: list[tuple[Any, GetSetDescriptorType, Any]] = []
        """Objects of which the present run has assigned something that C code keeps, as the
        defaults of a function or the class of an object, and what they had."""

    def clear(self) -> None:
        """Forget the exploration."""
        self._first.clear()
        self._met.clear()
        self._copied.clear()
        self.held.clear()
        self._kept.clear()
        self._passing.clear()
        self._whole.clear()
        self._assigned.clear()

    def renew(self) -> None:
        """Copy objects anew when they are met again: between two runs, locks have been replaced."""
        self._first.clear()
        self._copied.clear()
        self.held.clear()
        self._passing.clear()
        for values in self._kept:
            self.held.update(map(id, values))

    def hold_for_now(self, things: Iterable[Any]) -> None:
        """Note that objects are older than the runs, until all are found anew (`renew`)."""
        begin = len(self._passing)
        self._passing.extend(things)
        self.held.update(map(id, self._passing[begin:]))

    def hold(self, module: ModuleType) -> None:
        """Note that what a module holds is older than the runs."""
        values = list(names_in(module).values())
        self._kept.append(values)
        self.held.update(map(id, values))

    def hold_attribute(self, kind: type, name: str) -> None:
        """Note that what a class holds is older than the runs: objects lead to it, too, and nobody
        looks at the class."""
        for home in (*ancestors(kind), *ancestors(type(kind))):
            value = names_in_class(home).get(name, _MISSING)
            if value is not _MISSING:
                if "<locals>" not in qualified_name(home):
                    values = [value, *find_captured((value,))]
                    self._kept.append(values)
                    self.held.update(map(id, values))
                return

    def hold_captured(self, functions: Iterable[Any]) -> None:
        """Note that what functions hold is older than the runs: code that calls one of them does
        not show it first."""
        values = [part for part in find_captured(functions) if id(part) not in self.own]
        self._kept.append(values)
        self.held.update(map(id, values))

    def meet(self, thing: Any) -> None:
        """Note that the present run has an older object, which it may change."""
        key = id(thing)
        if thing is finalize:  # its list is part of the objects that it finalizes
            return
        if key not in self._first:
            if is_machinery(thing):
                return
            holding = Holding(thing)
            self._first[key] = thing, holding
            self._copied.append(key)
            self._hold_parts(holding)
        if hides_something(type(thing)):
            session.current.do_aside(older_in_c.meet, thing)
        self._met[key] = thing

    def _hold_parts(self, holding: Holding) -> None:
        self.held.update(map(id, holding.variables.values()))
        self.held.update(map(id, holding.parts))
        for part in holding.elements or ():
            self.held.update(map(id, part))

    def has_met(self, thing: Any) -> bool:
        """Whether the present run has an older object."""
        return id(thing) in self._met

    def show_whole(self, thing: Any) -> None:
        """Note that the present run has got hold of the namespace of a module or a class."""
        if id(thing) in self._met:
            self._whole.add(id(thing))

    def note_assigned(self, thing: Any, kept: GetSetDescriptorType) -> None:
        """Note that the present run is about to assign an attribute that C code keeps."""
        self._assigned.append((thing, kept, _read_slot(kept, thing)))

    def put_back(self, touched: Callable[[int], Mapping[str, object] | None]) -> list[Any]:
        """Let the objects that the run has met hold what they held; `touched` says by identity
        which of their attributes it has used.  Return those of which that is impossible.

        Two objects may share what they hold: an object and its dictionary, or a class and the
        slots of its objects.  The one that the run met last was copied last, perhaps with changes
        that the run had made by way of the other one; so it is put back first.
        """
        assigned, self._assigned = self._assigned[::-1], []
        waiting = [each for each in assigned if not _write_kept(*each)]
        met, self._met = self._met, {}
        lost = self._put_variables_back(reversed(met.values()), touched)
        # A descriptor may belong to a class that an object has only now again.
        for each in waiting:
            if not _write_kept(*each):
                lost.append(each[0])
        lost += self._put_variables_back((thing for thing, *_ in waiting), touched)
        self._whole.clear()
        if not lost:
            self._copy_again()
        self._copied.clear()
        return lost

    def _put_variables_back(
        self, things: Iterable[Any], touched: Callable[[int], Mapping[str, object] | None]
    ) -> list[Any]:
        lost = []
        for thing in things:
            key = id(thing)
            names, whole = touched(key) or (), key in self._whole
            if not self._first[key][1].put_back(thing, names, whole=whole):
                lost.append(thing)
        return lost

    def _copy_again(self) -> None:
        """Copy those again that were copied with changes of the present run in them, now that
        everything is put back."""
        changed = [key for key in self._copied if self._first[key][1].differs(self._first[key][0])]
        if changed:
            for key in changed:
                self._first[key] = self._first[key][0], Holding(self._first[key][0])
            self.held.clear()
            self.held.update(map(id, self._passing))
            for values in self._kept:
                self.held.update(map(id, values))
            for _, holding in self._first.values():
                self._hold_parts(holding)

    def keep_all(self) -> None:
        """Let everything stay as the present run has left it, and be what later ones find.

        A run has used up something that cannot be put back.  What it was used for must not be put
        back, either: a cache would be empty again, and the generator that fills it at its end.
        """
        self._met.clear()
        self._whole.clear()
        self._assigned.clear()
        self.renew()

    def change(self, thing: Any, name: str, value: Any) -> None:
        """Note that a variable of an object has been changed for the whole exploration."""
        if id(thing) in self._first:
            holding = self._first[id(thing)][1]
            holding.variables[holding.slots.get(name, name)] = value

    def keep_changes(self, action: Callable[[Any], Any], argument: Any) -> Any:
        """Call a function that imports a module; what it gives to older objects stays there."""
        before = {key: Holding(thing) for key, thing in self._met.items()}
        try:
            return action(argument)
        finally:
            self._adopt(before)

    def _adopt(self, before: Mapping[int, Holding]) -> None:
        for key, thing in self._met.items():
            first = self._first[key][1]
            first.adopt(before.get(key, first), Holding(thing))


_ANNOTATIONS: Final = frozenset(
    {"__annotations__", "__annotations_cache__", "__annotate__", "__annotate_func__"}
)
"""Under which names a class or a module keeps annotations and what evaluates them: to ask for one
of these, or to assign it, changes others."""


class Holding:
    """What one object holds: its variables, and its elements if it is a container."""

    __slots__ = (
        *("_fields", "_hidden", "_is_space", "_values"),
        *("elements", "numbers", "parts", "slots", "variables"),
    )

    def __init__(self, thing: Any) -> None:
        kind = type(thing)
        self._is_space = kind is CellType or issubclass(kind, (ModuleType, type))
        self.slots = _find_slots(thing)
        """The slots by name, as the class has them now: a run may rename them."""
        self.variables = read_variables(thing, self.slots)
        """The values of the namespace by name, and those of slots by slot."""
        self._fields: OlderFields | None = find_fields(kind)
        self._values: Values = () if self._fields is None else self._fields.read(thing)
        """The fields."""
        self._hidden = read_hidden_in_class(thing)
        """What C code of a metaclass keeps of a class."""
        self.elements = _read_elements(thing)
        elements = () if issubclass(kind, _BUFFERS) else self.elements or ()
        held = chain((thing,), self.variables.values(), self._values, *elements)
        self.parts = (*self._values, *find_captured(held))
        """What else belongs to the object, and is older, too."""
        self.numbers: Any = Random.getstate(thing) if issubclass(type(thing), Random) else None
        """The state of a generator of random numbers."""

    def differs(self, thing: Any) -> bool:
        """Tell whether an object holds anything else than this, its fields aside."""
        if self.find_changed(thing):
            return True
        return self.elements is not None and not is_same(
            self.elements, _read_elements(thing) or self.elements
        )

    def find_changed(self, thing: Any) -> list[Any]:
        """Find the names and slots under which an object does not hold what this says.

        What is Mazurka's own, or stands for a lock, has been put there for all runs.
        """
        present, before = read_variables(thing, self.slots), self.variables
        if len(present) == len(before):
            pairs = zip((present, present.values()), (before, before.values()), strict=True)
            if all(all(map(is_, new, old)) for new, old in pairs):
                return []
        return [
            name
            for name in {**before, **present}
            if (value := present.get(name, _MISSING)) is not before.get(name, _MISSING)
            and not (type(name) is str and name.startswith(_OURS))
            and not is_own(getattr(value, "__self__", value))
        ]

    def put_back(self, thing: Any, touched: Any, *, whole: bool = False) -> bool:
        """Let an object hold this again, as far as a run may have changed it: of a module or a
        class, the variables in `touched` unless it has been shown as a `whole`.  Tell whether it
        holds this then."""
        done = self._fields is None or _put_fields_back(thing, self._fields, self._values)
        if whole or not self._is_space or self._hidden is not None:
            touched = self.find_changed(thing)
        else:
            touched = [*touched, *(self.slots[name] for name in touched if name in self.slots)]
            if not _ANNOTATIONS.isdisjoint(touched):
                touched += _ANNOTATIONS
        if touched:
            present = _space_of(thing)
            for key in touched:
                old = self.variables.get(key, _MISSING)
                if _variable(thing, present, key) is not old:
                    done = _write_variable(thing, key, old) and done
        if self.elements is not None:
            _put_elements_back(thing, self.elements)
        if self.numbers is not None and Random.getstate(thing) != self.numbers:
            Random.setstate(thing, self.numbers)
        return done and (self._hidden is None or read_hidden_in_class(thing) == self._hidden)

    def adopt(self, before: Holding, after: Holding) -> None:
        """Add to this what has changed in between."""
        for name in before.variables.keys() | after.variables.keys():
            value = after.variables.get(name, _MISSING)
            if value is before.variables.get(name, _MISSING):
                continue
            if value is _MISSING:
                self.variables.pop(name, None)
            else:
                self.variables[name] = value
        if self.elements is None or before.elements is None or after.elements is None:
            return
        if not is_same(before.elements, after.elements):
            self.elements = _merge(self.elements, before.elements, after.elements)


# -- variables -----------------------------------------------------------------------------------


def _space_of(thing: Any) -> Mapping[str, Any]:
    """The namespace of a module, a class or an object; empty if it has none."""
    kind = type(thing)
    if issubclass(kind, ModuleType):
        return names_in(thing)
    if issubclass(kind, type):
        return names_in_class(thing)
    get = attributes(kind)
    found = None if get is None else get(thing)
    return found if type(found) is dict else {}


def _find_slots(thing: Any) -> Slots:
    """Find the slots of an object by name; a name leads to what the first class has under it."""
    kind = type(thing)
    if kind is CellType or issubclass(kind, (ModuleType, type)):
        return {}
    spaces = [names_in_class(base) for base in ancestors(kind)]
    return {
        name: slot
        for name, slot in slots(kind)
        if slot is next(space[name] for space in spaces if name in space)
    }


def read_variables(thing: Any, own: Slots | None = None) -> dict[Any, Any]:
    """Read the variables of an object: its namespace by name, and its slots by slot, those of its
    class unless others are given."""
    found: dict[Any, Any] = dict(_space_of(thing))
    if type(thing) is CellType:
        found[_CELL] = _variable(thing, {}, _CELL)
    for slot in (_find_slots(thing) if own is None else own).values():
        value = _read_slot(slot, thing)
        if value is not _MISSING:
            found[slot] = value
    return found


def _variable(thing: Any, space: Mapping[str, Any], key: Any) -> Any:
    if type(thing) is CellType:
        try:
            return thing.cell_contents
        except ValueError:
            return _MISSING
    if type(key) is MemberDescriptorType:
        return _read_slot(key, thing)
    return space.get(key, _MISSING)


def _read_slot(slot: Any, thing: Any) -> Any:
    """Read a slot; `contextlib.suppress` would be code that the program may run, too."""
    try:
        return slot.__get__(thing)
    except (AttributeError, TypeError, ValueError):  # of a slot of another class; of an empty cell
        return _MISSING


def _write_variable(thing: Any, key: Any, value: Any) -> bool:
    """Set a variable, or delete it if it was not there; tell whether that has been done."""
    kind = type(thing)
    try:
        if kind is CellType:
            if value is _MISSING:
                del thing.cell_contents
            else:
                thing.cell_contents = value
        elif type(key) is MemberDescriptorType:
            if value is _MISSING:
                key.__delete__(thing)
            else:
                key.__set__(thing, value)
        elif issubclass(kind, type):
            _write_in_class(thing, key, value)
        else:
            space: Any = _space_of(thing)
            if value is _MISSING:
                del space[key]
            else:
                space[key] = value
    except Exception:  # C code may refuse it with any
        pass  # it is looked at below
    present = _variable(thing, _space_of(thing), key)
    is_number = type(present) in (int, float, str) and type(present) is type(value)
    return present is value or (is_number and present == value)  # C code makes numbers when asked


def _write_in_class(thing: type, name: str, value: Any) -> None:
    """Set or delete an attribute of a class as C code of its metaclass does; no code in Python."""
    action = "__setattr__" if value is not _MISSING else "__delattr__"
    given = (name,) if value is _MISSING else (name, value)
    spaces = map(names_in_class, ancestors(type(thing)))
    next(space[action] for space in spaces if type(space.get(action)) is WrapperDescriptorType)(
        thing, *given
    )


def _put_fields_back(thing: Any, fields: OlderFields, old: Values) -> bool:
    """Write the fields of an object that have changed; tell whether it has the old ones then."""
    present = fields.read(thing)
    if all(map(is_, present, old)):
        return True
    try:
        fields.write(thing, old, present)
    except Exception:  # a class may not take its bases back
        return False
    return all(map(is_, fields.read(thing), old))


def _write_kept(thing: Any, kept: Any, value: Any) -> bool:
    """Write what C code keeps of an object; tell whether that has been done."""
    if _read_slot(kept, thing) is value:
        return True
    try:
        if value is _MISSING:
            kept.__delete__(thing)
        else:
            kept.__set__(thing, value)
    except Exception:  # C code may refuse it with any
        return False
    return True


# -- elements ------------------------------------------------------------------------------------


def _parts_of(thing: Any) -> tuple[Any, ...]:
    """What gives the elements of a container, or its keys and its values; nothing for others."""
    kind = type(thing)
    if issubclass(kind, OrderedDict):  # it keeps an order of its own
        return OrderedDict.keys(thing), OrderedDict.values(thing)
    if issubclass(kind, dict):
        return dict.keys(thing), dict.values(thing)
    for base in (*_LISTS, set):
        if issubclass(kind, base):
            return (base.__iter__(thing),)
    return ()


def _read_elements(thing: Any) -> Elements | None:
    """Copy what is in a container; None for what is no container, or cannot be put back."""
    kind = type(thing)
    if kind is CACHED:
        return read_entries(thing)
    if issubclass(kind, _BUFFERS):
        return [bytes(thing)]
    return [list(part) for part in _parts_of(thing)] or None


def _put_elements_back(thing: Any, old: Elements) -> None:
    kind = type(thing)
    if kind is CACHED:
        put_entries_back(thing, old)
    elif issubclass(kind, _BUFFERS):
        if bytes(thing) != old[0]:
            _fill_buffer(thing, old[0])
    elif _size_of(thing) != len(old[0]) or not all(
        all(map(is_, held, part)) for held, part in zip(old, _parts_of(thing), strict=True)
    ):
        _fill(thing, old)


def _fill_buffer(thing: Any, old: bytes) -> None:
    """Let a buffer hold these bytes; its size is fixed while somebody has a view of it."""
    if memoryview(thing).nbytes == len(old):
        memoryview(thing).cast("B")[:] = old
    elif issubclass(type(thing), bytearray):
        bytearray.__setitem__(thing, slice(None), old)
    else:
        array.__delitem__(thing, slice(None))
        array.frombytes(thing, old)


def _size_of(thing: Any) -> int:
    base: Any = next(base for base in (dict, *_LISTS, set) if issubclass(type(thing), base))
    size: int = base.__len__(thing)
    return size


def _fill(thing: Any, old: Elements) -> None:
    """Let a container have these elements, in this order, and no others."""
    kind = type(thing)
    if issubclass(kind, OrderedDict):
        OrderedDict.clear(thing)
        for key, value in zip(*old, strict=True):
            OrderedDict.__setitem__(thing, key, value)
    elif issubclass(kind, dict):
        dict.clear(thing)
        dict.update(thing, zip(*old, strict=True))
    elif issubclass(kind, set):
        set.clear(thing)
        set.update(thing, old[0])
    else:
        base = list if issubclass(kind, list) else deque
        base.clear(thing)
        base.extend(thing, old[0])


def _index_entries(keys_and_values: Elements) -> dict[int, tuple[Any, Any]]:
    """The entries of a dictionary by the identities of their keys, which need not be asked."""
    return {id(key): (key, value) for key, value in zip(*keys_and_values, strict=True)}


def _merge(first: Elements, before: Elements, after: Elements) -> Elements:
    """Change a copy of a container as another one was changed in between.

    What was added to the end of a list is added here.  After any other change of a list, it is as
    it was then.
    """
    if len(first) == 2:
        was, merged, now = (_index_entries(part) for part in (before, first, after))
        for key in was.keys() - now.keys():
            merged.pop(key, None)
        for key, entry in now.items():
            if key not in was or was[key][1] is not entry[1]:
                merged[key] = entry
        return [list(part) for part in zip(*merged.values(), strict=True)] or [[], []]
    (held,), (old,), (new,) = first, before, after
    if len(old) <= len(new) and is_same([old], [new[: len(old)]]):
        return [held + new[len(old) :]]
    return after


older_state: Final = OlderState()
