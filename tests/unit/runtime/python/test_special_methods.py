"""Methods of C types by name: whatever one changes, or depends on, is an access.

The interpreter itself says what a method does.  It is called on two objects of a type that differ;
if an object is another one afterwards, the method writes, and if the results differ, it reads.  One
run of a program that calls all of them shows the accesses that Mazurka sees.
"""

from __future__ import annotations

import io
import random
import re
import types
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from observed_programs import SETTINGS, Trail, module_of

from mazurka.runtime.core.insides import attributes
from mazurka.runtime.exploring.observed_program import ObservedProgram
from mazurka.runtime.python import catalogue
from mazurka.runtime.python.containers import behind
from mazurka.runtime.rewrite.selection import is_left_alone
from mazurka.runtime.sharing.names import known

MADE = {
    "list": "[{n}, 1] * {n}",
    "dict": "dict.fromkeys(range({n} * 3), 8) | {{'a': {n}, 'b': 1}}",
    "set": "{{1, *range({n}, {n} * 9)}}",
    "deque": "collections.deque([{n}, 1] * {n} * 99)",
    "bytearray": "bytearray([{n}, 97] * {n})",
    "array": "array.array('i', [{n}, 1] * {n})",
    "OrderedDict": "collections.OrderedDict.fromkeys(range({n} * 3), 8) | {{'a': {n}}}",
    "defaultdict": "collections.defaultdict(int, dict.fromkeys(range({n} * 3)), a={n})",
    "Counter": "collections.Counter([*range({n} * 3), 'a'])",
    "Rows": "Rows([{n}, 1] * {n})",
    "Table": "Table(dict.fromkeys(range({n} * 3), 8), a={n})",
    "StringIO": "io.StringIO('{n}\\nb' * {n})",
    "BytesIO": "io.BytesIO(b'{n}\\nb' * {n})",
    "SimpleNamespace": "types.SimpleNamespace(a={n})",
    "ValueError": "ValueError({n})",
    "OSError": "OSError({n}, 'a')",
    "Random": "random.Random({n})",
    "keys": "dict.fromkeys(range({n})).keys()",
    "values": "dict.fromkeys(range({n})).values()",
    "items": "dict.fromkeys(range({n})).items()",
    "mappingproxy": "types.MappingProxyType(dict.fromkeys(range({n}), 8) | {{'a': {n}}})",
    "memoryview": "memoryview(bytearray([{n}, 97] * {n}))",
    "iterator": "iter([1, 2, 3][{n} - 4:])",
}
"""By name: what makes an object that depends on a number."""
GIVEN = (
    *("", "''", "1", "'a'", "[8]", "(8, 9)", "{8}", "{'a': 8}", "b'a'", "97", "'\\n'", "0"),
    *("0, 8", "'a', 8", "0, b'a'", "slice(0, 1), [8, 9]", "slice(0, 1)", "int, {'c': 8}", "2"),
    *("[('a', 8)]", "'n', 'a'", "collections.Counter(a=9)", "array.array('i', [8])"),
    *("collections.OrderedDict(c=8)", "bytearray(2)", "None", "4", "8, 8", "True, None"),
    *("{'a': 8}, None", "types.SimpleNamespace(a=8)", "random.Random(9).getstate()", "8, 'b'"),
)
"""Arguments; a method gets those that let it touch something."""
HEAD = """
import array, collections, io, random, threading, types

class Rows(list): pass
class Table(dict): pass

def drain(value):
    return list(value) if hasattr(value, "__next__") else value

"""


def space() -> dict[str, Any]:
    found: dict[str, Any] = {}
    exec(HEAD, found)
    return found


def text_of(value: Any) -> str:
    if hasattr(value, "__next__"):
        value = list(value)
    if isinstance(value, catalogue.VIEWS) or type(value).__name__.startswith("odict_"):
        return "a view"
    return re.sub("0x[0-9a-f]+", "", repr(value))


def state_of(thing: Any) -> str:
    if isinstance(thing, memoryview):
        try:
            thing = thing.obj
        except ValueError:
            return "released"
    if isinstance(thing, (io.StringIO, io.BytesIO)):
        return text_of((thing.closed or (thing.getvalue(), thing.tell()), vars(thing)))
    if isinstance(thing, random.Random):
        return text_of(thing.getstate())
    if isinstance(thing, (BaseException, types.SimpleNamespace)):
        return text_of((thing, vars(thing), getattr(thing, "args", ())))
    return text_of(thing.__reduce__() if hasattr(thing, "__next__") else list(thing))


