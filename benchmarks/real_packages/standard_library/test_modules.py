import _pydecimal
import argparse
import ast
import codecs
import contextlib
import enum
import fnmatch
import functools
import glob
import inspect
import io
import linecache
import locale
import os
import pathlib
import shutil
import sys
import tempfile
import textwrap
import traceback
import typing

import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


def test_paths():
    """holds: a path is not changed; what it computes is stored for the next time."""
    path = pathlib.PurePosixPath("/a/b.txt")
    found = []
    run_together(
        lambda: found.append(str(path.with_suffix(".py"))), lambda: found.append(str(path.parent))
    )
    assert sorted(found) == ["/a", "/a/b.py"]


def test_path_in_a_variable():
    """violated: the path is read and replaced in two steps."""
    holder = [pathlib.PurePosixPath("/")]

    def append(name):
        holder[0] = holder[0] / name

    run_together(lambda: append("a"), lambda: append("b"))
    assert len(holder[0].parts) == 3


def test_files_of_their_own():
    """holds: each thread writes a file of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run_together(lambda: (folder / "a").write_text("1"), lambda: (folder / "b").write_text("2"))
        assert sorted(path.name for path in folder.iterdir()) == ["a", "b"]


def test_copies_of_files():
    """holds: each thread copies into a directory of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source = folder / "source"
        source.write_text("text")

        def copy(name):
            (folder / name).mkdir()
            shutil.copy(source, folder / name)

        run_together(lambda: copy("a"), lambda: copy("b"))
        assert len(glob.glob(os.path.join(folder, "*", "source"))) == 2


def test_temporary_directories():
    """holds: names are taken until one is free."""

    def make():
        with tempfile.TemporaryDirectory() as name:
            assert os.path.isdir(name)

    run_together(make, make)


def test_matching_of_a_shared_list():
    """violated: the list may be longer before it is filtered."""
    names, found = ["a.py"], []
    run_together(lambda: found.append(fnmatch.filter(names, "*.py")), lambda: names.append("b.py"))
    assert found == [["a.py"]]


def test_lines_of_a_file():
    """holds: a line is the same whether it has been read before or not."""
    found = []
    run_together(
        lambda: found.append(linecache.getline(__file__, 1)),
        lambda: found.append(linecache.getline(__file__, 1)),
    )
    assert found == ["import _pydecimal\n"] * 2


def test_decoder_for_two():
    """violated: half a character of one thread is completed by the other."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    run_together(lambda: decoder.decode(b"\xc3"), lambda: decoder.decode(b"\xa9"))


def test_lines_of_one_reader():
    """violated: `readline` keeps in several steps what it has read ahead."""
    reader = codecs.getreader("utf-8")(io.BytesIO(b"a\nb\n"))
    found = []
    run_together(lambda: found.append(reader.readline()), lambda: found.append(reader.readline()))
    assert sorted(found) == ["a\n", "b\n"]


def test_locale_of_the_process():
    """violated: the locale belongs to all threads."""
    old = locale.setlocale(locale.LC_NUMERIC)

    def use(name):
        locale.setlocale(locale.LC_NUMERIC, name)
        assert locale.setlocale(locale.LC_NUMERIC) == name

    try:
        run_together(lambda: use("C"), lambda: use("C.UTF-8"))
    finally:
        locale.setlocale(locale.LC_NUMERIC, old)


def test_traceback_texts():
    """holds: each thread formats an exception of its own."""

    def fail():
        try:
            {}[1]
        except KeyError:
            assert "KeyError" in traceback.format_exc()

    run_together(fail, fail)


def test_summary_of_a_stack():
    """violated: the summary is a list, which the other thread empties."""
    stack = traceback.StackSummary.from_list([("a", 1, "f", "text")])
    run_together(stack.clear, lambda: stack.format()[0])


def test_flags_of_a_context():
    """violated: the other thread clears the flags."""
    context = _pydecimal.Context(prec=2)

    def divide():
        context.divide(_pydecimal.Decimal(1), _pydecimal.Decimal(3))
        assert context.flags[_pydecimal.Inexact]
        context.clear_flags()

    run_together(divide, divide)


def test_arguments():
    """holds: parsing keeps nothing in the parser."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--number", type=int)
    found = []

    def parse(text):
        found.append(parser.parse_args(["--number", text]).number)

    run_together(lambda: parse("1"), lambda: parse("2"))
    assert sorted(found) == [1, 2]


def test_one_manager_for_two():
    """violated: the old output is kept in a list, and taken from its end."""
    manager = contextlib.redirect_stderr(io.StringIO())

    def write():
        with manager:
            pass

    before = sys.stderr
    run_together(write, write)
    after, sys.stderr = sys.stderr, before
    assert after is before


def test_copied_attributes():
    """violated: `update_wrapper` reads the attributes of a function that the other changes."""

    def wrapped():
        pass

    def wrapper():
        pass

    def copy(number):
        wrapped.number = number
        functools.update_wrapper(wrapper, wrapped)
        assert wrapper.number == number

    run_together(lambda: copy(1), lambda: copy(2))


class Color(enum.Flag):
    RED = 1
    GREEN = 2


def test_members():
    """holds: combinations of flags are made once, whoever asks first."""
    found = []
    run_together(lambda: found.append(Color.RED | Color.GREEN), lambda: found.append(Color(3)))
    assert found[0] is found[1]


@typing.runtime_checkable
class Named(typing.Protocol):
    name: str


class Thing:
    pass


def test_protocol():
    """violated: whether an object follows a protocol depends on its attributes at that time."""
    thing, found = Thing(), []
    run_together(
        lambda: setattr(thing, "name", "a"), lambda: found.append(isinstance(thing, Named))
    )
    assert found == [False]


def test_signatures():
    """holds: a signature is made anew for each call."""
    found = []
    run_together(
        lambda: found.append(str(inspect.signature(lambda a, b=1: 0))),
        lambda: found.append(inspect.getsource(Thing)),
    )
    assert "(a, b=1)" in found


def test_width():
    """violated: the width of a shared wrapper is changed before it is used."""
    wrapper, found = textwrap.TextWrapper(width=1), []

    def widen():
        wrapper.width = 9

    run_together(widen, lambda: found.append(wrapper.fill("a b")))
    assert found == ["a\nb"]


def test_tree():
    """violated: the other thread empties the tree before it is written."""
    tree, found = ast.parse("a"), []
    run_together(tree.body.clear, lambda: found.append(ast.unparse(tree)))
    assert found == ["a"]
