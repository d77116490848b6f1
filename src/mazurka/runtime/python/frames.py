"""Events that find their namespace in the frame of their caller: those of rewritten instructions.

Code without source may be run in any namespace: in that of a module, whose variables are those that
rewritten source sees, or in a dictionary of its own, which is a container.
"""

from __future__ import annotations

import builtins
import sys
from _thread import get_ident
from types import CellType, ModuleType
from typing import Any

from mazurka.runtime.core.insides import names_in, names_in_class
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.sites import PREFIX
from mazurka.runtime.python import variables
from mazurka.runtime.python.attributes import show_space
from mazurka.runtime.python.callbacks import itself
from mazurka.runtime.python.calls import leave_unobserved, receive
from mazurka.runtime.python.classes import note_made
from mazurka.runtime.python.containers import perform
from mazurka.runtime.python.expressions import read_item, write_item
from mazurka.runtime.python.rewriter import at_present
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.names import names


def read_slice(thing: Any, start: Any, stop: Any, site: int) -> Any:
    """`thing[start:stop]`"""
    return receive(read_item(thing, slice(start, stop), site))


def write_slice(value: Any, thing: Any, start: Any, stop: Any, site: int) -> None:
    write_item(value, thing, slice(start, stop), site)


# -- names ---------------------------------------------------------------------------------------


def _module_of(space: Any) -> ModuleType | None:
    """Find the module whose namespace a dictionary is."""
    module = sys.modules.get(space.get("__name__", ""))
    return module if type(module) is ModuleType and names_in(module) is space else None


def _note_read(space: Any, name: str, site: int) -> None:
    if type(space) is not dict:
        return  # code of the program, or none that can be shared
    module = _module_of(space)
    if module is not None:
        variables.read_global_of(module, name, site)
    else:
        perform((space, dict, How.READ, name), site, itself, None)  # the instruction comes next


def read_global(name: str, site: int) -> None:
    """Note that a global variable is about to be read."""
    if session.current.ident == get_ident():
        space = sys._getframe(1).f_globals
        if name in space or not hasattr(builtins, name):
            _note_read(space, name, site)


def read_name(name: str, site: int) -> None:
    """Note that a name is about to be read outside of functions: a local or else a global one."""
    if session.current.ident != get_ident():
        return
    frame = sys._getframe(1)
    space = frame.f_globals
    if frame.f_locals is not space:
        _note_read(frame.f_locals, name, site)
        if name in frame.f_locals:
            return
    if name in space or not hasattr(builtins, name):
        _note_read(space, name, site)


def _note_write(value: Any, space: Any, name: str, site: int) -> Any:
    if type(space) is dict and session.current.ident == get_ident():
        module = _module_of(space)
        if module is not None:
            return variables.write_global_of(value, module, name, site)
        perform((space, dict, How.WRITE, name), site, space.__setitem__, name, value)
    return value


def write_global(value: Any, name: str, site: int) -> Any:
    """Note that a global variable is about to be bound to a value; return it."""
    return _note_write(value, sys._getframe(1).f_globals, name, site)


def write_name(value: Any, name: str, site: int) -> Any:
    """Note that a name is about to be bound outside of functions; return the value."""
    return _note_write(value, sys._getframe(1).f_locals, name, site)


def _delete(space: Any, name: str, site: int) -> None:
    module = _module_of(space) if type(space) is dict else None
    if module is not None:
        variables.delete_global_of(module, name, site)
        return
    try:
        if type(space) is dict:
            perform((space, dict, How.REMOVE, name), site, space.__delitem__, name)
        else:
            del space[name]
    except KeyError:
        raise NameError(f"name {name!r} is not defined", name=name) from None


def delete_global(name: str, site: int) -> None:
    """`del name`"""
    _delete(sys._getframe(1).f_globals, name, site)


def delete_name(name: str, site: int) -> None:
    """`del name` outside of functions."""
    _delete(sys._getframe(1).f_locals, name, site)


def global_target(name: str, site: int) -> variables.Target:
    """Make an assignment target of a global variable."""
    space = sys._getframe(1).f_globals
    return variables.Target(
        lambda value: space.__setitem__(name, _note_write(value, space, name, site))
    )


def show_globals(space: dict[str, Any]) -> dict[str, Any]:
    """Note that the program has got a namespace by `globals()`."""
    module = _module_of(space)
    return space if module is None else show_space(space, module)


def has_values() -> bool:
    """Tell whether names in the calling function have their values: `annotationlib` gives functions
    that evaluate annotations a namespace of its own, with other objects in it."""
    return type(sys._getframe(1).f_globals) is dict


def hide_names(found: Any) -> Any:
    """Take the names out of `locals()` or `dir()` that only rewritten code has."""
    if type(found) not in (dict, list):
        return found  # the program has functions of these names
    for name in [one for one in found if type(one) is str and one.startswith(PREFIX)]:
        if type(found) is list:
            found.remove(name)
        else:
            del found[name]
    return found


# -- closure cells -------------------------------------------------------------------------------


def read_cell(cell: CellType, name: str, site: int) -> None:
    """Note that a captured variable is about to be read."""
    _touch_cell(cell, name, site, False)


def write_cell(cell: CellType, name: str, site: int) -> None:
    """Note that a captured variable is about to be bound or deleted."""
    _touch_cell(cell, name, site, True)


def _touch_cell(cell: CellType, name: str, site: int, written: bool) -> None:
    if session.current.ident == get_ident():
        seen = names.see(cell)
        if not seen.origin:
            seen.origin = name
        variables.touch(seen, "cell_contents", site, written)


# -- calls ---------------------------------------------------------------------------------------


def receive_from_call(value: Any) -> Any:
    """Let a result be named by its creator; rewrite methods that `dataclasses` has made."""
    if issubclass(type(value), type) and "__dataclass_fields__" in names_in_class(value):
        at_present.rewriter.observe_methods(value)
    return receive(value)


def receive_class(kind: Any) -> Any:
    """Note that a function has made a class; return it."""
    note_made(kind)
    return receive(kind)


def import_name(module: str, level: int, name: str, site: int) -> None:
    """Read an attribute of a module before `from module import name` does; one that has not been
    imported yet is imported by this thread alone."""
    if session.current.ident != get_ident():
        return
    if level:
        package = sys._getframe(1).f_globals.get("__package__") or ""
        base = package.rsplit(".", level - 1)[0]
        module = f"{base}.{module}" if module else base
    found = sys.modules.get(module)
    if found is not None:
        variables.touch_attribute(found, name, site)


def define_class(kind: Any, line: int) -> None:
    """Rewrite what decorators have given to a class that a function has made."""
    module = _module_of(sys._getframe(1).f_globals)
    if module is not None:
        at_present.rewriter.observe_class(kind, line, module)


def run_code(value: Any, what: str) -> Any:
    """Rewrite what `exec` or `eval` is going to run, or name it as not observed."""
    if session.current.ident != get_ident():
        return value
    found = at_present.rewriter.observe_text(value, what, sys._getframe(1))
    return leave_unobserved(value, what) if found is None else found
