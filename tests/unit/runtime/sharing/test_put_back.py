"""What an execution does to a module's objects is not there in the next one.

Each way is *check, then act* by two threads.  Both can find the check true; but if the first
execution's act stays, then no later execution finds it true, and the race looks like none.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from tests.unit.runtime.observed_programs import module_of

import mazurka
from mazurka.runtime.program.process_state import ProcessState
from mazurka.runtime.sharing.older_state import OlderState
from mazurka.runtime.story.result import Result

SOURCE = """
import abc, array, collections, concurrent.futures, contextvars, ctypes, decimal, functools
import hashlib, io, itertools, mmap, os, queue, sqlite3, sys, tempfile, threading, types, typing

class Thing:
    def method(self): pass
class Other: pass
class Slotted:
    __slots__ = ("value",)
class Settings:
    @functools.cached_property
    def value(self): return object()
def function(x=0, *, y=0): return x
@functools.cache
def remembered(x): return object()
def make_bounded(free):
    @functools.lru_cache(maxsize=3)
    def bounded(x, *, y=0): return (object(), free)
    return bounded
bounded = make_bounded(1)
KNOWN = remembered(0), bounded("text"), bounded(1, y=2)
@functools.lru_cache(typed=True)
def typed(*x, **y): return object()
KNOWN = (*KNOWN, typed(0), typed(1, 2, z=3), typed(z=1, y=2))
COPIED = functools.lru_cache(maxsize=9)(str)
COPIED(0)

NAME = 1
BOX, NAMES, SLOTTED, SETTINGS = Thing(), types.SimpleNamespace(), Slotted(), Settings()
HERE, ERROR, STATE = sys.modules[__name__], ValueError(), Thing()
EVENT, LOCK, RLOCK = threading.Event(), threading.Lock(), threading.RLock()
SEMAPHORE, BOUNDED = threading.Semaphore(1), threading.BoundedSemaphore(2)
CONDITION, BARRIER = threading.Condition(), threading.Barrier(2)
SIMPLE, FIFO = queue.SimpleQueue(), queue.Queue()
LIFO, SORTED = queue.LifoQueue(), queue.PriorityQueue()
SIMPLE.put(0)
FUTURE, RESULT = concurrent.futures.Future(), concurrent.futures.Future()
POOL = concurrent.futures.ThreadPoolExecutor(1)
THREAD, STARTED = threading.Thread(name="new"), threading.Thread(target=int)
TIMER = threading.Timer(1, int)
TEXT, BYTES, CONTEXT = io.StringIO("x\\n", newline="\\r\\n"), io.BytesIO(), decimal.Context(prec=5)
VIEW, NUMBERS, RAW = memoryview(bytearray(2)), array.array("i"), (ctypes.c_int * 2)()
ITEMS, LAST, PAIRS = iter([1, 2, 3]), iter([1]), zip([1] * 99, itertools.cycle("ab"))
HASH, SHAKE = hashlib.sha256(), hashlib.shake_128()
PARTIAL, NAMED = functools.partial(int, 1), functools.partial(int, base=2)
class Abstract(abc.ABC):
    asked = 0
    @classmethod
    def __subclasshook__(cls, kind):
        cls.asked += 1
        return True
class Derived(Thing): pass
class Plain: pass
class Empty: pass
class Meta(type): pass
class OfMeta(metaclass=Meta): pass
class Structure(ctypes.Structure):
    _fields_ = [("x", ctypes.c_int)]
class Unfinished(ctypes.Structure): pass
class Asking(type):
    def __getattribute__(cls, name): return super().__getattribute__(name)
class Asked(metaclass=Asking): pass
class Annotated:
    x: int
class Aliased:
    __slots__ = ("x", "__dict__")
    z = 3
class Turned: pass
class Based(Plain): pass
TURNED, BASED = Plain(), Based()
ALIASED = Aliased()
ALIASED.x = 0
def tagged(): pass
class Row(typing.TypedDict):
    x: int
