"""Objects whose state only C code sees: iterators, generators, files.

Such an object is one location, and whatever is done with it counts as a write.  It is accessed like
a container of unknown contents (`containers`), in one operation with whatever else the same call
touches.

A generator is entered and left.  A thread that enters it while another is inside gets a
`ValueError`, so both are writes.  The code of the generator ends before its thread can stand before
leaving it.  Therefore the real generator does not decide whether somebody is inside, but who has
entered and not yet left it by an operation: that depends on the order of these operations alone.
The same holds for contexts (`contextvars.Context`), which any thread can read.

The value of a context variable belongs to the context that its thread is in; the variable itself
holds nothing.  Inside of `context.run`, `variable.get` reads that context and `variable.set`
changes it, which other threads can see from outside (`context[variable]`, `context.items()`).  The
context that a thread begins with belongs to it alone, so there both touch nothing that is shared.
"""

from __future__ import annotations

import sys
from _csv import Error as CSVError
from _csv import reader as csv_reader
from _thread import get_ident
from collections.abc import AsyncGenerator, Callable, Iterator
from ctypes import c_int, c_void_p, sizeof
from functools import partial
from gc import get_referents
from io import BytesIO, StringIO
from opcode import opmap
from sys import getrefcount
from types import AsyncGeneratorType, CoroutineType, GeneratorType, WrapperDescriptorType
from typing import Any, Final
from weakref import CallableProxyType, ProxyType

from mazurka.runtime.core.insides import (
    ancestors,
    field_of,
    find_in_class,
    is_of_c,
    module_of,
    names_in_class,
    qualified_name,
)
from mazurka.runtime.core.moment import now
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.python.catalogue import (
    ASKS,
    BUILT_IN,
    DESCRIPTORS,
    PLAIN,
    READS_BUFFERS,
    is_value,
)
from mazurka.runtime.python.containers import (
    C_DATA,
    Part,
    family_of,
    part_of,
    parts_of,
    perform,
    perform_all,
    root_in_memory,
)
from mazurka.runtime.python.foreign_memory import memory_parts
from mazurka.runtime.python.library.counters import is_older_counter, older_counters
from mazurka.runtime.python.places.files import FILES, parts_of_file
from mazurka.runtime.python.places.settings import READ_BY_OBJECTS
from mazurka.runtime.python.reentry import perform_exclusively, perform_in_turns
from mazurka.runtime.python.rewriter import at_present
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.kept_by_c import older_in_c
from mazurka.runtime.sharing.locations import points, progress
from mazurka.runtime.sharing.monitoring import unobserved
from mazurka.runtime.sharing.names import known, names, see
from mazurka.runtime.sharing.older_state import read_variables
from mazurka.runtime.sharing.places import meet_place

_moving: dict[type, bool] = {}


def is_iterator(value: Any) -> bool:
    """Tell whether something is an iterator of C code, which keeps its position."""
    kind = type(value)
    found = _moving.get(kind)
    if found is None:
        step = find_in_class(kind, "__next__")
        found = _moving[kind] = kind not in PLAIN and isinstance(step, WrapperDescriptorType)
    return found


def is_opaque(value: Any) -> bool:
    """Tell whether an object has state that only C code sees, as its methods in C show."""
    return _is_hidden(type(value))


def part_of_opaque(thing: Any) -> Part:
    """Describe an access to an object whose state only C code sees."""
    if issubclass(type(thing), C_DATA):
        thing = root_in_memory(thing)
    meet_older(thing)
    return thing, None, How.CHANGE, None


def meet_older(thing: Any) -> None:
    """Note that C code may change what it keeps of an object, if that is older than the run."""
    if names.is_older(thing) and session.current.ident == get_ident():
        session.current.do_aside(older_in_c.meet, thing)


def parts_of_opaque(thing: Any) -> list[Part]:
    """Describe accesses to such an object, and to those that C code reaches by it.

    A view or an iterator refers to what it shows, as the garbage collector knows.  Others hold a
    method of C code, which they call: what `csv.writer(file)` makes holds `file.write`.
    """
    in_memory = memory_parts(thing, How.CHANGE)
    if in_memory is not None:
        return [part_of_opaque(thing), *in_memory[1:]]
    parts = [part_of_opaque(thing), *parts_of_file(thing), *_settings_read_by(thing)]
    if module_of(type(thing)) == "_io":
        return parts + _parts_in_memory(thing)
    return parts if _is_modelled(type(thing)) else parts + _parts_behind(thing, DEPTH)


