"""Ways to read shared data, or to change it, by the interpreter, C code or library code.

Each row is a name, what threads share, what one of them does, and what the other one looks at.
What it finds depends on the order, so a search that sees both accesses finds a failure.
"""

from __future__ import annotations

import textwrap
from typing import TypeAlias

Rows: TypeAlias = dict[str, tuple[str, str, str]]
_DICT_WITH_ATTRIBUTES = """
class D(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__
d = D(x=1)
"""
_ATTRIBUTES_IN_ITSELF = """
class D(dict):
    def __init__(self, **items):
        super().__init__(**items)
        self.__dict__ = self
d = D(x=1)
"""
BORROWED: Rows = {
    "an element by its attribute": (_DICT_WITH_ATTRIBUTES, "d['x'] = 2", "d.x"),
    "an element, set by its attribute": (_DICT_WITH_ATTRIBUTES, "d.x = 2", "d['x']"),
    "an element, deleted by its attribute": (_DICT_WITH_ATTRIBUTES, "del d.x", "'x' in d"),
    "an element by getattr": (_DICT_WITH_ATTRIBUTES, "d['x'] = 2", "getattr(d, 'x')"),
    "a dictionary that is its own namespace": (_ATTRIBUTES_IN_ITSELF, "d['x'] = 2", "d.x"),
    "the namespace that is a dictionary": (_ATTRIBUTES_IN_ITSELF, "d.x = 2", "d['x']"),
    "__len__ of another object": (
        "t = [1]\nclass C: __len__ = t.__len__\nc = C()",
        "t.append(2)",
        "len(c)",
    ),
    "__len__ as a static method": (
        "t = [1]\nclass C: __len__ = staticmethod(t.__len__)\nc = C()",
        "t.append(2)",
        "len(c)",
    ),
    "__iter__ of another object": (
        "t = [1]\nclass C: __iter__ = t.__iter__\nc = C()",
        "t[0] = 2",
        "[x for x in c]",
    ),
    "__eq__ of another object": (
        "t = [1]\nclass C: __eq__ = t.__eq__\nc = C()",
        "t[0] = 2",
        "c == [1]",
    ),
    "__add__ of another object": (
        "t = [1]\nclass C: __add__ = t.__add__\nc = C()",
        "t[0] = 2",
        "c + [1]",
    ),
    "__setitem__ of another object": (
        "t = {1: 1}\nclass C: __setitem__ = t.__setitem__\nc = C()",
        "c[1] = 2",
        "t[1]",
    ),
    "__call__ that is a partial object": (
        # From Python 3.14 on, a partial object is a method: it is given the object, too.
        # Python 3.13 warns of that, unless it is a static method.
        "t = [1]\nkind = staticmethod if sys.version_info[:2] == (3, 13) else lambda part: part\n"
        "class C: __call__ = kind(functools.partial(lambda t, *own: list(t), t))\nc = C()",
        "t[0] = 2",
        "c()",
    ),
    "__len__ of a metaclass": (
        "t = [1]\nclass M(type): __len__ = t.__len__\nclass C(metaclass=M): pass",
        "t.append(2)",
        "len(C)",
    ),
    "__len__ in a class that type makes": (
        "t = [1]\nc = type('C', (), {'__len__': t.__len__})()",
        "t.append(2)",
        "len(c)",
    ),
}
"""Special methods that are callables of C code (`rewrite.borrowed_methods`)."""
_TWO = "class A:\n{}\nclass B:\n{}\na = A()"


def _another_class(method: str, one: str = "return 1", other: str = "return 2") -> str:
    bodies = (f"    def {method}:\n        {text}" for text in (one, other))
    return _TWO.format(*bodies)