class Property(property): pass
class Module(types.ModuleType): pass
PROPERTY, CLASS_METHOD, STATIC_METHOD = Property(function), classmethod(Plain), staticmethod(Plain)
FILE = tempfile.TemporaryFile()
WRITER, READER = io.BufferedWriter(io.BytesIO()), io.BufferedReader(io.BytesIO(b"abc"))
LINES = io.TextIOWrapper(io.BytesIO(b"a\\nb\\n"))
MAPPED, FEW = mmap.mmap(-1, 8), collections.deque([1, 2, 3], maxlen=5)
HERE_ALONE = types.ModuleType("alone")
RENAMED, CHANGING = types.ModuleType("old"), types.ModuleType("changing")
VARIABLE = contextvars.ContextVar("VARIABLE")
VALUES, CLOSED, RELEASED = contextvars.Context(), io.StringIO(), memoryview(bytearray(2))
LONGEST = itertools.zip_longest([1], [1, 2])

TABLE = sqlite3.connect(":memory:", check_same_thread=False)
TABLE.execute("create table numbers(n)")

def is_free(lock):
    if lock.acquire(blocking=False):
        lock.release()
        return True
    return False

def fill(buffer):
    buffer[0] = 1

def change_class():
    CHANGING.__class__ = Module

def forget():
    global NAME
    try:
        del NAME
    except NameError:
        pass

def is_open(pool):
    try:
        pool.submit(int)
    except RuntimeError:
        return False
    return True

def start(thread):
    try:
        thread.start()
    except RuntimeError:
        pass

def give(future):
    try:
        future.set_result(1)
    except concurrent.futures.InvalidStateError:
        pass

