"""What library and C code does to the data that it is given: one table over a safe default.

Code that is rewritten shows its accesses by itself.  C code does not, and neither do parts of the
standard library; what a call of them touches is written down here.  C code that has no row
**touches everything that it is given**: containers among the arguments, and containers inside of
those, count as changed, and so do objects whose state only C code sees.  A missing row therefore
costs schedules and hides nothing.  The default is in `effect_of`, `method_effect` and
`READS_ARGUMENTS`.  Python code that is not rewritten, and C code of packages that may read
attributes of the program's objects, is named in the result instead (`sharing.monitoring`).

To add a function, put it into the row of its effect in `ROWS`; a method of a built-in container
goes into `METHODS`.  `tests/unit/runtime/python/test_catalogue.py` is the place for its test.  A
function that fits no effect gets one of its own, which `calls.performs` binds to its model
(`python.library` has examples).
"""

from __future__ import annotations

import array
import bisect
import collections
import concurrent.futures
import dataclasses
import decimal
import functools
import heapq
import inspect
import io
import itertools
import json.encoder
import math
import operator
import os
import pickle
import queue
import random
import select
import sys
import threading
import traceback
import types
import warnings
import weakref
from abc import ABCMeta
from collections import deque
from contextvars import Context, ContextVar
from enum import Enum, auto
from typing import Any, Final, TypeAlias

from mazurka.runtime.core.insides import field_of, has_in_class, module_of
from mazurka.runtime.primitives.lock import Lock, RLock
from mazurka.runtime.primitives.queue import SimpleQueue
from mazurka.runtime.python.places.file_functions import (
    DATABASES,
    FILE_FUNCTIONS,
    LOCKING,
    MAPS,
    OPENING,
)
from mazurka.runtime.python.places.settings import SETTINGS
from mazurka.runtime.sharing.accesses import How

# -- types ---------------------------------------------------------------------------------------

_HEAP: Final = 1 << 9
"""A flag of types in CPython."""


def is_made(kind: type) -> bool:
    """Tell whether a class has been made at run time, as by a `class` statement."""
    return bool(field_of(kind, "__flags__") & _HEAP)


OF_CLASS: Final[type] = type(array.array("b").extend)
"""The type of those bound methods of C code that are told the class that has them."""
BUILT_IN: Final[frozenset[type]] = frozenset({types.BuiltinFunctionType, OF_CLASS})
"""Types of functions of C code, and of methods that are bound to an object."""
DESCRIPTORS: Final = frozenset({types.MethodDescriptorType, types.WrapperDescriptorType})
"""Types of methods of C code that are not bound."""
CachedFunction: Final[Any] = type(functools.lru_cache(len))
SIMPLE: Final = frozenset({int, float, complex, str, bytes, bool, type(None)})
"""Types of values that hold nothing: an operator on two of them touches nothing."""
DATA: Final = frozenset({*SIMPLE, tuple, frozenset, range, slice})
"""Types of values that hold nothing, or nothing that changes."""
PLAIN: Final = frozenset(
    {*DATA, type(...)}
    | {type, types.FunctionType, *BUILT_IN, types.MethodType, types.ModuleType}
    | {type(NotImplemented), *DESCRIPTORS, types.MethodWrapperType, object, super, property}
    | {staticmethod, classmethod, functools.partial, types.CodeType}
)
"""Types whose objects never change, or are watched by other means."""
HOLDING: Final = frozenset(
    {tuple, frozenset, slice, functools.partial, types.MethodType, staticmethod, classmethod}
)
"""Those of them whose objects hold others, which C code reads that compares or writes them out."""
FIXED: Final = PLAIN - HOLDING
"""Those of them whose objects are read by nobody."""
_VALUE_MODULES: Final = frozenset(
    {"re", "datetime", "decimal", "_struct", "types", "typing", "operator", "_csv"}
)
"""Modules of C types whose objects are values."""
_NO_VALUES: Final = frozenset({"Context", "SimpleNamespace", "reader", "writer"})
"""Types of those modules whose objects are not: `decimal.Context`, what `csv.reader` makes."""