def _parts_in_memory(file: Any) -> list[Part]:
    """Describe accesses to the files in memory around which a file is put; what else it is made of
    nobody else uses."""
    parts: list[Part] = []
    for other in get_referents(file):
        if issubclass(type(other), (BytesIO, StringIO)):
            parts.append(part_of_opaque(other))
        elif module_of(type(other)) == "_io" and issubclass(type(other), FILES):
            parts += _parts_in_memory(other)
    return parts


def parts_of_itself(thing: Any, how: How) -> list[Part]:
    """Describe accesses to an object of C code alone, by a field or an attribute of it."""
    return memory_parts(thing, how) or [(thing, None, how, None)]


def parts_of_owner_in_c(thing: Any, how: How) -> list[Part]:
    """Describe accesses of a descriptor of C code to the object whose attribute it computes, and to
    the containers that this holds: it may keep there what it computes (`self._cache[name]`)."""
    held = (part_of(value, how) for value in read_variables(thing).values())
    return [*parts_of_itself(thing, how), *(part for part in held if part is not None)]


DEPTH: Final = 3
"""How many iterators of C code that go through each other are followed."""


def _parts_behind(thing: Any, depth: int) -> list[Part]:
    """Describe accesses to the objects to which one of C code refers, and what is behind those that
    are iterators: `csv.reader(file)` goes through the file."""
    parts: list[Part] = []
    for other in get_referents(thing):
        kind = type(other)
        if kind in BUILT_IN:
            parts += _parts_of_owner(other.__self__)
        elif is_iterator(other):
            parts += [part_of_opaque(other), *parts_of_file(other)]
            parts += parts_of(get_referents(other))
            parts += _parts_behind(other, depth - 1) if depth else []
        elif issubclass(kind, FILES) or (module_of(kind) != "builtins" and hides_state(kind)):
            parts += [part_of_opaque(other), *parts_of_file(other)]
    return parts


def _parts_of_owner(owner: Any) -> list[Part]:
    """Describe accesses to the object to which a method belongs that C code holds, and calls."""
    kind = type(owner)
    if kind not in PLAIN and hides_state(kind):
        return [part_of_opaque(owner), *parts_of_file(owner)]
    part = part_of(owner, How.CHANGE)
    return [] if part is None else [part]


def _settings_read_by(thing: Any) -> list[Part]:
    """Describe accesses to settings of the process that C code of an object reads."""
    setting = READ_BY_OBJECTS.get(type(thing))
    return [] if setting is None else [(meet_place(setting), None, How.READ_ALL, None)]


class _Sequence:
    """Something that is gone through by its indices."""

    def __getitem__(self, index: int) -> int:
        raise IndexError


_BY_INDEX: Final = type(iter(_Sequence()))


def _is_modelled(kind: type) -> bool:
    """Tell whether objects of a type lead to nothing that has no model of its own.

    That is so for iterators of the interpreter, and for files, whose parts nobody else uses.
    """
    return module_of(kind) in ("builtins", "itertools", "_io") and kind is not _BY_INDEX


def iterator_parts(values: Any) -> list[Part]:
    """Describe accesses to the iterators among the arguments of C code that goes through them."""
    parts = []
    for value in values:
        if is_iterator(value):
            if not is_lone(getrefcount(value), value):
                parts += parts_of_opaque(value)
            elif not _is_modelled(type(value)):
                parts += parts_of_opaque(value)[1:]  # nobody else has it, but what is behind it
            elif type(value) in READ_BY_OBJECTS:
                parts += _settings_read_by(value)
    return parts


def is_lone(count: int, value: Any) -> bool:
    """Tell from a reference count whether a value belongs to one call alone."""
    seen = known(id(value))
    return count - (seen is not None and seen.kept is value) <= _LONE


def _call(_function: Any, _site: int, /, *arguments: Any, **_named: Any) -> int:
    return _count(arguments)


def _count(values: Any) -> int:
    for value in values:
        return getrefcount(value)
    return 0


_LONE: Final = partial(_call, None, 0)(iter(()))
"""The reference count of an argument that nobody else has; it differs between interpreters."""


