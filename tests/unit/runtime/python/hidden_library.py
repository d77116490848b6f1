"""What the standard library does in Python, step by step, and what it changes for all threads.

Programs for `test_hidden_accesses`; see there for how they are written.
"""

from __future__ import annotations

import sys
from unittest import mock

LIBRARY = """
### json to a file
---
d, out = {"a": 1}, io.StringIO()
def write():
    with GUARD:
        json.dump(d, out)
def change():
    with GUARD:
        d["b"] = 2
together(write, change)
### json in pieces
---
d = {"a": {"b": 1}}
got = []
def write():
    with GUARD:
        got.append("".join(json.JSONEncoder().iterencode(d)))
def change():
    with GUARD:
        d["a"]["b"] = 2
        d["a"]["b"] = 1
together(write, change)
assert json.loads(got[0]) == {"a": {"b": 1}}
### json at once
---
d = {"a": {"b": 1}}
got = []
def write():
    with GUARD:
        got.append(json.dumps(d))
def change():
    with GUARD:
        d["a"]["b"] = 2
        d["a"]["b"] = 1
together(write, change)
assert json.loads(got[0]) == {"a": {"b": 1}}
### json from a file
---
text = io.StringIO('{"a": 1}')
got = []
def load():
    with GUARD:
        got.append(json.load(text))
        text.seek(0)
def other():
    with GUARD:
        text.seek(3)
        text.seek(0)
together(load, other)
### two patches of one attribute
from unittest import mock
class Api:
    url = "real"
---
Api.url = "real"
def work():
    with GUARD:
        with mock.patch.object(Api, "url", "false"):
            pass
together(work, work)
assert Api.url == "real"
### two patches of one dictionary
from unittest import mock
---
d = {"k": 0}
def work():
    with GUARD:
        with mock.patch.dict(d, {"k": 1}):
            pass
together(work, work)
assert d == {"k": 0}
### pytest's patches
import pytest
class Box:
    pass
---
box = Box()
box.n = 0
def work():
    with GUARD:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(box, "n", 1)
together(work, work)
assert box.n == 0
### a context is entered by two
import contextvars
---
context = contextvars.copy_context()
def work():
    with GUARD:
        context.run(int)
together(work, work)
### a context is entered by two who share
import contextvars
---
context = contextvars.copy_context()
counts = [0]
def count():
    counts[0] += 1
def work():
    with GUARD:
        context.run(count)
together(work, work)
### a context is read from outside
import contextvars
NAME = contextvars.ContextVar("NAME")
---
context = contextvars.Context()
got = []
def inside():
    NAME.set(1)
    NAME.set(None)
def work():
    with GUARD:
        context.run(inside)
def other():
    with GUARD:
        got.append(list(context.values()))
together(work, other)
assert got[0] in ([], [None])
### a variable of a context
import contextvars
NAME = contextvars.ContextVar("NAME")
---
context = contextvars.Context()
context.run(NAME.set, None)
got = []
def inside():
    NAME.set(1)
    NAME.set(None)
def work():
    with GUARD:
        context.run(inside)
def other():
    with GUARD:
        got.append(context[NAME])
together(work, other)
assert got == [None]
### output goes elsewhere
---
kept = sys.stdout
def work():
    with GUARD:
        with contextlib.redirect_stdout(io.StringIO()):
            pass
try:
    together(work, work)
    assert sys.stdout is kept
finally:
    sys.stdout = kept
### print while output goes elsewhere
---
out = io.StringIO()
def work():
    with GUARD:
        with contextlib.redirect_stdout(out):
            pass
def other():
    with GUARD:
        print(end="x")
together(work, other)
assert out.getvalue() == ""
### an exit stack of two threads
---
left = []
stack = contextlib.ExitStack()
def work():
    with GUARD:
        if not left:
            stack.callback(left.append, 1)
            stack.close()
together(work, work)
assert left == [1]
### a traceback in a file
import traceback
---
out = io.StringIO()
def work():
    with GUARD:
        start = out.tell()
        traceback.print_exception(ValueError("x"), file=out)
        length = out.tell() - start
        assert length == len("ValueError: x\\n")
together(work, work)
### a traceback on the program's sys.stderr
import traceback
---
with contextlib.redirect_stderr(io.StringIO()) as out:
    def work():
        with GUARD:
            start = out.tell()
            traceback.print_exception(ValueError("x"))
            assert out.tell() - start == len("ValueError: x\\n")
    together(work, work)
### a traceback is written line by line
import traceback
---
out = io.StringIO()
def fail():
    try:
        1 / 0
    except ZeroDivisionError:
        with GUARD:
            traceback.print_exc(None, out)
together(fail, fail)
lines = out.getvalue().splitlines()
assert lines[: len(lines) // 2] == lines[len(lines) // 2 :]
### who prints a traceback first
import traceback
---
out = io.StringIO()
def look(text):
    traceback.print_exception(ValueError(text), file=out)
together(lambda: look("a"), lambda: look("b"))
assert out.getvalue().startswith("ValueError: a")
### an attribute past the class
class Box:
    n = 0
---
box = Box()
def work():
    with GUARD:
        box.n = inspect.getattr_static(box, "n") + 1
together(work, work)
assert box.n == 2
### an attribute past the class that is not there
class Box:
    pass
---
box, got = Box(), []
def look():
    got.append(inspect.getattr_static(box, "n", None))
def put():
    box.n = 1
together(look, put)
assert got == [None]
### one manager for two threads
@contextlib.contextmanager
def manage():
    yield
---
manager = manage()
failed = []
def look(name):
    try:
        with manager:
            pass
    except (AttributeError, RuntimeError, ValueError):
        failed.append(name)
together(lambda: look("a"), lambda: look("b"))
assert failed == ["b"]
### the other one of two threads with one manager
@contextlib.contextmanager
def manage():
    yield
---
manager = manage()
failed = []
def look(name):
    try:
        with manager:
            pass
    except (AttributeError, RuntimeError, ValueError):
        failed.append(name)
together(lambda: look("a"), lambda: look("b"))
assert failed == ["a"]
### a manager in a local variable of two threads
@contextlib.contextmanager
def manage():
    yield
def look(manager, failed):
    try:
        with manager:
            pass
    except (AttributeError, RuntimeError, ValueError):
        failed.append(1)
---
manager, one, two = manage(), [], []
thread = threading.Thread(target=look, args=(manager, one))
thread.start()
try:
    with manager:
        pass
except (AttributeError, RuntimeError, ValueError):
    two.append(1)
thread.join()
assert not two
"""
INDENT = """
### json with an indent
---
d = {"a": 1}
def write():
    with GUARD:
        json.dumps(d, indent=2)
def change():
    with GUARD:
        d["b"] = 2
together(write, change)
"""
MOCKS = """
### a mock counts its calls
from unittest import mock
---
made = mock.Mock()
def work():
    with GUARD:
        made()
together(work, work)
assert made.call_count == 2
### a mock makes its attributes
from unittest import mock
---
made = mock.MagicMock(return_value=None)
def work():
    with GUARD:
        made.send(1)
together(work, work)
assert made.send.call_count == 2
"""
WARNINGS = """
### filters of warnings
import warnings
---
kept = list(warnings.filters)
def work():
    with GUARD:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
together(work, work)
now, warnings.filters[:] = list(warnings.filters), kept
assert now == kept
### a warning that becomes an error
import warnings
---
def work():
    with GUARD:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
def other():
    with GUARD:
        warnings.warn("x")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    together(work, other)
### a warning that another thread records
import warnings
---
got = []
def work():
    with GUARD:
        with warnings.catch_warnings(record=True) as log:
            warnings.simplefilter("always")
        got.append(len(log))
def other():
    with GUARD:
        warnings.warn("x")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    together(work, other)
assert got == [0]
"""
if sys.version_info < (3, 13):  # C code writes it at once there
    LIBRARY += INDENT
if sys.version_info < (3, 14):  # there, they belong to a lock of C code, and are named
    LIBRARY += WARNINGS
_count = vars(mock.CallableMixin)["_increment_mock_call"]
if "_lock" not in _count.__code__.co_names:
    LIBRARY += MOCKS  # later ones count under a lock