_BASES = """
class O: n = 1
class P: n = 2
class M(O):
    def f(self): return self.n
m = M()
"""
CLASSES: Rows = {
    "isinstance": ("class A: pass\nclass B: pass\na = A()", "a.__class__ = B", "isinstance(a, A)"),
    "type": ("class A: pass\nclass B: pass\na = A()", "a.__class__ = B", "type(a) is A"),
    "len": (_another_class("__len__(self)"), "a.__class__ = B", "len(a)"),
    "an operator": (_another_class("__add__(self, other)"), "a.__class__ = B", "a + 1"),
    "a subscript": (_another_class("__getitem__(self, key)"), "a.__class__ = B", "a[0]"),
    "a call": (_another_class("__call__(self)"), "a.__class__ = B", "a()"),
    "a search": (
        _another_class("__contains__(self, x)", "return True", "return False"),
        "a.__class__ = B",
        "1 in a",
    ),
    "truth": (
        _another_class("__bool__(self)", "return True", "return False"),
        "a.__class__ = B",
        "1 if a else 0",
    ),
    "a loop": (
        _another_class("__iter__(self)", "return iter([1])", "return iter([2])"),
        "a.__class__ = B",
        "[x for x in a]",
    ),
    "text": (
        _another_class("__repr__(self)", "return 'a'", "return 'b'"),
        "a.__class__ = B",
        "repr([a])",
    ),
    "an f-string": (
        _another_class("__str__(self)", "return 'a'", "return 'b'"),
        "a.__class__ = B",
        "f'{a}'",
    ),
    "a pattern": (
        "class A: pass\nclass B: pass\na = A()\ndef f():\n    match a:\n        case A(): return 1",
        "a.__class__ = B",
        "f()",
    ),
    "issubclass after other bases": (_BASES, "M.__bases__ = (P,)", "issubclass(M, O)"),
    "isinstance after other bases": (_BASES, "M.__bases__ = (P,)", "isinstance(m, O)"),
    "an attribute after other bases": (_BASES, "M.__bases__ = (P,)", "m.n"),
    "a method after other bases": (_BASES, "M.__bases__ = (P,)", "m.f()"),
    "a special method that is replaced": (
        "class C:\n    def __len__(self): return 1\nc = C()",
        "C.__len__ = lambda self: 2",
        "len(c)",
    ),
    "a special method of a base that is replaced": (
        "class B:\n    def __add__(self, n): return 1\nclass C(B): pass\nc = C()",
        "B.__add__ = lambda self, n: 2",
        "c + 1",
    ),
    "a special method that is deleted": (
        "class B:\n    def __bool__(self): return True\nclass C(B):\n"
        "    def __bool__(self): return False\nc = C()",
        "del C.__bool__",
        "1 if c else 0",
    ),
    "a constructor that is replaced": (
        "class C:\n    def __new__(cls): return 1",
        "C.__new__ = lambda cls: 2",
        "C()",
    ),
    "what assignments call": (
        "class C: pass\nc, log = C(), []\ndef f():\n    c.x = 1\n    return len(log)",
        "C.__setattr__ = lambda self, name, value: log.append(name)",
        "f()",
    ),
    "comparisons of elements": (
        "class C:\n    def __lt__(self, other): return True\nc, d = C(), C()",
        "C.__lt__ = lambda self, other: False",
        "sorted([c, d])[0] is c",
    ),
    "abstract methods": (
        "class A(abc.ABC):\n    @abc.abstractmethod\n    def f(self): pass\ndef g():\n"
        "    try: A()\n    except TypeError: return 0",
        "A.__abstractmethods__ = frozenset()",
        "g()",
    ),
}
"""What the interpreter finds by the class of an object (`python.classes`)."""
_NODE = "class N: pass\nn = N(); n.k = 1; n.j = 2\n"
_ASYNC = """
pair = [1, 2]
class Manager:
    done = False
    async def __aenter__(self): return {entered}
    async def __aexit__(self, *error): pass
    def __aiter__(self): return self
    async def __anext__(self):
        if self.done: raise StopAsyncIteration
        self.done = True
        return {entered}
async def go():
{body}
def run():
    try: go().send(None)
    except StopIteration as end: return end.value
"""