def opaque_parts(values: Any) -> list[Part]:
    """Describe accesses to the arguments of C code that it may change without anybody seeing."""
    return [
        part
        for value in values
        if type(value) not in PLAIN and (is_iterator(value) or hides_state(type(value)))
        for part in parts_of_opaque(value)
    ]


def note_generators(function: Any, values: Any, site: int) -> None:
    """Nobody knows what becomes of a generator in C code: name it where others use it."""
    if site in points and not now.alone and any(type(value) is GeneratorType for value in values):
        name = getattr(function, "__qualname__", qualified_name(type(function)))
        unobserved.note(f"a generator inside of {name}")


_hiding: dict[type, bool] = {}


def hides_state(kind: type) -> bool:
    """Tell whether objects of a type have state that only C code sees.

    That is so for types of C code, heap types among them, and for their subclasses in Python.
    """
    found = _hiding.get(kind)
    if found is None:
        found = _hiding[kind] = _is_hidden(kind) and any(
            is_of_c(base) and not is_value(base) for base in ancestors(kind)
        )
    return found


def _is_hidden(kind: type) -> bool:
    """Tell whether objects of a type are no values, and observed by no other means."""
    if is_value(kind) or issubclass(kind, (type, BaseException)):
        return False
    return family_of(kind) is None


_in_c: dict[tuple[type, str], bool] = {}


def is_done_by_c(kind: type, name: str) -> bool:
    """Tell whether C code performs an operator on objects whose state nobody else sees.

    That is so for `table[key]` where `table` is an object of an extension module, also of a heap
    type, or of a subclass that does not define the operator itself.
    """
    found = _in_c.get((kind, name))
    if found is None:
        found = _in_c[kind, name] = _find_in_c(kind, name)
    return found


def _find_in_c(kind: type, name: str) -> bool:
    if issubclass(kind, (type, BaseException)) or family_of(kind) is not None:
        return False
    for base in ancestors(kind):
        if name in names_in_class(base):
            found = type(names_in_class(base)[name])
            return found in DESCRIPTORS and not is_value(base)
    return False


_asked: dict[type, bool] = {}
_ASKED_INSIDE: Final = (
    *("__repr__", "__str__", "__format__", "__hash__", "__bool__", "__len__"),
    *("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__add__", "__radd__"),
)


def is_asked_in_c(kind: type) -> bool:
    """Tell whether C code compares objects whose state nobody else sees, or writes them out."""
    found = _asked.get(kind)
    if found is None:
        found = _asked[kind] = hides_state(kind) and any(
            is_done_by_c(kind, name) for name in _ASKED_INSIDE
        )
    return found


def is_gone_through_by_c(kind: type) -> bool:
    """Tell whether C code makes iterators over objects whose state nobody else sees."""
    if is_done_by_c(kind, "__iter__"):
        return True
    by_index = is_done_by_c(kind, "__getitem__")
    return by_index and not any("__iter__" in names_in_class(base) for base in ancestors(kind))


def asked_parts(function: Any, values: Any) -> list[Part]:
    """Describe accesses to the opaque arguments of a built-in function, which asks C code."""
    names = ASKS.get(function)
    if function in READS_BUFFERS or (function is str and len(values) > 1):
        names = None
    parts = []
    for value in values:
        kind = type(value)
        if issubclass(kind, (ProxyType, CallableProxyType)):
            unobserved.meet(kind)
        if kind in PLAIN or is_iterator(value) or not hides_state(kind):
            continue
        if names is None or any(is_done_by_c(kind, name) for name in names):
            unobserved.meet(kind)
            parts += parts_of_opaque(value)
    return parts


def operate(thing: Any, site: int, function: Callable[..., Any], *arguments: Any) -> Any:
    """Perform an operator on an object whose state only C code sees."""
    if session.current.ident != get_ident():
        return function(*arguments)
    return perform_in_turns(parts_of_operands((thing,)), site, function, *arguments)


def parts_of_operands(things: Any) -> list[Part]:
    """Describe accesses of an operator of C code to objects whose state only C code sees."""
    progress()
    parts = []
    for thing in things:
        if type(thing) not in unobserved.kinds:
            unobserved.meet(type(thing))
        parts += parts_of_opaque(thing)
    return parts


# -- generators ----------------------------------------------------------------------------------


