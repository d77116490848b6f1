"""Random Python programs: the source of a module whose function `program(note)` starts threads.

What a program learns on its way it tells `note`, which is no access to anything shared.  Every
program ends, whatever the schedule, if only by a deadlock, a livelock or an exception; it is small
enough that all its schedules can be run.  Each uses few variables and few tools, so that threads
meet at them.
"""

from __future__ import annotations

import random
import textwrap
from collections.abc import Callable, Sequence
from typing import TypeAlias

Lines: TypeAlias = list[str]

PLACES = (
    *("box.a", "box.a", "box.b", "box.c", "items[0]", "items[-1]", 'table["k"]', "total", "hits"),
)
CONTAINERS = ("items", "table", "bag")
TOOLS = {
    "lock": ("lock", "threading.Lock()"),
    "other": ("other", "threading.Lock()"),
    "rlock": ("rlock", "threading.RLock()"),
    "semaphore": ("semaphore", "threading.Semaphore(1)"),
    "bounded": ("semaphore", "threading.BoundedSemaphore(2)"),
    "closed": ("semaphore", "threading.Semaphore(0)"),
    "event": ("event", "threading.Event()"),
    "condition": ("condition", "threading.Condition()"),
    "condition on lock": ("condition", "threading.Condition(lock)"),
    "queue": ("channel", "queue.Queue()"),
    "queue of one": ("channel", "queue.Queue(1)"),
    "stack": ("channel", "queue.LifoQueue()"),
    "priorities": ("channel", "queue.PriorityQueue()"),
    "simple queue": ("channel", "queue.SimpleQueue()"),
    "barrier": ("barrier", "threading.Barrier(2)"),
}
PREFERRED = ("lock", "lock", "lock", "rlock", "condition", "condition", "event", "queue", "queue")
LOCKS = ("lock", "other", "rlock", "semaphore", "condition")

BODIES = ("first", "second", "third")
HEAD = '''\
"""A random program."""

import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor

total = 0


class Box:
    c = 0

    def __init__(self):
        self.a = 0
        self.b = 0

    def bump(self):
        self.a += 1
        return self.a

    @property
    def sum(self):
        return self.a + self.b


class Worker(threading.Thread):
    def __init__(self, body, note):
        super().__init__()
        self.body = body
        self.note = note

    def run(self):
        self.body(self.note)
'''


def random_source(seed: int, timed: bool = False) -> str:
    """The module with this number; `timed` ones sleep, and look at the clock."""
    return Writer(random.Random(seed), timed).module()


