"""Special methods of C code that programs call by name: `table.__init__()`, `rows.__sizeof__()`.

Most special methods are methods of the catalogue like any other: by name they do what their syntax
does.  Those here have no row there.

*Initialization* changes an object that others may know, and goes through what it is given as making
an object does: `super().__init__(rows)` in a method `reload` of a class that is built on `dict`.
Nothing tells a new object from an old one, so it is a change in a constructor, too.

*Methods of exceptions* change the attributes that C code keeps in them, which are variables of
their own (`error.args`).

`defaultdict.__missing__` makes a value and stores it, without looking whether there is one.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from mazurka.runtime.python import catalogue
from mazurka.runtime.python.callbacks import perform_steps, show_generators
from mazurka.runtime.python.containers import Part, family, part_of, parts_of, perform
from mazurka.runtime.python.deep import fields_of_error, perform_deep
from mazurka.runtime.python.elements import are_at_hand, come_one_by_one, split_at_pairs
from mazurka.runtime.python.iteration import iterators
from mazurka.runtime.python.iteration.loops import iterator_of
from mazurka.runtime.python.iteration.set_order import call_in_order, is_set
from mazurka.runtime.python.missing_keys import add_missing
from mazurka.runtime.python.opaque import asked_parts, iterator_parts
from mazurka.runtime.python.variables import write_fields
from mazurka.runtime.sharing.accesses import How


def choose_of_container(function: Any, owner: Any, name: str, site: int) -> Any:
    """Choose what is called instead of a special method of a container; None for others."""
    if name == "__init__":
        return partial(initialize, function, site)
    if name in ("__iter__", "__reversed__"):
        return partial(_make_iterator, function, site)
    if name == "__missing__":
        return partial(add_missing, owner, site)
    if name == "__sizeof__":
        return partial(_look, function, site)
    return None


def initialize(function: Any, site: int, /, *arguments: Any, **named: Any) -> Any:
    """`table.__init__(rows)`, for a built-in container."""
    owner, maker = function.__self__, function.__objclass__
    sources = catalogue.sources_of(maker, arguments)
    arguments = show_generators(arguments, site, sources)
    own: Part = (owner, family(owner), How.CHANGE, None)
    more = [own, *iterator_parts(arguments), *asked_parts(maker, arguments)]
    before, pairs = split_at_pairs(maker, arguments)
    if pairs:
        if are_at_hand(*pairs):
            return perform_deep(arguments, site, function, *arguments, more=more, named=named)
        arguments = (*before, come_one_by_one(maker, *pairs, site))
    depends = any(map(is_set, arguments)) and maker is not set
    action = partial(call_in_order, function) if depends else function
    parts = [*more, *parts_of((*arguments, *named.values()))]
    return perform_steps(parts, site, action, arguments, named, sources)


def _make_iterator(function: Any, site: int) -> Any:
    """`rows.__iter__()`, `rows.__reversed__()`"""
    owner, forwards = function.__self__, function.__name__ == "__iter__"
    part = part_of(owner, How.LOOK)
    if part is None:
        return function()
    looks_later = forwards and part[1] in (list, bytearray)
    items = function() if looks_later else iterator_of(part, owner, site, lambda _: function())
    return iterators.iterator_over(owner, site, items, forwards, own=True)


def _look(function: Any, site: int) -> Any:
    """`rows.__sizeof__()`"""
    part = part_of(function.__self__, How.LOOK)
    return function() if part is None else perform(part, site, function)


# -- exceptions ----------------------------------------------------------------------------------

_NOTES: Final = "__notes__"
_READING: Final = frozenset({"derive", "split", "subgroup"})
"""Methods of exception groups that make others."""


def choose_of_error(function: Any, name: str, site: int) -> Any:
    """Choose what is called instead of a method of an exception."""
    if name == "__init__":
        return partial(_write, function, site, fields_of_error(type(function.__self__)))
    if name == "with_traceback":
        return partial(_write, function, site, ("__traceback__",))
    return partial(_change_error, function, site)


def _write(function: Any, site: int, names: Any, /, *arguments: Any, **named: Any) -> Any:
    return write_fields(function.__self__, names, site, function, *arguments, **named)


def _change_error(function: Any, site: int, /, *arguments: Any, **named: Any) -> Any:
    """`error.add_note(text)`, `error.__setstate__(state)`: it may change all that is in it."""
    error = function.__self__
    changes = function.__name__ not in _READING
    return perform_deep(
        (error, *arguments, *named.values()),
        site,
        function,
        *arguments,
        attributes=lambda thing: (_NOTES,) if thing is error else (),
        how=How.CHANGE if changes else How.READ_ALL,
        apart=function.__name__ == "__setstate__",
        writes=changes,
        named=named,
    )
