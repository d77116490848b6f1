"""Random programs about parts of Python objects: annotations, metaclasses, generators, descriptors.

Each is the source of a module whose function `program(together)` lets two threads use one or two
objects, with one to three operations each, and returns a text that says what each operation has
given and what the objects hold at the end.  A share of the objects is made by the module, so they
are older than an execution; the others are made by `program`.

A subject is a text that makes an object, the operations on it, and expressions that show it.
"""

from __future__ import annotations

import random
import textwrap
from dataclasses import dataclass

Lines = list[str]


@dataclass(frozen=True)
class Subject:
    """One kind of object."""

    family: str
    made: str
    """What makes the object.  `$` in names is replaced by a number, since two may be of a kind."""
    operations: tuple[str, ...]
    """Expressions, whose values are kept, and statements."""
    shown: tuple[str, ...]
    is_placed: bool = True
    """Whether an exploration can put the object back, so that it may be older than the runs."""


HEAD = '''\
"""A random program."""

import abc
import ctypes
import enum
import functools
import threading
import types


@types.coroutine
def pause():
    return (yield "paused")


def in_threads(*functions):
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def drive(step, *given):
    """Go one step, and tell whether that was the last one."""
    try:
        return step.send(*(given or (None,)))
    except StopIteration as stop:
        return "done", stop.value


def drive_to_end(step):
    while type(seen := drive(step)) is not tuple:
        pass
    return seen


def show(action):
    try:
        return repr(action())
    except Exception as error:
        return type(error).__name__


class Stored:
    """A data descriptor."""

    def __init__(self):
        self.names = []
        self.reads = 0

    def __set_name__(self, owner, name):
        self.names.append(name)

    def __get__(self, thing, owner):
        if thing is None:
            return self
        self.reads += 1
        return thing.__dict__.get("kept", 0)

    def __set__(self, thing, value):
        thing.__dict__["kept"] = value

    def __delete__(self, thing):
        del thing.__dict__["kept"]


class Computed:
    """A descriptor without `__set__`."""

    def __get__(self, thing, owner):
        return 7 if thing is None else thing.__dict__.get("base", 0) + 1


class Plain:
    pass


class Other:
    value = 5
'''

