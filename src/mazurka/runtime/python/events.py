"""The one interface between rewritten code and the runtime: what rewritten code tells.

Rewritten source and rewritten instructions do what the program would do, by calling an event for
each construct that may touch shared data.  `Events` lists all of them, as a specification:
under each event are its parameters and what it means.  An event performs its construct and returns
the value, unless something "is about to" happen: then the construct follows, as it always was.
`site` is the number of the place in the source (`core.sites`).

An event is a function of the runtime under its own name, so that it costs no additional call.  A
module gets its own set (`events_of`), in which global variables are found without a look at the
frame of the caller.

Rewritten code can outlive its exploration: a generator that has begun, a closure that a registry
holds, a callback of a weak reference.  It then finds the common set among the builtins
(`leave_events`).  Events perform nothing but their construct in a thread that nobody controls, so
such code does what its source says.
"""

from __future__ import annotations

import builtins
from types import ModuleType
from typing import Any, Final

from mazurka.runtime.core.sites import MARK
from mazurka.runtime.python import (
    calls,
    expressions,
    frames,
    functions,
    methods,
    traversals,
    variables,
)
from mazurka.runtime.python.attributes import show_space
from mazurka.runtime.python.iteration import loops
from mazurka.runtime.python.library import (
    caches,
    call_stack,
    databases,
    decimals,
    file_locks,
    files,
    identities,
    output,
    settings,
    views,
)
from mazurka.runtime.python.managing import manage, manage_async, manage_unpacked
from mazurka.runtime.python.rewriter import at_present

_PERFORMING = (
    functions,
    databases,
    decimals,
    file_locks,
    files,
    identities,
    output,
    settings,
    views,
)
"""Modules that perform effects of the catalogue, and have to be loaded before code is rewritten."""


