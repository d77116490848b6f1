"""A program whose runs leave all kinds of code behind, and what can be done with it afterwards.

It runs in a module of its own: as it is, and explored.  `USES` has to give the same for both.
"""

import asyncio
import contextlib
import copy
import functools
import gc
import inspect
import pickle
import sys
import threading
import types
import weakref
from collections import UserDict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

KEPT: dict[str, Any] = {}
NUMBERS = [1, 2, 3]
count = 0


def store() -> Iterator[Any]:
    """Keep what it is sent: nothing leads to it that could be put back between executions."""
    kept = None
    while True:
        kept = (yield kept) or kept


STORE: Any = store()
next(STORE)


def recall() -> None:
    """Have the things again that the last run has made."""
    KEPT.update(next(STORE))


class Closing:
    """Notes that it has ended."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __del__(self) -> None:
        KEPT[self.name] = len(NUMBERS)


class Pause:
    def __await__(self) -> Iterator[int]:
        yield len(NUMBERS)


class Mapping(UserDict[str, int]):
    def __missing__(self, key: str) -> int:
        self.data[key] = len(NUMBERS)
        return self.data[key]


def generate(limit: int) -> Iterator[int]:
    global count
    total = 0
    try:
        while total < limit:
            total += NUMBERS[0]
            count += 1
            yield total
    finally:
        KEPT[f"closed at {limit}"] = total


async def wait() -> dict[str, int]:
    await Pause()
    return {"sum": sum(NUMBERS)}


async def generate_slowly() -> Any:
    for number in NUMBERS:
        yield number + len(NUMBERS)


@contextlib.contextmanager
def enter() -> Iterator[int]:
    KEPT["inside"] = True
    yield NUMBERS[0]
    del KEPT["inside"]


def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*given: Any, **named: Any) -> Any:
        KEPT["calls"] = KEPT.get("calls", 0) + 1
        return function(*given, **named)

    return wrapper


def read_first() -> int:
    return NUMBERS[0]


def make_functions() -> None:
    box = [0]
    steps = 0

    def step(by: int = 2) -> list[int]:
        nonlocal steps
        global count
        steps += by
        box[0] += by
        count += 1
        return [number for number in range(steps) if number in box or number in NUMBERS]

    KEPT["closure"] = step
    KEPT["partial"] = functools.partial(step, 4)
    KEPT["wrapped"] = decorate(step)
    KEPT["cached"] = functools.lru_cache(lambda key: (len(NUMBERS), key))
    KEPT["code"] = types.FunctionType(step.__code__, globals(), None, (3,), step.__closure__)
    KEPT["elsewhere"] = types.FunctionType(read_first.__code__, {"NUMBERS": [5]})
    KEPT["maker"] = lambda: lambda: NUMBERS[-1]
    KEPT["copy"] = copy.copy(step)
    KEPT["pickled"] = pickle.dumps(read_first)
    KEPT["key"] = functools.cmp_to_key(lambda one, other: NUMBERS[0] * (one - other))
    KEPT["single"] = functools.singledispatch(lambda value: len(NUMBERS))
    KEPT["single"].register(int, lambda value: NUMBERS[value])
    space: dict[str, Any] = {}
    exec("def add(number):\n    KEPT.append(number)\n    return KEPT\nKEPT = [1]", space)
    KEPT["executed"] = space["add"]


def make_classes() -> None:
    class Made:
        total = 3
        __slots__ = ("own",)

        def __init__(self) -> None:
            self.own = list(NUMBERS)

        def add(self) -> int:
            self.own.append(self.total)
            return self.own[-1] + len(self.own)

        @property
        def size(self) -> int:
            return len(self.own)

        @classmethod
        def all(cls) -> list[int]:
            return [cls.total, *NUMBERS]

        def __repr__(self) -> str:
            return f"{self.total!r} of {NUMBERS[0]}"

        def __lt__(self, other: Any) -> bool:
            return self.own[0] < len(other.own)

    @dataclass(order=True)
    class Data:
        first: int
        rest: list[int]

    class Meta(type):
        def __call__(cls, *given: Any) -> Any:
            return (*NUMBERS, *given)

    class Local(threading.local):
        def __init__(self) -> None:
            self.numbers = list(NUMBERS)

    KEPT["object"] = Made()
    KEPT["data"] = Data(1, NUMBERS)
    KEPT["class"] = Meta("class", (), {})
    KEPT["local"] = Local()
    KEPT["mapping"] = Mapping()


def make_suspended() -> None:
    KEPT["generator"] = generate(3)
    next(KEPT["generator"])
    KEPT["dropped"] = generate(4)
    next(KEPT["dropped"])
    KEPT["coroutine"] = wait()
    KEPT["coroutine"].send(None)
    KEPT["slow"] = generate_slowly()
    KEPT["context"] = enter()
    KEPT["context"].__enter__()
    KEPT["stack"] = contextlib.ExitStack()
    KEPT["stack"].callback(lambda: KEPT.update(left=NUMBERS[1]))
    KEPT["expression"] = (NUMBERS[0] + number for number in NUMBERS)
    next(KEPT["expression"])
    KEPT["map"] = map(lambda number: number + NUMBERS[0], NUMBERS)  # noqa: C417 - held by C code
    KEPT["iterator"] = iter(lambda: NUMBERS[0], 2)


def make_callbacks() -> None:
    KEPT["ends"] = Closing("ended")
    KEPT["watched"] = Closing("unwatched")
    KEPT["reference"] = weakref.ref(
        KEPT["watched"], lambda dead: KEPT.update(dead=NUMBERS[0], gone=dead() is None)
    )
    KEPT["finalizer"] = weakref.finalize(KEPT["watched"], lambda: KEPT.update(finalized=NUMBERS[1]))
    KEPT["weak"] = weakref.WeakValueDictionary(watched=KEPT["watched"])
    KEPT["proxy"] = weakref.proxy(KEPT["watched"])
    KEPT["hook"] = lambda *unused: KEPT.update(hooked=NUMBERS[2])
    KEPT["timer"] = threading.Timer(0, lambda: KEPT.update(timed=NUMBERS[2]))
    KEPT["thread"] = threading.Thread(target=lambda: KEPT.update(ran=NUMBERS[2]))
    KEPT["executor"] = ThreadPoolExecutor(1)
    KEPT["future"] = KEPT["executor"].submit(read_first)
    KEPT["future"].result()


def make_everything() -> None:
    KEPT.clear()
    KEPT.clear()  # of what the end of the run before has added
    make_functions()
    make_classes()
    make_suspended()
    make_callbacks()
    thread = threading.Thread(target=NUMBERS.copy)
    thread.start()
    thread.join()
    STORE.send(dict(KEPT))


def finish_coroutine() -> Any:
    try:
        KEPT["coroutine"].send(None)
    except StopIteration as stop:
        return stop.value


async def collect_slowly() -> list[int]:
    return [number async for number in KEPT["slow"]]


def drop(*names: str) -> dict[str, Any]:
    """Drop what is kept under a name, and tell what that has changed."""
    before = dict(KEPT)
    for name in names:
        del before[name], KEPT[name]
    gc.collect()
    return {key: value for key, value in KEPT.items() if key not in before}


def leave_context() -> tuple[bool, bool]:
    inside = "inside" in KEPT
    KEPT["context"].__exit__(None, None, None)
    return inside, "inside" in KEPT


def run_thread(name: str, result: str) -> Any:
    KEPT[name].start()
    KEPT[name].join()
    return KEPT[result]


def trace_call() -> int:
    """Call a function while it is traced by one that a run has made."""
    lines: list[int] = []
    sys.settrace(lambda *unused: lines.append(KEPT["hook"]()))
    try:
        read_first()
    finally:
        sys.settrace(None)
    return len(lines)


def callback_future() -> int:
    """Let a function that a run has made be called at the end of a future."""
    KEPT["future"].add_done_callback(KEPT["hook"])
    return KEPT["executor"].submit(KEPT["closure"], 0).result(5) and KEPT["hooked"]


USES: dict[str, Callable[[], Any]] = {
    "closure": lambda: KEPT["closure"](),
    "closure with a keyword": lambda: KEPT["closure"](by=1),
    "source": lambda: inspect.getsource(KEPT["closure"]),
    "constants": lambda: [str(one)[:5] for one in KEPT["closure"].__code__.co_consts],
    "partial": lambda: KEPT["partial"](),
    "wrapper": lambda: (KEPT["wrapped"](), KEPT["calls"]),
    "cached": lambda: (KEPT["cached"](1), KEPT["cached"](1), KEPT["cached"].cache_info()),
    "made from code": lambda: KEPT["code"](),
    "code elsewhere": lambda: KEPT["elsewhere"](),
    "function that makes one": lambda: KEPT["maker"]()(),
    "copied": lambda: KEPT["copy"](),
    "pickled": lambda: pickle.loads(KEPT["pickled"])(),
    "comparison": lambda: sorted([3, 1, 2], key=KEPT["key"]),
    "dispatched": lambda: (KEPT["single"]("a"), KEPT["single"](1)),
    "executed": lambda: KEPT["executed"](2),
    "method": lambda: KEPT["object"].add(),
    "property": lambda: KEPT["object"].size,
    "class method": lambda: KEPT["object"].all(),
    "text": lambda: f"{KEPT['object']}",
    "ordered": lambda: KEPT["object"] < type(KEPT["object"])(),
    "dataclass": lambda: (KEPT["data"] == copy.copy(KEPT["data"]), repr(KEPT["data"])),
    "metaclass": lambda: KEPT["class"](4),
    "thread local": lambda: KEPT["local"].numbers,
    "mapping": lambda: (KEPT["mapping"]["new"], dict(KEPT["mapping"])),
    "generator": lambda: [*KEPT["generator"], KEPT["closed at 3"]],
    "dropped generator": lambda: drop("dropped"),
    "coroutine": finish_coroutine,
    "asynchronous generator": lambda: asyncio.run(collect_slowly()),
    "context": leave_context,
    "exit stack": lambda: (KEPT["stack"].close(), KEPT["left"]),
    "generator expression": lambda: list(KEPT["expression"]),
    "map": lambda: list(KEPT["map"]),
    "sentinel": lambda: next(KEPT["iterator"]),
    "finalizer of an object": lambda: drop("ends"),
    "weak references": lambda: (drop("watched"), dict(KEPT["weak"]), KEPT["finalizer"].alive),
    "trace": trace_call,
    "timer": lambda: run_thread("timer", "timed"),
    "thread": lambda: run_thread("thread", "ran"),
    "executor": callback_future,
    "global": lambda: count > 0,
}
"""By what it is: uses something that a run has left, in this order."""
