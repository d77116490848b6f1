import csv
import io
import os
import shelve
import sqlite3
import tempfile
import zipfile

import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


def test_shelf():
    """violated: the number is read, and stored in a second step."""
    shelf = shelve.Shelf({})
    shelf["n"] = 0

    def add():
        shelf["n"] = shelf["n"] + 1

    run_together(add, add)
    assert shelf["n"] == 2


def make_table():
    database = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
    database.execute("create table t (n integer)")
    database.execute("insert into t values (0)")
    return database


def test_sqlite_update():
    """holds: each statement is one step of the database."""
    database = make_table()

    def add():
        database.execute("update t set n = n + 1")

    run_together(add, add)
    assert database.execute("select n from t").fetchone() == (2,)


def test_sqlite_read_then_update():
    """violated: the number is read by one statement and stored by another."""
    database = make_table()

    def add():
        (number,) = database.execute("select n from t").fetchone()
        database.execute("update t set n = ?", (number + 1,))

    run_together(add, add)
    assert database.execute("select n from t").fetchone() == (2,)


def test_temporary_files():
    """holds: a file is made exclusively; names never coincide."""
    made = []
    run_together(lambda: made.append(tempfile.mkstemp()), lambda: made.append(tempfile.mkstemp()))
    for descriptor, path in made:
        os.close(descriptor)
        os.unlink(path)
    assert made[0][1] != made[1][1]


def test_csv_rows():
    """holds: a row is written by one call of C code."""
    file = io.StringIO()
    writer = csv.writer(file)
    run_together(lambda: writer.writerow([1, 2]), lambda: writer.writerow([3, 4]))
    assert sorted(file.getvalue().split()) == ["1,2", "3,4"]


def test_seek_then_write():
    """violated: the other thread moves the position between `seek` and `write`."""
    file = io.BytesIO(b"....")

    def put(position, text):
        file.seek(position)
        file.write(text)

    run_together(lambda: put(0, b"a"), lambda: put(2, b"b"))
    assert file.getvalue() == b"a.b."


def test_zip_file():
    """violated: `writestr` looks whether somebody writes before it takes its lock."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        run_together(lambda: archive.writestr("a", "1"), lambda: archive.writestr("b", "2"))
    assert sorted(zipfile.ZipFile(file).namelist()) == ["a", "b"]