class Events:
    """What rewritten code tells the runtime: each event with its parameters and its meaning."""

    # -- attributes --------------------------------------------------------------------------

    read_attribute = variables.read_attribute
    """(thing, name, site): `thing.name`"""
    read_dict = variables.read_dict
    """(thing, site): `thing.__dict__`, through which attributes can be reached from then on."""
    follow_frames = call_stack.follow_frames
    """(thing, name, site): `error.__traceback__`, `traceback.tb_next` or `frame.f_back`: the next
    frame of the program, without those that observe it."""
    write_attribute = variables.write_attribute
    """(value, thing, name, site): `thing.name = value`"""
    delete_attribute = variables.delete_attribute
    """(thing, name, site): `del thing.name`"""
    attribute_target = variables.attribute_target
    """(thing, name, site): `thing.name` as one of several targets (`variables.Target`)."""
    hold_attribute = variables.hold_attribute
    """(thing, name, site): the first half of `thing.name += ...`: holds what the second needs."""
    augment_attribute = expressions.augment_attribute
    """(holding, value, sign, site): the second half of `thing.name += value`: adds, writes."""

    # -- elements of containers --------------------------------------------------------------

    read_item = expressions.read_item
    """(thing, key, site): `thing[key]`"""
    write_item = expressions.write_item
    """(value, thing, key, site): `thing[key] = value`"""
    delete_item = expressions.delete_item
    """(thing, key, site): `del thing[key]`"""
    item_target = expressions.item_target
    """(thing, key, site): `thing[key]` as one of several targets."""
    hold_item = expressions.hold_item
    """(thing, key, site): the first half of `thing[key] += ...`."""
    augment_item = expressions.augment_item
    """(holding, value, sign, site): the second half of `thing[key] += value`."""
    read_slice = frames.read_slice
    """(thing, start, stop, site): `thing[start:stop]`, in instructions."""
    write_slice = frames.write_slice
    """(value, thing, start, stop, site): `thing[start:stop] = value`, in instructions."""
    slice = builtins.slice
    """(start, stop, step): a slice between brackets; its name may mean something else there."""

    # -- global variables, and names in code that `exec` runs ---------------------------------

    read_global = frames.read_global
    """(name, site): a global variable is about to be read."""
    write_global = frames.write_global
    """(value, name, site): a global variable is about to be bound; returns the value."""
    delete_global = frames.delete_global
    """(name, site): `del name`"""
    global_target = frames.global_target
    """(name, site): a global variable as one of several targets."""
    show_globals = frames.show_globals
    """(space): `globals()` has given a namespace, through which variables can be reached."""
    has_values = frames.has_values
    """(): whether names in the calling function have their values, or others in their places."""
    hide_names = frames.hide_names
    """(found): `locals()` or `dir()` in a function has told its names."""
    read_name = frames.read_name
    """(name, site): a name outside of functions, local or else global, is about to be read."""
    write_name = frames.write_name
    """(value, name, site): a name is about to be bound outside of functions."""
    delete_name = frames.delete_name
    """(name, site): `del name` outside of functions."""

    # -- variables that functions capture -----------------------------------------------------

    read_captured = variables.read_captured
    """(look, site): a captured variable is about to be read, the only one of `look`."""
    write_captured = variables.write_captured
    """(value, look, site): a captured variable is about to be bound; returns the value."""
    captured_target = variables.captured_target
    """(look, site): a captured variable as one of several targets."""
    bind_captured = loops.bind_captured
    """(*looks): a comprehension has bound variables that functions inside capture; returns True."""
    read_cell = frames.read_cell
    """(cell, name, site): an instruction is about to read the captured variable in a cell."""
    write_cell = frames.write_cell
    """(cell, name, site): an instruction is about to bind or delete a captured variable."""

    # -- operators, tests, whole values -------------------------------------------------------

    apply_operator = expressions.apply_operator
    """(left, right, sign, site): `left + right`, `left in right`; `sign` is a node of `ast`."""
    is_same = identities.is_same
    """(left, right): `left is right`"""
    read_compared = expressions.read_compared
    """(value, site): a value is about to be compared, in a row of comparisons; returns it."""
    read_operand = expressions.read_operand
    """(value, site): `-value`, `+value` or `~value` is about to be computed; returns the value."""
    augment = expressions.augment
    """(old, value, sign, site): `old += value`; built-in containers are changed in place."""
    assert_comparison = expressions.assert_comparison
    """(left, right, sign, site): `assert left == right`; keeps the operands if it fails."""
    explain_assertion = expressions.explain_assertion
    """(site): why that assertion has failed."""
    test_truth = expressions.test_truth
    """(value, site): a value is about to be taken for true or false; returns it, or its truth."""
    test_operand = expressions.test_operand
    """(value, site): the same for a value that is used afterwards, as in `value or other`."""
    read_whole = loops.read_whole
    """(value, site): all of a value is about to be read at once: compared, passed on by `**`."""
    unpack = traversals.unpack
    """(value, site): a value is about to be passed on by `*`."""
    unpack_into_set = traversals.unpack_into_set
    """(value, site): the same in `{*value}`."""
    unpack_to_targets = traversals.unpack_to_targets
    """(value, site): a value is about to be unpacked: `a, b = value`."""
    unpack_later = loops.unpack_later
    """(value, site): a value is about to be passed on by `*`, after the arguments by name."""
    read_nested = loops.read_nested
    """(value, site): what is in a value is about to be unpacked, too: `a, (b, c) = value`."""
    unpack_bound = loops.unpack_bound
    """(value, site): a value is about to be unpacked, and bound as it is: `v = a, b = value`."""
    search_in = expressions.search_in
    """(value, site): a value is about to be searched, at the end of `a < b in value`."""
    format_value = expressions.format_value
    """(value, site): a value is about to be written into a string, with all that is in it."""
    format_with = expressions.format_with
    """(value, conversion, specification, site): `f"{value!r:{specification}}"`"""
    match_pattern = expressions.match_pattern
    """(value, attributes, by_position, site): patterns are about to read a value."""
    match_attribute = expressions.match_attribute
    """(look): a value is about to be compared with an attribute of `look()`, in a pattern."""

    manage = manage
    """(value, site): a `with` statement is about to enter a value, and to leave it later."""
    manage_unpacked = manage_unpacked
    """(value, depth, site): the same of `with value as (a, b)`, which takes apart what entering
    gives, and at a depth of 2 what is in that."""

    manage_async = manage_async
    """(value, depth, site): the same of `async with value as (a, b)`."""

    # -- loops ---------------------------------------------------------------------------------

    iterate = loops.iterate
    """(value, unpacked, site): what a loop goes through, and how deep it unpacks each element."""
    iterate_lazily = loops.iterate_lazily
    """(value, unpacked, site): what a generator expression goes through, later."""
    iterate_async = loops.iterate_async
    """(value, unpacked, site): what `async for a, b in value` goes through."""
    iterate_captured = loops.iterate_captured
    """(items, site): what a comprehension goes through whose variables functions inside capture."""
    delegate = loops.delegate
    """(value, site): what `yield from` goes through."""
    begin_round = loops.begin_round
    """(site): a `while` statement begins a round."""

    # -- calls and definitions ------------------------------------------------------------------

    call = calls.call
    """(function, site): what is called instead of a function, with the arguments of the program."""
    call_method = methods.call_method
    """(thing, name, site): what is called instead of `thing.name`."""
    receive = calls.receive
    """(value): an expression has given a value that may be new: its creator names it."""
    receive_class = frames.receive_class
    """(kind): a `class` statement in a function has made a class."""
    receive_from_call = frames.receive_from_call
    """(value): the same for a call in instructions, which may be that of a decorator."""
    define_class = frames.define_class
    """(kind, line): a function has made a class, and decorated it."""
    import_name = frames.import_name
    """(module, level, name, site): `from module import name` is about to read an attribute."""
    raise_error = variables.raise_error
    """(error, has_cause, site): an exception, or a class of them, is about to be raised."""
    fill_cache = caches.fill_cache
    """(site): the result of a function goes into its `functools.lru_cache` next."""
    run_code = frames.run_code
    """(value, what): a text or a code object is about to be run by `exec` or `eval`."""
    leave_unobserved = calls.leave_unobserved
    """(value, what): a value that comes from or goes to unobserved code, which is named."""


