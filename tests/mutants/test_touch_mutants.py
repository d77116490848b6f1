"""Mutants of what the interpreter, C code and library code are seen to touch: each loses a row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mazurka.runtime.primitives import queue
from mazurka.runtime.python import (
    calls,
    classes,
    deep,
    expressions,
    foreign_memory,
    functions,
    managing,
    methods,
    opaque,
    reentry,
    variables,
)
from mazurka.runtime.python.iteration import iterators, loops
from mazurka.runtime.python.library import partials, threads
from mazurka.runtime.rewrite import borrowed_methods
from mazurka.runtime.sharing.accesses import How
from tests.unit.runtime.observed_programs import find_failing
from tests.unit.runtime.python.ways_to_touch import GROUPS, write_programs


def nothing(*_: Any) -> Any:
    return ()


def itself(thing: Any, *_: Any) -> Any:
    return thing


def always(_: Any, *__: Any) -> bool:
    return True


def never(_: Any, *__: Any) -> bool:
    return False


ADD = (list, "__add__")
MUTANTS: dict[str, tuple[Any, str, Any, str, str]] = {
    "classes keep what they have borrowed": (
        *(borrowed_methods, "replace_borrowed", nothing),
        *("borrowed methods", "__len__ of another object"),
    ),
    "an attribute is no element": (
        *(borrowed_methods, "is_special", never),
        *("borrowed methods", "an element by its attribute"),
    ),
    "nobody reads a class": (classes, "parts_of_classes", nothing, "classes", "len"),
    "nobody reads the classes of elements": (
        *(deep, "parts_of_classes", nothing),
        *("classes", "text"),
    ),
    "an assignment changes no class": (
        *(variables, "parts_of_assignment", lambda *_: []),
        *("classes", "isinstance"),
    ),
    "async with reads nothing": (managing, "UNPACKING", (itself,) * 3, "constructs", "async with"),
    "async for reads nothing": (loops, "UNPACKING", (itself,) * 3, "constructs", "async for"),
    "raising changes nothing": (variables, "_RAISED", (), "constructs", "a traceback"),
    "C code reads no attribute": (
        *(variables, "accessor_in_c", lambda *_: None),
        *("objects", "a property of an attribute"),
    ),
    "a partial object has no state": (
        *(partials, "_FIELDS", ()),
        *("objects", "the state of a partial object"),
    ),
    "counters hold nothing": (deep, "is_asked_in_c", never, "objects", "a counter in a tuple"),
    "all values of dictionaries stay": (
        *(loops, "_WITH_VALUES", ()),
        *("objects", "values of an ordered dictionary"),
    ),
    "a name that is kept elsewhere is another one": (
        *(variables, "variable_of", lambda thing, name: name),
        *("objects", "the name of a thread"),
    ),
    "the text of a thread tells nothing": (
        *(threads, "touch_attribute", nothing),
        *("objects", "the text of a thread"),
    ),
    "nothing is behind an iterator of C code": (
        *(opaque, "_parts_behind", lambda *_: []),
        *("library", "a reader of a file in memory"),
    ),
    "nothing is behind a buffer": (
        *(opaque, "_parts_in_memory", lambda *_: []),
        *("library", "a buffer around a file in memory"),
    ),
    "objects of C code are not gone through": (
        *(iterators, "is_gone_through_by_c", never),
        *("library", "an object of C code in map"),
    ),
    "bytes read no buffers": (
        *(expressions, "_BUFFERS", ()),
        *("library", "a sum of bytes and an object of ctypes"),
    ),
    "ctypes has memory of its own": (
        *(foreign_memory, "_views_in", nothing),
        *("library", "a buffer of ctypes"),
    ),
    "addresses lead nowhere": (
        *(foreign_memory, "_how_anywhere", lambda _: How.READ_ALL),
        *("library", "an address"),
    ),
    "a pool goes through nothing": (
        *(functions, "_ITERABLES", (0, 0, 0)),
        *("library", "arguments of the map of a pool"),
    ),
    "methods read no arguments": (
        *(methods, "_plans", {**methods._plans, ADD: methods._plans[ADD]._replace(alone=True)}),
        *("library", "a method's argument"),
    ),
    "C code does not look into what it gets": (
        *(deep, "perform_watched", reentry.perform_split),
        *("library", "what a mapping gives to a format"),
    ),
    "exempt code reads nothing": (
        *(calls, "_is_exempt", never),
        *("library", "a warning that is formatted"),
    ),
    "a queue compares nothing": (
        *(queue, "_is_fixed", always),
        *("library", "items of a queue that are compared"),
    ),
    "a queue runs no code of the program": (
        *(queue, "_is_alone", always),
        *("library", "a queue that counts"),
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_the_mutant_loses_the_failure(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, function, broken, group, row = MUTANTS[name]
    monkeypatch.setattr(owner, function, broken)
    if owner is methods:
        monkeypatch.setattr(methods, "_known_plan", broken.get)
    source = write_programs({row: GROUPS[group][row]})
    assert find_failing(tmp_path, source, ["program_0"]) == [False]
