"""Attributes that are reached by other ways than `thing.name`.

Programs for `test_hidden_accesses`; see there for how they are written.
"""

from __future__ import annotations

ATTRIBUTES = """
### dict attr mixed
class Box: pass
---
box = Box(); box.n = 0
def work():
    with GUARD:
        v = box.n
        box.__dict__["n"] = v + 1
together(work, work)
assert box.n == 2
### vars mixed
class Box: pass
---
box = Box(); box.n = 0
def work():
    with GUARD:
        v = box.n
        vars(box)["n"] = v + 1
together(work, work)
assert box.n == 2
### dict update
class Box: pass
---
box = Box(); box.n = 0
def work():
    with GUARD:
        v = box.n
        box.__dict__.update(n=v + 1)
together(work, work)
assert box.n == 2
### dict held
class Box: pass
---
box = Box(); box.n = 0
d = box.__dict__
def work():
    with GUARD:
        v = box.n
        d["n"] = v + 1
together(work, work)
assert box.n == 2
### class attribute beside dict
class Box: n = 0
---
box = Box()
def read():
    seen.append((box.n, "n" in vars(box)))
def write():
    Box.n = 1
seen = []
together(write, read)
assert seen == [(1, False)]
### class attribute instead of slot
class Box: __slots__ = ("n", "__dict__")
---
box = Box(); box.n = 0
def read():
    seen.append((box.n, "n" in vars(box)))
def write():
    Box.n = 1
seen = []
together(write, read)
assert seen == [(1, False)]
### class attribute behind slot
class Box: __slots__ = ("n", "__dict__")
---
box = Box(); box.n = 0
def work():
    with GUARD:
        if box.n == 0 and "n" not in vars(box):
            box.n = 1
            Box.n = 8
            made.append(1)
made = []
together(work, work)
assert len(made) == 1
### class dict searched
class Box: a = 1
---
def work():
    with GUARD:
        if "a" in Box.__dict__:
            del Box.a
together(work, work)
### class dict measured
class Box: a = 1
---
found = []
def look(): found.append(len(Box.__dict__) == len(vars(Box)))
def work(): Box.b = 2
together(look, work)
assert found == [True]
### class dict gone through
class Box: a = 1
---
def look():
    for name in Box.__dict__: len(name)
def work(): Box.b = 2
together(look, work)
### class dict got from
class Box: a = 0
---
def work():
    with GUARD:
        Box.a = Box.__dict__.get("a") + 1
together(work, work)
assert Box.a == 2
### class dict copied
class Box: a = 0
---
def work():
    with GUARD:
        Box.a = dict(Box.__dict__)["a"] + 1
together(work, work)
assert Box.a == 2
### class dict by a getter
class Box: a = 0
---
def work():
    with GUARD:
        Box.a = len([k for k in operator.attrgetter("__dict__")(Box).items() if k == ("a", 0)])
together(work, work)
assert Box.a == 0
### class names
class Base: pass
class Box(Base): pass
---
made = []
def work():
    with GUARD:
        if "a" not in dir(Box()):
            made.append(1)
            Base.a = 1
together(work, work)
assert made == [1]
### class names by the method
class Box: pass
---
made = []
def work():
    with GUARD:
        if "a" not in Box().__dir__():
            made.append(1)
            Box.a = 1
together(work, work)
assert made == [1]
### singleton in the class dict
class Box: pass
class Single:
    @classmethod
    def get(cls):
        if "_instance" not in cls.__dict__: cls._instance = cls()
        return cls._instance
---
got = []
def work():
    with GUARD:
        got.append(Single.get())
together(work, work)
assert got[0] is got[1]
### list in a class
class Box: items = []
---
box = Box()
def work():
    with GUARD:
        if not box.items: box.items.append(1)
together(work, work)
assert Box.items == [1]
### list in a class of thread locals
class Box(threading.local): items = []
---
box = Box()
def work():
    with GUARD:
        if not box.items: box.items.append(1)
together(work, work)
assert Box.items == [1]
### slot of a thread local
class Box(threading.local): __slots__ = ("n",)
---
box = Box(); box.n = 0
def work():
    with GUARD:
        box.n += 1
together(work, work)
assert box.n == 2
### list among keywords
def f(*, items=[]): return items
class Box:
    @property
    def items(self, kept=[]): return kept
---
def work():
    with GUARD:
        if not f() and not Box().items: f().append(1); Box().items.append(1)
together(work, work)
assert f() == Box().items == [1]
### vars of a function
---
def box(): pass
made = []
def work():
    with GUARD:
        if vars(box).get("n") is None:
            made.append(1)
            box.n = 1
together(work, work)
assert made == [1]
### dict of a C object
---
box = functools.partial(print); made = []
def work():
    with GUARD:
        if "n" not in box.__dict__:
            made.append(1)
            setattr(box, "n", 1)
together(work, work)
assert made == [1]
### dict in
class Box: pass
---
box = Box(); made = []
def work():
    with GUARD:
        if "n" not in box.__dict__:
            made.append(1)
            box.n = 1
together(work, work)
assert made == [1]
### dict setattr loop
class Box: pass
---
box = Box(); box.n = 0
def work():
    with GUARD:
        for k, v in list(vars(box).items()):
            setattr(box, k, v + 1)
together(work, work)
assert box.n == 2
### module dict
import sys
N4 = 0
---
global N4
N4 = 0
me = sys.modules[__name__]
def work():
    with GUARD:
        v = N4
        me.__dict__["N4"] = v + 1
together(work, work)
assert N4 == 2
### type setattr
class Box: n = 0
---
Box.n = 0
def work():
    with GUARD:
        type.__setattr__(Box, "n", Box.n + 1)
together(work, work)
assert Box.n == 2
### slots descr get
class Box:
    __slots__ = ("n",)
---
box = Box(); box.n = 0
def work():
    with GUARD:
        v = Box.n.__get__(box)
        Box.n.__set__(box, v + 1)
together(work, work)
assert box.n == 2
### slots in descriptor
class Logged:
    def __init__(self, slot): self.slot = slot
    def __get__(self, o, kind=None): return o if o is None else self.slot.__get__(o, kind)
    def __set__(self, o, v): self.slot.__set__(o, v)
class Box:
    __slots__ = ("_n",)
Box.n = Logged(Box._n)
---
box = Box(); box.n = 0
def work():
    with GUARD:
        box.n = box.n + 1
together(work, work)
assert box.n == 2
### dataclass eq
@dataclasses.dataclass
class Box:
    n: int = 0
---
box = Box(); got = []
def change():
    with GUARD:
        box.n = 1
def look():
    with GUARD:
        got.append(box == Box(0))
together(look, change)
assert got == [True]
### dataclass inside
---
@dataclasses.dataclass
class Local:
    n: int = 0
box = Local(); got = []
def look():
    got.append(box == Local(0))
def change():
    box.n = 1
together(look, change)
assert got == [True]
### dataclass repr
@dataclasses.dataclass
class Box:
    n: int = 0
---
box = Box(); got = []
def change():
    with GUARD:
        box.n = 1
def look():
    with GUARD:
        got.append(repr(box))
together(look, change)
assert "n=0" in got[0]
### dataclass order
@dataclasses.dataclass(order=True)
class Box:
    n: int = 0
---
box = Box(); got = []
def change():
    with GUARD:
        box.n = 5
def look():
    with GUARD:
        got.append(box < Box(3))
together(look, change)
assert got == [True]
### dataclass asdict
@dataclasses.dataclass
class Box:
    n: int = 0
---
box = Box()
def work():
    with GUARD:
        box.n = dataclasses.asdict(box)["n"] + 1
together(work, work)
assert box.n == 2
### dataclass replace mutable
@dataclasses.dataclass
class Box:
    n: int = 0
    m: int = 0
---
box = Box(); got = []
def change():
    with GUARD:
        box.n = 1
def look():
    with GUARD:
        got.append(dataclasses.replace(box, m=1).n)
together(look, change)
assert got == [0]
### dataclass hash
@dataclasses.dataclass(unsafe_hash=True)
class Box:
    n: int = 0
---
box = Box(); got = []
def change():
    with GUARD:
        box.n = 1
def look():
    with GUARD:
        got.append(hash(box) == hash((0,)))
together(look, change)
assert got == [True]
### copy copy
class Box: pass
---
box = Box(); box.n = 0
def work():
    with GUARD:
        box.n = copy.copy(box).n + 1
together(work, work)
assert box.n == 2
### exception args
---
e = ValueError(0)
def work():
    with GUARD:
        e.args = (e.args[0] + 1,)
together(work, work)
assert e.args == (2,)
### cached property deleted
class Box:
    @functools.cached_property
    def v(self): return [1]
---
box = Box()
got = []
def look():
    with GUARD:
        a = box.v
        got.append(a is box.v)
def drop():
    with GUARD:
        box.__dict__.pop("v", None)
together(look, drop)
assert got == [True]
### descriptor that stores what it has computed
class Once:
    def __init__(self, compute): self.compute = compute
    def __set_name__(self, owner, name): self.name = name
    def __get__(self, thing, kind):
        value = thing.__dict__[self.name] = self.compute(thing)
        return value
class Box:
    @Once
    def v(self): self.calls.append(1)
---
box = Box(); box.calls = []
def work():
    with GUARD:
        box.v
together(work, work)
assert len(box.calls) == 1
### method hidden by an entry
class Box:
    def f(self): return 0
---
box = Box()
got = []
def look():
    with GUARD:
        a = box.f()
        got.append(a == box.f())
def hide():
    with GUARD:
        box.__dict__["f"] = lambda: 1
together(look, hide)
assert got == [True]
### del attr
class Box: n = 0
---
box = Box(); box.n = 0
def work():
    with GUARD:
        if "n" in vars(box):
            del box.n
together(work, work)
### class dict proxy
class Box: n = 0
---
Box.n = 0
def work():
    with GUARD:
        Box.n = Box.__dict__["n"] + 1
together(work, work)
assert Box.n == 2
### vars class
class Box: n = 0
---
Box.n = 0
def work():
    with GUARD:
        Box.n = vars(Box)["n"] + 1
together(work, work)
assert Box.n == 2
### singleton meta
class Meta(type):
    _insts = {}
    def __call__(cls, *a):
        if cls not in cls._insts:
            cls._insts[cls] = super().__call__(*a)
        return cls._insts[cls]
class S(metaclass=Meta): pass
---
Meta._insts.clear()
got = []
def work():
    with GUARD:
        got.append(S())
together(work, work)
assert got[0] is got[1]
### stored by object below __setattr__
class Box:
    def __init__(self): self.__dict__["n"] = 0
    def __setattr__(self, name, value): object.__setattr__(self, name, value)
---
box = Box(); got = []
def look():
    with GUARD:
        got.append(box.n)
def change():
    with GUARD:
        box.n = 1
together(change, look)
assert got == [1]
### stored by super below __setattr__
class Box:
    def __init__(self): self.__dict__["n"] = 0
    def __setattr__(self, name, value): super().__setattr__(name, value)
---
box = Box(); got = []
def look():
    with GUARD:
        got.append(box.n)
def change():
    with GUARD:
        box.n = 1
together(change, look)
assert got == [1]
### deleted beside __setattr__
class Box:
    def __init__(self): self.__dict__["n"] = 0
    def __setattr__(self, name, value): object.__setattr__(self, name, value)
---
box = Box()
def work():
    with GUARD:
        if hasattr(box, "n"):
            del box.n
together(work, work)
### dir obj
class Box: pass
---
box = Box(); got = []
def look():
    with GUARD:
        got.append("n" in dir(box))
def change():
    with GUARD:
        box.n = 1
together(look, change)
assert got == [False]
### borg
class Borg:
    _s = {}
    def __init__(self): self.__dict__ = self._s
---
Borg._s.clear()
a, b = Borg(), Borg()
a.n = 0
def work(x):
    with GUARD:
        x.n = x.n + 1
together(lambda: work(a), lambda: work(b))
assert a.n == 2
"""