EVENTS: Final = {name: event for name, event in vars(Events).items() if not name.startswith("_")}
"""By name: what rewritten code can call."""


def leave_events() -> None:
    """Let rewritten code find events in every namespace, for the rest of the process.

    Nobody can tell when the last piece of such code has gone: frames and C code may hold it.
    """
    if MARK not in vars(builtins):
        events = ModuleType("events")
        events.__dict__.update(EVENTS)
        vars(builtins)[MARK] = events


def events_of(module: ModuleType) -> ModuleType:
    """The events of one module, whose global variables some of them know.

    They are kept in a module, because the interpreter is fastest to find them there.
    """

    def read_global(name: str, site: int) -> None:
        variables.read_global_of(module, name, site)

    def write_global(value: Any, name: str, site: int) -> Any:
        return variables.write_global_of(value, module, name, site)

    def delete_global(name: str, site: int) -> None:
        variables.delete_global_of(module, name, site)

    def global_target(name: str, site: int) -> Any:
        return variables.Target(
            lambda value: module.__dict__.__setitem__(name, write_global(value, name, site))
        )

    def show_globals(space: dict[str, Any]) -> dict[str, Any]:
        return show_space(space, module)

    def define_class(kind: Any, line: int) -> None:
        at_present.rewriter.observe_class(kind, line, module)

    own = (read_global, write_global, delete_global, global_target, show_globals, define_class)
    events = ModuleType(f"events of {module.__name__}")
    events.__dict__.update(EVENTS, **{event.__name__: event for event in own})
    return events