FUNCTION = Subject(
    "annotations",
    """
    def f$(a: int = 0, *, b: str = ""):
        "text"
        return a
    """,
    (
        "len(f$.__annotations__)",
        'f$.__annotations__["n"] = len(f$.__annotations__)',
        'f$.__annotations__.setdefault("n", "first")',
        'f$.__annotations__.pop("a", None)',
        'if "n" not in f$.__annotations__: f$.__annotations__["n"] = 0; said.append("made")',
        "f$.__annotations__ = {**f$.__annotations__, 'x': 1}",
        "f$.__annotations__ = {}",
        "del f$.__annotations__",
        "f$.__defaults__ = (f$.__defaults__[0] + 1,)",
        "f$.__defaults__ = None",
        "f$()",
        "f$.__kwdefaults__ = {'b': f$.__kwdefaults__['b'] + 'x'}",
        'f$.__name__ = f$.__name__ + "x"',
        'f$.__qualname__ += "y"',
        'f$.__doc__ = (f$.__doc__ or "") + "z"',
        "f$.__module__ = 'elsewhere'",
        'f$.n = getattr(f$, "n", 0) + 1',
        'f$.__dict__["n"] = f$.__dict__.get("n", 0) + 1',
        'if not hasattr(f$, "n"): f$.n = "first"; said.append("made")',
        "del f$.n",
        "vars(f$).clear()",
        "f$.__dict__ = {'n': 9}",
        "f$.__type__ = type(f$).__name__",
    ),
    (
        *("sorted(map(str, f$.__annotations__.items()))", "f$.__name__", "f$.__qualname__"),
        *("f$.__doc__", "f$.__module__ == 'elsewhere'", "sorted(vars(f$).items())"),
        *("f$.__defaults__", "f$.__kwdefaults__"),
    ),
)
METHOD = Subject(
    "annotations",
    """
    class M$:
        def m(self, a: int = 1): return a
        @classmethod
        def c(cls, a: int = 1): return a
        @staticmethod
        def s(a: int = 1): return a
    m$ = M$()
    """,
    (
        'M$.m.__annotations__["n"] = len(m$.m.__annotations__)',
        "m$.m.__annotations__.pop('a', 'gone')",
        'M$.c.__annotations__.setdefault("n", "first")',
        "M$.s.__annotations__ = {'n': len(M$.s.__annotations__)}",
        'm$.m.__func__.n = getattr(m$.m, "n", 0) + 1',
        "m$.m()",
        "M$.m.__defaults__ = (m$.m() + 1,)",
        "M$.c.__func__.__defaults__ = (M$.c() + 1,)",
        "m$.m = lambda: 8",
        "del m$.m",
        "M$.m = lambda self: 4",
        'M$.__dict__["s"].n = getattr(M$.__dict__["s"], "n", 0) + 1',
        'M$.__dict__["c"].n = getattr(M$.__dict__["c"], "n", 0) + 1',
        'M$.__dict__["s"].__doc__ = "text"',
        'if not M$.__dict__["c"].__doc__: M$.__dict__["c"].__doc__ = "text"; said.append("made")',
        "M$.s.__func__ if hasattr(M$.s, '__func__') else 0",
        "M$.s = classmethod(lambda cls: 3)",
        "M$.s()",
        "m$.c()",
    ),
    (
        *("sorted(map(str, M$.m.__annotations__.items()))", "sorted(M$.s.__annotations__)"),
        *("sorted(M$.c.__annotations__)", "sorted(vars(M$.m).items())", "M$.m(m$)", "m$.m()"),
        *("M$.c()", "M$.s()", 'sorted(map(str, vars(M$.__dict__["s"]).items()))[-1:]'),
        *('getattr(M$.__dict__["c"], "n", 0)', 'M$.__dict__["s"].__doc__'),
        'M$.__dict__["c"].__doc__',
    ),
)
CLASS = Subject(
    "annotations",
    """
    class B$:
        value = 1
    class C$(B$):
        "text"
        n: int = 0
    class D$:
        value = 2
        n = 10
    c$ = C$()
    """,
    (
        'C$.__annotations__["x"] = len(C$.__annotations__)',
        'C$.__annotations__.setdefault("x", "first")',
        'if "x" not in C$.__annotations__: C$.__annotations__["x"] = 0; said.append("made")',
        'D$.__annotations__["x"] = len(D$.__annotations__)',
        "D$.__annotations__ = {'y': 1}",
        "del C$.__annotations__",
        "len(B$.__annotations__)",
        "C$.n += 1",
        "C$.n = c$.n + 1",
        "c$.n += 1",
        "del C$.n",
        "C$.__doc__ = (C$.__doc__ or '') + 'z'",
        'C$.__name__ += "x"',
        'C$.__qualname__ += "y"',
        "C$.__module__ = 'elsewhere'",
        "C$.__bases__ = (D$,)",
        "C$.__bases__ = (B$, Other)",
        "C$.value",
        "B$.value += 1",
        "c$.__class__ = D$",
        "c$.__class__.__name__",
        "c$.__dict__ = {'n': 5}",
        'vars(c$)["n"] = vars(c$).get("n", 0) + 1',
        "isinstance(c$, B$)",
        'setattr(C$, "later", getattr(C$, "later", 0) + 1)',
        'if "later" not in vars(C$): C$.later = "first"; said.append("made")',
        'type.__setattr__(C$, "n", 20)',
    ),
    (
        *("sorted(map(str, C$.__annotations__.items()))", "sorted(D$.__annotations__)"),
        *("len(B$.__annotations__)", "C$.__doc__", "C$.__name__", "C$.__qualname__", "C$.value"),
        *(
            "C$.__module__ == 'elsewhere'",
            "C$.__bases__[0].value",
            "B$.value",
            "c$.value",
            "sorted(vars(c$))",
        ),
        *("C$.n", "c$.n", 'getattr(C$, "later", None)', "D$.n"),
    ),
)
MODULE = Subject(
    "annotations",
    """
    h$ = types.ModuleType("made")
    h$.n = 0
    """,
    (
        'h$.__annotations__["x"] = len(h$.__annotations__)',
        'h$.__annotations__.setdefault("x", "first")',
        "h$.__annotations__ = {'y': 1}",
        "del h$.__annotations__",
        "h$.n += 1",
        'h$.__dict__["n"] += 1',
        "h$.__doc__ = 'text'",
        "h$.__name__ += 'x'",
        'if not hasattr(h$, "later"): h$.later = "first"; said.append("made")',
        "h$.__getattr__ = lambda name: name",
        "h$.later",
        "del h$.n",
    ),
    (*("sorted(h$.__annotations__.items())", "h$.n", "h$.__doc__", "h$.__name__", "h$.later"),),
)
CLOSURE = Subject(
    "annotations",
    """
    def make$(n):
        def get() -> int: return n
        def add():
            nonlocal n
            n += 1
            return n
        return get, add
    get$, add$ = make$(0)
    wrapped$ = functools.wraps(get$)(lambda: get$())
    part$ = functools.partial(add$)
    """,
    (
        "add$()",
        "get$()",
        "part$()",
        "get$.__closure__[0].cell_contents += 1",
        "get$.__closure__[0].cell_contents = 5",
        "del get$.__closure__[0].cell_contents",
        'wrapped$.__annotations__["n"] = len(get$.__annotations__)',
        'get$.__annotations__["n"] = len(wrapped$.__annotations__)',
        "wrapped$.__wrapped__ = add$",
        "wrapped$.__wrapped__()",
        'part$.n = getattr(part$, "n", 0) + 1',
        "part$.func.n = 1 + getattr(add$, 'n', 0)",
    ),
    (
        *("get$()", "sorted(map(str, wrapped$.__annotations__.items()))"),
        *("wrapped$.__wrapped__()", "sorted(vars(part$).items())", "sorted(vars(add$).items())"),
    ),
)