def _in_coroutine(body: str, entered: str = "pair") -> str:
    return _ASYNC.format(entered=entered, body="\n".join(f"    {line}" for line in body.split("|")))


_MAPPING = """
p = ['a']
class M:
    def keys(self): return p
    def __getitem__(self, key): return 1
"""
CONSTRUCTS: Rows = {
    "an annotation of a parameter": (
        "t = {'k': int}\ndef f():\n    def g(a: t['k']): pass\n    return g.__annotations__",
        "t['k'] = str",
        "f()",
    ),
    "an annotation of a result": (
        "t = {'k': int}\ndef f():\n    def g() -> t['k']: pass\n    return g.__annotations__",
        "t['k'] = str",
        "f()",
    ),
    "an annotation in a class": (
        _NODE + "def f():\n    class C: a: n.k\n    return C.__annotations__",
        "n.k = 2",
        "f()",
    ),
    "async with": (
        _in_coroutine("async with Manager() as (a, b):|    return a"),
        "pair[0] = 5",
        "run()",
    ),
    "async with, nested": (
        _in_coroutine("async with Manager() as (a, (b, c)):|    return b", "(0, pair)"),
        "pair[0] = 5",
        "run()",
    ),
    "async for": (
        _in_coroutine("async for a, b in Manager():|    return a"),
        "pair[0] = 5",
        "run()",
    ),
    "an asynchronous comprehension": (
        _in_coroutine("return [a async for a, b in Manager()]"),
        "pair[0] = 5",
        "run()",
    ),
    "an attribute in a pattern": (
        _NODE + "def f(v):\n    match v:\n        case n.k: return 1\n    return 0",
        "n.k = 5",
        "f(1)",
    ),
    "attributes as alternatives": (
        _NODE + "def f(v):\n    match v:\n        case n.k | n.j | 7: return 1\n    return 0",
        "n.j = 5",
        "(f(1), f(2), f(7), f(8))",
    ),
    "an attribute in a sequence": (
        _NODE + "def f(v):\n    match v:\n        case [n.k, y] if y > 2: return y\n    return 0",
        "n.k = 5",
        "(f([1, 3]), f([1, 2]))",
    ),
    "an attribute of an attribute": (
        "class N: pass\nn = N(); n.k = N(); n.k.j = 1\n"
        "def f(v):\n    match v:\n        case {'a': n.k.j, **rest}: return rest\n    return 0",
        "n.k.j = 5",
        "f({'a': 1, 'b': 2})",
    ),
    "a name that a class reads": (
        "x = 1\ndef f():\n    class C: y = x\n    return C.y\ndef g():\n    nonlocal x\n    x = 2",
        "g()",
        "f()",
    ),
    "a name that a definition binds": (
        "x = 1\ndef f(): return x == 1\ndef g():\n    nonlocal x\n    def x(): pass",
        "g()",
        "f()",
    ),
    "a name that an import binds": (
        "x = 1\ndef f(): return x == 1\ndef g():\n    nonlocal x\n    import os as x",
        "g()",
        "f()",
    ),
    "a name that is imported": (
        "m = types.ModuleType('of_probe'); m.v = 1; sys.modules['of_probe'] = m\n"
        "def f():\n    from of_probe import v\n    return v",
        "m.v = 2",
        "f()",
    ),
    "a traceback": (
        "e = ValueError()\ndef f():\n    try: raise e\n    except ValueError: pass",
        "f()",
        "e.__traceback__ is None",
    ),
    "a cause": (
        "e = ValueError()\ndef f():\n    try: raise e from KeyError()\n    except ValueError: pass",
        "f()",
        "e.__cause__ is None",
    ),
    "pairs in an augmented assignment": (
        "p = [['a', 1]]\ndef f():\n    d = {}\n    d |= p\n    return d",
        "p[0][1] = 2",
        "f()",
    ),
    "a mapping in Python, by its keys": (
        _MAPPING,
        "p[0] = 'b'",
        "{**M()}",
    ),
    "a mapping in Python, by dict": (
        _MAPPING,
        "p[0] = 'b'",
        "dict(M())",
    ),
}
"""Constructs of the language."""
_PROPERTY = "class C:\n    def __init__(self): self.v = 0\n    p = property({})\nc = C()"
_PARTIAL = "def f(x): return x\np = functools.partial(f, x=1)"
OBJECTS: Rows = {
    "a property of an attribute": (
        _PROPERTY.format("operator.attrgetter('v')"),
        "c.v = 1",
        "c.p",
    ),
    "a property by its __get__": (
        _PROPERTY.format("operator.attrgetter('v')"),
        "c.v = 1",
        "C.p.__get__(c)",
    ),
    "a property of an element": (
        "class C(dict): p = property(operator.itemgetter('v'))\nc = C(v=0)",
        "c['v'] = 1",
        "c.p",
    ),
    "a property that C code sets": (
        "d = {}\nclass C: p = property(None, functools.partial(d.__setitem__))\nc = C()",
        "c.p = 1",
        "len(d)",
    ),
    "arguments of a partial object": (_PARTIAL, "p.keywords['x'] = 2", "p()"),
    "arguments of a partial object in map": (
        "def f(y, x): return x\np = functools.partial(f, x=1)",
        "p.keywords['x'] = 2",
        "list(map(p, [0]))",
    ),
    "the state of a partial object": (
        _PARTIAL,
        "p.__setstate__((f, (3,), {}, None))",
        "p()",
    ),
    "the text of a partial object": (_PARTIAL, "p.keywords['x'] = 2", "f'{p}'[-4:]"),
    "the text of a method": (
        "class L(list):\n    def f(self): pass\nm = L([1]).f",
        "m.__self__[0] = 2",
        "f'{m}'",
    ),
    "the text of a slice": ("s = slice([1], None)", "s.start[0] = 2", "f'{s}'"),
    "the text of a counter": ("c = itertools.count()", "next(c)", "f'{c}'"),
    "a counter in a tuple": ("c = itertools.count()", "next(c)", "'%s' % (c,)"),
    "a context that is printed": (
        "c = decimal.Context()\ndef f():\n    s = io.StringIO()\n    print(c, file=s)\n"
        "    return s.getvalue()",
        "c.prec = 3",
        "f()",
    ),
    "values of an ordered dictionary": (
        "d = collections.OrderedDict(a=1)",
        "d['a'] = 2",
        "[v for k, v in d.items()]",
    ),
    "an iterator over values of an ordered dictionary": (
        "d = collections.OrderedDict(a=1)",
        "d['a'] = 2",
        "next(iter(d.values()))",
    ),
    "a view of a view": (
        "d = {'a': 1}; m = types.MappingProxyType(types.MappingProxyType(d))",
        "d['a'] = 2",
        "m['a']",
    ),
    "an iterator that is pickled": ("i = iter([1, 2])", "next(i)", "pickle.dumps(i)"),
    "an iterator that is copied": ("i = iter([1, 2])", "next(i)", "list(copy.copy(i))"),
    "a bound method of C code": ("m = types.MethodType(repr, [1])", "m.__self__[0] = 2", "m()"),
    "a static method": ("t = [1]", "t[0] = 2", "staticmethod(list)(t)"),
    "an object that is initialized again": (
        "@dataclasses.dataclass\nclass D:\n    x: int = 1\nd = D()",
        "d.__init__(5)",
        "d.x",
    ),
    "what dir is given": (
        "t = ['a']\nclass C:\n    def __dir__(self): return t\nc = C()",
        "t[0] = 'b'",
        "dir(c)",
    ),
    "the name of a thread": ("t = threading.Thread(name='a')", "t.name = 'b'", "t._name"),
    "the text of a thread": ("t = threading.Thread(name='a')", "t.name = 'b'", "repr(t)"),
    "the values of an enumeration": (
        "class E(enum.Enum): A = 1\ndef f():\n    try: return E(2)\n    except ValueError: pass",
        "E._value2member_map_[2] = E.A",
        "f()",
    ),
}
"""Objects that other objects show, call or write out."""
_ELEMENT = "e = xml.etree.ElementTree.Element('a')"
_GROW = "xml.etree.ElementTree.SubElement(e, 'b')"
_CHARS = "c = (ctypes.c_char * 1)(b'1')"
_FUTURES = (
    "a, b = concurrent.futures.Future(), concurrent.futures.Future()\n"
    "a.set_result(1); b.set_result(2)\np = [a]"
)
_PRIORITIES = """
q = queue.PriorityQueue()
q.put(b)
def f():
    q.put(a)
    found = q.get()
    if found is b:
        q.get()
        q.put(b)
    return found is a
"""
LIBRARY: Rows = {
    "an object of C code in map": (_ELEMENT, _GROW, "len(list(map(str, e)))"),
    "an object of C code in enumerate": (_ELEMENT, _GROW, "[i for i, x in enumerate(e)]"),
    "an object of C code in reduce": (
        _ELEMENT,
        _GROW,
        "functools.reduce(lambda n, x: n + 1, e, 0)",
    ),
    "an object of C code in max": (_ELEMENT, _GROW, "max(e, key=str, default=0) == 0"),
    "an object of C code in yield from": (
        _ELEMENT + "\ndef g(): yield from e",
        _GROW,
        "len(list(g()))",
    ),
    "an object of C code in a list": (
        _ELEMENT + "\ndef f():\n    l = []\n    l += e\n    return len(l)",
        _GROW,
        "f()",
    ),
    "a reader of a file in memory": (
        "s = io.StringIO()",
        "s.write('a'); s.seek(0)",
        "list(csv.reader(s))",
    ),
    "a buffer around a file in memory": (
        "p = io.BytesIO(b'abc'); t = io.TextIOWrapper(io.BufferedReader(p))",
        "t.read(1)",
        "p.tell()",
    ),
    "bytes of an object of ctypes": (_CHARS, "c[0] = b'2'", "bytes(c)"),
    "a sum of bytes and an object of ctypes": (_CHARS, "c[0] = b'2'", "b'' + c"),
    "an object of ctypes in a format": (_CHARS, "c[0] = b'2'", "b'%s' % c"),
    "an object of ctypes that is decoded": (_CHARS, "c[0] = b'2'", "str(c, 'utf-8')"),
    "an object of ctypes in a slice": (
        _CHARS + "\ndef f():\n    b = bytearray(1)\n    b[:] = c\n    return b",
        "c[0] = b'2'",
        "f()",
    ),
    "a buffer of ctypes": (
        "b = bytearray(4); c = (ctypes.c_ubyte * 4).from_buffer(b)",
        "c[0] = 5",
        "b[0]",
    ),
    "a buffer that ctypes shows": (
        "b = array.array('i', [0]); c = ctypes.c_int.from_buffer(b)",
        "b[0] = 5",
        "c.value",
    ),
    "two objects of ctypes in one buffer": (
        "b = bytearray(4)\nc, d = (ctypes.c_ubyte * 4).from_buffer(b), ctypes.c_int.from_buffer(b)",
        "c[0] = 5",
        "d.value",
    ),
    "a field of a structure": (
        "class S(ctypes.Structure): _fields_ = [('a', ctypes.c_int * 2)]\ns = S(); a = s.a",
        "a[0] = 5",
        "s.a[0]",
    ),
    "a pointer": ("x = ctypes.c_int(0); p = ctypes.pointer(x)", "p[0] = 5", "x.value"),
    "an address": (
        "x = ctypes.c_int(0); y = ctypes.c_int.from_address(ctypes.addressof(x))",
        "y.value = 5",
        "x.value",
    ),
    "arguments of the map of a pool": (
        "p = [1]\ndef f():\n    with concurrent.futures.ThreadPoolExecutor(1) as pool:\n"
        "        return list(pool.map(str, p))",
        "p[0] = 2",
        "f()",
    ),
    "futures that are waited for": (
        _FUTURES,
        "p[0] = b",
        "concurrent.futures.wait(p).done == {a}",
    ),
    "futures as they are completed": (
        _FUTURES,
        "p[0] = b",
        "next(concurrent.futures.as_completed(p)).result()",
    ),
    "a method's argument": ("p = [1]", "p[0] = 2", "[].__add__(p)"),
    "a method's argument that is a dictionary": ("p = {1: 1}", "p[1] = 2", "{}.__or__(p)"),
    "a method's argument that is a buffer": (
        "p = bytearray(b'1')",
        "p[0] = 50",
        "bytearray(b'12').find(p)",
    ),
    "what a mapping gives to a format": (
        "p = ['a']\nclass M:\n    def __getitem__(self, key): return p",
        "p[0] = 'b'",
        "'%(x)s' % M() + '{x}'.format_map(M())",
    ),
    "what a property gives to a format": (
        "class C:\n    def __init__(self): self.l = [1]\n    @property\n"
        "    def p(self): return self.l\nc = C()",
        "c.l[0] = 2",
        "'{0.p!r}'.format(c)",
    ),
    "what json asks for": (
        "class C:\n    def __init__(self): self.a = 0\nc = C()",
        "c.a = 1",
        "json.dumps([c], default=vars)",
    ),
    "a warning that is formatted": (
        "p = [1]",
        "p[0] = 2",
        "warnings.formatwarning(p, UserWarning, 'f', 1)",
    ),
    "a dialect of csv": (
        "class D(csv.excel): pass\nd = D()\ndef f():\n    s = io.StringIO()\n"
        "    csv.writer(s, d).writerow([1, 2])\n    return s.getvalue()",
        "d.delimiter = ';'",
        "f()",
    ),
    "what print writes by": (
        "class W:\n    def __init__(self): self.out = []\n"
        "    def write(self, text): self.out.append(text)\nw = W()\n"
        "def f():\n    n = len(w.out); print('a', file=w); return len(w.out) > n",
        "w.write = lambda text: None",
        "f()",
    ),
    "a product of lists": ("p = [[1]]", "p[0][0] = 2", "math.prod(p)"),
    "items of a queue that are compared": (
        "a, b = [0], [1]" + _PRIORITIES,
        "a[0] = 5",
        "f()",
    ),
    "items that compare themselves": (
        "@dataclasses.dataclass(order=True)\nclass J:\n    n: int\na, b = J(0), J(1)" + _PRIORITIES,
        "a.n = 5",
        "f()",
    ),
    "a queue that counts": (
        "class Q(queue.Queue):\n    n = 0\n    def _put(self, item):\n        self.n += 1\n"
        "        super()._put(item)\nq = Q()",
        "q.put(1)",
        "q.n",
    ),
}
"""Library code and C code."""
GROUPS: dict[str, Rows] = {
    "borrowed methods": BORROWED,
    "classes": CLASSES,
    "constructs": CONSTRUCTS,
    "objects": OBJECTS,
    "library": LIBRARY,
}


_HEAD = """
import abc, array, collections, concurrent.futures, copy, csv, ctypes, dataclasses, decimal, enum
import functools, io, itertools, json, math, operator, pickle, queue, sys, threading, types
import warnings, xml.etree.ElementTree

def together(*bodies):
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

"""


def write_programs(rows: Rows) -> str:
    """Write a module with a function for each row, which fails if what is looked at has changed."""
    functions = []
    for number, (setup, change, look) in enumerate(rows.values()):
        body = f"""{setup.strip()}
found = []
def change():
    {change}
def look():
    found.append({look})
before = {look}
together(look, change)
assert found == [before], found
"""
        functions.append(f"def program_{number}():\n{textwrap.indent(body, '    ')}")
    return _HEAD + "\n".join(functions)