WAYS = {
    "event": (lambda: not EVENT.is_set(), EVENT.set),
    "lock": (lambda: not LOCK.locked(), lambda: LOCK.acquire(blocking=False)),
    "rlock": (lambda: is_free(RLOCK), lambda: RLOCK.acquire(blocking=False)),
    "semaphore": (lambda: SEMAPHORE._value == 1, lambda: SEMAPHORE.acquire(blocking=False)),
    "bounded semaphore": (lambda: BOUNDED._value == 2, lambda: BOUNDED.acquire(blocking=False)),
    "condition": (lambda: is_free(CONDITION), lambda: CONDITION.acquire(blocking=False)),
    "barrier": (lambda: not BARRIER.broken, BARRIER.abort),
    "simple queue": (lambda: SIMPLE.qsize() == 1, lambda: SIMPLE.put(1)),
    "queue": (FIFO.empty, lambda: FIFO.put(1)),
    "unfinished": (lambda: FIFO.unfinished_tasks == 0, lambda: FIFO.put(1)),
    "lifo queue": (LIFO.empty, lambda: LIFO.put(1)),
    "priority queue": (SORTED.empty, lambda: SORTED.put(1)),
    "cancelled": (lambda: not FUTURE.done(), FUTURE.cancel),
    "result": (lambda: not RESULT.done(), lambda: give(RESULT)),
    "started": (lambda: STARTED.ident is None, lambda: start(STARTED)),
    "timer": (lambda: not TIMER.finished.is_set(), TIMER.cancel),
    "globals": (lambda: "made" not in globals(), lambda: globals().update(made=1)),
    "module": (lambda: not hasattr(HERE, "there"), lambda: HERE.__dict__.update(there=1)),
    "vars": (lambda: "made" not in vars(BOX), lambda: vars(BOX).update(made=1)),
    "__dict__": (lambda: "made" not in NAMES.__dict__, lambda: NAMES.__dict__.update(made=1)),
    "setattr": (lambda: not hasattr(BOX, "set"), lambda: setattr(BOX, "set", 1)),
    "object": (lambda: not hasattr(BOX, "own"), lambda: object.__setattr__(BOX, "own", 1)),
    "slot": (lambda: not hasattr(SLOTTED, "value"), lambda: setattr(SLOTTED, "value", 1)),
    "class": (lambda: not hasattr(Thing, "made"), lambda: setattr(Thing, "made", 1)),
    "function": (lambda: "made" not in function.__dict__, lambda: function.__dict__.update(made=1)),
    "method": (lambda: not hasattr(Thing.method, "tag"), lambda: setattr(Thing.method, "tag", 1)),
    "del": (lambda: "NAME" in globals(), forget),
    "defaults": (
        lambda: function.__defaults__ == (0,), lambda: setattr(function, "__defaults__", (1,))
    ),
    "keyword defaults": (
        lambda: function.__kwdefaults__["y"] == 0, lambda: function.__kwdefaults__.update(y=1)
    ),
    "name": (lambda: function.__name__ == "function", lambda: setattr(function, "__name__", "g")),
    "doc": (lambda: function.__doc__ is None, lambda: setattr(function, "__doc__", "text")),
    "arguments": (lambda: not ERROR.args, lambda: setattr(ERROR, "args", (1,))),
    "cause": (lambda: ERROR.__cause__ is None, lambda: setattr(ERROR, "__cause__", KeyError())),
    "thread name": (lambda: THREAD.name == "new", lambda: setattr(THREAD, "name", "used")),
    "__class__": (lambda: STATE.__class__ is Thing, lambda: setattr(STATE, "__class__", Other)),
    "text": (lambda: TEXT.tell() == 0, lambda: TEXT.write("header\\n")),
    "bytes": (lambda: not BYTES.getvalue(), lambda: BYTES.write(b"header")),
    "context": (lambda: CONTEXT.prec == 5, lambda: setattr(CONTEXT, "prec", 6)),
    "flags": (
        lambda: not CONTEXT.flags[decimal.Inexact], lambda: CONTEXT.create_decimal("1.234567")
    ),
    "view": (lambda: VIEW[0] == 0, lambda: fill(VIEW)),
    "array": (lambda: not len(NUMBERS), lambda: NUMBERS.append(1)),
    "buffer": (lambda: RAW[0] == 0, lambda: fill(RAW)),
    "iterator": (lambda: ITEMS.__length_hint__() == 3, lambda: next(ITEMS)),
    "cache": (lambda: remembered.cache_info().currsize == 1, lambda: remembered(1)),
    "bounded cache": (lambda: bounded.cache_info().currsize == 2, lambda: bounded(9)),
    "typed cache": (lambda: typed.cache_info().currsize == 3, lambda: typed(True)),
    "partial": (
        lambda: PARTIAL.args == (1,), lambda: PARTIAL.__setstate__((int, (2,), {}, None))
    ),
    "keywords": (lambda: NAMED.keywords == {"base": 2}, lambda: NAMED.keywords.update(base=3)),
    "answer": (lambda: Abstract.asked == 0, lambda: issubclass(Thing, Abstract)),
    "bases": (
        lambda: Derived.__bases__ == (Thing,), lambda: setattr(Derived, "__bases__", (Other,))
    ),
    "special method": (
        lambda: not hasattr(Thing, "__len__"), lambda: setattr(Thing, "__len__", lambda self: 1)
    ),
    "new dictionary": (lambda: not vars(BOX), lambda: setattr(BOX, "__dict__", {"made": 1})),
    "annotations of a function": (
        lambda: "made" not in function.__annotations__,
        lambda: function.__annotations__.update(made=1),
    ),
    "annotations of a method": (
        lambda: "made" not in Thing.method.__annotations__,
        lambda: Thing.method.__annotations__.update(made=1),
    ),
    "annotations of a bound method": (
        lambda: "made" not in BOX.method.__annotations__,
        lambda: BOX.method.__annotations__.update(made=1),
    ),
    "attribute of a bound method": (
        lambda: not hasattr(BOX.method, "made"), lambda: setattr(Thing.method, "made", 1)
    ),
    "annotations of a class": (
        lambda: "made" not in Plain.__annotations__, lambda: Plain.__annotations__.update(made=1)
    ),
    "annotations of a class with a metaclass": (
        lambda: "made" not in OfMeta.__annotations__, lambda: OfMeta.__annotations__.update(made=1)
    ),
    "annotations of a dictionary's type": (
        lambda: "made" not in Row.__annotations__, lambda: Row.__annotations__.update(made=1)
    ),
    "annotations of a module": (
        lambda: "made" not in HERE_ALONE.__annotations__,
        lambda: HERE_ALONE.__annotations__.update(made=1),
    ),
    "annotations of a C metaclass": (
        lambda: "made" not in Structure.__annotations__,
        lambda: Structure.__annotations__.update(made=1),
    ),
    "C metaclass": (lambda: not hasattr(Structure, "made"), lambda: setattr(Structure, "made", 1)),
    "dictionary of a C metaclass": (
        lambda: "made" not in Structure.__dict__, lambda: setattr(Structure, "made", 1)
    ),
    "text of a C metaclass": (
        lambda: Structure.__doc__ is None, lambda: setattr(Structure, "__doc__", "text")
    ),
    "abstract methods": (
        lambda: not hasattr(Empty, "__abstractmethods__"),
        lambda: setattr(Empty, "__abstractmethods__", {"made"}),
    ),
    "text of a property": (
        lambda: PROPERTY.__doc__ is None, lambda: setattr(PROPERTY, "__doc__", "text")
    ),
    "error.__init__": (lambda: not ERROR.args, lambda: ERROR.__init__("text")),
    "traceback": (
        lambda: ERROR.__traceback__ is None,
        lambda: ERROR.with_traceback(types.TracebackType(None, sys._getframe(), 1, 1)),
    ),
    "length of a deque": (lambda: len(FEW) == 3, lambda: FEW.__init__([1], maxlen=2)),
    "greatest length of a deque": (
        lambda: FEW.maxlen == 5, lambda: FEW.__init__([1, 2, 3], maxlen=9)
    ),
    "class of a module": (
        lambda: CHANGING.__class__ is types.ModuleType,
        change_class,
    ),
    "file": (lambda: FILE.tell() == 0, lambda: FILE.seek(5)),
    "writer": (lambda: WRITER.tell() == 0, lambda: WRITER.write(b"text")),
    "reader": (lambda: READER.tell() == 0, lambda: READER.read(1)),
    "text file": (lambda: LINES.tell() == 0, LINES.readline),
    "mapped": (lambda: MAPPED[0] == 0, lambda: fill(MAPPED)),
    "attribute of a function whose dictionary is shown later": (
        lambda: not hasattr(tagged, "made"),
        lambda: (setattr(tagged, "made", 1), sorted(vars(tagged))),
    ),
    "removed annotations": (
        lambda: "x" in Annotated.__annotations__,
        lambda: delattr(Annotated, "__annotations__"),
    ),
    "class whose metaclass is asked": (
        lambda: not hasattr(Asked, "made"), lambda: setattr(Asked, "made", 1)
    ),
    "slot under another name": (
        lambda: "z" not in vars(ALIASED) and Aliased.z == 3,
        lambda: (setattr(Aliased, "z", Aliased.x), ALIASED.x),
    ),
    "dictionary, and then the bases of its class": (
        lambda: Based.__bases__ == (Plain,) and not vars(BASED),
        lambda: (setattr(BASED, "__dict__", {"n": 1}), setattr(Based, "__bases__", (Turned,))),
    ),
    "dictionary, and then the class": (
        lambda: type(TURNED) is Plain and not vars(TURNED),
        lambda: (setattr(TURNED, "__dict__", {"n": 1}), setattr(TURNED, "__class__", Turned)),
    ),
    "slot that its class has no more": (
        lambda: ALIASED.x == 0 and "x" not in vars(ALIASED),
        lambda: (setattr(ALIASED, "x", 1), setattr(Aliased, "x", 8)),
    ),
    "place in what is mapped": (lambda: MAPPED.tell() == 0, lambda: MAPPED.read(1)),
}