def effect_of(made: str, call: str, names: dict[str, Any]) -> str | None:
    """What a method does: it writes, reads, or touches nothing; None if it cannot be called so."""
    results = []
    for number in (5, 6):
        names["x"] = thing = eval(made.format(n=number), names)
        before = state_of(thing)
        try:
            results.append(text_of(eval(call, names)))
        except (TypeError, AttributeError, NotImplementedError):
            return None
        except Exception as error:
            results.append(text_of(error))
        if state_of(thing) != before:
            return "write"
    return "read" if results[0] != results[1] else "nothing"


ASIDE = frozenset({"__class__", "__doc__", "__dict__", "__module__", "__weakref__", "__hash__"})


def calls_of(kind: str) -> Iterator[tuple[str, str]]:
    """Calls of all methods that touch an object of a kind, and whether they write or read."""
    made, names = MADE[kind], space()
    thing = eval(made.format(n=5), names)
    for name in dir(thing):
        method = getattr(type(thing), name, None)
        if name in ASIDE or isinstance(method, (types.FunctionType, type)) or not callable(method):
            continue
        effect, given = "", ""
        for tried in GIVEN:
            found = effect_of(made, f"x.{name}({tried})", names)
            if found in ("write", "read") and not (effect and found == "read"):
                effect, given = found, tried
                if effect == "write":
                    break
        if effect:
            yield f"x.{name}({given})", effect
            if type(method) in catalogue.DESCRIPTORS:
                yield f"type(x).{name}(x, {given})".replace(", )", ")"), effect


def look(thing: Any) -> str:
    """What the runtime knows of accesses to an object: to call where nobody observes it."""
    holders = [thing]
    if isinstance(thing, catalogue.VIEWS):
        holders.append(behind(thing))
    own = attributes(type(thing))
    if own is not None:
        holders.append(own(thing))
    locations = [
        location
        for seen in map(known, map(id, holders))
        if seen is not None
        for location in (seen.whole, *seen.values())
    ]
    uses = [use for one in locations for use in (*one.uses, *one.point_uses)]
    if any(one.write >= 0 for one in locations) or any(written for _, written in uses):
        return "write"
    return "read" if uses or any(one.read >= 0 for one in locations) else "nothing"


def accesses_seen(folder: Path, rows: list[tuple[str, str]]) -> list[str]:
    """Make each call in a thread, with an object of its own, and return what is seen."""
    seen = ["nothing"] * len(rows)

    def note(number: int, thing: Any) -> None:
        seen[number] = look(thing)

    def make(kind: str) -> Any:
        return eval(MADE[kind].format(n=5), vars(module))

    lines = [
        f"    x = make({kind!r})\n    try: drain({call})\n    except Exception: pass\n"
        f"    note({number}, x)\n"
        for number, (kind, call) in enumerate(rows)
    ]
    main = "    thread = threading.Thread(target=work)\n    thread.start()\n    thread.join()\n"
    source = f"{HEAD}def work():\n{''.join(lines)}\ndef program():\n{main}"
    module = module_of(folder, source)
    vars(module).update(make=make, note=note)
    with ObservedProgram(
        lambda: module.program(), lambda name, file: name == module.__name__, SETTINGS, is_left
    ) as program:
        program.supervise(lambda: program.run(Trail()))
    return seen


def is_left(name: str, file: str) -> bool:
    return name == __name__ or is_left_alone(name, file)


def missed(folder: Path, kinds: Iterable[str]) -> list[str]:
    """What methods touch, and nobody sees."""
    expected = {(kind, call): effect for kind in kinds for call, effect in calls_of(kind)}
    seen = accesses_seen(folder, list(expected))
    return [
        f"{kind}: {call} is a {effect}, {found} is seen"
        for ((kind, call), effect), found in zip(expected.items(), seen, strict=True)
        if found not in (effect, "write")
    ]


def test_whatever_a_method_touches_is_seen(tmp_path: Path) -> None:
    assert missed(tmp_path, MADE) == []


def test_the_interpreter_tells_what_methods_touch() -> None:
    found = dict(calls_of("list"))
    assert found["x.__init__()"] == found["type(x).append(x, '')"] == "write"
    assert found["x.__reversed__()"] == found["x.__sizeof__()"] == "read"
    assert "x.__class_getitem__(1)" not in found