META = Subject(
    "metaclasses",
    """
    class Meta$(type):
        made = 0
        def __call__(cls, *given):
            if cls.instance is None:
                cls.instance = super().__call__(*given)
                Meta$.made += 1
            return cls.instance
        @property
        def total(cls):
            return cls.n + cls.made
        @total.setter
        def total(cls, value):
            cls.n = value
        def __len__(cls): return cls.n
        def __getitem__(cls, key): return cls.items[key]
        def __setitem__(cls, key, value): cls.items[key] = value
        def __contains__(cls, key): return key in cls.items
        def __instancecheck__(cls, thing): return cls.n > 0
    class K$(metaclass=Meta$):
        instance = None
        n = 0
        items = {}
    """,
    (
        "K$() is K$.instance",
        "K$.instance = None",
        "K$.n += 1",
        "K$.total += 1",
        "K$.total",
        "len(K$)",
        'K$["x"] = len(K$.items)',
        'K$["x"]',
        'if "x" not in K$: K$["x"] = "first"; said.append("made")',
        "isinstance(3, K$)",
        "Meta$.made += 1",
        "type(K$).made",
        "K$.made = 10",
        "del K$.made",
        "del K$.n",
        'type.__setattr__(K$, "n", 4)',
        "Meta$.__len__ = lambda cls: 3",
        "K$.items = {}",
        'setattr(K$, "late", getattr(K$, "late", 0) + 1)',
        "K$.__annotations__['x'] = len(K$.__annotations__)",
    ),
    (
        *("K$.n", "Meta$.made", "K$.made", "sorted(K$.items.items())", "K$.instance is None"),
        *("len(K$)", "K$.total", 'getattr(K$, "late", None)', "sorted(K$.__annotations__)"),
    ),
)
HOOKS = Subject(
    "metaclasses",
    """
    class Hooks$(type):
        log = []
        def __getattribute__(cls, name):
            if name == "double":
                return 2 * type.__getattribute__(cls, "n")
            return super().__getattribute__(name)
        def __getattr__(cls, name):
            if name.startswith("__"):
                raise AttributeError(name)
            return cls.log.append(name) or len(name)
        def __setattr__(cls, name, value):
            if name != "n" or value > cls.n:
                super().__setattr__(name, value)
        def __delattr__(cls, name):
            cls.log.append("del " + name)
            super().__delattr__(name)
    class H$(metaclass=Hooks$):
        n = 1
        @classmethod
        def grow(cls):
            cls.n += 1
            return cls.n
    i$ = H$()
    """,
    (
        "H$.double",
        "H$.n += 1",
        "H$.n = 3",
        "H$.n = 2 * H$.n",
        "H$.grow()",
        "i$.grow()",
        "H$.missing",
        "H$.missing = H$.n",
        "del H$.missing",
        'if "other" not in vars(H$): H$.other = 1; said.append("made")',
        "i$.n += 1",
        "i$.n",
        'type.__setattr__(H$, "n", 0)',
        'type.__getattribute__(H$, "n")',
        "H$.log.clear()",
        "len(Hooks$.log)",
        "type(H$).log = []",
        "H$.__annotations__['x'] = len(H$.__annotations__)",
        "H$.__doc__ = 'text'",
    ),
    (
        *("H$.n", "H$.double", "i$.n", "Hooks$.log", "sorted({*vars(H$)} - {'__annotations__'})"),
        "sorted(H$.__annotations__)",
    ),
)
MAKING = Subject(
    "metaclasses",
    """
    class Register$(type):
        known = {}
        count = 0
        def __new__(kind, name, bases, space, **given):
            made = super().__new__(kind, name, bases, space)
            if name not in kind.known:
                kind.known[name] = len(kind.known)
            return made
        def __init__(cls, name, bases, space):
            super().__init__(name, bases, space)
            Register$.count += 1
    class Base$(metaclass=Register$):
        subclasses = 0
        def __init_subclass__(cls):
            Base$.subclasses += 1
            cls.number = Base$.subclasses
    """,
    (
        'Register$("X", (Base$,), {}).number',
        'Register$("X", (), {"d": Stored()}).__dict__["d"].names',
        'type(Base$)("Y", (Base$,), {}).number',
        "Base$.subclasses += 1",
        "Register$.known.clear()",
        'Register$.known.setdefault("X", "first")',
        "Register$.count += 1",
        "Register$.count",
        "del Base$.__init_subclass__",
        "Register$.known = {'Z': 1}",
    ),
    (
        *("sorted(Register$.known)", "Register$.count", "Base$.subclasses"),
        "sorted(map(str, Register$.known.items()))",
    ),
)
STRUCTURE = Subject(
    "metaclasses",
    """
    class S$(ctypes.Structure):
        _fields_ = [("x", ctypes.c_int), ("y", ctypes.c_int)]
        n = 0
    s$ = S$(1, 2)
    """,
    (
        "s$.x += 1",
        "s$.y = s$.x",
        "S$.n += 1",
        "S$.n = s$.n + s$.x",
        "s$.n += 1",
        "del S$.n",
        'if not hasattr(S$, "late"): S$.late = s$.x; said.append("made")',
        'S$.late = getattr(S$, "late", 0) + 1',
        "S$.x = 5",
        "S$.x",
        "S$.__doc__ = 'text'",
        "S$.__annotations__['x'] = len(S$.__annotations__)",
        "S$.x.__get__(s$, S$)",
        "S$.m = lambda self: self.x",
        "s$.m()",
        "type(S$).__name__",
    ),
    (
        *("s$.x", "s$.y", "S$.n", "s$.n", 'getattr(S$, "late", None)', "S$.__doc__"),
        *("sorted(S$.__annotations__)", 'hasattr(S$, "m")'),
    ),
)
ENUM = Subject(
    "metaclasses",
    """
    class E$(enum.Enum):
        A = 1
        B = 2
        def get(self): return self.n
    E$.A.n = 0
    """,
    (
        "E$.A.n += 1",
        "E$(1).n = E$.A.get() + 1",
        'E$["A"].get()',
        "E$.n = 5",
        "E$.B.n",
        "E$.A = 7",
        "del E$.B",
        "E$(2).name",
        "E$(3)",
        "E$.late = getattr(E$, 'late', 0) + 1",
        'if not hasattr(E$.B, "n"): E$.B.n = "first"; said.append("made")',
        "E$.A._value_ = 9",
        "E$.A.value",
        "E$.A.value = 3",
        "len(E$)",
        "[each.name for each in E$]",
        "E$.A in E$",
        "E$.__annotations__['x'] = len(E$.__annotations__)",
        "E$._missing_ = classmethod(lambda cls, value: cls.A)",
    ),
    (
        *("E$.A.n", "E$.B.n", "E$.A.value", 'getattr(E$, "late", None)', "E$(3).name"),
        *("sorted(E$.__annotations__)", 'E$.__members__["A"].n'),
    ),
)
ABSTRACT = Subject(
    "metaclasses",
    """
    class A$(abc.ABC):
        n = 0
        asked = 0
        @abc.abstractmethod
        def m(self): pass
        @classmethod
        def __subclasshook__(cls, kind):
            return True if kind is float else NotImplemented
    class I$(A$):
        def m(self): return self.n
    class J$: pass
    i$ = I$()
    """,
    (
        "A$.n += 1",
        "I$.n += 1",
        "i$.m()",
        "del I$.m",
        "A$.__abstractmethods__ = frozenset()",
        "A$().n",
        "len(A$.__abstractmethods__)",
        "isinstance(i$, A$)",
        "isinstance(1.0, A$)",
        "isinstance(J$(), A$)",
        "issubclass(J$, A$)",
        "A$.register(J$) is J$",
        "if not issubclass(J$, A$): A$.register(J$); said.append('made')",
        "A$.late = getattr(A$, 'late', 0) + 1",
        "I$.__annotations__['x'] = len(A$.__annotations__)",
    ),
    (
        *("A$.n", "I$.n", "len(A$.__abstractmethods__)", "isinstance(J$(), A$)"),
        *('getattr(A$, "late", None)', "sorted(I$.__annotations__)"),
    ),
)