def is_value(kind: type) -> bool:
    """Tell whether objects of a type never change, or are watched by other means."""
    return kind in PLAIN or (
        module_of(kind) in _VALUE_MODULES and field_of(kind, "__name__") not in _NO_VALUES
    )


LISTS: Final = (list, deque, bytearray, array.array)
CONTAINERS: Final = (*LISTS, dict, set)
VIEWS: Final[tuple[type, ...]] = (
    *(type({}.keys()), type({}.values()), type({}.items())),
    *(types.MappingProxyType, memoryview, Context),
)
"""What shows a container that is kept elsewhere, or inside."""
NEW_EACH_TIME: Final = frozenset({range, tuple, str, bytes, frozenset})
"""Types whose iterators nobody else can have."""
SYNCHRONIZING: Final = frozenset(
    {threading.Thread, threading.Timer, threading.Condition, threading.Event}
    | {threading.Semaphore, threading.BoundedSemaphore, threading.Barrier}
    | {queue.Queue, queue.LifoQueue, queue.PriorityQueue, Lock, RLock, SimpleQueue}
)
"""Classes of objects that are under control as a whole."""


# -- methods of built-in containers: each one access ---------------------------------------------

_Methods: TypeAlias = dict[str, How | None]


def _methods(*rows: tuple[How | None, str], base: _Methods | None = None) -> _Methods:
    """Read rows of an effect and the names of methods that have it; add them to those of a base."""
    return {**(base or {}), **{name: how for how, names in rows for name in names.split()}}


