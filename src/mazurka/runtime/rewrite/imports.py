"""Observes modules as soon as they have been imported, during an exploration."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from importlib.machinery import ModuleSpec, SourceFileLoader, SourcelessFileLoader
from types import ModuleType
from typing import Any


class ImportFinder:
    """A finder at the front of `sys.meta_path` that shows every new module to a function."""

    def __init__(self, observe: Callable[[str, ModuleType], None]) -> None:
        self._observe = observe

    def install(self) -> None:
        sys.meta_path.insert(0, self)

    def remove(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, name: str, path: Iterable[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        for finder in sys.meta_path:
            if finder is self:
                continue
            find: Any = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = None if find is None else find(name, path, target)
            if spec is not None:
                if isinstance(spec.loader, (SourceFileLoader, SourcelessFileLoader)):
                    self._observe_after(name, spec.loader)
                return spec
        return None

    def invalidate_caches(self) -> None:
        """Nothing is cached."""

    def _observe_after(self, name: str, loader: Any) -> None:
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            self._observe(name, module)

        loader.exec_module = exec_module