LOST = {
    "COPIED": (lambda: COPIED.cache_info().currsize == 1, lambda: COPIED(1)),
    "HASH": (lambda: HASH.digest_size == 32, lambda: HASH.update(b"x")),
    "SHAKE": (lambda: True, lambda: SHAKE.update(b"x")),
    "LAST": (lambda: LAST.__length_hint__() == 1, lambda: list(LAST)),
    "PAIRS": (lambda: True, lambda: next(PAIRS)),
    "LONGEST": (lambda: True, lambda: list(LONGEST)),
    "CLOSED": (lambda: not CLOSED.closed, lambda: CLOSED.close()),
    "RELEASED": (lambda: True, lambda: RELEASED.release()),
    "VALUES": (lambda: VARIABLE not in VALUES, lambda: VALUES.run(VARIABLE.set, 1)),
    "Unfinished": (
        lambda: not hasattr(Unfinished, "_fields_"),
        lambda: setattr(Unfinished, "_fields_", [("x", ctypes.c_int)]),
    ),
    "TABLE": (
        lambda: not TABLE.execute("select * from numbers").fetchall(),
        lambda: TABLE.execute("insert into numbers values (1)"),
    ),
}

def check_then_act(way):
    check, act = {**WAYS, **LOST}[way]
    acts = []
    def run():
        if check():
            acts.append(1)
            act()
    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(acts) <= 1, "both have found the check true"

