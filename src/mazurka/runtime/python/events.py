"""The one interface between rewritten code and the runtime: what rewritten code tells.

Rewritten source and rewritten instructions do what the program would do, by calling an event for
each construct that may touch shared data.  `Events` lists all of them, as a specification.  An
event performs its construct and gives its value, unless its name says that something is about to
happen (`read_global` comes before the read, which stays as it was).  `site` is the number of the
place in the source (`core.access_sites`).

The functions of the runtime are bound here as they are, so that an event costs no call more.  A
module gets its own set (`events_of`), in which global variables are found without a look at the
caller's frame.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from types import CellType, FunctionType, ModuleType
from typing import Any, TypeVar

from mazurka.runtime.python import calls, expressions, frames, functions, loops, methods, variables
from mazurka.runtime.python.attributes import show_space
from mazurka.runtime.python.library import caches, identities, output
from mazurka.runtime.python.rewriter import at_present

_REGISTERED = (functions, identities, output)
"""Modules that perform effects of the catalogue: whoever rewrites code needs them, too."""
Bound = TypeVar("Bound", bound=Callable[..., Any])


def _by(function: Bound) -> Callable[[Callable[..., Any]], Bound]:
    """Let an event be a function of the runtime, which must have its name."""

    def bind(event: Callable[..., Any]) -> Bound:
        if event.__name__ != function.__name__:
            raise TypeError(f"the event {event.__name__} is bound to {function.__name__}")
        specified[event.__name__] = event
        return function

    return bind


specified: dict[str, Callable[..., Any]] = {}
"""By name: the events as they are specified, with signatures and documentation."""


class Events:
    """What rewritten code tells the runtime: one method an event."""

    # -- attributes --------------------------------------------------------------------------

    @staticmethod
    @_by(variables.read_attribute)
    def read_attribute(thing: Any, name: str, site: int) -> Any:
        """`thing.name`"""

    @staticmethod
    @_by(variables.read_dict)
    def read_dict(thing: Any, site: int) -> Any:
        """`thing.__dict__`, through which attributes can be reached from then on."""

    @staticmethod
    @_by(variables.write_attribute)
    def write_attribute(value: Any, thing: Any, name: str, site: int) -> None:
        """`thing.name = value`"""

    @staticmethod
    @_by(variables.delete_attribute)
    def delete_attribute(thing: Any, name: str, site: int) -> None:
        """`del thing.name`"""

    @staticmethod
    @_by(variables.attribute_target)
    def attribute_target(thing: Any, name: str, site: int) -> Any:
        """`thing.name` as one of several targets: an object whose `value` is assigned to."""

    @staticmethod
    @_by(variables.hold_attribute)
    def hold_attribute(thing: Any, name: str, site: int) -> Any:
        """The first half of `thing.name += ...`: reads it, and holds what the second half needs."""

    @staticmethod
    @_by(expressions.augment_attribute)
    def augment_attribute(holding: tuple[Any, str, Any], value: Any, sign: str, site: int) -> None:
        """The second half of `thing.name += value`: adds, and writes it."""

    # -- elements of containers --------------------------------------------------------------

    @staticmethod
    @_by(expressions.read_item)
    def read_item(thing: Any, key: Any, site: int) -> Any:
        """`thing[key]`"""

    @staticmethod
    @_by(expressions.write_item)
    def write_item(value: Any, thing: Any, key: Any, site: int) -> None:
        """`thing[key] = value`"""

    @staticmethod
    @_by(expressions.delete_item)
    def delete_item(thing: Any, key: Any, site: int) -> None:
        """`del thing[key]`"""

    @staticmethod
    @_by(expressions.item_target)
    def item_target(thing: Any, key: Any, site: int) -> Any:
        """`thing[key]` as one of several targets: an object whose `value` is assigned to."""

    @staticmethod
    @_by(expressions.hold_item)
    def hold_item(thing: Any, key: Any, site: int) -> Any:
        """The first half of `thing[key] += ...`."""

    @staticmethod
    @_by(expressions.augment_item)
    def augment_item(holding: tuple[Any, Any, Any], value: Any, sign: str, site: int) -> None:
        """The second half of `thing[key] += value`."""

    @staticmethod
    @_by(frames.read_slice)
    def read_slice(thing: Any, start: Any, stop: Any, site: int) -> Any:
        """`thing[start:stop]`, in instructions."""

    @staticmethod
    @_by(frames.write_slice)
    def write_slice(value: Any, thing: Any, start: Any, stop: Any, site: int) -> None:
        """`thing[start:stop] = value`, in instructions."""

    slice = builtins.slice
    """A slice that source writes between brackets; the name may mean something else there."""

    # -- global variables, and names in code that `exec` runs ---------------------------------

    @staticmethod
    @_by(frames.read_global)
    def read_global(name: str, site: int) -> None:
        """A global variable is about to be read."""

    @staticmethod
    @_by(frames.write_global)
    def write_global(value: Any, name: str, site: int) -> Any:
        """A global variable is about to be bound to a value, which is given back."""

    @staticmethod
    @_by(frames.delete_global)
    def delete_global(name: str, site: int) -> None:
        """`del name`"""

    @staticmethod
    @_by(frames.global_target)
    def global_target(name: str, site: int) -> Any:
        """A global variable as one of several targets: an object whose `value` is assigned to."""

    @staticmethod
    @_by(frames.show_globals)
    def show_globals(space: dict[str, Any]) -> Any:
        """`globals()` has given a namespace, through which variables can be reached."""

    @staticmethod
    @_by(frames.read_name)
    def read_name(name: str, site: int) -> None:
        """A name is about to be read outside of functions: a local one, or else a global one."""

    @staticmethod
    @_by(frames.write_name)
    def write_name(value: Any, name: str, site: int) -> Any:
        """A name is about to be bound outside of functions."""

    @staticmethod
    @_by(frames.delete_name)
    def delete_name(name: str, site: int) -> None:
        """`del name` outside of functions."""

    # -- variables that functions capture -----------------------------------------------------

    @staticmethod
    @_by(variables.read_captured)
    def read_captured(look: FunctionType, site: int) -> None:
        """A captured variable is about to be read; it is the only one that `look` captures."""

    @staticmethod
    @_by(variables.write_captured)
    def write_captured(value: Any, look: FunctionType, site: int) -> Any:
        """A captured variable is about to be bound to a value, which is given back."""

    @staticmethod
    @_by(variables.captured_target)
    def captured_target(look: FunctionType, site: int) -> Any:
        """A captured variable as one of several targets: its `value` is assigned to."""

    @staticmethod
    @_by(loops.bind_captured)
    def bind_captured(*looks: Any) -> Any:
        """A comprehension has bound variables that functions inside capture; gives True."""

    @staticmethod
    @_by(frames.read_cell)
    def read_cell(cell: CellType, name: str, site: int) -> None:
        """A captured variable is about to be read by an instruction, which knows its cell."""

    @staticmethod
    @_by(frames.write_cell)
    def write_cell(cell: CellType, name: str, site: int) -> None:
        """A captured variable is about to be bound or deleted by an instruction."""

    # -- operators, tests, whole values -------------------------------------------------------

    @staticmethod
    @_by(expressions.apply_operator)
    def apply_operator(left: Any, right: Any, sign: str, site: int) -> Any:
        """`left + right`, `left == right`, `left in right`; `sign` names the node of `ast`."""

    @staticmethod
    @_by(expressions.augment)
    def augment(old: Any, value: Any, sign: str, site: int) -> Any:
        """What `old += value` makes of `old`; built-in containers are changed in place."""

    @staticmethod
    @_by(expressions.assert_comparison)
    def assert_comparison(left: Any, right: Any, sign: str, site: int) -> Any:
        """`assert left == right`: the operands are kept for the message if it fails."""

    @staticmethod
    @_by(expressions.explain_assertion)
    def explain_assertion(site: int) -> Any:
        """Why that assertion has failed."""

    @staticmethod
    @_by(expressions.test_truth)
    def test_truth(value: Any, site: int) -> Any:
        """A value is about to be taken for true or false."""

    @staticmethod
    @_by(loops.read_whole)
    def read_whole(value: Any, site: int) -> Any:
        """All of a value is about to be read at once: compared, passed on by `**`."""

    @staticmethod
    @_by(loops.unpack)
    def unpack(value: Any, site: int) -> Any:
        """A value is about to be unpacked, or passed on by `*`."""

    @staticmethod
    @_by(expressions.search_in)
    def search_in(value: Any, site: int) -> Any:
        """Something is about to be looked for in a value, at the end of `a < b in value`."""

    @staticmethod
    @_by(expressions.format_value)
    def format_value(value: Any, site: int) -> Any:
        """A value is about to be written into a string, with all that is in it."""

    @staticmethod
    @_by(expressions.match_pattern)
    def match_pattern(value: Any, attributes: tuple[str, ...], by_position: bool, site: int) -> Any:
        """A value is about to be held against patterns that ask for elements and attributes."""

    @staticmethod
    @_by(expressions.match_attribute)
    def match_attribute(look: Callable[[], Any]) -> None:
        """A value is about to be compared with an attribute of `look()`, in a pattern."""

    # -- loops ---------------------------------------------------------------------------------

    @staticmethod
    @_by(loops.iterate)
    def iterate(value: Any, unpacked: bool, site: int) -> Any:
        """What a loop goes through; `unpacked` says that it unpacks each element."""

    @staticmethod
    @_by(loops.iterate_lazily)
    def iterate_lazily(value: Any, unpacked: bool, site: int) -> Any:
        """What a generator expression goes through, once somebody asks it to."""

    @staticmethod
    @_by(loops.iterate_captured)
    def iterate_captured(items: Any, site: int) -> Any:
        """What a comprehension goes through whose variables functions inside capture."""

    @staticmethod
    @_by(loops.delegate)
    def delegate(value: Any, site: int) -> Any:
        """What `yield from` goes through."""

    @staticmethod
    @_by(loops.begin_round)
    def begin_round(site: int) -> None:
        """A `while` statement begins a round."""

    # -- calls and definitions ------------------------------------------------------------------

    @staticmethod
    @_by(calls.call)
    def call(function: Any, site: int) -> Any:
        """What is called instead of a function, with the arguments of the program."""

    @staticmethod
    @_by(methods.call_method)
    def call_method(thing: Any, name: str, site: int) -> Any:
        """What is called instead of `thing.name`."""

    @staticmethod
    @_by(calls.receive)
    def receive(value: Any) -> Any:
        """An expression has given a value that may be new: its creator names it."""

    @staticmethod
    @_by(frames.receive_from_call)
    def receive_from_call(value: Any) -> Any:
        """The same for a call in instructions, which may be that of a decorator."""

    @staticmethod
    @_by(frames.define_class)
    def define_class(kind: Any, line: int) -> None:
        """A function has made a class, and decorated it."""

    @staticmethod
    @_by(caches.fill_cache)
    def fill_cache(site: int) -> None:
        """A function under `functools.lru_cache` is over: its result goes into the cache next."""

    @staticmethod
    @_by(frames.run_code)
    def run_code(value: Any, what: str) -> Any:
        """A text or a code object is about to be run by `exec` or `eval`."""

    @staticmethod
    @_by(calls.leave_unobserved)
    def leave_unobserved(value: Any, what: str) -> Any:
        """Something goes to where nobody watches, or comes from there: the result names it."""


_EVERYWHERE = {name: getattr(Events, name) for name in (*specified, "slice")}


def events_of(module: ModuleType) -> ModuleType:
    """The events of one module, whose global variables some of them know.

    They are kept in a module, because the interpreter is fastest to find them there.
    """
    space: dict[str, Any] = module.__dict__

    def read_global(name: str, site: int) -> None:
        variables.read_global_of(module, name, site)

    def write_global(value: Any, name: str, site: int) -> Any:
        return variables.write_global_of(value, module, name, site)

    def delete_global(name: str, site: int) -> None:
        variables.delete_global_of(module, name, site)

    def global_target(name: str, site: int) -> Any:
        return variables.GlobalTarget(space, module, name, site)

    def show_globals(shown: dict[str, Any]) -> dict[str, Any]:
        return show_space(shown, module)

    def define_class(kind: Any, line: int) -> None:
        at_present.rewriter.observe_class(kind, line, module)

    own = (read_global, write_global, delete_global, global_target, show_globals, define_class)
    events = ModuleType(f"events of {module.__name__}")
    events.__dict__.update(_EVERYWHERE, **{event.__name__: event for event in own})
    return events