def perform_step(function: Callable[..., Any], site: int, /, items: Any, *arguments: Any) -> Any:
    """Make one step of an iterator: `next(items)`, `generator.send(value)`."""
    kind = type(items)
    if kind is GeneratorType:
        return run_inside(items, site, RUNNING, function, *arguments)
    if kind is CoroutineType:
        return run_inside(items, site, AWAITED, function, *arguments)
    if kind in STEPS and (found := _entered_by(items)) is not None:
        inside, step = found
        if type(inside) is AsyncGeneratorType:
            if _CLOSES_ALONE and function.__name__ == "close":
                return perform(part_of_opaque(step), site, function, *arguments)
            error = partial(_fail_to_step, step, function)
            return run_inside(inside, site, error, function, *arguments, step=step)
        return run_inside(inside, site, AWAITED, function, *arguments)
    if is_older_counter(items):
        return perform(part_of_opaque(items), site, older_counters.step, items)
    if _is_modelled(kind) and not issubclass(kind, FILES):
        return perform(part_of_opaque(items), site, function, *arguments)
    parts = parts_of_opaque(items)
    if kind is READER and session.current.ident == get_ident():
        seen = see(items)
        if seen.entered is None:
            seen.entered = set()
        return perform_exclusively(
            parts, seen.entered, _ADVANCED, site, function, items, *arguments
        )
    return perform_in_turns(parts, site, function, *arguments)


READER: Final = type(csv_reader(()))
_ADVANCED: Final = CSVError("another thread is inside of this csv reader: CPython may crash")


async def _generate() -> AsyncGenerator[None, None]:
    yield


async def _wait() -> None:
    """Do nothing."""


def _find_kinds_of_steps() -> list[type]:
    """Find the types of what runs a coroutine or an asynchronous generator until it waits; the
    second is that of what `athrow` and `aclose` give."""
    generator, waiting = _generate(), _wait()
    steps: list[Any] = [generator.__anext__(), generator.aclose(), waiting.__await__()]
    steps.append(anext(generator, None))
    waiting.close()
    for step in steps:
        if hasattr(step, "close"):
            step.close()
    return list(map(type, steps))


_KINDS_OF_STEPS: Final = _find_kinds_of_steps()
STEPS: Final = frozenset(_KINDS_OF_STEPS)
_THROWING: Final = _KINDS_OF_STEPS[1]


def _entered_by(step: Any) -> tuple[Any, Any] | None:
    """Find the coroutine or the asynchronous generator that a step enters, and the step that knows
    it; None if there is none that is known: the program's own code runs then."""
    for part in get_referents(step):
        if type(part) in (CoroutineType, AsyncGeneratorType):
            return part, step
        if type(part) in STEPS:
            return _entered_by(part)
    return None


RUNNING: Final = partial(ValueError, "generator already executing")
AWAITED: Final = partial(ValueError, "coroutine already executing")
_CLOSES_ALONE: Final = sys.version_info < (3, 13)
"""Whether closing a step of an asynchronous generator leaves the generator alone."""
_NEW, _BEGUN, _DONE = range(3)
"""What C code keeps of a step of an asynchronous generator, as its last number."""


def _phase_of(step: Any) -> int:
    size = field_of(type(step), "__basicsize__")
    return c_int.from_address(id(step) + size - sizeof(c_void_p)).value


def _fail_to_step(step: Any, function: Any) -> Exception:
    """Fail as C code does if another thread is inside of the asynchronous generator of a step."""
    phase = _phase_of(step)
    if phase == _BEGUN or (phase == _NEW and _CLOSES_ALONE and function.__name__ == "throw"):
        reason = "what C code does to the generator then depends on the moment"
        unobserved.note_code("a step of an asynchronous generator that fails inside of it", reason)
        return ValueError("async generator already executing")
    if _CLOSES_ALONE:
        step.close()  # it cannot be used again
    return RuntimeError("anext(): asynchronous generator is already running")


_FRAMES: Final = {
    GeneratorType: "gi_frame",
    CoroutineType: "cr_frame",
    AsyncGeneratorType: "ag_frame",
}
_CREATED: Final = opmap["RETURN_GENERATOR"]
"""The instruction at which a generator stands that has not begun."""


