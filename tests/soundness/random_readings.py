"""Random programs of the `threading` subset that are models and real programs at the same time.

A program is a module: variables, tools and definitions, statements between them, then threads, then
statements beside the threads.  As a model it is read as it stands.  As a real program the whole
module is the body of a function, so that it can run many times: module-level names become variables
of that function (`global` becomes `nonlocal`), and a call in the `threads` list becomes a `Thread`.

What is written to shared data is kept small with `%`, loops are bounded, and no program can fail in
other ways than by an assertion or a deadlock.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Lines: TypeAlias = list[str]

NUMBERS = ("a", "b", "c")
TOOLS = {
    "lock": "threading.Lock()",
    "rlock": "threading.RLock()",
    "semaphore": "threading.Semaphore(1)",
    "event": "threading.Event()",
    "condition": "threading.Condition()",
    "channel": "queue.Queue(2)",
    "barrier": "threading.Barrier(2)",
}
HEAD = ("import queue", "import threading", "from dataclasses import dataclass", "")
BOX = (
    "class Box:",
    "    def __init__(self, v, w={0}):",
    "        self.v = v",
    "        self.w = w",
    "",
    "    def bump(self, n={1}):",
    "        self.v = (self.v + n) % 5",
    "        return self.v",
)
PAIR = ("@dataclass", "class Pair:", "    v: int = {0}", "    w: int = {1}")
ENTRY = "threading.Thread(target={0}, args=({1}))"


@dataclass(frozen=True)
class Reading:
    """One program, as a model and as a module with a function `program(note)`."""

    model: str
    real: str
    names: tuple[str, ...]
    """The shared data, as the model calls their cells."""


def random_reading(seed: int) -> Reading:
    """The program with this number."""
    return ReadingWriter(random.Random(seed)).write()


class ReadingWriter:
    """Writes one program; an entry of the `threads` list is written `<<function|arguments>>`."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.numbers = list(NUMBERS[: chance.choice((1, 2, 2, 3))])
        self.has_list = chance.random() < 0.5
        self.record = chance.choice(("", "", "Box", "Pair"))
        count = chance.choice((0, 0, 1, 1, 2))
        self.tools = chance.sample(sorted(TOOLS), count)
        self.helpers: list[str] = []
        self.known: list[str] = []
        """What has a value where the next line stands."""
        self.defaults: dict[str, int] = {}
        """The functions that threads run, and how many parameters have no default."""
        self.listed = chance.random() < 0.7
        self.private = self.listed and chance.random() < 0.4
        """Whether the module has a variable `p` that no function assigns."""
        self.lines: Lines = []

    # --- the module ------------------------------------------------------------------------

    def write(self) -> Reading:
        chance = self.chance
        self._declare()
        self._between()
        if chance.random() < 0.6:
            self._helper()
            self._between()
        for name in ("first", "second", "third")[: chance.choice((2, 2, 2, 3))]:
            self._worker(name)
            self._between()
        if self.listed:
            self._list()
        else:
            self._threads()
        names = tuple(self._names())
        shown = ", ".join(f'("{name}", {name})' for name in names)
        model = "\n".join((*HEAD, *map(as_model, self.lines), ""))
        real = [as_real(line) for line in self.lines]
        if self.listed:
            real += ["for thread in threads:", "    thread.join()"]
        real.append(f"note({shown})")
        body = [f"    {line}" if line else "" for line in real]
        return Reading(model, "\n".join((*HEAD, "def program(note):", *body, "")), names)

    def _names(self) -> list[str]:
        names = list(self.numbers)
        if self.has_list:
            names += ["xs[0]", "xs[1]"]
        if self.record:
            names += ["box.v", "box.w"]
        return names

    def _declare(self) -> None:
        chance = self.chance
        if len(self.numbers) > 1 and chance.random() < 0.3:
            first, second = self.numbers[:2]
            self._add(f"{first}, {second} = {chance.randint(0, 3)}, {chance.randint(0, 3)}")
            self.known += [first, second]
        for name in self.numbers:
            if name not in self.known:
                self._add(f"{name} = {self._number(1) if self.known else chance.randint(0, 3)}")
                self.known.append(name)
        if self.has_list:
            self._add(
                chance.choice(("xs = [1, 2]", "xs = [0] * 2", "xs = [i + 1 for i in (2, 0)]"))
            )
            self.known += ["xs[0]", "xs[1]"]
            if chance.random() < 0.3:
                self._add("ys = xs")
                self.known += ["ys[0]", "ys[1]"]
        for tool in self.tools:
            self._add(f"{tool} = {TOOLS[tool]}")
        if self.private:
            self._add(f"p = {self._number(1)}")
            self.known.append("p")
        self._between()
        if self.record:
            first, second = self._number(1), self._number(1)
            form = BOX if self.record == "Box" else PAIR
            self._add(*(line.format(first, second) for line in form))
            self._between()
            given = chance.choice((self._number(1), f"w={self._number(1)}, v=1"))
            if self.record == "Pair":
                given = chance.choice(("", given))
            self._add(f"box = {self.record}({given})")
            self.known += ["box.v", "box.w"]

    def _add(self, *lines: str) -> None:
        self.lines += lines

    def _between(self) -> None:
        """Statements that run before the threads start.

        In a model without a `threads` list they are steps of `main`, and no definition may depend
        on them.
        """
        if not self.listed and len(self.defaults) < 2:
            return
        for _ in range(self.chance.choice((0, 0, 1, 1, 2))):
            self._add(*self._statement(2, alone=True))
        if self.private and self.chance.random() < 0.3:
            condition = f"while p < {self.chance.randint(1, 4)}:"
            forms = (["p += 1"], [condition, "    p += 1"], [f"p = ({self._number(1)}) % 4"])
            self._add(*self.chance.choice(forms))

    # --- definitions -----------------------------------------------------------------------

    def _globals(self, body: Sequence[str]) -> Lines:
        used = [name for name in self.numbers if any(name in _words(line) for line in body)]
        return [f"    global {', '.join(used)}"] if used else []

    def _helper(self) -> None:
        default = self._number(1)
        self.known.append("n")
        body = [*self._statement(1), f"return ({self._number(1)}) % 4"]
        self.known.remove("n")
        if self.chance.random() < 0.3:
            start = len(self.lines)
            test = self._condition()
            self._define("helper", "n=1", ["return n % 3"])
            self._define("helper", f"n={default}", body)
            lines, self.lines = self.lines[start:], self.lines[:start]
            second = lines.index(f"def helper(n={default}):", 1)
            self._add(f"if {test}:", *(f"    {line}" for line in lines[:second]))
            self._add("else:", *(f"    {line}" for line in lines[second:]))
        else:
            self._define("helper", f"n={default}", body)
        self.helpers.append("helper")

    def _worker(self, name: str) -> None:
        chance = self.chance
        names, needed = chance.choice((("", 0), ("", 0), ("n", 1), ("n", 0), ("nm", 1)))
        default = self._number(1)
        given = ", ".join(f"{n}={default}" if at >= needed else n for at, n in enumerate(names))
        self.known += names
        body = [line for _ in range(chance.choice((1, 2, 2))) for line in self._statement(1)]
        self.known = [known for known in self.known if known not in names]
        self._define(name, given, body)
        self.defaults[name] = needed

    def _define(self, name: str, given: str, body: Lines) -> None:
        self._add(f"def {name}({given}):", *self._globals(body), *(f"    {line}" for line in body))

    # --- threads ---------------------------------------------------------------------------

    def _entry(self, name: str, number: str | None = None) -> str:
        needed = self.defaults[name]
        given = [number or self._number(2) for _ in range(needed)]
        return f"<<{name}|{', '.join(given)}>>"

    def _list(self) -> None:
        chance, names = self.chance, list(self.defaults)
        entries = [self._entry(name) for name in names]
        if self.record == "Box" and chance.random() < 0.4:
            entries[0] = f"<<box.bump|{chance.choice(('', self._number(1)))}>>"
        many = f"[{', '.join(entries)}]"
        few = f"[{entries[0]}] + [{', '.join(entries[1:])}]"
        test = self._condition()
        form = chance.randint(0, 6)
        held = [tool for tool in self.tools if tool in ("lock", "rlock", "condition")]
        if held and chance.random() < 0.3:  # the threads start while the module holds a lock
            self._add(f"{held[0]}.acquire()")
            form = 6
        else:
            held = []
        if form == 0:
            self._add(f"threads = {few}")
        elif form == 1:
            self._add(f"threads = {many[:-1]}]", f"threads = {many}")
        elif form == 2:
            self._add(f"threads = [{entries[0]}]", *self._statement(2, alone=True))
            self._add(f"threads += [{entries[1]}]")
        elif form == 3:
            self._add(f"threads = [{entries[0]}] + ([{entries[1]}] if {test} else [{entries[0]}])")
        elif form == 4 and self.defaults[names[0]] == 1:
            numbers = chance.choice(("range(2)", "(2, 0)", "xs" if self.has_list else "(3, 1)"))
            self._add(f"threads = [{self._entry(names[0], 'i')} for i in {numbers}]")
        elif form == 5:
            self._add(f"if {test}:", f"    threads = {many}")
            self._add("else:", f"    threads = [{entries[1]}]")
        else:
            self._add(f"threads = {many}")
        self._add("<<start>>")
        for _ in range(chance.choice((0, 0, 0, 1))):
            self._add(*(self._assign() if held else self._statement(1)))
        self._add(*(f"{tool}.release()" for tool in held[:1]))

    def _threads(self) -> None:
        """Threads that the module makes itself; it may do something of its own meanwhile."""
        chance, made = self.chance, []
        for position, name in enumerate(self.defaults):
            given = "".join(f"{self._number(2)}, " for _ in range(self.defaults[name]))
            self._add(f"t{position} = threading.Thread(target={name}, args=({given}))")
            made.append(f"t{position}")
            if chance.random() < 0.3:
                self._add(*self._statement(2, alone=True))
        for thread in made:
            self._add(f"{thread}.start()")
            if chance.random() < 0.2:
                self._add(*self._statement(1))
        if chance.random() < 0.3 and self.helpers:
            self._add(f"helper({self._number(1)})")
        for thread in made:
            self._add(f"{thread}.join()")
        if chance.random() < 0.3:
            self._add(f"assert {self._condition()}")

    # --- statements ------------------------------------------------------------------------

    def _statement(self, depth: int, *, alone: bool = False) -> Lines:
        """A statement; with `alone` one that no other thread can hold up."""
        chance = self.chance
        kinds: list[Callable[[], Lines]] = [self._assign, self._assign, self._augment, self._swap]
        if self.tools and depth >= 0 and chance.random() < 0.6:
            kinds = [lambda: self._use_alone(depth) if alone else self._use(depth)]
        elif depth > 0 and chance.random() < 0.35:
            kinds = [lambda: self._branch(depth, alone), lambda: self._loop(depth, alone)]
        elif chance.random() < 0.15:
            kinds = [lambda: [f"assert {self._condition()}"]]
        elif self.helpers and alone and chance.random() < 0.3:
            kinds = [lambda: [f"{self._place()} = helper({self._number(1)})"]]
        return chance.choice(kinds)()

    def _place(self) -> str:
        places = [n for n in self.known if n not in ("n", "m", "p")]
        if self.has_list and "xs[0]" in places:
            places.append(f"xs[{self._atom()} % 2]")
        return self.chance.choice(places)

    def _atom(self) -> str:
        return self.chance.choice([*self.known, *self.known, "0", "1", "2", "-1", "True"])

    def _number(self, depth: int) -> str:
        if depth == 0:
            return self._atom()
        x, y = self._atom(), self._atom()
        forms = [
            x, x, y, f"({x} + {y}) % 4", f"({x} - {y}) % 3", f"({x} or {y})", f"({x} and {y})",
            f"({x} if {y} else 2)", f"{x} // 2", f"-{x} % 3", f"min({x}, {y})", f"(not {x}) + 1",
            f"({x} < {y} <= 3) + 0", f"max({x}, 1)",
        ]  # fmt: skip
        if self.helpers and depth > 1:
            forms += ["helper()", f"helper({x})"]
        return self.chance.choice(forms)

    def _condition(self) -> str:
        x, y = self._atom(), self._atom()
        forms = (
            f"{x} == {y}", f"{x} != 3", f"{x} < {y}", f"{x} <= {y} < 4", f"not {x}",
            f"{x} == 1 or {y} > 0", f"{x} and {y} != 2", f"{x} in (0, {y})",
        )  # fmt: skip
        return self.chance.choice(forms)

    def _assign(self) -> Lines:
        return [f"{self._place()} = ({self._number(1)}) % {self.chance.choice((3, 4, 5))}"]

    def _augment(self) -> Lines:
        operator = self.chance.choice(("%= 3", "//= 2", "^= 1", f"&= {self._atom()} % 4", "|= 1"))
        return [f"{self._place()} {operator}"]

    def _swap(self) -> Lines:
        first, second = self._place(), self._place()
        return [f"{first}, {second} = {second}, ({self._number(1)}) % 4"]

    def _branch(self, depth: int, alone: bool) -> Lines:
        lines = [f"if {self._condition()}:", *self._block(depth, alone)]
        if self.chance.random() < 0.5:
            lines += ["else:", *self._block(depth, alone)]
        return lines

    def _loop(self, depth: int, alone: bool) -> Lines:
        chance = self.chance
        name = f"k{depth}"
        items = chance.choice(("range(2)", "(1, 3)", f"range({self._atom()} % 3)"))
        lines = [f"for {name} in {items}:"]
        self.known.append("n")
        inner = self._block(depth, alone)
        self.known.remove("n")
        lines += [_rename(line, "n", name) for line in inner]
        if chance.random() < 0.3:
            lines += ["else:", *self._block(0, alone)]
        return lines

    def _block(self, depth: int, alone: bool) -> Lines:
        return [f"    {line}" for line in self._statement(depth - 1, alone=alone)]

    def _use_alone(self, depth: int) -> Lines:
        """Use a tool so that nothing stays taken."""
        tool = self.chance.choice(self.tools)
        inner = [f"    {line}" for line in self._assign()]
        match tool:
            case "event":
                return [self.chance.choice(("event.set()", "event.clear()"))]
            case "semaphore":
                return self.chance.choice((["semaphore.release()"], ["with semaphore:", *inner]))
            case "channel":
                return ["if channel.empty():", f"    channel.put(({self._number(1)}) % 4)"]
            case "barrier":
                return self._assign()
            case _:
                return [f"with {tool}:", *inner]

    def _use(self, depth: int) -> Lines:
        chance = self.chance
        tool = chance.choice(self.tools)
        inner = [line for _ in range(chance.choice((1, 2))) for line in self._statement(depth - 1)]
        held = [f"with {tool}:", *(f"    {line}" for line in inner)]
        match tool:
            case "event":
                return [chance.choice(("event.set()", "event.set()", "event.wait()"))]
            case "channel":
                value = self._number(1)
                return [
                    chance.choice(
                        (f"channel.put(({value}) % 4)", f"{self._place()} = channel.get()")
                    )
                ]
            case "barrier":
                return ["barrier.wait()"]
            case "condition" if chance.random() < 0.6:
                done = chance.choice(("condition.notify()", "condition.notify_all()"))
                waits = [f"while not ({self._condition()}):", "    condition.wait()"]
                inner = chance.choice(([done], [*self._assign(), done], waits))
                return ["with condition:", *(f"    {line}" for line in inner)]
            case "semaphore" if chance.random() < 0.4:
                return [chance.choice(("semaphore.acquire()", "semaphore.release()"))]
            case _:
                return held


def _words(line: str) -> set[str]:
    return set("".join(c if c.isalnum() or c == "_" else " " for c in line).split())


def _rename(line: str, old: str, new: str) -> str:
    """Replace a whole name."""
    text, word = "", ""
    for letter in f"{line} ":
        if letter.isalnum() or letter == "_":
            word += letter
        else:
            text += (new if word == old else word) + letter
            word = ""
    return text[:-1]


def as_model(line: str) -> str:
    """A line of the model."""
    if line == "<<start>>":
        return ""
    return _entries(line, lambda name, given: f"{name}({given})")


def as_real(line: str) -> str:
    """The same line of the function that is the real program."""
    if line == "<<start>>":
        return "for thread in threads: thread.start()"
    made = _entries(line, lambda name, given: ENTRY.format(name, f"{given}," if given else ""))
    return made.replace("  global ", "  nonlocal ", 1)


def _entries(line: str, write: Callable[[str, str], str]) -> str:
    while "<<" in line:
        before, _, rest = line.partition("<<")
        inside, _, after = rest.partition(">>")
        name, _, given = inside.partition("|")
        line = before + write(name, given) + after
    return line
