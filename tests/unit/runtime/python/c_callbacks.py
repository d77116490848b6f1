"""Programs in which C code enters Python code in the middle of an operation, or keeps fields."""

from __future__ import annotations

import csv
import ctypes
import decimal
import functools
import io
import threading
import xml.etree.ElementTree as ET
from collections import deque
from collections.abc import Callable
from typing import Any, ClassVar


def together(*bodies: Callable[[], object]) -> None:
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class Source(io.BufferedIOBase):
    """A stream in Python, which a reader of C code asks for more."""

    def __init__(self, *pieces: bytes) -> None:
        self.pieces = list(pieces)

    def readable(self) -> bool:
        return True

    def read1(self, size: int = -1) -> bytes:
        return self.pieces.pop(0) if self.pieces else b""


class Word:
    """Something that Python code writes out."""

    def __str__(self) -> str:
        return "word"


class Node(ET.Element):
    """An element of C code, as a class in Python."""


def text_reader() -> None:
    """Violated: the reader looks for text, asks for more, and stores what it gets."""
    reader = io.TextIOWrapper(Source(b"ab", b"cd"))
    found: list[str] = []
    together(lambda: found.append(reader.read(1)), lambda: found.append(reader.read(1)))
    assert sorted(found) == ["a", "b"]


def text_reader_and_lock() -> None:
    """Holds."""
    reader = io.TextIOWrapper(Source(b"ab", b"cd"))
    found: list[str] = []
    lock = threading.Lock()

    def read() -> None:
        with lock:
            found.append(reader.read(1))

    together(read, read)
    assert sorted(found) == ["a", "b"]


def thread_of_a_source() -> None:
    """Violated: what the reader stores comes after the start of the thread, which reads, too."""
    found: list[str] = []
    threads: list[threading.Thread] = []

    class StartingSource(Source):
        def read1(self, size: int = -1) -> bytes:
            piece = super().read1(size)
            if not threads:
                threads.append(threading.Thread(target=lambda: found.append(reader.read(1))))
                threads[0].start()
            return piece

    reader = io.TextIOWrapper(StartingSource(b"ab", b"cd"))
    first = reader.read(1)
    threads[0].join()
    assert sorted([first, *found]) == ["a", "b"]


def own_text_readers() -> None:
    """Holds: no thread uses the reader of another."""

    def read() -> None:
        reader = io.TextIOWrapper(Source(b"ab", b"cd"))
        assert reader.read(1) == "a"
        assert reader.read(2) == "bc"

    together(read, read)


def rows() -> None:
    """Violated: a writer puts rows together in one buffer, and asks for texts meanwhile."""
    lines: list[str] = []

    class Sink:
        def write(self, text: str) -> None:
            lines.append(text)

    writer = csv.writer(Sink())
    row = ["a", Word(), "b"]
    together(lambda: writer.writerow(row), lambda: writer.writerow(row))
    assert lines == ["a,word,b\r\n"] * 2


def cache_of_an_inner_function() -> None:
    """Violated: the cache is asked, the function runs, the cache is filled."""
    calls: list[int] = []
    cached = functools.lru_cache(lambda: calls.append(1))
    together(cached, cached)
    assert len(calls) == 1


def called_object() -> None:
    """Violated: an object of C code calls a function, which reads and writes."""
    table = {"n": 0}

    def add() -> None:
        table["n"] = table["n"] + 1

    called = ctypes.CFUNCTYPE(None)(add)
    together(lambda: called(), lambda: called())
    assert table["n"] == 2


def length_of_an_element() -> None:
    """Violated: one thread looks how long an element of C code is, and adds to it."""
    node = Node("n")

    def fill() -> None:
        if len(node) == 0:
            node.append(Node("m"))

    together(fill, fill)
    assert len(node) == 1


def text_of_an_element() -> None:
    """Violated: `str`, `bool` and `list` ask C code, too."""
    node = Node("n")
    found: list[Any] = []
    together(lambda: found.append(len(list(node))), lambda: node.append(Node("m")))
    assert found == [0]