RENAMING = {
    "module.__init__": (lambda: RENAMED.__name__ == "old", lambda: RENAMED.__init__("new"))
}
WAYS.update(RENAMING)

OTHER_FUNCTION = {
    "property": (lambda: PROPERTY.fget is function, lambda: PROPERTY.__init__(Plain)),
    "class method": (
        lambda: CLASS_METHOD.__func__ is Plain, lambda: CLASS_METHOD.__init__(Thing)
    ),
    "static method": (
        lambda: STATIC_METHOD.__wrapped__ is Plain, lambda: STATIC_METHOD.__init__(Thing)
    ),
}
WAYS.update(OTHER_FUNCTION)

def change_then_race(way):
    check, act = WAYS[way]
    was_unchanged, done = check(), []
    act()
    def run():
        if was_unchanged and not done:
            done.append(1)
    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) <= 1, "both have found nothing done"

def act_once(way):
    thread = threading.Thread(target=LOST[way][1])
    thread.start()
    thread.join()

def same_for_both(get):
    got = []
    threads = [threading.Thread(target=lambda: got.append(get())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got[0] is got[1]

def ask_for_annotations():
    assert "__annotations__" not in vars(abc.ABCMeta)
    thread = threading.Thread(target=lambda: Abstract.__annotations__)
    thread.start()
    Abstract.__annotations__
    thread.join()
    assert "__annotations__" not in vars(abc.ABCMeta)

def remove_no_annotations():
    refused = []
    def remove():
        try:
            del Empty.__annotations__
        except AttributeError:
            refused.append(1)
    thread = threading.Thread(target=remove)
    thread.start()
    thread.join()
    assert refused

def shut_down():
    was_open = is_open(POOL)
    POOL.shutdown()
    assert was_open, "an earlier execution has shut it down"
"""
WAYS = [
    *("event", "lock", "rlock", "semaphore", "bounded semaphore", "condition", "barrier"),
    *("simple queue", "queue", "unfinished", "lifo queue", "priority queue", "cancelled"),
    *("result", "started", "timer", "globals", "module", "vars", "__dict__", "setattr", "object"),
    *("slot", "class", "function", "method", "del", "defaults", "keyword defaults", "name", "doc"),
    *("arguments", "cause", "thread name", "__class__", "text", "bytes", "context", "flags"),
    *("view", "array", "buffer", "iterator", "cache", "bounded cache", "typed cache", "partial"),
    *("keywords", "answer", "bases", "special method", "new dictionary"),
    *("annotations of a function", "annotations of a method", "annotations of a bound method"),
    *("attribute of a bound method", "annotations of a class"),
    *("annotations of a class with a metaclass", "annotations of a dictionary's type"),
    *("annotations of a module", "annotations of a C metaclass"),
    *("C metaclass", "dictionary of a C metaclass", "text of a C metaclass", "abstract methods"),
    *("text of a property", "error.__init__", "traceback"),
    *("length of a deque", "greatest length of a deque", "class of a module"),
    *("file", "writer", "reader", "text file", "mapped"),
    *("attribute of a function whose dictionary is shown later",),
    *("removed annotations", "class whose metaclass is asked", "slot under another name"),
    *(
        "dictionary, and then the bases of its class",
        "dictionary, and then the class",
        "slot that its class has no more",
        "place in what is mapped",
    ),
]
ALONE = [
    *("annotations of a function", "annotations of a bound method", "annotations of a class"),
    *("annotations of a class with a metaclass", "annotations of a module", "C metaclass"),
    *("text file", "mapped", "module.__init__", "class of a module"),
]


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    module = module_of(tmp_path_factory.mktemp("older"), SOURCE)
    yield module
    module.FILE.close()
    module.TABLE.close()
    module.POOL.shutdown()


def explore(module: ModuleType, function: str, *given: object) -> Result:
    def test() -> None:
        getattr(module, function)(*given)

    test.__module__ = module.__name__
    return mazurka.explore(test, preemptions=2)


def test_all_ways_are_tried(older: ModuleType) -> None:
    assert list(older.WAYS) == [*WAYS, *older.RENAMING, *older.OTHER_FUNCTION]


@pytest.mark.parametrize("way", WAYS)
def test_every_execution_finds_it_as_it_was(way: str, older: ModuleType) -> None:
    check = older.WAYS[way][0]
    result = explore(older, "check_then_act", way)
    assert result.verdict == "violated", result
    assert "both have found the check true" in str(result)
    assert check(), "a later test would notice"


@pytest.mark.parametrize("way", ["property", "class method", "static method"])
def test_who_gets_another_function_is_not_seen(way: str, older: ModuleType) -> None:
    result = explore(older, "check_then_act", way)
    assert result.verdict in ("inconclusive", "violated")  # the latter by chance
    assert explore(older, "change_then_race", way).verdict == "violated"
    assert older.WAYS[way][0](), "a later test would notice"


def test_who_renames_a_module_is_not_seen(older: ModuleType) -> None:
    assert explore(older, "check_then_act", "module.__init__").verdict != "holds"


def test_settings_that_cannot_be_put_back_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    state = ProcessState()
    os.chdir(tmp_path)
    assert state.put_back() == []
    os.chdir(tmp_path)
    folder.rmdir()
    assert state.put_back() == ["the process's directory"]


@pytest.mark.parametrize("way", ALONE)
def test_every_execution_finds_it_as_it_was_if_the_test_itself_changes_it(
    way: str, older: ModuleType
) -> None:
    """Before it starts threads, of which only the first execution sees a race."""
    assert explore(older, "change_then_race", way).verdict == "violated"


LOST = [
    *("COPIED", "HASH", "SHAKE", "LAST", "PAIRS", "TABLE", "LONGEST", "CLOSED", "RELEASED"),
    "VALUES",
]


@pytest.mark.parametrize("name", LOST)
def test_what_cannot_be_put_back_is_named(name: str, older: ModuleType) -> None:
    result = explore(older, "act_once", name)
    assert result.verdict == "inconclusive", result
    assert f"cannot be put back: {older.__name__}.{name};" in result.scope


def test_what_a_metaclass_of_c_keeps_is_compared(older: ModuleType) -> None:
    """The fields of a structure are set once for ever, though its attribute can be deleted."""
    result = explore(older, "act_once", "Unfinished")
    assert result.verdict != "holds"
    assert f"cannot be put back: {older.__name__}.Unfinished;" in result.scope


class Box:
    """An object, and a dictionary."""


def find_left_behind() -> dict[str, object]:
    """Change an object in two runs, of which each meets the object or its dictionary first."""
    state, box = OlderState(), Box()
    state.meet(box)
    vars(box)["made"] = 1
    state.meet(vars(box))
    state.put_back(lambda identity: None)
    state.meet(vars(box))
    state.meet(box)
    vars(box)["made"] = 2
    state.put_back(lambda identity: None)
    return vars(box)


def test_an_object_and_its_dictionary_are_put_back_whichever_is_met_first() -> None:
    assert find_left_behind() == {}


@pytest.mark.parametrize("function", ["ask_for_annotations", "remove_no_annotations"])
def test_looking_makes_no_annotations(function: str, older: ModuleType) -> None:
    assert explore(older, function).verdict == "holds"


def test_what_is_made_once_is_made_in_every_execution(older: ModuleType) -> None:
    def get() -> object:
        return older.SETTINGS.value

    get.__module__ = older.__name__
    result = explore(older, "same_for_both", get)
    has_lock = sys.version_info < (3, 12)  # `cached_property`; without one both may compute it
    assert result.verdict == ("holds" if has_lock else "violated"), result
    assert not vars(older.SETTINGS)


def test_an_executor_is_open_again(older: ModuleType) -> None:
    result = explore(older, "shut_down")
    assert result.verdict == "holds", result
    assert older.POOL.submit(int).result() == 0


def test_entries_of_a_cache_are_put_back_as_they_were(older: ModuleType) -> None:
    assert explore(older, "check_then_act", "bounded cache").verdict == "violated"
    assert explore(older, "check_then_act", "typed cache").verdict == "violated"
    known = [older.remembered(0), older.bounded("text"), older.bounded(1, y=2)]
    known += [older.typed(0), older.typed(1, 2, z=3), older.typed(z=1, y=2)]
    assert all(one is other for one, other in zip(known, older.KNOWN, strict=True))