def _runs_code(thing: Any, function: Any, arguments: tuple[Any, ...], step: Any) -> bool:
    """Tell whether a call lets the code of a generator go on, in which others can meet the thread.
    The call is over at once if the code has ended, or has not begun and cannot begin so."""
    kind = type(thing)
    if kind not in _FRAMES:
        return True
    frame = getattr(thing, _FRAMES[kind])
    if frame is None or (step is not None and _phase_of(step) == _DONE):
        return False
    if frame.f_code.co_code[frame.f_lasti] != _CREATED:
        return True
    if function.__name__ in ("throw", "close") or type(step) is _THROWING:
        return False
    sent = arguments if function.__name__ == "send" else ()
    given = () if step is None else get_referents(step)
    return all(one is None or one is thing or one is type(step) for one in (*sent, *given))


def run_inside(
    thing: Any,
    site: int,
    error: Callable[[], Exception],
    function: Callable[..., Any],
    *arguments: Any,
    step: Any = None,
) -> Any:
    """Call a function inside of a generator or a context; raise the error if a thread is inside.
    `step` is what enters an asynchronous generator."""
    entered = enter(thing, site, error)
    if entered is None:
        return function(*arguments)
    is_over = not _runs_code(thing, function, arguments, step)
    try:
        return function(*arguments)
    finally:
        if is_over:
            entered.discard(id(thing))
        else:
            perform(part_of_opaque(thing), site, entered.discard, id(thing))


def enter(thing: Any, site: int, error: Callable[[], Exception]) -> set[int] | None:
    """Enter a generator or a context, or raise the error if a thread is inside.

    Returns the set from which its identity has to be discarded when it is left.
    """
    if session.current.ident != get_ident():
        return None
    seen = see(thing)
    if seen.entered is None:
        seen.entered = set()
        at_present.rewriter.observe_resumed(thing)
    entered = seen.entered
    if perform(part_of_opaque(thing), site, _test_and_enter, entered, id(thing)):
        raise error()
    return entered


def _test_and_enter(entered: set[int], identity: int) -> bool:
    """Tell whether a thread is inside; if not, the present one is from now on."""
    if identity in entered:
        return True
    entered.add(identity)
    return False


def note_looked_inside(thing: Any, name: str) -> None:
    """Name an attribute of a generator that a thread reads while another one is inside: it says how
    far the code has come, which nobody sees."""
    seen = known(id(thing)) if type(thing) in _FRAMES else None
    if seen is not None and seen.entered and id(thing) in seen.entered:
        unobserved.note_code(f"a read of {name}", "while a thread is inside of the generator")


def iterate_opaque(items: Any, site: int, owner: Any = None) -> Iterator[Any]:
    """Go through an iterator of C code, for a loop; `owner` is what has made it."""
    while True:
        try:
            if owner is None:
                value = perform_step(next, site, items, items)
            else:
                value = operate(owner, site, next, items)
        except StopIteration:
            return
        progress()
        yield value


def go_through(thing: Any, site: int) -> Iterator[Any]:
    """Make an iterator over an object whose state only C code sees, for other C code."""
    return iterate_opaque(operate(thing, site, iter, thing), site, thing)


# -- contexts ------------------------------------------------------------------------------------

_inside: dict[int, list[Any]] = {}
"""By thread: the contexts that the thread has entered and not left."""


def run_in_context(
    function: Callable[..., Any], site: int, called: Any, /, *arguments: Any, **named: Any
) -> Any:
    """Perform `context.run(called, ...)`: enter the context, call the function, leave it."""
    context: Any = getattr(function, "__self__", None)
    error = partial(RuntimeError, f"cannot enter context: {context!r} is already entered")

    def run() -> Any:
        thread = get_ident()
        entered = _inside.setdefault(thread, [])
        entered.append(context)
        try:
            return function(called, *arguments, **named)
        finally:
            entered.pop()
            if not entered:
                _inside.pop(thread, None)

    return run_inside(context, site, error, run)


def use_variable(function: Any, site: int, /, *arguments: Any) -> Any:
    """Perform `variable.get()`, `variable.set(value)` or `variable.reset(token)`."""
    progress()
    name = function.__name__
    how = How.READ_ALL if name == "get" else How.CHANGE
    entered = _inside.get(get_ident(), ())[-1:]
    used = arguments if name == "reset" else ()
    parts: list[Part] = [(thing, None, how, None) for thing in (*used, *entered)]
    return perform_all(parts, site, function, *arguments)
