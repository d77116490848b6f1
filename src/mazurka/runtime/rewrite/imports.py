"""Imports during an exploration: new modules are shown, and their code runs before what counts.

What an import runs, the import system and the code of the module, is not observed.  It need not be:
a search begins anew after a run that has imported something.  So every run that counts finds the
module there, as if it had been imported before the test.  Where that is not so, nothing is proved,
and the module is named:

- a module that is imported once more, since the test has taken it out of `sys.modules`;
- one whose import fails once more: its code runs in every execution.  If it fails in a run that
  does not count, since a package tries what there is while it is imported, nobody tries again;
- one whose code runs without an import: `loader.exec_module(module)`, `importlib.reload(module)`.
"""

from __future__ import annotations

import sys
from _thread import get_ident
from collections.abc import Callable, Iterable
from importlib import machinery, util
from types import ModuleType
from typing import Any, Final

from mazurka.runtime.core.scheduler import session
from mazurka.runtime.rewrite.on_demand import Silence
from mazurka.runtime.sharing.locations import learned
from mazurka.runtime.sharing.monitoring import unobserved
from mazurka.runtime.sharing.older_state import older_state

_SYSTEM: Final[Any] = sys.modules["_frozen_importlib"]
"""The part of `importlib` that every import goes through, whoever loads the module."""
_OUTSIDE: Final[Any] = util
"""Where programs find modules without importing them."""
_LOADERS: Final = (machinery.SourceFileLoader, machinery.SourcelessFileLoader)
_EXECUTING: Final[Any] = next(
    base for base in machinery.SourceFileLoader.__mro__ if "exec_module" in vars(base)
)
"""The class whose method runs the code of a module, for all loaders of Python code."""


class Imports:
    """The imports of one exploration."""

    def __init__(
        self,
        observe: Callable[[str, ModuleType], None],
        watch_new: Callable[[], None],
        silence: Silence,
    ) -> None:
        self._watch_new = watch_new
        self._silence = silence
        self._finder = ImportFinder(observe, silence)
        self._imported: set[str] = set()
        """The modules that runs have imported."""
        self._importing: dict[int, int] = {}
        """By thread: how many imports it is in the middle of."""

    def watch(self) -> None:
        sys.meta_path.insert(0, self._finder)
        self._find = _SYSTEM._find_spec
        _SYSTEM._find_spec = _OUTSIDE._find_spec = self._find_module
        self._load, _SYSTEM._load_unlocked = _SYSTEM._load_unlocked, self._load_module
        self._execute = execute = _EXECUTING.exec_module

        def exec_module(loader: Any, module: ModuleType) -> None:
            self._name_code_without_import(module)
            execute(loader, module)

        _EXECUTING.exec_module = exec_module

    def stop(self) -> None:
        _EXECUTING.exec_module = self._execute
        _SYSTEM._load_unlocked = self._load
        _SYSTEM._find_spec = _OUTSIDE._find_spec = self._find
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)

    def _find_module(self, *arguments: Any) -> Any:
        """Find a module.  Finders are no part of the program; and the import system holds a lock
        while it asks them, so no other thread may run meanwhile: it might want that lock."""
        return session.current.do_aside(self._find, *arguments)

    def _load_module(self, spec: Any) -> ModuleType:
        """Load a module; what its code does to older objects and the process stays when the run has
        ended."""
        me, program = get_ident(), session.current.program
        if session.current.ident != me or program is None:
            module: ModuleType = self._load(spec)
            return module
        name = str(spec.name)
        if name not in self._imported:
            self._imported.add(name)
            learned.news.append(_news_of(name))
        again = _news_of(name) not in learned.news  # otherwise this run does not count
        self._importing[me] = self._importing.get(me, 0) + 1
        try:
            with self._silence, program.state.keep_changes():
                module = older_state.keep_changes(self._load, spec)
        except BaseException as error:
            if again:
                unobserved.note_code(f"module {name}", f"its import fails: {type(error).__name__}")
            raise
        finally:
            self._importing[me] -= 1
        if again:
            unobserved.note_code(f"module {name}", "imported once more")
        if not self._silence.is_kept():
            self._watch_new()
        return module

    def _name_code_without_import(self, module: ModuleType) -> None:
        me = get_ident()
        if session.current.ident == me and not self._importing.get(me):
            unobserved.note_code(f"module {module.__name__}", "its code runs without an import")


def _news_of(name: str) -> str:
    return f"import of {name}"


class ImportFinder:
    """A finder at the front of `sys.meta_path` that shows every new module to a function."""

    def __init__(
        self,
        observe: Callable[[str, ModuleType], None],
        silence: Silence,
    ) -> None:
        self._observe = observe
        self._silence = silence

    def find_spec(
        self, name: str, path: Iterable[str] | None, target: ModuleType | None = None
    ) -> machinery.ModuleSpec | None:
        for finder in sys.meta_path:
            find: Any = None if finder is self else getattr(finder, "find_spec", None)
            spec: machinery.ModuleSpec | None = find and find(name, path, target)
            if spec is not None:
                # A proxy claims the class of the loader inside it, which has been met already.
                if issubclass(type(spec.loader), _LOADERS):
                    self._observe_after(name, spec.loader)
                return spec
        return None

    def invalidate_caches(self) -> None:
        """Nothing is cached."""

    def _observe_after(self, name: str, loader: Any) -> None:
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            with self._silence:
                execute(module)
            self._observe(name, module)

        loader.exec_module = exec_module
