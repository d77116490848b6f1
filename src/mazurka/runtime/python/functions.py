"""Performs calls of library and C functions, as the catalogue describes their effects.

A performer is given a function, a site and the arguments.  It calls the function as one access to
all that the effect says; where code of the program runs on the way, as several (`callbacks`).
"""

from __future__ import annotations

import bisect
import builtins
import collections
import copyreg
import operator
import sys
from _thread import get_ident
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import partial
from operator import attrgetter, itemgetter, methodcaller
from os import DirEntry
from pickle import Pickler
from threading import Timer
from types import (
    CodeType,
    CoroutineType,
    FunctionType,
    GeneratorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, Final, TypeAlias
from weakref import ref

from mazurka.runtime.core.insides import (
    ancestors,
    find_in_class,
    is_of_c,
    module_of,
    names_in_class,
)
from mazurka.runtime.core.moment import now
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.python import catalogue, methods, opaque, reflection, special_methods
from mazurka.runtime.python.attributes import (
    COMPUTED,
    note_initialized,
    parts_of_names,
    show_module,
)
from mazurka.runtime.python.callbacks import (
    itself,
    perform_steps,
    perform_through,
    runs_code,
    show_generators,
)
from mazurka.runtime.python.calls import (
    always,
    call,
    call_back,
    calls_kind,
    handle_callback,
    handles,
    performs,
)
from mazurka.runtime.python.catalogue import BUILT_IN, METHODS, SIMPLE, CachedFunction, CallEffect
from mazurka.runtime.python.classes import list_subclasses, note_made
from mazurka.runtime.python.containers import Part, family, part_of, parts_of, perform_all
from mazurka.runtime.python.deep import (
    TAKES_APART,
    finds_items,
    is_read_inside,
    perform_deep,
    take_apart,
)
from mazurka.runtime.python.elements import (
    ASKING,
    COMPARING,
    are_at_hand,
    come_one_by_one,
    hold_pairs,
    is_gone_through,
    read_keys,
    show_questions,
    sort,
    split_at_pairs,
)
from mazurka.runtime.python.hidden_state import is_foreign, note_hidden_change
from mazurka.runtime.python.iteration import iterators
from mazurka.runtime.python.iteration.loops import (
    delegate,
    iterate,
    iterator_of,
    read_whole,
    unpack_later,
    unpack_names_later,
)
from mazurka.runtime.python.iteration.set_order import call_in_order, is_set
from mazurka.runtime.python.library import files, views
from mazurka.runtime.python.library.caches import call_cached
from mazurka.runtime.python.library.databases import use_database
from mazurka.runtime.python.library.dates import follow_clock
from mazurka.runtime.python.library.partials import call_partial, set_state
from mazurka.runtime.python.library.weak_references import call_bound_reference, make_reference
from mazurka.runtime.python.opaque import (
    asked_parts,
    is_iterator,
    iterator_parts,
    note_generators,
    opaque_parts,
    parts_of_opaque,
)
from mazurka.runtime.python.places.file_functions import DATABASES, LASTING
from mazurka.runtime.python.places.files import FILES, open_file_of
from mazurka.runtime.python.places.outside import POLLERS, wait_for_events
from mazurka.runtime.python.reentry import perform_in_turns
from mazurka.runtime.python.rewriter import at_present
from mazurka.runtime.python.traversals import (
    gather_in_steps,
    in_steps,
    note_steps,
    searches_in_steps,
    traverses,
)
from mazurka.runtime.python.wrappers import is_wrapper, use_wrapper
from mazurka.runtime.sharing.accesses import How
from mazurka.runtime.sharing.locations import progress
from mazurka.runtime.sharing.monitoring import unobserved
from mazurka.runtime.sharing.names import names

_Arguments: TypeAlias = tuple[Any, ...]
_Named: TypeAlias = dict[str, Any]

# -- effects -------------------------------------------------------------------------------------


@performs(CallEffect.LOOKS)
def look(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    """Call a function that looks at what is in containers."""
    parts = [*parts_of(arguments, How.LOOK), *asked_parts(function, arguments)]
    return perform_in_turns(parts, site, function, *arguments, **named)


@performs(CallEffect.READS)
def read(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    """Call a function that reads the containers that it is given."""
    if "key" in named:
        if named["key"] is None:
            del named["key"]
            return read_deeply(function, site, *arguments, **named)
        named["key"] = handle_callback(named["key"], site)
        if function in COMPARING:
            named["key"] = read_keys(named["key"], site)
            given = (delegate(arguments[0], site),) if len(arguments) == 1 else arguments
            return function(*given, **named)
        if function in _SEARCHING:
            named["key"] = read_keys(named["key"], site, *arguments[1:2], named.get("x"))
            return perform_deep(arguments, site, function, *arguments, named=named)
        if function is sorted and len(arguments) == 1:  # it copies all, and calls then
            return sort(read(list, site, arguments[0]), site, **named)
    elif arguments and methods.asks_elements(function, arguments[0]):
        if function not in ASKING:
            return function(delegate(arguments[0], site), *arguments[1:], **named)
        if len(arguments) == 1 or function is sum:
            items = come_one_by_one(function, *arguments[:1], site, *arguments[1:])
            return function(items, *arguments[1:], **named)
    sources = catalogue.sources_of(function, arguments)
    if session.current.free_threaded:
        given = in_steps(function, arguments, sources, site)
        if given is not arguments:
            return function(*given, **named)
        note_steps(function, arguments, site, sources)
    if function in _MAPPINGS and arguments:
        arguments = (*arguments[:-1], read_whole(arguments[-1], site))
    arguments = show_generators(arguments, site, sources)
    more = [*iterator_parts(arguments), *asked_parts(function, arguments)]
    parts = [*parts_of(arguments), *more]
    action = _order_sets(function, arguments)
    before, pairs = split_at_pairs(function, arguments)
    if pairs:
        if are_at_hand(*pairs):
            return perform_deep(arguments, site, action, *arguments, more=more, named=named)
        return function(*before, come_one_by_one(function, *pairs, site), **named)
    sources = sources if len(arguments) > 1 and parts else catalogue.NONE
    return perform_steps(parts, site, action, arguments, named, sources)


@performs(CallEffect.READS_DEEPLY)
def read_deeply(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    """Call a function that compares or writes out what it is given, and what is in that."""
    if SIMPLE.issuperset(map(type, arguments)) and SIMPLE.issuperset(map(type, named.values())):
        return function(*arguments, **named)
    if "key" in named or (arguments and methods.asks_elements(function, arguments[0])):
        return read(function, site, *arguments, **named)
    if function is sorted and len(arguments) == 1:
        by_code = methods.sorts_by_code(None, arguments[0])
        in_turn = session.current.free_threaded and traverses(sorted, arguments[0])
        if by_code or in_turn or not are_at_hand(arguments[0]):
            return sort(read(list, site, arguments[0]), site, **named)
    elif _asks_one_by_one(function, arguments):
        shown, *rest = show_generators(arguments, site, slice(0, 1))
        items = come_one_by_one(function, shown, site, *rest, *named.values())
        return function(items, *rest, **named)
    sources = catalogue.sources_of(function, arguments)
    if session.current.free_threaded:
        if catalogue.goes_through(function):
            given = in_steps(function, arguments, sources, site)
            if given is not arguments:
                return function(*given, **named)
        note_steps(function, (*arguments, *named.values()), site)
    compares = len(arguments) == 1 and function in _COMPARING
    arguments = show_generators(arguments, site, sources if compares else catalogue.NONE)
    more = [*iterator_parts(arguments), *asked_parts(function, arguments)]
    if catalogue.goes_through(function) and any(map(runs_code, arguments[sources])):
        parts = [*parts_of(arguments), *more]
        return perform_through(parts, site, function, arguments, named, sources)
    values = (*arguments, *named.values())
    action = _order_sets(function, arguments)
    return perform_deep(values, site, action, *arguments, more=more, named=named)


def _asks_one_by_one(function: Any, arguments: _Arguments) -> bool:
    """Tell whether C code asks elements that are not all at hand: `any(job.left for job in jobs)`,
    not `max(left, right)`."""
    if function in _FINDING and len(arguments) == 2:
        if searches_in_steps(arguments[0]):
            return True
        return type(arguments[1]) not in SIMPLE and is_gone_through(arguments[0])
    if function not in ASKING or (len(arguments) != 1 and function is not sum):
        return False
    if session.current.free_threaded and arguments and family(arguments[0]) is not None:
        return True
    return bool(arguments) and not are_at_hand(arguments[0])


def _order_sets(function: Any, arguments: _Arguments) -> Any:
    """What to call instead of a function that goes through sets in their order."""
    if not any(map(is_set, arguments)):
        return function
    depends = function in _DEPENDING or function.__name__ in ("join", "fromkeys")
    return partial(call_in_order, function) if depends else function


_MAPPINGS: Final = frozenset({dict, collections.OrderedDict, collections.defaultdict})
_COMPARING: Final = frozenset({sorted, min, max})
_FINDING: Final = frozenset({operator.contains, operator.countOf, operator.indexOf})
_SEARCHING: Final = frozenset({bisect.bisect_left, bisect.bisect_right})
_GATHERING: Final = frozenset(catalogue.GATHERING)
_DEPENDING: Final = _GATHERING - {set, frozenset} | {sum} | _COMPARING
"""Functions whose results may depend on the order of a set that they are given."""


@performs(CallEffect.CHANGES_FIRST)
def change_first(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    """Call a function that changes its first argument, and reads the others."""
    methods.note_comparisons(function, arguments, site)
    sources = catalogue.sources_of(function, arguments)
    through = catalogue.goes_through(function)
    if session.current.free_threaded:
        arguments = gather_in_steps(function, arguments, sources, site)
        note_steps(function, arguments[:1], site)
    if through:
        arguments = show_generators(arguments, site)
    parts = parts_of(arguments[:1], How.CHANGE) or opaque_parts(arguments[:1])
    if function.__module__ in ("_heapq", "_bisect"):  # they compare elements
        if named.get("key") is not None:
            named["key"] = read_keys(handle_callback(named["key"], site), site)
        return perform_deep(arguments, site, function, *arguments, more=parts, named=named)
    if function is operator.ior and family(arguments[0]) is dict and hold_pairs(arguments[1]):
        parts += iterator_parts(arguments[1:])
        return perform_deep(arguments[1:], site, function, *arguments, more=parts, named=named)
    parts += [*parts_of(arguments[1:]), *opaque_parts(arguments[1:])]
    if through:
        parts += iterator_parts(arguments[1:])
    return perform_steps(parts, site, function, arguments, named, sources)


@performs(CallEffect.TOUCHES_ALL)
def touch_all(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    """Call a function of which nothing is known: it may change whatever it is given."""
    return _touch_deeply([], function, site, arguments, named)


def _touch_deeply(
    parts: list[Part],
    function: Any,
    site: int,
    arguments: _Arguments,
    named: _Named,
    inside: Sequence[Any] = (),
) -> Any:
    """Call C code that may change what it is given, and the attributes of those `inside`."""
    values = (*inside, *arguments, *named.values())
    note_steps(function, values, site)
    note_generators(function, values, site)
    more = [*parts, *opaque_parts(values)]
    how, apart = How.CHANGE, not now.alone and is_foreign(function)
    return perform_deep(
        values, site, function, *arguments, more=more, how=how, apart=apart, named=named
    )


@performs(CallEffect.TAKES_APART)
def take_all_apart(
    function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any
) -> Any:
    """`pickle.dumps`: C code that reads all attributes of all objects that it reaches."""
    unobserved.called(function)
    progress()
    values = (*arguments, *named.values())
    note_steps(function, values, site)
    more = [*opaque_parts(values), *parts_of(_REDUCERS)]
    return perform_deep(
        values, site, function, *arguments, more=more, apart=True, watched=True, named=named
    )


_REDUCERS: Final = (copyreg.dispatch_table, vars(copyreg)["_extension_registry"])
"""What `pickle` asks how to take objects apart, and how to name classes."""


@performs(CallEffect.WAITS_FOR_EVENTS)
def _select(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    """`select.select(readers, writers, others, timeout)`"""
    return wait_for_events(partial(_call_foreign, function, site), function, *arguments, **named)


def _call_foreign(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    """Call a C function of a module that has no row of its own; it may call what it is given."""
    named = dict(zip(named, handles(named.values(), site), strict=True))
    arguments = tuple(handles(arguments, site))
    methods.note_comparisons(function, arguments, site)
    if catalogue.effect_of(function) is CallEffect.TOUCHES_ALL:
        result = touch_all(function, site, *arguments, **named)
        if result is None:
            note_hidden_change(function, (*arguments, *named.values()), result)
        return result
    return _touch_shallowly([], function, site, arguments, named, catalogue.goes_through(function))


def _touch_shallowly(
    parts: list[Part], function: Any, site: int, arguments: _Arguments, named: _Named, through: bool
) -> Any:
    """Call C code that reads the containers that it is given, and may change other objects."""
    if through:
        if session.current.free_threaded:
            sources = catalogue.sources_of(function, arguments)
            arguments = gather_in_steps(function, arguments, sources, site)
        arguments = show_generators(arguments, site)
    values = (*arguments, *named.values())
    note_steps(function, values, site)
    parts += [*parts_of(values), *opaque_parts(values)]
    if not through:
        note_generators(function, values, site)
    sources = catalogue.sources_of(function, arguments) if through else catalogue.NONE
    return perform_steps(parts, site, function, arguments, named, sources)


@performs(CallEffect.GOES_THROUGH)
def go_through_all(function: Any, site: int, /, *arguments: Any, **named: Any) -> Any:
    """`pool.map(function, rows)`, `wait(futures)`: library code that goes through iterables."""
    first = 1 if function.__name__ == "map" else 0
    if type(function) is FunctionType and function.__name__ == "map":
        first = 2  # `Executor.map(pool, function, rows)`
    sources = [
        iterators.own_source(value, site) for value in arguments[first:][: _ITERABLES[first]]
    ]
    given = (*arguments[:first], *sources, *arguments[first + len(sources) :])
    if "fs" in named:
        named["fs"] = iterators.own_source(named["fs"], site)
    return call_back(function, site, *given, **named)


_ITERABLES: Final = (1, None, None)
"""By the number of arguments before them: how many iterables there are at most."""


@performs(CallEffect.MAKES_ITERATOR)
def make_iterator(function: Callable[..., Any], site: int, /, *arguments: Any, **named: Any) -> Any:
    """Call a function that makes an iterator, which goes through the arguments step by step."""
    for name in named.keys() & iterators.NAMED:
        arguments = (*arguments, named.pop(name))  # both stand behind the elements
    given = handles(arguments, site)
    at = catalogue.CALLBACK_AT.get(function, len(given))
    given[at : at + 1] = [handle_callback(value, site) for value in given[at : at + 1]]
    arguments = show_questions(function, site, tuple(given))
    return iterators.make_lazy_iterator(function, site, *arguments, **named)


@performs(CallEffect.ITERATES)
def make_plain_iterator(function: Callable[..., Any], site: int, /, *arguments: Any) -> Any:
    """`iter` and `reversed`: an iterator in the hands of the program."""
    if len(arguments) > 1:
        return iterators.call_until(function, site, *handles(arguments, site))
    value = arguments[0]
    if opaque.is_gone_through_by_c(type(value)) and not is_iterator(value):
        return opaque.operate(value, site, function, value)
    part = None if family(value) is None else part_of(value, How.LOOK)
    items = function(value) if part is None else iterator_of(part, value, site, function)
    return iterators.iterator_over(value, site, items, function is iter)


@performs(CallEffect.ADVANCES)
def advance_iterator(function: Callable[..., Any], site: int, /, *arguments: Any) -> Any:
    """`next`: something moves that no frame shows."""
    progress()
    if arguments and is_iterator(arguments[0]):
        return opaque.perform_step(function, site, arguments[0], *arguments)
    return function(*arguments)


@performs(CallEffect.REDUCES)
def reduce_steps(function: Any, site: int, /, *arguments: Any) -> Any:
    """`functools.reduce`: what is called may be code of the program, which runs in between."""
    callback, *rest = handles(arguments, site)
    callback = handle_callback(callback, site)
    sources = [iterators.own_source(value, site) for value in rest[:1]]
    return function(callback, *sources, *rest[1:])


@performs(CallEffect.MAKES_FUNCTION)
def make_function(make: Any, _site: int, /, *arguments: Any, **named: Any) -> Any:
    """`types.FunctionType(code, ...)`"""
    code = arguments[0] if arguments else named.get("code")
    if type(code) is CodeType:
        code = at_present.rewriter.observe_code(code)
        if arguments:
            arguments = (code, *arguments[1:])
        else:
            named["code"] = code
    return make(*arguments, **named)


@performs(CallEffect.MAKES_THREAD)
def make_thread(kind: Any, site: int, /, *arguments: Any, **named: Any) -> Any:
    """`Thread(target=f, args=values)`: the thread reads its arguments when it begins."""
    if not arguments and "args" not in named and "kwargs" not in named:
        return call_back(kind, site, **named)
    positions = ("interval", "function") if kind is Timer else ("group", "target", "name")
    given = dict(zip((*positions, "args", "kwargs"), arguments, strict=False)) | named
    if len(given) < len(arguments) + len(named):
        return kind(*arguments, **named)  # which is an error
    for name, late in (("args", unpack_later), ("kwargs", unpack_names_later)):
        if name in given:
            given[name] = late(given[name], site)
    return call_back(kind, site, **given)


@performs(CallEffect.MAKES_CLASS)
def make_class(function: Any, site: int, /, *arguments: Any, **named: Any) -> Any:
    """`type(thing)`, and `type(name, bases, names)`, which reads the last one."""
    if len(arguments) == 1:
        found = function(*arguments, **named)
        return arguments[0].__class__ if issubclass(found, iterators.ShownIterator) else found
    home = sys._getframe(1).f_globals.get("__name__")

    def make(name: Any, bases: Any, names: Any, /, **named: Any) -> Any:
        """The class belongs to the module that makes it, which is told by the caller's frame."""
        if type(names) is dict and "__module__" not in names:
            names = {**names, "__module__": home}
        return function(name, bases, names, **named)

    made = read(make if len(arguments) == 3 else function, site, *arguments, **named)
    at_present.rewriter.observe_borrowed(made)
    note_made(made)
    return made


@performs(CallEffect.MAKES_RECORD)
def make_record(function: Any, site: int, /, *arguments: Any, **named: Any) -> Any:
    """`collections.namedtuple(name, fields)`"""
    if "module" in function.__kwdefaults__:
        named.setdefault("module", sys._getframe(1).f_globals.get("__name__"))
    return read_deeply(function, site, *arguments, **named)


@performs(CallEffect.MAKES_ENCODER)
def make_encoder(make: Any, site: int, /, *arguments: Any) -> Any:
    """What `json` makes to write data out: it asks a function what to write instead of an object,
    and reads that."""
    markers, default, *rest = arguments
    default = handle_callback(default, site)

    def ask(thing: Any) -> Any:
        found = default(thing)
        return found if type(found) in SIMPLE else perform_deep((found,), site, itself, found)

    return make(markers, ask, *rest)


@performs(CallEffect.LISTS_ATTRIBUTES)
def list_attributes(function: Callable[..., Any], site: int, /, *arguments: Any) -> Any:
    """`dir`: the names of the attributes that something has."""
    parts: list[Part] = []
    owner = getattr(function, "__self__", builtins)
    things = arguments if owner is builtins else (owner,)
    own = find_in_class(type(things[0]), "__dir__") if function is dir and things else None
    if type(own) is FunctionType:
        return sorted(read(list, site, own(things[0])))
    if things and session.current.ident == get_ident():
        parts = parts_of_names(things[0])
    return perform_in_turns(parts, site, function, *arguments)


# -- methods that are bound to objects of C code -------------------------------------------------


@calls_kind(*BUILT_IN)
def _call_built_in(function: Any, site: int) -> Any:
    owner = function.__self__
    if owner is None or type(owner) is ModuleType:
        unobserved.called(function)
        if owner is builtins:
            return partial(read, function, site)
        progress()
        return partial(_call_foreign, function, site)
    found, name = family(owner), function.__name__
    if found in METHODS:
        if catalogue.method_effect(found, name) is not None:
            return methods.bind_method(function, owner, found, name, site)
        special = special_methods.choose_of_container(function, owner, name, site)
        if special is not None:
            return special
    elif found in catalogue.VIEWS:
        if name == "run":
            return partial(_run_in_context, function, site)
        if found is memoryview and name in views.RELEASING:
            return partial(views.release, function, owner, site)
        return partial(_call_view, function, owner, site)
    if name in catalogue.READS_DEEPLY and _is_read_by_slots(owner, found):
        return partial(_read_owner_deeply, function, site)
    if type(owner) in (str, bytes) and name in ("join", "format", "format_map"):
        if name != "join":
            return _format(function, owner, site)
        return partial(read if type(owner) is str else _join_buffers, function, site)
    if type(owner) in (GeneratorType, CoroutineType, *opaque.STEPS):
        return partial(opaque.perform_step, function, site, owner)
    if name in catalogue.TELLS_TIME:
        instead = follow_clock(function)
        if instead is not None:
            return instead
        progress()
    if name == "__setstate__" and issubclass(type(owner), partial):
        return partial(set_state, function, site)
    if issubclass(type(owner), type):
        if name == "__subclasses__":
            return partial(list_subclasses, function, site)
        if name == "__new__" and issubclass(owner, ref):
            return partial(make_reference, function, site)
        making = iterators.chain_lazily if name == "from_iterable" else read
        return partial(making, function, site) if is_of_c(owner) else function
    if name in TAKES_APART:
        return partial(take_apart, function, site)
    if name == "__dir__":
        return partial(list_attributes, function, site)
    if name in catalogue.SEARCHES and issubclass(type(owner), tuple):
        return partial(_search_tuple, function, site)
    if issubclass(type(owner), BaseException):
        return special_methods.choose_of_error(function, name, site)
    if opaque.is_opaque(owner):
        if name in catalogue.OF_ALL_OBJECTS and not _is_own_of_c(type(owner), name):
            return function
        return _call_opaque(function, owner, site)
    if found is not None:
        return function
    if catalogue.touches_no_argument(type(owner), name):
        return function
    return partial(_call_value, function, site)


def _join_buffers(function: Any, site: int, values: Any, /) -> Any:
    """`b"".join(values)`: buffers are read when all of them are there."""
    if not are_at_hand(values):
        values = read(list, site, values)
    if session.current.free_threaded:
        (values,) = gather_in_steps(function, (values,), catalogue.ALL, site)
    return perform_deep((values,), site, function, values)


def _search_tuple(function: Any, site: int, /, *arguments: Any) -> Any:
    return perform_deep((function.__self__, *arguments), site, function, *arguments)


def _run_in_context(function: Any, site: int, /, *arguments: Any, **named: Any) -> Any:
    called = dict(zip(named, handles(named.values(), site), strict=True))
    return opaque.run_in_context(function, site, *handles(arguments, site), **called)


def _call_opaque(function: Any, owner: Any, site: int) -> Any:
    """A method of an object whose state nobody sees: it may change it."""
    if type(owner) is DirEntry:
        return partial(files.use_entry, function, site)
    unobserved.meet(type(owner))
    if (module_of(type(owner)), function.__name__) in catalogue.TELLS_FOR_EVER:
        return function
    if issubclass(type(owner), FILES) and open_file_of(owner) is not None:
        if function.__name__ in LASTING:
            return function
        if function.__name__ in ("close", "__exit__"):
            return partial(files.close_file, function, site)
    if type(owner) is ContextVar:
        return partial(opaque.use_variable, function, site)
    if function.__name__ == "poll" and type(owner) in POLLERS:
        return partial(wait_for_events, partial(_move, function, site), function)
    if issubclass(type(owner), DATABASES[1:]):
        return partial(use_database, partial(_move, function), function, site)
    return partial(_move, function, site)


def _is_own_of_c(kind: type, name: str) -> bool:
    """Tell whether C code of a type does what a method of that name does for all objects."""
    return any(opaque.is_done_by_c(kind, asked) for asked in _ASKED.get(name, (name,)))


_ASKED: Final = {
    "__format__": ("__format__", "__str__", "__repr__"),
    "__str__": ("__str__", "__repr__"),
    "__ne__": ("__ne__", "__eq__"),
}
"""Methods of all objects that ask others."""


def _move(function: Any, site: int, /, *arguments: Any, **named: Any) -> Any:
    named = dict(zip(named, handles(named.values(), site), strict=True))
    arguments = tuple(handles(arguments, site))
    progress()
    owner = parts_of_opaque(function.__self__)
    if issubclass(type(function.__self__), Pickler) and function.__name__ == "dump":
        values, more = (*arguments, *named.values()), [*owner, *parts_of(_REDUCERS)]
        more += parts_of((getattr(function.__self__, "dispatch_table", None),))
        return perform_deep(
            values, site, function, *arguments, more=more, apart=True, watched=True, named=named
        )
    if module_of(type(function.__self__)) == "_csv" and arguments:
        return _write_rows(owner, function, site, *arguments)
    if function.__name__ not in catalogue.READS_ARGUMENTS:
        # `__init__` fills the dictionary of a namespace; other methods leave it to the program.
        is_special = function.__name__.startswith("__")
        inside = [function.__self__] if is_special and is_read_inside(function.__self__) else []
        return _touch_deeply(owner, function, site, arguments, named, inside)
    through = function.__name__ in catalogue.WRITES_LINES
    return _touch_shallowly(owner, function, site, arguments, named, through)


def _write_rows(owner: list[Part], function: Any, site: int, given: Any, /) -> Any:
    """`writer.writerow(fields)`, `writer.writerows(rows)`: C code writes out what is in a row."""
    if are_at_hand(given):
        return perform_deep((given,), site, function, given, more=owner)
    if function.__name__ == "writerows":
        for row in iterate(given, 0, site):
            _write_rows(owner, function.__self__.writerow, site, row)
        return None
    given = come_one_by_one(function, *show_generators((given,), site), site)
    return perform_deep((), site, function, given, more=owner)  # with what comes


def _call_value(function: Any, site: int, /, *arguments: Any, **named: Any) -> Any:
    """A method of a value, which cannot change; it may change what it is given."""
    how = How.CHANGE if function.__name__.endswith("_into") else How.READ_ALL
    arguments = show_generators(arguments, site)
    parts = [*parts_of((*arguments, *named.values()), how), *iterator_parts(arguments)]
    parts += opaque_parts(value for value in arguments if not is_iterator(value))
    return perform_all(parts, site, function, *handles(arguments, site), **named)


def _call_view(function: Any, view: Any, site: int, /, *arguments: Any, **named: Any) -> Any:
    """A method of a view of some container."""
    how = How.CHANGE if function.__name__ in _CHANGING else How.READ_ALL
    parts = [*parts_of((view,), how), *parts_of(arguments)]
    return views.watch_view(perform_all(parts, site, function, *arguments, **named))


def _format(function: Any, text: Any, site: int) -> Any:
    if not reflection.reaches_inside(text):
        is_mapped = function.__name__ == "format_map"
        return partial(_format_items if is_mapped else read_deeply, function, site)
    if function.__name__ == "format":
        return partial(reflection.format_text, function, text, site)
    return lambda named: reflection.Formatting(site).vformat(text, (), named)


def _format_items(function: Any, site: int, /, mapping: Any) -> Any:
    """`text.format_map(mapping)`"""
    if not finds_items(mapping):
        return read_deeply(function, site, mapping)
    return perform_deep((mapping,), site, function, mapping, watched=True)


# -- other callable objects of C code ------------------------------------------------------------


@calls_kind(MethodWrapperType)
def _call_bound_slot(function: Any, site: int) -> Any:
    """`thing.__len__`, `super().__setitem__`, `C.slot.__get__`: what C types do with objects."""
    owner, name = function.__self__, function.__name__
    if type(owner) in reflection.SLOTS:
        return reflection.call_descriptor(function, site)
    if name == "__init__" and issubclass(type(owner), (property, staticmethod, classmethod)):
        names.note_older(owner, name)
        note_initialized(owner)
        return function
    if name == "__init__" and issubclass(type(owner), ModuleType):
        show_module(owner)
        return function
    if issubclass(type(owner), property):
        return reflection.call_property(function, site)
    if name in reflection.BOUND:
        return partial(reflection.BOUND[name], function, site)
    if name == "__call__" and not issubclass(type(owner), type):
        if _calls_first(type(owner)):
            return call(owner, site)
        is_reference = issubclass(type(owner), ref)
        return partial(call_bound_reference, function, site) if is_reference else function
    found = family(owner)
    if name in catalogue.READS_DEEPLY and _is_read_by_slots(owner, found):
        return partial(_read_owner_deeply, function, site)
    maker = function.__objclass__
    if maker is object or maker is ref or issubclass(maker, COMPUTED):
        asks_c = name in _ASKED and _is_own_of_c(type(owner), name)
        return _call_opaque(function, owner, site) if asks_c else function
    if found is not None:
        if found in METHODS and catalogue.method_effect(found, name) is not None:
            return methods.bind_method(function, owner, found, name, site)
        special = special_methods.choose_of_container(function, owner, name, site)
        return special or partial(_call_view, function, owner, site)
    if is_iterator(owner):
        if name == "__iter__":
            return function
        if name == "__next__":
            return partial(opaque.perform_step, function, site, owner)
    if catalogue.is_value(maker):
        return _call_slot_of_value(function, maker, name, site)
    if issubclass(type(owner), BaseException):
        return special_methods.choose_of_error(function, name, site)
    return _call_opaque(function, owner, site)


def _is_read_by_slots(owner: Any, found: Any) -> bool:
    """Tell whether what compares an object, or writes it out, reads what is in it."""
    return found is not None or issubclass(type(owner), tuple) or is_read_inside(owner)


def _call_slot_of_value(function: Any, kind: type, name: str, site: int) -> Any:
    """`"%s".__mod__(rows)`: nothing but what it is given can change."""
    if kind in catalogue.PLAIN and kind not in catalogue.DATA:
        return function  # functions, classes and descriptors: what they call is observed
    if name in _READING_ARGUMENTS:
        reading = read_deeply if kind in SIMPLE else _read_owner_deeply
        return partial(reading, function, site)
    return partial(_call_value, function, site)


_READING_ARGUMENTS: Final = catalogue.READS_DEEPLY | {"__contains__", "__mod__"}
"""Special methods of values that read what is in their arguments."""


def _calls_first(kind: type) -> bool:
    """Whether objects of a type are called by C code, and not by a method that a class in Python
    has put in its place and which calls it by `super().__call__`."""
    found = (names_in_class(one).get("__call__") for one in ancestors(kind))
    return type(next(filter(None, found), None)) is WrapperDescriptorType


def _read_owner_deeply(function: Any, site: int, /, *arguments: Any) -> Any:
    """Call a method that compares or writes out its container."""
    return perform_deep((function.__self__, *arguments), site, function, *arguments)


_CHANGING: Final = frozenset({"__setitem__", "__delitem__"})


@calls_kind(*catalogue.DESCRIPTORS)
def _call_unbound(function: Any, site: int) -> Any:
    """`dict.__setitem__`: a slot of a C type, or a method of one."""
    kind, name = function.__objclass__, function.__name__
    if kind in METHODS and catalogue.method_effect(kind, name) is not None:
        return partial(methods.perform_unbound, function, site)
    if kind is object:
        if name in _ASKED or name == "__sizeof__":
            return partial(_call_bound, function, site)
        return partial(take_apart, function, site) if name in TAKES_APART else function
    if catalogue.touches_no_argument(kind, name) and name not in catalogue.READS_DEEPLY:
        return function
    return partial(_call_bound, function, site)


def _call_bound(function: Any, site: int, thing: Any, /, *arguments: Any, **named: Any) -> Any:
    """Call a method of C code that is given its object as the first argument."""
    return call(function.__get__(thing, type(thing)), site)(*arguments, **named)


@performs(CallEffect.CALLS_OBJECT)
def _call_object(function: Any, site: int, /, *arguments: Any, **named: Any) -> Any:
    """Call an object of C code, or a method that is one: `provider()`, `session.execute()`."""
    inner = function.__func__ if type(function) is MethodType else function
    unobserved.meet(type(inner))
    owners = [function.__self__] if inner is not function else []
    if is_wrapper(type(inner)):
        return use_wrapper(inner, site, function, *arguments, **named)
    if not _is_function(type(inner)):
        owners.append(inner)
    progress()
    result = _touch_deeply(opaque_parts(owners), function, site, arguments, named)
    if result is None and not owners:
        note_hidden_change(function, (*arguments, *named.values()), result)
    return result


def _is_function(kind: type) -> bool:
    """Tell whether objects of a type are functions, with names, and keep nothing between calls."""
    return any("__name__" in names_in_class(base) for base in ancestors(kind))


calls_kind(CachedFunction)(always(call_cached))


calls_kind(partial)(call_partial)


@calls_kind(staticmethod)
def _call_static(function: Any, site: int) -> Any:
    return call(function.__func__, site)


@calls_kind(attrgetter, itemgetter, methodcaller)
def _call_getter(function: Any, site: int) -> Any:
    return reflection.call_getter(function, site, methods.call_method)


if catalogue.ENCODER is not None:
    calls_kind(catalogue.ENCODER)(always(read_deeply))