class Writer:
    """Writes one program."""

    def __init__(self, chance: random.Random, timed: bool = False) -> None:
        self.chance = chance
        self.timed = timed
        self.places = chance.sample(PLACES, chance.choice((1, 1, 1, 2)))
        self.container = chance.choice(CONTAINERS)
        self.tools: dict[str, str] = {}
        for _ in range(chance.choice((0, 1, 1, 2))):
            kinds = PREFERRED if chance.random() < 0.6 else tuple(TOOLS)
            self.add_tool(chance.choice(kinds))

    def add_tool(self, kind: str) -> None:
        name, made = TOOLS[kind]
        if name not in self.tools:
            if kind == "condition on lock":
                self.add_tool("lock")
            self.tools[name] = made

    # ---- the module

    def module(self) -> str:
        chance = self.chance
        threads = chance.choice((2, 2, 2, 3))
        lengths = [chance.choice((1, 2, 2) if threads == 2 else (1,)) for _ in range(threads)]
        bodies = [self.body(*named) for named in zip(BODIES, lengths, strict=False)]
        lines = [
            "def program(note):",
            "    global total",
            "    total = hits = 0",
            "    box, items, table, bag = Box(), [0, 0], {}, set()".replace("{}", '{"k": 0}'),
        ]
        if self.timed:
            lines.append("    start, stamps = time.monotonic(), []")
        lines += [f"    {name} = {made}" for name, made in self.tools.items()]
        for body in bodies:
            lines += ["", *_indented(body)]
        lines += ["", *_indented(self.main(threads))]
        return "\n".join((HEAD, "", *lines, ""))

    def body(self, name: str, length: int) -> Lines:
        statements = [line for _ in range(length) for line in self.statement(1)]
        head = [f"def {name}(note):", "    global total", "    nonlocal hits"]
        return [*head, *_indented(statements)]

    def main(self, threads: int) -> Lines:
        chance = self.chance
        names = list(BODIES[:threads])
        lines: Lines = []
        if chance.random() < 0.08 and threads == 2:
            lines += [
                "with ThreadPoolExecutor(2) as pool:",
                "    futures = [pool.submit(body, note) for body in (first, second)]",
                "    for future in futures:",
                "        note(future.exception() is None)",
            ]
        else:
            kind = (
                "Worker({}, note)"
                if chance.random() < 0.2
                else "threading.Thread(target={}, args=(note,))"
            )
            inside = names.pop() if chance.random() < (0.7 if threads == 2 else 0.9) else None
            made = ", ".join(kind.format(name) for name in names)
            lines += [f"threads = [{made}]", "for thread in threads:", "    thread.start()"]
            if inside is not None:
                lines.append(f"{inside}(note)")
            elif chance.random() < 0.1:
                lines += self.looks_at_a_thread()
            lines += ["for thread in threads:", "    thread.join()"]
        seen = 'note("end", box.a, box.b, items, sorted(table.items()), sorted(bag), total, hits)'
        lines.append(seen)
        if chance.random() < 0.5:
            lines.append(f"assert {chance.choice(self.places)} != {chance.randint(0, 3)}")
        return lines

    def looks_at_a_thread(self) -> Lines:
        return [
            self.chance.choice(
                (
                    "note(threads[0].is_alive())",
                    "threads[0].join(1)\nnote(threads[0].is_alive())",
                )
            )
        ]

    # ---- statements

    def statement(self, depth: int) -> Lines:
        chance = self.chance
        kinds: list[Callable[[int], Lines]] = [self.data, self.data, self.data]
        if self.timed and chance.random() < 0.7:
            kinds = [self.time]
        elif chance.random() < 0.2:
            kinds = [self.contained]
        elif self.tools:
            kinds += [self.tool, self.tool, self.tool]
        if depth < 2 or (depth < 3 and chance.random() < 0.3):
            kinds += [self.block]
        return chance.choice(kinds)(depth)

    def data(self, depth: int) -> Lines:
        chance = self.chance
        place, value = chance.choice(self.places), chance.randint(1, 3)
        second = chance.choice(self.places)
        return self.one_of(
            f"{place} = {value}",
            f"{place} += 1",
            f"{place} += 1",
            f"note({place})",
            f"{place} = {second} + 1",
            f"{place}, {second} = {value}, {place}",
            f"seen = {place}\nnote(seen == {place})",
            f"assert {place} != {value}",
            f'if {place} == {value}:\n    raise ValueError("{value}")',
            *(["note(box.bump())", "note(box.sum)"] if place.startswith("box") else []),
            *([f"while {place} == 0:\n    pass"] if chance.random() < 0.15 else []),
        )

    def time(self, depth: int) -> Lines:
        place, seconds = self.chance.choice(self.places), self.chance.randint(1, 3)
        passed = "round(time.monotonic() - start)"
        return self.one_of(
            f"time.sleep({seconds})",
            f"time.sleep({seconds})",
            f"note({passed})",
            f"note({passed} < {seconds})",
            f"{place} = {passed}",
            "stamps.append(time.monotonic())\nnote(stamps == sorted(stamps))",
            f"while time.monotonic() < start + {seconds}:\n    note({place})\n    time.sleep(2)",
        )

    def contained(self, depth: int) -> Lines:
        value = self.chance.randint(1, 3)
        uses = {
            "items": (
                f"items.append({value})",
                "note(len(items))",
                'try:\n    note(items.pop())\nexcept IndexError:\n    note("none")',
                "note(list(items))",
                f"items[0] = {value}",
                "for item in items:\n    note(item)",
            ),
            "table": (
                f'table["k"] = {value}',
                f'note(table.setdefault("new", {value}))',
                'note(table.pop("k", None))',
                'if "k" in table:\n    note(table["k"])',
                'try:\n    del table["k"]\nexcept KeyError:\n    note("gone")',
                'note(table.get("k"))',
                "for key in table:\n    note(key)",
            ),
            "bag": (f"bag.add({value})", f"note({value} in bag)", f"bag.discard({value})"),
        }
        return self.one_of(*uses[self.container])

    def block(self, depth: int) -> Lines:
        chance = self.chance
        inner = _indented(self.statement(depth + 1))
        place, value = chance.choice(self.places), chance.randint(0, 2)
        locks = [name for name in self.tools if name in LOCKS]
        kind = chance.choice(("if", "for", "try", "except", *locks, *locks))
        match kind:
            case "if":
                other = _indented(self.statement(depth + 1))
                return [f"if {place} == {value}:", *inner, "else:", *other]
            case "for":
                return ["for _ in range(2):", *inner]
            case "try":
                other = _indented(self.statement(depth + 1))
                return ["try:", *inner, "finally:", *other]
            case "except":
                return [
                    "try:",
                    *inner,
                    "except Exception as error:",
                    "    note(type(error).__name__)",
                ]
        more = _indented(self.statement(depth + 1)) if chance.random() < 0.4 else []
        return [f"with {kind}:", *inner, *more]

    def tool(self, depth: int) -> Lines:
        name = self.chance.choice(list(self.tools))
        uses: dict[str, Callable[[str, int], Lines]] = {
            "semaphore": self.semaphore,
            "event": self.event,
            "condition": self.condition,
            "channel": self.channel,
            "barrier": self.barrier,
        }
        return uses.get(name, self.lock)(name, depth)

    def lock(self, name: str, depth: int) -> Lines:
        inner = _indented(self.data(depth))
        deeper = _indented(_indented(self.data(depth)))
        looks = [f"note({name}.locked())"] if name != "rlock" else [f"with {name}, {name}:", *inner]
        return self.chance.choice(
            (
                [f"with {name}:", *inner],
                [f"with {name}:", *inner],
                [f"{name}.acquire()", "try:", *inner, "finally:", f"    {name}.release()"],
                [
                    f"if {name}.acquire(timeout=1):",
                    "    try:",
                    *deeper,
                    "    finally:",
                    f"        {name}.release()",
                    "else:",
                    '    note("late")',
                ],
                [
                    f"if {name}.acquire(blocking=False):",
                    *inner,
                    f"    {name}.release()",
                    "else:",
                    *inner,
                ],
                looks,
            )
        )

    def semaphore(self, name: str, depth: int) -> Lines:
        inner = _indented(self.data(depth))
        return self.chance.choice(
            (
                [f"with {name}:", *inner],
                [f"{name}.release()"],
                [f"note({name}.acquire(timeout=1))"],
                [f"note({name}.acquire(blocking=False))"],
                [f"{name}.acquire()"],
            )
        )

    def event(self, name: str, depth: int) -> Lines:
        return self.one_of(
            f"{name}.set()",
            f"{name}.set()",
            f"{name}.clear()",
            f"{name}.wait()",
            f"note({name}.wait(1))",
            f"note({name}.is_set())",
        )

    def condition(self, name: str, depth: int) -> Lines:
        place = self.chance.choice(self.places)
        inner = _indented(self.data(depth))
        return self.chance.choice(
            (
                [f"with {name}:", f"    note({name}.wait(1))"],
                [f"with {name}:", f"    while {place} == 0:", f"        {name}.wait()"],
                [f"with {name}:", f"    note({name}.wait_for(lambda: {place} > 0, timeout=1))"],
                [f"with {name}:", f"    {name}.wait()", *inner],
                [f"with {name}:", *inner, f"    {name}.notify()"],
                [f"with {name}:", f"    {place} = 1", f"    {name}.notify_all()"],
            )
        )

    def channel(self, name: str, depth: int) -> Lines:
        value = self.chance.randint(1, 3)
        missing = 'except queue.Empty:\n    note("empty")'
        return self.one_of(
            f"{name}.put({value})",
            f"{name}.put({value})",
            f"note({name}.get())",
            f"try:\n    note({name}.get(timeout=1))\n{missing}",
            f"try:\n    note({name}.get_nowait())\n{missing}",
            f'try:\n    {name}.put({value}, timeout=1)\nexcept queue.Full:\n    note("full")',
            f"note({name}.empty())",
        )

    def barrier(self, name: str, depth: int) -> Lines:
        broken = 'except threading.BrokenBarrierError:\n    note("broken")'
        return self.one_of(
            f"try:\n    note({name}.wait())\n{broken}",
            f"try:\n    note({name}.wait(1))\n{broken}",
            f"note({name}.n_waiting)",
            f"{name}.abort()",
        )

    def one_of(self, *sources: str) -> Lines:
        return self.chance.choice(sources).split("\n")


def _indented(lines: Sequence[str]) -> Lines:
    text = textwrap.indent("\n".join(lines), "    ")
    return text.split("\n") if lines else []