GENERATOR = Subject(
    "asynchronous generators",
    """
    box$ = Plain()
    box$.n = 0
    async def g$(box):
        try:
            for _ in range(2):
                n = box.n
                got = yield n
                box.n = n + 1 if got is None else got
        except ValueError:
            yield "caught"
        finally:
            box.n += 10
    a$ = g$(box$)
    """,
    (
        "drive(a$.__anext__())",
        "drive(a$.asend(5))",
        "drive(a$.asend(None))",
        "drive(a$.athrow(ValueError))",
        "drive(a$.athrow(KeyError))",
        "drive(a$.aclose())",
        "drive(anext(a$, 0))",
        "drive(anext(a$))",
        "next(a$.__anext__().__await__())",
        "box$.n += 1",
        "a$.ag_running",
        "a$.ag_frame is None",
        "a$.__anext__().close()",
    ),
    ("box$.n", "a$.ag_running", "a$.ag_frame is None"),
    is_placed=False,
)
SUSPENDED = Subject(
    "asynchronous generators",
    """
    box$ = Plain()
    box$.n = 0
    async def g$(box):
        while True:
            n = box.n
            await pause()
            box.n = n + 1
            try:
                yield n
            except KeyError:
                await pause()
                yield "caught"
    a$ = g$(box$)
    step$ = a$.__anext__()
    """,
    (
        "drive(step$)",
        "drive(step$)",
        "drive(a$.__anext__())",
        "drive_to_end(a$.__anext__())",
        "drive_to_end(anext(a$, 0))",
        "drive_to_end(a$.asend(1))",
        "drive(a$.athrow(KeyError))",
        "drive(a$.aclose())",
        "drive_to_end(a$.aclose())",
        "step$.throw(ValueError)",
        "step$.close()",
        "box$.n += 1",
        "a$.ag_running",
        "a$.ag_await is None",
    ),
    ("box$.n", "a$.ag_running", "drive(step$)", "drive(a$.__anext__())"),
    is_placed=False,
)
COROUTINE = Subject(
    "asynchronous generators",
    """
    box$ = Plain()
    box$.n = 0
    async def inner$(box):
        n = box.n
        got = await pause()
        box.n = n + (got or 1)
        return box.n
    async def outer$(box):
        try:
            return await inner$(box) + await inner$(box)
        finally:
            box.n += 10
    o$ = outer$(box$)
    """,
    (
        "drive(o$)",
        "drive(o$)",
        "o$.send(4)",
        "o$.throw(ValueError)",
        "o$.close()",
        "next(o$.__await__())",
        "o$.cr_running",
        "o$.cr_await is None",
        "o$.cr_frame is None",
        "box$.n += 1",
    ),
    ("box$.n", "o$.cr_frame is None", "drive(o$)"),
    is_placed=False,
)
MADE_ASYNC = Subject(
    "asynchronous generators",
    """
    box$ = Plain()
    box$.n = 0
    async def g$(box=box$):
        n = box.n
        yield n
        box.n = n + 1
        yield n
    async def all$():
        return [each async for each in g$()]
    """,
    (
        "drive(all$())",
        "drive(g$().__anext__())",
        "box$.n += 1",
        "g$.__defaults__ = (Other(),)",
        "g$.__defaults__ = None",
        "g$.n = getattr(g$, 'n', 0) + 1",
        "g$.__annotations__['n'] = len(all$.__annotations__)",
        "all$.__annotations__['n'] = len(g$.__annotations__)",
    ),
    (*("box$.n", "drive(all$())", "vars(g$)", "g$.__annotations__", "all$.__annotations__"),),
)

