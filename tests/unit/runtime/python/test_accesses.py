"""Every kind of access yields the operations that it should: in number, order, and what they touch.

In the tables, `r` and `w` are a read and a write of a variable.  For containers, a name in capitals
is written: `s` stands for the structure, and a key in brackets for an element.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from observed_programs import follow, module_of

PROGRAM = """
import threading
from collections import defaultdict, deque

count = 0

class Thing:
    data = 5
    def __init__(self):
        self.x = 1
        self.y = [1]
    @property
    def p(self):
        return 1
    def method(self):
        return 2

def program():
    t = Thing()
    c = {container}
    shared = 0
    def change():
        nonlocal shared
        global count
        shared = count = 7
        count = 8
    def body():
        nonlocal shared
        global count
        a = b = None
        {statement}
    other = threading.Thread(target=threading.Event().wait, daemon=True)
    other.start()
    worker = threading.Thread(target=body)
    worker.start()
    worker.join()
"""
WORKER = 2


def touches(tmp_path: Path, container: str, statement: str) -> list[list[tuple[str, bool]]]:
    lines = statement.replace("\n", "\n        ")
    module = module_of(tmp_path, PROGRAM.format(container=container, statement=lines))
    (trail,) = follow(module, [()])
    return [touched for thread, touched in trail.touches if thread == WORKER]


VARIABLES = {
    "t.x": "x",
    "t.x = 1": "X",
    "t.x += 1": "xX",
    "t.x = t.x": "xX",
    "del t.x": "X",
    "t.new = 1": "N",
    "t.p": "",
    "t.method()": "",
    "t.data": "d",
    "t.data += 1": "dD",
    "Thing.data = 3\nt.data": "Ddd",
    "Thing.data": "d",
    "Thing.data = 3": "D",
    "getattr(t, 'x')": "x",
    "getattr(t, 'q', None)": "q",
    "hasattr(t, 'x')": "x",
    "setattr(t, 'x', 2)": "X",
    "t.x, a = 1, 2": "X",
    "for t.x in (1, 2): pass": "XX",
    "a = t.x if t.x else t.y": "xx",
    "a = [t.x for b in (1, 2)]": "xx",
    "shared": "c",
    "shared = 2": "C",
    "shared += 2": "cC",
    "a = lambda: shared\na()": "c",
    "a = (shared := 4)": "C",
    "count": "c",
    "count = 2": "C",
    "count += 1": "cC",
    "count, a = 1, 2": "C",
    "f'{t.x}{count}'": "xc",
    "class A: n = 1\nA.n": "n",
    "a = 5\na += 1": "",
    "assert t.x == 1": "x",
}


@pytest.mark.parametrize("statement", VARIABLES)
def test_variables(tmp_path: Path, statement: str) -> None:
    """One letter a touch: the first of the variable's name, a capital where it is written."""
    found = ""
    for touched in touches(tmp_path, "None", statement):
        for name, written in touched:
            letter = name.rpartition(".")[2][0]
            found += letter.upper() if written else letter
    # Reading an attribute that classes change looks at the instance and at the class in one step.
    assert found == VARIABLES[statement]


