"""What pytest keeps of a test while it runs, made new for each execution.

Log records, captured output, the item's stash, properties for the report and temporary directories
are kept by pytest itself, for one call of a test.  An execution that met those of the one before
would not do the same again; and a report would show what hundreds of executions have printed.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from shutil import rmtree
from typing import Any

from mazurka.runtime.core.scheduler import session
from mazurka.runtime.primitives.lock import Lock
from mazurka.runtime.program.existing import is_strange
from mazurka.runtime.sharing.older_files import older_files

CAPTURING = frozenset({"capsys", "capsysbinary", "capfd", "capfdbinary", "capteesys"})
LISTS = ("user_properties", "_report_sections", "own_markers")


class Printed:
    """Makes printing an operation, where the test reads what is printed, and so its order.

    `print` writes what ends or separates its arguments by itself, and nobody comes in between.
    """

    def __init__(self, stream: Any, lock: Lock) -> None:
        self._write = stream.write
        self._lock = lock

    def write(self, text: str) -> Any:
        if text in ("\n", " "):
            return self._write(text)
        with self._lock:
            return self._write(text)


class ItemState:
    """The state of one item, as it is when its exploration begins."""

    def __init__(self, item: Any) -> None:
        self._item = item
        self._stash = dict(item.stash._storage)
        self._lists = {name: list(getattr(item, name)) for name in LISTS}
        find = item.config.pluginmanager.getplugin
        self._logging = find("logging-plugin")
        self._capture = find("capturemanager")
        self._directories = Directories(item.config)
        self._printing = (Lock(), Lock())
        for lock, name in zip(self._printing, ("sys.stdout", "sys.stderr"), strict=True):
            lock.origin = name

    @contextmanager
    def isolate(self) -> Iterator[None]:
        """Keep executions apart, for the time of the exploration."""
        with self._directories.repeat_names(), self._log_aside(), _write_aside():
            yield

    def begin(self) -> None:
        """Forget the execution before."""
        storage = self._item.stash._storage
        storage.clear()
        storage.update(self._stash)
        for name, values in self._lists.items():
            getattr(self._item, name)[:] = values
        if self._capture is not None and self._directories.is_home:
            # Only an execution after one that has printed something reads it, by code of codecs.
            session.current.do_aside(self._capture.read_global_capture)
        self._directories.remove()
        if self._logging is not None:
            self._logging.report_handler.reset()
        self.enter("setup")

    def enter(self, when: str) -> None:
        """Begin a phase: each has its own log records."""
        if self._logging is None:
            return
        from _pytest.logging import caplog_handler_key, caplog_records_key

        handler = self._logging.caplog_handler
        handler.reset()
        self._item.stash[caplog_handler_key] = handler
        records = {} if when == "setup" else self._item.stash[caplog_records_key]
        self._item.stash[caplog_records_key] = {**records, when: handler.records}

    def observe_output(self) -> None:
        """Make printing an operation where a fixture captures the output for the test."""
        if not CAPTURING.isdisjoint(self._item.fixturenames):
            for stream, lock in zip((sys.stdout, sys.stderr), self._printing, strict=True):
                if is_strange(type(stream).__module__):
                    stream.write = Printed(stream, lock).write  # type: ignore[method-assign]

    @contextmanager
    def _log_aside(self) -> Iterator[None]:
        """Let nobody observe what log handlers keep that no test reads: its order does not matter.

        Records are written out as ever, since that runs code of the program.
        """
        if self._logging is None:
            yield
            return
        handlers = [self._logging.report_handler, self._logging.log_file_handler]
        if not {"caplog", "request"} & set(self._item.fixturenames):
            handlers.append(self._logging.caplog_handler)
        for handler in handlers:
            handler.handle = partial(_handle_aside, handler)
        try:
            yield
        finally:
            for handler in handlers:
                del handler.handle


def _handle_aside(handler: Any, record: Any) -> Any:
    """Do what a log handler does, without its lock; what it keeps is for the report alone."""
    passed = handler.filter(record)
    if not passed:
        return passed
    if passed is not True:  # from Python 3.12 on, it is the record, or another one
        record = passed
    try:
        text = handler.format(record)
    except RecursionError:
        raise
    except Exception:
        handler.handleError(record)
    else:
        session.current.do_aside(_keep_text, handler, record, text)
    return passed


def _keep_text(handler: Any, record: Any, text: str) -> None:
    records = getattr(handler, "records", None)
    if records is not None:
        records.append(record)
    if handler.stream is not None:
        handler.stream.write(text + handler.terminator)


def _do_aside(write: Callable[[str], int], text: str) -> int:
    written: int = session.current.do_aside(write, text)
    return written


@contextmanager
def _write_aside() -> Iterator[None]:
    """Let nobody observe what pytest's own streams do with a text: it is for the report alone."""
    streams = [one for one in (sys.stdout, sys.stderr) if is_strange(type(one).__module__)]
    for stream in streams:
        stream.write = partial(_do_aside, stream.write)  # type: ignore[method-assign]
    try:
        yield
    finally:
        for stream in streams:
            del stream.write


class Directories:
    """Temporary directories: each execution finds none, and gets the same names in the same order.

    Those of the last execution stay, to be looked at.  Worker processes have their own places.
    """

    def __init__(self, config: Any) -> None:
        self._factory = getattr(config, "_tmp_path_factory", None)
        self._known: dict[tuple[str, bool, int], Path] = {}
        self._asked: Counter[tuple[str, bool]] = Counter()
        self._home = self._process = os.getpid()

    @property
    def is_home(self) -> bool:
        return os.getpid() == self._home

    @contextmanager
    def repeat_names(self) -> Iterator[None]:
        """Give each execution the directories of the one before."""
        factory = self._factory
        if factory is None:
            yield
            return
        factory.getbasetemp()  # it is made once for all tests, not by this one
        make = factory.mktemp

        def make_again(basename: str, numbered: bool = True) -> Path:
            self._asked[basename, numbered] += 1
            key = basename, numbered, self._asked[basename, numbered]
            known = self._known.get(key)
            if known is None:
                known = self._known[key] = session.current.do_aside(make, basename, numbered)
            else:
                session.current.do_aside(known.mkdir, 0o700)
            return known

        factory.mktemp = make_again
        older_files.is_left_alone = self._owns
        try:
            yield
        finally:
            older_files.is_left_alone = None
            del factory.mktemp
            for left in factory.getbasetemp().glob("process-*"):
                rmtree(left, ignore_errors=True)

    def _owns(self, path: str) -> bool:
        """Tell whether a path lies in one of the directories, which are removed as a whole."""
        return any(
            path == own or path.startswith(own + os.sep) for own in map(str, self._known.values())
        )

    def remove(self) -> None:
        """Remove what the execution before has left."""
        if self._process != os.getpid():
            self._move()
        for key, path in self._known.items():
            if self._asked[key[:2]] >= key[2]:
                rmtree(path, ignore_errors=True)
        self._asked.clear()

    def _move(self) -> None:
        """Begin with directories of its own in a worker process, of the same names as those of its
        parent."""
        self._process = os.getpid()
        self._asked = Counter()
        if self._factory is not None:
            base = self._factory.getbasetemp()
            own = base / f"process-{self._process}"
            session.current.do_aside(own.mkdir, 0o700, False, True)
            self._known = {key: own / path.name for key, path in self._known.items()}
            self._factory._basetemp = own