DESCRIPTOR = Subject(
    "descriptors",
    """
    class T$:
        data = Stored()
        computed = Computed()
        @property
        def both(self):
            return self.data + self.computed
        @both.setter
        def both(self, value):
            self.data = value
    t$ = T$()
    """,
    (
        "t$.data += 1",
        "t$.data",
        "del t$.data",
        "T$.data.reads",
        "T$.data.reads += 1",
        'T$.__dict__["data"].names.append("x")',
        "T$.data = Stored()",
        "T$.data = 3",
        "del T$.data",
        "t$.computed",
        "t$.computed = 20",
        "del t$.computed",
        "t$.base = t$.computed",
        "T$.computed = Stored()",
        "Computed.__set__ = lambda self, thing, value: None",
        "t$.both += 1",
        "t$.both",
        "T$.both = T$.both.setter(lambda self, value: None)",
        "T$.both = property(lambda self: 9)",
        "T$.both.__doc__ = 'text'",
        'if not T$.both.__doc__: T$.both.__doc__ = "first"; said.append("made")',
        "T$.data.__set_name__(T$, 'again')",
        'vars(t$)["data"] = vars(t$).get("data", 0) + 1',
        "t$.__dict__.clear()",
        "Stored.__get__ = lambda self, thing, owner: 4",
    ),
    (
        *("sorted(vars(t$).items())", 'vars(T$)["data"].names', 'vars(T$)["data"].reads'),
        *("t$.computed", "t$.data", "t$.both", "T$.both.__doc__"),
    ),
)
SLOTS = Subject(
    "descriptors",
    """
    class L$:
        __slots__ = ("x", "y", "__dict__")
        z = 3
    l$ = L$()
    l$.x = 0
    """,
    (
        "l$.x += 1",
        "L$.x.__set__(l$, l$.x + 1)",
        "L$.x.__get__(l$)",
        "l$.y = getattr(l$, 'y', 0) + 1",
        'if not hasattr(l$, "y"): l$.y = "first"; said.append("made")',
        "del l$.x",
        "L$.x.__delete__(l$)",
        'object.__setattr__(l$, "x", 9)',
        'object.__getattribute__(l$, "x")',
        "L$.y = L$.x",
        "L$.x = 8",
        "l$.z += 1",
        "L$.z += 1",
        "l$.__dict__ = {'z': 6}",
        'vars(l$).setdefault("z", 0)',
        "L$.z = L$.x",
        "L$.__getattr__ = lambda self, name: name",
    ),
    ("l$.x", "l$.y", "l$.z", "sorted(vars(l$))"),
)
CACHED = Subject(
    "descriptors",
    """
    class P$:
        count = 0
        @functools.cached_property
        def value(self):
            self.count += 1
            return self.count
        @functools.cached_property
        def total(self):
            return self.value + 10
    p$ = P$()
    """,
    (
        "p$.value",
        "p$.total",
        "del p$.value",
        "p$.value = 5",
        "p$.count += 1",
        "P$.count += 1",
        "vars(p$).pop('total', None)",
        "P$().value",
        "p$.__dict__.clear()",
        'if "value" not in vars(p$): p$.value; said.append("made")',
        "P$.value.__doc__ = 'text'",
        "P$.value.attrname",
    ),
    ("sorted(vars(p$).items())", "P$.count", "P$.value.__doc__"),
)
KINDS = Subject(
    "descriptors",
    """
    class Q$:
        count = 0
        @classmethod
        def add(cls):
            cls.count += 1
            return cls.count
        @staticmethod
        def get():
            return Q$.count
        def __getattr__(self, name):
            if name.startswith("_"):
                raise AttributeError(name)
            return Q$.count
    class R$(Q$):
        def add(self):
            return super().add() + 10
    q$, r$ = Q$(), R$()
    """,
    (
        "Q$.add()",
        "R$.add.__name__",
        "r$.add()",
        "q$.add()",
        "Q$.get()",
        "q$.other",
        "q$.other = q$.other + 1",
        "del q$.other",
        "R$.count = 5",
        "del R$.count",
        "Q$.count += 1",
        "Q$.get = staticmethod(lambda: -1)",
        "Q$.add = classmethod(lambda cls: cls.__name__)",
        "r$.__class__ = Q$",
        "Q$.other = property(lambda self: 6)",
        'Q$.__dict__["add"].n = Q$.__dict__["add"].__dict__.get("n", 0) + 1',
        "Q$.add.__func__.n = Q$.count",
        "Q$.__getattribute__ = lambda self, name: 1",
        "super(R$, r$).add()",
    ),
    (
        *("Q$.count", "R$.count", "q$.other", "r$.add()", "Q$.get()"),
        *('Q$.__dict__["add"].__dict__.get("n")', 'getattr(Q$.add.__func__, "n", None)'),
    ),
)

