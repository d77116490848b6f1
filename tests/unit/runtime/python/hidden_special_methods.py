"""Accesses of special methods that are called by name, and of attributes that `super()` finds.

Programs for `test_hidden_accesses`; see there for how they are written.
"""

from __future__ import annotations

SPECIAL_METHODS = """
### a dictionary is made anew
class Config(dict):
    loads = 0
    def load(self):
        self.loads += 1
        super().__init__(name="a")
---
config = Config()
def work():
    with GUARD:
        if "name" not in config:
            config.load()
together(work, work)
assert config.loads == 1
### a list is made anew of a generator
---
rows, filled = [], []
def work():
    with GUARD:
        if not rows:
            filled.append(1)
            list.__init__(rows, (n for n in (1, 2)))
together(work, work)
assert len(filled) == 1
### an exception is made anew
---
error, done = ValueError(), []
def work():
    with GUARD:
        if not error.args:
            done.append(1)
            error.__init__("a")
together(work, work)
assert len(done) == 1
### a note of an exception
---
error, done = ValueError(), []
def work():
    with GUARD:
        if not hasattr(error, "__notes__"):
            done.append(1)
            error.add_note("a")
together(work, work)
assert len(done) == 1
### a namespace is made anew
---
space, done = types.SimpleNamespace(), []
def work():
    with GUARD:
        if not hasattr(space, "n"):
            done.append(1)
            space.__init__(n=1)
together(work, work)
assert len(done) == 1
### a missing key by name
---
table, done = collections.defaultdict(int), []
def work():
    with GUARD:
        if not table:
            done.append(1)
            table.__missing__("a")
together(work, work)
assert len(done) == 1
### an item by operator
---
table, done = collections.defaultdict(int), []
def work():
    with GUARD:
        if not table:
            done.append(1)
            operator.getitem(table, "a")
together(work, work)
assert len(done) == 1
### a class attribute by super
class Base: n = 0
class Child(Base):
    def add(self): Base.n = super().n + 1
---
child = Child()
def work():
    with GUARD:
        child.add()
together(work, work)
assert Base.n == 2
### a class attribute by the method of all objects
class Base: n = 0
class Child(Base):
    def __getattribute__(self, name): return super().__getattribute__(name)
    def add(self): Base.n = object.__getattribute__(self, "n") + self.n // 2 + 1
---
child = Child()
def work():
    with GUARD:
        child.add()
together(work, work)
assert Base.n == 2
### the state of an object
class Box: pass
---
box = Box(); box.n = 0
def work():
    with GUARD:
        box.n = box.__getstate__()["n"] + 1 if hasattr(box, "__getstate__") else box.n + 1
together(work, work)
assert box.n == 2
### a slice by name
---
rows, found = [1], []
def look():
    taken = []
    with GUARD:
        taken.__setitem__(slice(0, 0), rows)
    found.append(taken)
together(look, lambda: rows.append(2))
assert found == [[1]]
### buffers that are joined
---
buffer, found = bytearray(b"a"), []
def look():
    with GUARD:
        found.append(b"".join([buffer]))
def change():
    with GUARD:
        buffer[0] = 98
together(look, change)
assert found == [b"a"]
### a class of a dictionary
---
names, found = {"a": 1}, []
def look():
    with GUARD:
        found.append(hasattr(type("Made", (), names), "b"))
def change():
    with GUARD:
        names["b"] = 1
together(look, change)
assert found == [False]
"""
