"""What a process has once, and what C code keeps for a while: settings, views, proxies, classes.

Programs for `test_hidden_accesses`; see there for how they are written.
"""

from __future__ import annotations

PROCESS = """
### a view of a buffer
---
data = bytearray(b"abc")
def view():
    with GUARD:
        with memoryview(data) as shown:
            shown[0]
def change():
    with GUARD:
        data.append(1)
together(view, change)
### a part of a view of a buffer
---
data = bytearray(b"abc")
def view():
    with GUARD:
        whole = memoryview(data)
        part = whole[1:]
        whole.release()
        part.release()
def change():
    with GUARD:
        data.append(1)
together(view, change)
### a view that is released
---
data = bytearray(b"abc")
shown = memoryview(data)
got = []
def release():
    with GUARD:
        shown.release()
def look():
    with GUARD:
        got.append(shown[0])
together(look, release)
### a view that a with statement releases
---
data = bytearray(b"abc")
shown = memoryview(data)
def release():
    with GUARD:
        with shown:
            pass
def look():
    with GUARD:
        len(shown)
        shown[0]
together(look, release)
### a view of a file in memory
---
file = io.BytesIO(b"a")
got = []
def view():
    with GUARD:
        with file.getbuffer() as shown:
            shown[0] = 98
            shown[0] = 97
def look():
    with GUARD:
        got.append(file.getvalue())
together(view, look)
assert got == [b"a"]
### a with statement over a file in memory
---
file = io.StringIO()
def use():
    with GUARD:
        with file:
            pass
def look():
    with GUARD:
        file.write("a")
together(look, use)
### an exit stack over a file in memory
---
file = io.StringIO()
def use():
    with GUARD:
        with contextlib.ExitStack() as stack:
            stack.enter_context(file)
def look():
    with GUARD:
        file.write("a")
together(look, use)
### the length that is left in an iterator
---
items, got = iter([1, 2, 3]), []
def look():
    with GUARD:
        got.append(operator.length_hint(items))
def change():
    with GUARD:
        next(items)
together(look, change)
assert got == [3]
### the length of what may grow
---
items, got = [1, 2], []
def look():
    with GUARD:
        got.append(operator.length_hint(items))
def change():
    with GUARD:
        items.append(3)
together(look, change)
assert got == [2]
### an attribute through a proxy
class Box:
    n = 0
---
box = Box()
box.n = 0
proxy = weakref.proxy(box)
def work():
    with GUARD:
        proxy.n += 1
together(work, work)
assert box.n == 2
### a proxy and its object
class Box:
    n = 0
---
box = Box()
box.n = 0
proxy = weakref.proxy(box)
def through():
    with GUARD:
        proxy.n += 1
def directly():
    with GUARD:
        box.n += 1
together(through, directly)
assert box.n == 2
### a method through a proxy
class Box:
    def __init__(self):
        self.n = 0
    def add(self):
        self.n += 1
---
box = Box()
proxy = weakref.proxy(box)
def work():
    with GUARD:
        proxy.add()
together(work, work)
assert box.n == 2
### another class
class Off:
    def switch(self):
        self.__class__ = On
        return 1
class On:
    def switch(self):
        return 0
---
thing, got = Off(), []
def work():
    with GUARD:
        got.append(thing.switch())
together(work, work)
assert sum(got) == 1
### the current directory
---
home, got = os.getcwd(), []
def move():
    with GUARD:
        os.chdir(os.sep)
        os.chdir(home)
def ask():
    with GUARD:
        got.append(os.getcwd())
together(move, ask)
assert got == [home]
### the current directory of a with statement
---
home, got = os.getcwd(), []
def move():
    with GUARD:
        with contextlib.chdir(os.sep):
            pass
def ask():
    with GUARD:
        got.append(os.path.abspath("x"))
together(move, ask)
assert got == [os.path.join(home, "x")]
### the mask of new files
---
before = os.umask(0o022)
os.umask(before)
def work():
    with GUARD:
        old = os.umask(0o077)
        os.umask(old)
together(work, work)
assert os.umask(before) == before
### the switch interval
---
before, got = sys.getswitchinterval(), []
def change():
    with GUARD:
        sys.setswitchinterval(0.5)
        sys.setswitchinterval(before)
def ask():
    with GUARD:
        got.append(sys.getswitchinterval())
together(change, ask)
assert got == [before]
### the collector
---
import gc
before, got = gc.get_threshold(), []
def change():
    with GUARD:
        gc.set_threshold(1)
        gc.set_threshold(*before)
def ask():
    with GUARD:
        got.append(gc.get_threshold())
together(change, ask)
assert got == [before]
### the trace function of threads
---
got = []
def change():
    with GUARD:
        threading.settrace(print)
        threading.settrace(None)
def ask():
    with GUARD:
        got.append(threading.gettrace())
together(change, ask)
assert got == [None]
### the size of stacks
---
got = []
def change():
    with GUARD:
        threading.stack_size(1 << 20)
        threading.stack_size(0)
def ask():
    with GUARD:
        got.append(threading.stack_size())
together(change, ask)
assert got == [0]
### handlers of a logger that a run makes
---
import logging
logger = logging.getLogger("hidden.process")
def work():
    with GUARD:
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
together(work, work)
assert len(logger.handlers) == 1
### the environment
---
os.environ.pop("HIDDEN", None)
def work():
    with GUARD:
        os.environ["HIDDEN"] = str(int(os.environ.get("HIDDEN", "0")) + 1)
together(work, work)
assert os.environ["HIDDEN"] == "2"
### output that is redirected
---
def work():
    with GUARD:
        with contextlib.redirect_stdout(io.StringIO()) as text:
            print("x")
        assert text.getvalue() == "x\\n"
together(work, work)
### a default context for decimals
---
import decimal
got = []
def change():
    with GUARD:
        decimal.DefaultContext.prec = 5
        decimal.DefaultContext.prec = 28
def make():
    with GUARD:
        got.append(decimal.Context().prec)
together(change, make)
assert got == [28]
### a dialect of csv that another thread registers
import csv
---
def register():
    with GUARD:
        csv.register_dialect("mine", delimiter=";")
def look():
    with GUARD:
        csv.get_dialect("mine")
together(look, register)
### a reader by a dialect of csv that goes
import csv
---
csv.register_dialect("mine", delimiter=";")
def remove():
    with GUARD:
        csv.unregister_dialect("mine")
def look():
    with GUARD:
        list(csv.reader(["a;b"], "mine"))
together(look, remove)
### the largest field of csv
import csv
---
def change():
    with GUARD:
        csv.field_size_limit(3)
def look():
    with GUARD:
        list(csv.reader(["abcd"]))
together(look, change)
### the largest field of csv, in a loop
import csv
---
def change():
    with GUARD:
        csv.field_size_limit(3)
def look():
    with GUARD:
        for row in csv.reader(["abcd"]):
            pass
together(look, change)
### two writers of csv around one file
import csv
---
file = io.StringIO()
first, second = csv.writer(file), csv.writer(file)
def look():
    with GUARD:
        first.writerow([1])
def change():
    with GUARD:
        second.writerow([2])
together(look, change)
assert file.getvalue() == "1\\r\\n2\\r\\n"
### a writer of csv around a list
import csv
---
lines = []
writer = csv.writer(types.SimpleNamespace(write=lines.append))
def look():
    with GUARD:
        writer.writerow([1])
def change():
    with GUARD:
        lines.append("2")
together(look, change)
assert lines == ["1\\r\\n", "2"]
### how pickle takes objects of a class apart
import copyreg
import pickle
class Box:
    pass
def take_apart(box):
    return list, ()
---
got = []
def register():
    with GUARD:
        copyreg.pickle(Box, take_apart)
def look():
    with GUARD:
        got.append(type(pickle.loads(pickle.dumps(Box()))))
together(look, register)
assert got == [Box]
### a class that is registered with an abstract one
class Abstract(abc.ABC):
    pass
class Concrete:
    pass
---
got = []
def register():
    with GUARD:
        Abstract.register(Concrete)
def look():
    with GUARD:
        got.append(isinstance(Concrete(), (int, Abstract)))
together(look, register)
assert got == [False]
### a subclass that is registered with an abstract class
class Abstract(abc.ABC):
    pass
class Concrete:
    pass
---
got = []
def register():
    with GUARD:
        Abstract.register(Concrete)
def look():
    with GUARD:
        got.append(issubclass(Concrete, int | Abstract))
together(look, register)
assert got == [False]
### whether memory is traced
import tracemalloc
---
got = []
def change():
    with GUARD:
        tracemalloc.start()
def look():
    with GUARD:
        got.append(tracemalloc.is_tracing())
together(look, change)
assert got == [False]
"""