SUBJECTS = (
    *(FUNCTION, FUNCTION, METHOD, CLASS, CLASS, MODULE, CLOSURE),
    *(META, META, HOOKS, HOOKS, MAKING, STRUCTURE, ENUM, ABSTRACT),
    *(GENERATOR, GENERATOR, SUSPENDED, SUSPENDED, COROUTINE, MADE_ASYNC),
    *(DESCRIPTOR, DESCRIPTOR, SLOTS, CACHED, KINDS),
)


def random_objects(seed: int, only: str = "") -> str:
    """The module with this number; `only` is a part of the name of the subjects' family."""
    chance = random.Random(f"objects {seed}")
    chosen = [each for each in SUBJECTS if only in each.family]
    first = chance.choice(chosen)
    subjects = [first] if chance.random() < 0.8 else [first, chance.choice(chosen)]
    older: Lines = []
    younger: Lines = []
    operations: list[str] = []
    shown: list[str] = []
    for number, subject in enumerate(subjects):
        is_older = chance.random() < (0.6 if subject.is_placed else 0.1)
        own = textwrap.dedent(subject.made.replace("$", str(number))).strip().splitlines()
        (older if is_older else younger).extend(own)
        few = chance.sample(subject.operations, min(len(subject.operations), chance.randint(2, 5)))
        operations += [each.replace("$", str(number)) for each in few]
        shown += [each.replace("$", str(number)) for each in subject.shown]
    bodies = []
    for name in ("first", "second"):
        bodies += ["", f"def {name}(said):"]
        for _ in range(chance.choice((1, 1, 2, 2, 3))):
            bodies += _indented(_guarded(chance.choice(operations)))
    end = [
        "said = [], []",
        "together(lambda: first(said[0]), lambda: second(said[1]))",
        "return repr((*said, *[show(action) for action in (",
        *_indented([f"lambda: {each}," for each in shown]),
        ")]))",
    ]
    inside = _indented([*younger, *bodies, "", *end])
    return "\n".join((HEAD, "", *older, "", "", "def program(together):", *inside, ""))


def _guarded(operation: str) -> Lines:
    """An operation whose value or error the thread keeps."""
    is_statement = operation.startswith(("if ", "del ")) or _assigns(operation)
    done = operation if is_statement else f"said.append(repr({operation}))"
    if operation.startswith("if "):
        condition, _, rest = operation.partition(": ")
        done = f"{condition}:\n" + "\n".join(f"        {each}" for each in rest.split("; "))
    return [
        "try:",
        *_indented(done.splitlines()[:1]),
        *done.splitlines()[1:],
        "except Exception as error:",
        "    said.append(type(error).__name__)",
    ]


def _assigns(operation: str) -> bool:
    try:
        compile(operation, "operation", "eval")
    except SyntaxError:
        return True
    return False


def _indented(lines: Lines) -> Lines:
    return ["    " + line if line else "" for line in lines]