def asked(look: Callable[[Node], int]) -> Callable[[], None]:
    """Violated: the thread sees an element before it gets a child, or after."""

    def program() -> None:
        node = Node("n")
        found: list[int] = []

        def change() -> None:
            node.append(Node("m"))
            node.__setstate__({"tag": "n", "_children": list(node), "text": "new"})

        together(lambda: found.append(look(node)), change)
        assert found == [0]

    return program


ASKED: dict[str, Callable[[Node], int]] = {
    "if": lambda node: 1 if node else 0,
    "not": lambda node: 0 if not node else 1,
    "or": lambda node: len(node or [1, 2]) % 2,
    "list": lambda node: len(list(node)),
    "for": lambda node: sum(1 for _ in node),
    "star": lambda node: len([*node]),
    "unpack": lambda node: _unpack(node),
    "field": lambda node: int(node.text == "new"),
    "item": lambda node: len(node[:]),
    "iter": lambda node: next(iter(node), None) is not None,
}


def _unpack(node: Node) -> int:
    whole = [*rest] = node
    return len(rest) if whole is node else -1


def number_of_rows() -> None:
    """Violated: `next` changes a field of the reader, which another thread has looked at."""
    reader = csv.reader(["a", "b"])

    def skip_the_first() -> None:
        if reader.line_num == 0:
            next(reader)

    together(skip_the_first, skip_the_first)
    assert reader.line_num == 1


def precision_of_a_context() -> None:
    """Violated: a field that one thread assigns decides what a method does in another one."""
    context = decimal.Context(prec=9)
    found: list[decimal.Decimal] = []

    def change() -> None:
        context.prec = 3

    together(lambda: found.append(context.divide(decimal.Decimal(1), 3)), change)
    assert found == [decimal.Decimal("0.333333333")]


def fields_that_nobody_changes() -> None:
    """Holds: both threads only look."""
    reader = csv.reader(["a", "b"])

    def look() -> None:
        assert reader.line_num == 0

    together(look, look)


class Lazy:
    """Something with a value that C code looks for, and else computes and stores."""

    made: ClassVar[list[int]] = []
    value = property(functools.lru_cache(lambda self: self.made.append(1)))


def lazy_value() -> None:
    """Violated: both threads find nothing."""
    thing = Lazy()
    Lazy.made.clear()
    together(lambda: thing.value, lambda: thing.value)
    assert len(Lazy.made) == 1


def lazy_values() -> None:
    """Holds: each thread has an object of its own."""
    together(lambda: Lazy().value, lambda: Lazy().value)


def keys_of_a_list() -> None:
    """Holds: `sorted` copies the list, and calls the function then."""
    numbers = [3, 1, 2]
    together(lambda: sorted(numbers, key=lambda n: -n), lambda: numbers.append(4))
    assert numbers == [3, 1, 2, 4]


class Same:
    """Something that Python code compares."""

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = None  # type: ignore[assignment]


def searched(search: Callable[[deque[Same]], object]) -> Callable[[], None]:
    """Violated: a deque that another thread changes while elements are compared is an error."""

    def program() -> None:
        queue = deque([Same(), Same()])
        together(lambda: search(queue), lambda: queue.appendleft(Same()))

    return program


SEARCHES: dict[str, Callable[[deque[Same]], object]] = {
    "in": lambda queue: Same() in queue,
    "count": lambda queue: queue.count(Same()),
    "remove": lambda queue: queue.remove(queue[-1]),
}
VIOLATED = (
    *(text_reader, thread_of_a_source, rows, cache_of_an_inner_function),
    *(called_object, length_of_an_element, text_of_an_element),
    *(number_of_rows, precision_of_a_context),
)
HOLDS = {
    text_reader_and_lock: 2,
    own_text_readers: 1,
    keys_of_a_list: 3,
    fields_that_nobody_changes: 1,
}
"""By program: how many executions there are at most."""