_LIST: Final = _methods(
    (How.READ_ALL, "copy count index __add__ __mul__ __rmul__ __contains__"),
    (How.CHANGE, "append insert extend remove clear sort reverse __iadd__ __imul__ __delitem__"),
    (How.LOOK, "__len__"),
    (How.TAKE, "pop"),
    (How.READ, "__getitem__"),
    (How.WRITE, "__setitem__"),
)
_DEQUE: Final = _methods(
    (How.CHANGE, "appendleft extendleft rotate"),
    (How.TAKE, "popleft"),
    (How.READ_ALL, "__copy__"),
    base=_LIST,
)
_BYTES: Final = _methods(
    (How.READ_ALL, "decode hex find rfind split startswith endswith tobytes tolist join strip"),
    (How.CHANGE, "fromlist frombytes byteswap"),
    base=_LIST,
)
_DICT: Final = _methods(
    (How.READ_ALL, "copy __or__ __ror__ __copy__ most_common elements total"),
    (How.CHANGE, "update clear __ior__ move_to_end subtract"),
    (None, "keys values items fromkeys"),
    (How.LOOK, "__len__ __contains__"),
    (How.READ, "get __getitem__"),
    (How.WRITE, "__setitem__"),
    (How.REMOVE, "__delitem__ pop"),
    (How.ENSURE, "setdefault"),
    (How.TAKE, "popitem"),
)
_SET: Final = _methods(
    (How.LOOK, "copy union intersection difference symmetric_difference __len__ __contains__"),
    (How.LOOK, "issubset issuperset isdisjoint __or__ __and__ __sub__ __xor__"),
    (How.LOOK, "__ror__ __rand__ __rsub__ __rxor__"),
    (How.CHANGE, "update clear intersection_update difference_update symmetric_difference_update"),
    (How.ENSURE, "add"),
    (How.REMOVE, "discard remove"),
    (How.TAKE, "pop"),
)
METHODS: Final[dict[Any, _Methods]] = {
    list: _LIST,
    deque: _DEQUE,
    bytearray: _BYTES,
    array.array: _BYTES,
    dict: _DICT,
    set: _SET,
}
"""By container: what a method does to it.  None: it touches nothing, and may make a view."""
READS_DEEPLY: Final = frozenset(
    {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"}
    | {"__repr__", "__str__", "__format__", "__hash__"}
)
"""Methods of all objects that read what is in a container, and in containers among that."""
OF_ALL_OBJECTS: Final = frozenset(dir(object))
"""Methods that all objects have; `object` itself, which is a class, has more: `object.__or__`."""
ASIDE: Final = READS_DEEPLY | {
    *("__iter__", "__reversed__", "__init__", "__missing__", "__sizeof__", "__dir__"),
    *("__getattribute__", "__setattr__", "__delattr__"),
    *("__reduce__", "__reduce_ex__", "__getstate__"),
    *("__new__", "__class_getitem__", "__init_subclass__", "__subclasshook__"),
}
"""Methods of containers that have models of their own, or are those of a class."""


def method_effect(container: Any, name: str) -> How | None:
    """Tell what a C method of a built-in container does to it; one without a row changes it.

    None if it touches nothing, or has a model of its own (`special_methods`).
    """
    found = METHODS[container].get(name, ASIDE)
    if isinstance(found, How) or found is None:
        return found
    return None if name in ASIDE else How.CHANGE


TAKES_ELEMENTS: Final = frozenset({"extend", "extendleft", "update"})
"""Methods that go through an iterable, which may be code of the program."""
SEARCHES: Final = frozenset({"remove", "index", "count"})
"""Methods of a list that compare its elements with the argument, one after the other."""
COMPARES: Final = frozenset({*SEARCHES, "__contains__"})
"""Methods of a list that read what is in its elements, if the argument is a container, too."""
STORES_ARGUMENTS: Final = frozenset({"append", "appendleft", "insert", "remove", "add", "discard"})
"""Methods that change their container, and read nothing of what they are given."""


TOUCHES_ITS_CONTAINER: Final = STORES_ARGUMENTS - {"remove"} | {
    *("copy", "__copy__", "clear", "reverse", "pop", "popleft", "popitem", "rotate", "__len__"),
    *("get", "__getitem__", "__setitem__", "__delitem__", "setdefault", "move_to_end", "tolist"),
    *("__mul__", "__rmul__", "__imul__", "byteswap", "tobytes", "hex", "most_common", "elements"),
}
"""Methods that read nothing of what they are given: keys, numbers, and what is stored."""


# -- functions -----------------------------------------------------------------------------------


class CallEffect(Enum):
    """What a call does to what it is given."""

    TOUCHES_NOTHING = auto()
    """It reads no container and changes nothing."""
    LOOKS = auto()
    """It looks at what is in containers, not at the elements: `len`."""
    READS = auto()
    """It reads containers, and goes through iterators."""
    READS_DEEPLY = auto()
    """It reads containers, and all that is in them: it compares or writes them out."""
    CHANGES_FIRST = auto()
    """It changes the first argument, and reads the others."""
    TAKES_APART = auto()
    """It reads all that it is given, at any depth, with all attributes; it changes files."""
    TOUCHES_ALL = auto()
    """It may change whatever it is given, at any depth: the default."""
    CALLS_OBJECT = auto()
    """It is an object of C code that is called; it may change itself and whatever it is given."""
    CALLS_BACK = auto()
    """It calls functions that it is given, now or later."""
    MAKES_ITERATOR = auto()
    """It makes an iterator, which goes through the arguments later, step by step."""
    ITERATES = auto()
    """It makes an iterator of its argument: `iter`, `reversed`."""
    ADVANCES = auto()
    """It makes one step of an iterator: `next`."""
    REDUCES = auto()
    """It calls the first argument between steps through the second one."""
    GOES_THROUGH = auto()
    """It goes through iterables that it is given, one after the other, and calls what it is
    given."""
    TEES = auto()
    PRINTS = auto()
    PRINTS_TRACEBACK = auto()
    WARNS = auto()
    USES_DECIMALS = auto()
    """It makes a context for decimal numbers, as the default one is, or takes one into use."""
    USES_FILES = auto()
    """It is given paths or descriptors, and uses what is there (`file_functions`)."""
    OPENS_FILE = auto()
    LOCKS_FILE = auto()
    OPENS_DATABASE = auto()
    WAITS_FOR_EVENTS = auto()
    MAPS_FILE = auto()
    USES_SETTING = auto()
    """It reads or changes what the process has once (`settings`)."""
    ASKS_CLASS = auto()
    """It asks an abstract class, which may have been told of others (`isinstance`)."""
    MAKES_VIEW = auto()
    """It makes a view of a buffer, which cannot change its size as long as there is one."""
    HINTS_LENGTH = auto()
    FINDS_FRAME = auto()
    """It looks at the frames of its callers."""
    IDENTIFIES = auto()
    HASHES = auto()
    MAKES_FUNCTION = auto()
    MAKES_THREAD = auto()
    """It keeps a function and its arguments, which a thread reads when it begins."""
    MAKES_CLASS = auto()
    """It gives the class of an object, or makes one of the names that it is given."""
    MAKES_RECORD = auto()
    """It makes a class of the names of its fields, for the module that calls it."""
    MAKES_ENCODER = auto()
    MAKES_REFERENCE = auto()
    """It makes a weak reference, and does not touch its object."""
    FOLLOWS_REFERENCE = auto()
    """It is a weak reference, and gives its object."""
    LISTS_ATTRIBUTES = auto()
    SHOWS_ATTRIBUTES = auto()
    READS_ITEM = auto()
    READS_ATTRIBUTE = auto()
    READS_STATIC_ATTRIBUTE = auto()
    READS_OWN_ATTRIBUTE = auto()
    HAS_ATTRIBUTE = auto()
    WRITES_ATTRIBUTE = auto()
    USES_PROPERTY = auto()
    """It reads or writes a property of a thread: `thread.getName()`."""
    DELETES_ATTRIBUTE = auto()


FRAME_FUNCTIONS: Final = tuple(
    vars(sys)[name] for name in ("_getframe", "_getframemodulename") if hasattr(sys, name)
)
BATCHED: Final = getattr(itertools, "batched", itertools.pairwise)
"""There is none before Python 3.12."""
CALLBACK_AT: Final[dict[Any, int]] = {
    **dict.fromkeys((map, filter, itertools.starmap, itertools.filterfalse), 0),
    **dict.fromkeys((itertools.takewhile, itertools.dropwhile), 0),
    **dict.fromkeys((itertools.accumulate, itertools.groupby), 1),
}
"""Of functions that make iterators: which argument is called; with `accumulate`, none may be."""
NUMBERED: Final = (enumerate, itertools.islice, getattr(itertools, "batched", enumerate))
"""Of functions that make iterators: those whose other arguments than the first are numbers."""
LAZY: Final = (
    *(enumerate, zip, itertools.chain, itertools.islice, itertools.cycle, itertools.compress),
    *(itertools.pairwise, itertools.zip_longest, BATCHED, *CALLBACK_AT),
)
"""Types of iterators that go through others, on whose way code may run."""
GATHERING: Final = (
    *(list, tuple, set, frozenset, dict, bytes, bytearray),
    *(deque, collections.OrderedDict, collections.defaultdict, array.array, io.BytesIO),
    *(itertools.product, itertools.permutations, itertools.combinations),
    itertools.combinations_with_replacement,
)
"""Functions and types that go through all of an argument at once."""
COUNT_ELEMENTS: Final[Any] = vars(collections)["_count_elements"]
_IN_PLACE: Final = (
    *(operator.iadd, operator.iand, operator.iconcat, operator.ifloordiv, operator.ilshift),
    *(operator.imatmul, operator.imod, operator.imul, operator.ior, operator.ipow),
    *(operator.irshift, operator.isub, operator.itruediv, operator.ixor),
)
ENCODER: Final = getattr(json.encoder, "c_make_encoder", None)
"""What makes text of data in `json`, as far as C code does it."""
ROWS: Final[tuple[tuple[CallEffect, tuple[Any, ...]], ...]] = (
    (CallEffect.TOUCHES_NOTHING, (isinstance, issubclass, callable, range, abs, ord, chr)),
    (CallEffect.TOUCHES_NOTHING, (object, super, slice, property, staticmethod, classmethod)),
    (CallEffect.TOUCHES_NOTHING, (threading.local, ContextVar, types.MappingProxyType)),
    (CallEffect.TOUCHES_NOTHING, (types.SimpleNamespace, types.MethodType)),
    (CallEffect.TOUCHES_NOTHING, (operator.attrgetter, operator.itemgetter, operator.methodcaller)),
    (CallEffect.TOUCHES_NOTHING, (itertools.count, itertools.repeat, complex)),
    (CallEffect.TOUCHES_NOTHING, (os.putenv, os.unsetenv)),  # `os.environ` shows the rest
    (CallEffect.MAKES_CLASS, (type,)),
    (CallEffect.MAKES_RECORD, (collections.namedtuple, dataclasses.make_dataclass)),
    (CallEffect.MAKES_THREAD, (threading.Thread, threading.Timer)),
    (CallEffect.ASKS_CLASS, (ABCMeta.__instancecheck__, ABCMeta.__subclasscheck__)),
    (CallEffect.LOOKS, (len, bool)),
    (CallEffect.READS, (*GATHERING, int, float)),
    (CallEffect.READS_DEEPLY, (sorted, min, max, any, all, sum, repr, ascii, format, str)),
    (CallEffect.READS_DEEPLY, (bisect.bisect_left, bisect.bisect_right, math.prod)),
    (CallEffect.READS_DEEPLY, (operator.eq, operator.ne, operator.lt, operator.le, operator.gt)),
    (CallEffect.READS_DEEPLY, (operator.ge, operator.contains, operator.countOf, operator.indexOf)),
    (CallEffect.CHANGES_FIRST, (heapq.heappush, heapq.heappop, heapq.heapify, heapq.heapreplace)),
    (CallEffect.CHANGES_FIRST, (heapq.heappushpop, bisect.insort, bisect.insort_left)),
    (CallEffect.CHANGES_FIRST, (random.shuffle, operator.setitem, operator.delitem)),
    (CallEffect.CHANGES_FIRST, (COUNT_ELEMENTS, *_IN_PLACE)),
    (CallEffect.TAKES_APART, (pickle.dump, pickle.dumps)),
    (CallEffect.MAKES_ITERATOR, LAZY),
    (CallEffect.ITERATES, (iter, reversed)),
    (CallEffect.ADVANCES, (next,)),
    (CallEffect.REDUCES, (functools.reduce,)),
    (CallEffect.TEES, (itertools.tee,)),
    (CallEffect.GOES_THROUGH, (concurrent.futures.Executor.map,)),
    (CallEffect.GOES_THROUGH, (concurrent.futures.wait, concurrent.futures.as_completed)),
    (CallEffect.PRINTS, (print,)),
    (CallEffect.PRINTS_TRACEBACK, (traceback.print_exc, traceback.print_exception)),
    (CallEffect.PRINTS_TRACEBACK, (traceback.print_tb, traceback.print_stack)),
    (CallEffect.PRINTS_TRACEBACK, (traceback.print_last, traceback.print_list)),
    (CallEffect.WARNS, (warnings.warn, warnings.warn_explicit)),
    (CallEffect.USES_DECIMALS, (decimal.Context, decimal.getcontext, decimal.setcontext)),
    (CallEffect.USES_FILES, tuple(FILE_FUNCTIONS)),
    (CallEffect.OPENS_FILE, OPENING),
    (CallEffect.LOCKS_FILE, LOCKING),
    (CallEffect.OPENS_DATABASE, DATABASES[:2]),
    (CallEffect.MAPS_FILE, MAPS),
    (CallEffect.WAITS_FOR_EVENTS, (select.select,)),
    (CallEffect.USES_SETTING, tuple(SETTINGS)),
    (CallEffect.MAKES_VIEW, (memoryview,)),
    (CallEffect.HINTS_LENGTH, (operator.length_hint,)),
    (CallEffect.FINDS_FRAME, (inspect.currentframe, *FRAME_FUNCTIONS)),
    (CallEffect.IDENTIFIES, (id,)),
    (CallEffect.HASHES, (hash,)),
    (CallEffect.MAKES_FUNCTION, (types.FunctionType,)),
    (CallEffect.MAKES_ENCODER, () if ENCODER is None else (ENCODER,)),
    (CallEffect.MAKES_REFERENCE, (weakref.ref, weakref.proxy)),
    (CallEffect.LISTS_ATTRIBUTES, (dir, object.__dir__, type.__dir__)),
    (CallEffect.SHOWS_ATTRIBUTES, (vars,)),
    (CallEffect.READS_ITEM, (operator.getitem,)),
    (CallEffect.READS_ATTRIBUTE, (getattr,)),
    (CallEffect.READS_STATIC_ATTRIBUTE, (inspect.getattr_static,)),
    (CallEffect.READS_OWN_ATTRIBUTE, (object.__getattribute__, type.__getattribute__)),
    (CallEffect.HAS_ATTRIBUTE, (hasattr,)),
    (CallEffect.USES_PROPERTY, (threading.Thread.getName, threading.Thread.setName)),
    (CallEffect.USES_PROPERTY, (threading.Thread.isDaemon, threading.Thread.setDaemon)),
    (CallEffect.WRITES_ATTRIBUTE, (setattr, object.__setattr__, type.__setattr__)),
    (CallEffect.DELETES_ATTRIBUTE, (delattr, object.__delattr__, type.__delattr__)),
)
"""What calls of functions and types do."""
_READING_MODULES: Final = frozenset(
    {"builtins", "math", "cmath", "time", "itertools", "_functools", "_bisect", "_json"}
    | {"sys", "_operator"}
)
"""Modules whose C functions that have no row read what they are given."""


def effect_of(function: Any) -> CallEffect:
    """Tell what a C function of a module does that has no row of its own."""
    reads = getattr(function, "__module__", None) in _READING_MODULES
    return CallEffect.READS if reads and function is not operator.call else CallEffect.TOUCHES_ALL


_FIRST: Final = slice(0, 1)
_SECOND: Final = slice(1, 2)
ALL: Final = slice(None)
NONE: Final = slice(0, 0)
_GOING_THROUGH: Final[dict[Any, slice]] = {
    **dict.fromkeys((operator.countOf, operator.indexOf, operator.contains), _FIRST),
    **dict.fromkeys((operator.iadd, operator.iconcat, COUNT_ELEMENTS), _SECOND),
    **dict.fromkeys((math.fsum, math.prod), _FIRST),
    **dict.fromkeys((math.dist, getattr(math, "sumprod", math.dist)), ALL),
}
"""Functions that go through iterators that they are given, and keep none."""
_SOURCES: Final[dict[Any, slice]] = {
    **dict.fromkeys(GATHERING, _FIRST),
    **dict.fromkeys((array.array, collections.defaultdict), _SECOND),
    itertools.product: ALL,
    io.BytesIO: NONE,
    **dict.fromkeys((sorted, min, max, any, all, sum), _FIRST),
    **_GOING_THROUGH,
}
_THROUGH_ARGUMENTS: Final = frozenset(
    {"join", "fromkeys", "writelines", "writerows", "extend", "extendleft", "update", "subtract"}
    | {"union", "intersection", "difference", "symmetric_difference", "isdisjoint", "issubset"}
    | {"intersection_update", "difference_update", "symmetric_difference_update", "issuperset"}
    | {"__iadd__", "__ior__", "__setitem__", "from_iterable", "fromlist", "writerow"}
)
"""Methods that go through what they are given."""
_FIRST_ASKED: Final = {bytes: ("__bytes__", "__index__"), bytearray: ("__index__",)}
"""Types that ask what they are given for something else, before they go through it."""


def goes_through(function: Any) -> bool:
    """Tell whether a C function goes through iterators that it is given, and keeps none."""
    return function in _GOING_THROUGH


def sources_of(function: Any, arguments: tuple[Any, ...]) -> slice:
    """Tell which of its arguments a C function goes through; others are numbers or are kept."""
    if function in _SOURCES:
        asked = _FIRST_ASKED.get(function, ())
        if asked and any(
            has_in_class(type(value), name) for name in asked for value in arguments[:1]
        ):
            return NONE
        return _SOURCES[function]
    is_class = issubclass(type(function), type)
    return NONE if is_class else sources_of_method(getattr(function, "__name__", ""))


def sources_of_method(name: str) -> slice:
    """Tell which of its arguments a method of C code goes through."""
    return ALL if name in _THROUGH_ARGUMENTS else NONE


_NUMBERS: Final = ("__index__", "__trunc__", "__round__")
_ELEMENTS: Final = ("__iter__", "__len__", "__getitem__")
ASKS: Final[dict[Any, tuple[str, ...]]] = {
    **dict.fromkeys((*GATHERING, any, all, sum), _ELEMENTS),
    **dict.fromkeys((sorted, min, max, iter, reversed), (*_ELEMENTS, "__reversed__")),
    len: ("__len__",),
    bool: ("__bool__", "__len__"),
    str: ("__str__", "__repr__"),
    **dict.fromkeys((repr, ascii), ("__repr__",)),
    format: ("__format__", "__str__", "__repr__"),
    hash: ("__hash__",),
    int: ("__int__", *_NUMBERS),
    float: ("__float__", *_NUMBERS),
    bytes: ("__bytes__", *_ELEMENTS),
}
"""Built-in functions that call nothing but these methods of what they are given."""
READS_BUFFERS: Final = frozenset({bytes, bytearray, io.BytesIO})
"""Built-in functions that read the buffers of what they are given; `str` does with an encoding."""
ASKS_ELEMENTS: Final[dict[Any, tuple[str, ...]]] = {
    **dict.fromkeys((min, max), ("__lt__", "__gt__")),
    **dict.fromkeys((any, all), ("__bool__", "__len__")),
    **dict.fromkeys((set, frozenset), ("__hash__", "__eq__")),
    sum: ("__add__", "__radd__"),
}
"""Functions that call these methods of elements while they go through a container."""


# -- methods of other C types --------------------------------------------------------------------

READS_ARGUMENTS: Final = frozenset(
    {"write", "writelines", "writerow", "writerows", "update", "send", "set", "get", "seek", "add"}
)
"""Methods of C objects that change no argument; one that is not known does: `file.readinto(b)`."""
TELLS_FOR_EVER: Final = frozenset({("_asyncio", "get_loop"), ("_asyncio", "get_coro")})
"""By module: methods of C objects that give the same for ever."""
WRITES_LINES: Final = frozenset({"writelines", "writerows"})
"""Methods that go through what they are given, line by line."""
TELLS_TIME: Final = frozenset({"now", "utcnow", "today", "add_note"})
"""Methods that give something else each time: `datetime.now()`, unless the clock is virtual."""


_OF_TEXT_ALONE: Final = frozenset(
    name
    for name in dir(str)
    if not name.startswith("_") and name not in ("join", "format", "format_map", "translate")
)


def touches_no_argument(kind: type, method: str) -> bool:
    """Tell whether a method of values of a type takes nothing but values: `text.split(",")`."""
    if kind is str:
        return method in _OF_TEXT_ALONE
    return kind in (int, float, complex, bool, range, slice)


# -- Python code of the library that is not rewritten --------------------------------------------

CONTROLLED: Final = frozenset({"mazurka", "threading", "queue", "time", "concurrent"})
"""Packages whose functions are watched by other means."""
TAKES_FUNCTIONS: Final = frozenset(
    {"__init__", "submit", "map", "add_done_callback", "wait_for", "start_new_thread"}
)
"""Functions of those packages that call what they are given."""
PACKAGES: Final[dict[str, CallEffect]] = {
    **dict.fromkeys(("mazurka", "threading", "concurrent", "contextlib"), CallEffect.CALLS_BACK),
    **dict.fromkeys(("functools", "heapq", "bisect", "sched"), CallEffect.CALLS_BACK),
    **dict.fromkeys(("pickle", "pprint", "statistics", "string"), CallEffect.READS_DEEPLY),
    **dict.fromkeys(("textwrap", "reprlib", "csv"), CallEffect.READS_DEEPLY),
    **dict.fromkeys(("re", "base64", "hashlib", "json"), CallEffect.READS),
    "traceback": CallEffect.TOUCHES_ALL,  # it writes to what it is given
}
"""By package: what its Python functions do.  Others show what they do, where they are rewritten
(`rewrite.library`), or are named in the result (`sharing.monitoring`)."""
CALLS_CLASSES: Final = frozenset({"threading", "concurrent", "mazurka", "heapq", "bisect"})
"""Packages whose functions call what they are given as the first argument, or by these names."""
CALLED_NAMES: Final = ("target", "function", "fn", "func", "initializer", "key")
INNER_PARTS: Final = frozenset({"_qsize", "_put", "_get", "_init", "_is_owned", "_wait", "_notify"})
"""Methods of synchronizing classes that are not meant to be called from outside."""
