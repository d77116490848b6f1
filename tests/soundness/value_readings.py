"""Random programs whose threads hold frozen records or tuples of numbers under several names.

Names are copied, exchanged, received from a queue, handed to functions that return them, chosen
between, put into lists and compared, in branches and loops.  As in `random_readings`, each program
is a model and a real program at the same time; what the names hold at the end goes to shared data.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.soundness.random_readings import HEAD, Lines, Reading, as_model, as_real

RECORD = ("@dataclass(frozen=True, order=True)", "class Pair:", "    v: int = 0", "    w: int = 1")
NAMES = ("x", "y", "z")
SHARED = ("a", "b", "c", "d")


def random_value_reading(seed: int) -> Reading:
    """The program with this number."""
    return _ValueWriter(random.Random(f"values {seed}")).write()


class _ValueWriter:
    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.is_record = chance.random() < 0.6
        self.rounds = 0
        """How many loops have been written: their variables are numbered."""

    def write(self) -> Reading:
        lines = [f"{name} = 0" for name in SHARED]
        if self.is_record:
            lines += [*RECORD, "", f"base = {self._new('2', '1')}"]
            lines += [f"table = [{self._new('1', '0')}, {self._new('0', '2')}]"]
        lines.append("channel = queue.Queue(3)")
        lines += self._functions()
        lines += ["def producer(n):", "    global d", *_indent(self._produce())]
        lines += ["def consumer(first):", "    global a, b, c", *_indent(self._consume())]
        given = self._new("1", "2")
        given = "base" if self.is_record and self.chance.random() < 0.5 else given
        lines.append(f"threads = [<<producer|1>>, <<consumer|{given}>>]")
        model = "\n".join((*HEAD, *map(as_model, lines), ""))
        real = [*map(as_real, lines), "for thread in threads: thread.start()"]
        real += ["for thread in threads: thread.join()"]
        shown = ", ".join(f'("{name}", {name})' for name in SHARED)
        real.append(f"note({shown})")
        body = [f"    {line}" if line else "" for line in real]
        return Reading(model, "\n".join((*HEAD, "def program(note):", *body, "")), SHARED)

    # --- values ----------------------------------------------------------------------------

    def _new(self, first: str, second: str) -> str:
        if not self.is_record:
            return f"({first}, {second})"
        forms = (f"Pair({first}, {second})", f"Pair(w={second}, v={first})")
        return self.chance.choice(forms)

    def _part(self, value: str) -> str:
        return value + self.chance.choice((".v", ".w") if self.is_record else ("[0]", "[1]"))

    def _number(self) -> str:
        x, y = self._name(), self._name()
        forms = (
            "0", "1", "2", self._part(x), f"({self._part(x)} + 1) % 3",
            f"({self._part(x)} + {self._part(y)}) % 4", f"({x} {self._order()} {y}) + 0",
            f"int({x} == {y})",
        )  # fmt: skip
        return self.chance.choice(forms)

    def _order(self) -> str:
        return self.chance.choice(("<", "<=", ">", ">=", "==", "!="))

    def _name(self) -> str:
        return self.chance.choice(NAMES)

    def _condition(self) -> str:
        forms = (
            f"{self._name()} {self._order()} {self._name()}",
            f"{self._part(self._name())} {self._order()} {self.chance.randint(0, 2)}",
            f"{self._name()} == {self._new(self._number(), '1')}",
        )
        return self.chance.choice(forms)

    def _value(self) -> str:
        x, y = self._name(), self._name()
        forms = [
            x, x, self._new(self._number(), self._number()), f"same({x})", f"pick({x}, {y})",
            f"pick({x}, same({y}))", f"next_of({x})", "channel.get()", "same(channel.get())",
            f"({x} if {self._condition()} else {y})", f"twice({x})", "next_of()",
            f"({x}, {y})[{self._part(self._name())} % 2]" if self.is_record else x,
        ]  # fmt: skip
        if self.is_record:
            forms += ["base", f"table[{self._number()} % 2]", "(base if a else table[1])"]
            forms.append(f"(base, {x})[{self._part(y)} % 2]")
        return self.chance.choice(forms)

    # --- code ------------------------------------------------------------------------------

    def _functions(self) -> Lines:
        v, w = (".v", ".w") if self.is_record else ("[0]", "[1]")
        default = self._new("2", "0")
        return [
            "def same(m):", "    return m",
            "def pick(m, n):", f"    if m{v} < n{w}:", "        return m", "    return n",
            f"def next_of(m={default}):", f"    return {self._new(f'(m{w} + 1) % 3', f'm{v}')}",
            "def twice(m):", "    for k in range(2):", "        m = next_of(m)", "    return m",
            "def send(m):", "    channel.put(m)",
        ]  # fmt: skip

    def _produce(self) -> Lines:
        put = f"channel.put({self._new('n', '2')})"
        second = self.chance.choice(
            (["d = a"], [f"send({self._new('0', 'n')})"], [f"channel.put({self._new('a', '1')})"])
        )
        keep = [put, "last = " + self._new("0", "0"), "for k in range(2):", "    channel.put(last)"]
        keep.append(f"    last = {self._new('k', '1')}")
        return self.chance.choice(([put, *second], [put, put], keep, [put, *second]))

    def _consume(self) -> Lines:
        lines = [f"x = {self._new('0', '1')}", "y = first", f"z = {self._new('2', '2')}"]
        for _ in range(self.chance.randint(2, 5)):
            lines += self._statement(2)
        x, y, z = (_both(name, self.is_record) for name in NAMES)
        return [*lines, f"a = {x}", f"b = {y}", f"c = {z}"]

    def _statement(self, depth: int) -> Lines:
        kinds: list[Callable[[int], Lines]] = [self._assign, self._assign, self._exchange]
        kinds += [self._send, self._list]
        if depth:
            kinds += [self._branch, self._loop, self._loop, self._over_values]
        return self.chance.choice(kinds)(depth)

    def _assign(self, depth: int) -> Lines:
        return [f"{self._name()} = {self._value()}"]

    def _exchange(self, depth: int) -> Lines:
        x, y, z = self.chance.sample(NAMES, 3)
        own = f"{y}, {self._new(self._number(), f'int({x} == {y})')}"
        forms = (
            f"{x}, {y} = {y}, {x}", f"{x}, {y} = same({y}), {x}", f"{x}, {y}, {z} = {y}, {z}, {x}",
            f"{x}, {y} = {own}", f"{x}, {y} = pick({y}, {z}), {self._value()}",
        )  # fmt: skip
        return [self.chance.choice(forms)]

    def _send(self, depth: int) -> Lines:
        return ["if channel.qsize() < 2:", f"    send({self._name()})"]

    def _list(self, depth: int) -> Lines:
        x, y, z = self._name(), self._name(), self._name()
        self.rounds += 1
        both = f"both{self.rounds}"
        made = self.chance.choice((f"[{x}, {y}]", f"({x}, {y})"))
        made = made if self.is_record else f"({x}, {y})"  # a list of tuples is an Array
        return [f"{both} = {made}", *self._assign(0), f"{z} = {both}[{self.chance.randint(0, 1)}]"]

    def _block(self, depth: int) -> Lines:
        lines = [self._statement(depth - 1) for _ in range(self.chance.choice((1, 2)))]
        return _indent([line for part in lines for line in part])

    def _branch(self, depth: int) -> Lines:
        lines = [f"if {self._condition()}:", *self._block(depth)]
        return [*lines, "else:", *self._block(depth)] if self.chance.random() < 0.5 else lines

    def _loop(self, depth: int) -> Lines:
        self.rounds += 1
        number = f"k{self.rounds}"
        last = [f"    if {self._condition()}:", "        break"]
        lines = [f"for {number} in range(2):", *self._block(depth)]
        return [*lines, *last] if self.chance.random() < 0.3 else lines

    def _over_values(self, depth: int) -> Lines:
        x, y, z = self._name(), self._name(), self._name()
        lines = [f"for {z} in ({x}, {y}):", *self._block(depth)]
        last = [f"    if {self._condition()}:", "        break"]
        return [*lines, *last] if self.chance.random() < 0.3 else lines


def _both(name: str, is_record: bool) -> str:
    return f"{name}.v + 4 * {name}.w" if is_record else f"{name}[0] + 4 * {name}[1]"


def _indent(lines: Lines) -> Lines:
    return [f"    {line}" for line in lines]