CONTAINERS = [
    ("[1, 2]", "c[0]", "s[0]"),
    ("[1, 2]", "c[-1]", "s[1]"),
    ("[1, 2]", "c[0] = 5", "s[0]W"),
    ("[1, 2]", "c[0] += 5", "s[0] s[0]W"),
    ("[1, 2]", "c[:]", "s[0][1]"),
    ("[1, 2]", "c[:1] = ()", "S"),
    ("[1, 2]", "del c[0]", "S"),
    ("[1, 2]", "len(c)", "s"),
    ("[1, 2]", "1 in c", "s[0][1]"),
    ("[1, 2]", "c.append(3)", "S"),
    ("[1, 2]", "c.append(c[0])", "s[0] S"),
    ("[1, 2]", "a = c\na += (3,)", "S"),
    ("[1, 2]", "c.pop()", "S"),
    ("[]", "try: c.pop()\nexcept IndexError: pass", "s"),
    ("[1, 2]", "c.sort()", "S[0][1]"),
    ("[1, 2]", "for a in c: pass", "s[0] s[1] s"),
    ("[1, 2]", "[a for a in c]", "s[0] s[1] s"),
    ("[1, 2]", "a, b = c", "s[0][1]"),
    ("[1, 2]", "max(*c, 0)", "s[0][1]"),
    ("[1, 2]", "sorted(c)", "s[0][1]"),
    ("[1, 2]", "list(enumerate(c))", "s[0] s[1] s"),
    ("[1, 2]", "f'{c}'", "s[0][1]"),
    ("[1, 2]", "if c: pass", "s"),
    ("[1, 2]", "a = not c or 1", "s"),
    ("[1, 2]", "c == 5", ""),
    ("[1, 2]", "c + c", "s[0][1]"),
    ("[1, 2]", "c.extend(x for x in 'ab')", "S S"),
    ("[1, 2]", "a = c.append\na(1)", "S"),
    ("[1, 2]", "list.append(c, 1)", "S"),
    ("[1, 2]", "a = iter(c)\nnext(a)", "s[0]"),
    ("{'a': 1}", "c['a']", "s['a']"),
    ("{'a': 1}", "c['a'] = 2", "s['a']W"),
    ("{'a': 1}", "c['b'] = 2", "S"),
    ("{'a': 1}", "c['a'] += 2", "s['a'] s['a']W"),
    ("{'a': 1}", "c.get('a')", "s['a']"),
    ("{'a': 1}", "c.get('b')", "s"),
    ("{'a': 1}", "c.setdefault('a', 3)", "s['a']"),
    ("{'a': 1}", "c.setdefault('b', 3)", "S"),
    ("{'a': 1}", "del c['a']", "S"),
    ("{'a': 1}", "c.pop('b', None)", "s"),
    ("{'a': 1}", "'a' in c", "s"),
    ("{'a': 1}", "for a in c: pass", "s s"),
    ("{'a': 1}", "for a, b in c.items(): pass", "s['a'] s['a']"),
    ("{'a': 1}", "list(c.values())", "s['a']"),
    ("{'a': 1}", "c.update(b=1)", "S"),
    ("{'a': 1}", "{**c}", "s['a']"),
    ("{}", "try: c.popitem()\nexcept KeyError: pass", "s"),
    ("defaultdict(int)", "c['a']", "S"),
    ("defaultdict(int, a=1)", "c['a']", "s['a']"),
    ("{1, 2}", "c.add(1)", "s"),
    ("{1, 2}", "c.add(3)", "S"),
    ("{1, 2}", "c.discard(3)", "s"),
    ("{1, 2}", "c.remove(1)", "S"),
    ("{1, 2}", "1 in c", "s"),
    ("{1, 2}", "a = c\na |= frozenset((4,))", "S"),
    ("deque([1, 2])", "c.popleft()", "S"),
    ("deque()", "try: c.popleft()\nexcept IndexError: pass", "s"),
    ("deque([1, 2])", "c.appendleft(1)", "S"),
    ("deque([1, 2])", "c[1]", "s[1]"),
    ("bytearray(b'ab')", "c[0] = 1", "s[0]W"),
    ("(1, 2)", "c[0]", ""),
    ("'ab'", "c[0]", ""),
]


@pytest.mark.parametrize(("container", "statement", "expected"), CONTAINERS)
def test_containers(tmp_path: Path, container: str, statement: str, expected: str) -> None:
    steps = []
    for touched in touches(tmp_path, container, statement):
        name = touched[0][0]
        step = "S" if touched[0][1] else "s"
        for element, written in touched[1:]:
            key = re.sub("^" + re.escape(name), "", element)
            step += key + ("W" if written else "")
        steps.append(step)
    assert " ".join(steps) == expected
