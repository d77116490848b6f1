"""Exchanges the code of modules for rewritten code, and back.

Modules stay as they were imported: by pytest, which rewrites assertions, or by anybody else.  Their
sources are rewritten and compiled once more, and every live function that belongs to one of them,
wherever it is held (in classes, behind decorators, in closures), is given the new code in place of
its own.  A finder at the front of `sys.meta_path` does the same to modules that are imported while
an exploration goes on.  When it ends, all functions have their own code again.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader, SourcelessFileLoader
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from mazurka.runtime.core.insides import is_module, module_of, names_in
from mazurka.runtime.core.patches import Patches, is_frozen
from mazurka.runtime.python.events import events_of
from mazurka.runtime.python.rewriter import at_present
from mazurka.runtime.rewrite.bytecode.watched import (
    is_generated,
    watch_code,
    watch_methods,
    watch_text,
)
from mazurka.runtime.rewrite.generated import (
    calling_c,
    classes_of,
    defined,
    generated_functions,
    ordering,
    written_out,
)
from mazurka.runtime.rewrite.library import (
    APART,
    PARTS,
    WHOLE,
    methods_apart,
    names_used,
    used_parts,
)
from mazurka.runtime.rewrite.source.statements import compile_observed
from mazurka.runtime.rewrite.sourceless import (
    has_code,
    homeless_functions,
    touches_unseen,
    watched_or_named,
    with_caches,
)
from mazurka.runtime.rewrite.strangers import Strangers
from mazurka.runtime.sharing.monitoring import MARK, unobserved

_Key = tuple[str, int, tuple[str, ...], tuple[str, ...]]

_Codes = dict[_Key, list[CodeType]]
_Spaces = dict[int, tuple[dict[str, Any], _Codes]]
"""By identity: the namespaces of modules, and what their functions are to run."""
FEW = 8
"""Namespaces whose functions are looked for all at once."""
_compiled: dict[str, tuple[tuple[int, int], frozenset[str], _Codes]] = {}
"""By file: when it was last changed and its size, names in it, and its functions, rewritten."""


def _key(code: CodeType) -> _Key:
    count = code.co_argcount + code.co_kwonlyargcount
    return code.co_qualname, code.co_firstlineno, code.co_freevars, code.co_varnames[:count]


def _start(code: CodeType) -> tuple[int, int]:
    """Where the text of a function begins, as far as instructions tell."""
    places = ((line, column) for line, _, column, _ in code.co_positions())
    known = [(line, column) for line, column in places if line and column]
    return min(known, default=(0, 0))


def _functions_in(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _functions_in(constant)


def _rewritten(file: str) -> _Codes:
    status = os.stat(file)
    version = (status.st_mtime_ns, status.st_size)
    known = _compiled.get(file)
    if known is not None and known[0] == version:
        return known[2]
    whole = compile_observed(Path(file).read_bytes(), file)
    codes = _by_key(whole)
    _compiled[file] = (version, frozenset(names_used(whole)), codes)
    return codes


def _by_key(whole: CodeType) -> _Codes:
    codes: _Codes = {}
    for code in _functions_in(whole):
        codes.setdefault(_key(code), []).append(code)
    return codes


def source_of(module: ModuleType) -> str | None:
    """The source file of a module; None if there is none."""
    file = names_in(module).get("__file__")
    if type(file) is not str or not file.endswith(".py") or not os.path.isfile(file):
        return None
    return file


class Instrument:
    """Keeps modules instrumented for as long as its context is open."""

    def __init__(self, is_wanted: Callable[[str, str], bool]) -> None:
        self._is_wanted = is_wanted
        """By name and file: whether a module is to be instrumented."""
        self.modules: dict[str, ModuleType] = {}
        """The modules that are instrumented."""
        self.skipped: dict[str, str] = {}
        """Modules that were wanted and could not be instrumented, and why."""
        self.bare: dict[str, str] = {}
        """Modules that have no source to be rewritten, and why; their instructions are."""
        self._cached: set[int] = set()
        """The identities of functions with caches, if any module has no source."""
        self.functions = 0
        """How many functions of the program run rewritten code; none would be worth nothing."""
        self._library: dict[str, ModuleType] = {}
        """Modules of the standard library of which parts are instrumented."""
        self._old: list[tuple[FunctionType, CodeType]] = []
        self._strange: WeakKeyDictionary[FunctionType, CodeType] = WeakKeyDictionary()
        self._patches = Patches()
        self._finder = _Finder(self)
        self.strangers = Strangers(is_wanted, self._exchange_stranger, self._live_strangers)

    def __enter__(self) -> Instrument:
        found = [
            (name, module)
            for name, module in list(sys.modules.items())
            if is_module(module) and self._wants(name, module)
        ]
        self._take_over(found)
        unobserved.is_unseen = self._is_unseen
        at_present.rewriter = self
        sys.meta_path.insert(0, self._finder)
        return self

    def __exit__(self, *error: object) -> None:
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
        unobserved.is_unseen = None
        at_present.clear()
        self.strangers.clear()
        self._patches.undo()
        while self._old:
            function, code = self._old.pop()
            function.__code__ = code
        for function, code in list(self._strange.items()):
            function.__code__ = code
        self._strange.clear()
        for module in (*self.modules.values(), *self._library.values()):
            names_in(module).pop(MARK, None)
        self.modules.clear()
        self.bare.clear()
        self._cached.clear()
        self._library.clear()

    def _wants(self, name: str, module: ModuleType) -> bool:
        file = names_in(module).get("__file__")
        return type(file) is str and self._is_wanted(name, file)

    def add(self, module: ModuleType) -> None:
        """Instrument one more module, whatever the rule says."""
        if module.__name__ not in self.modules:
            self._take_over([(module.__name__, module)])

    def imported(self, name: str, module: ModuleType) -> None:
        if self._wants(name, module) and name not in self.modules:
            self._take_over([(name, module)])

    def _take_over(self, found: Sequence[tuple[str, ModuleType]]) -> None:
        spaces: _Spaces = {}
        files: dict[str, str] = {}
        for name, module in found:
            codes = self._codes(name, module)
            if codes is not None:
                self._mark(module, codes, spaces)
                self.modules[name] = module
                if name not in self.bare:
                    files[name] = source_of(module) or ""
        used = {name for file in files.values() for name in _compiled[file][1]}
        if self.bare:  # there is no telling what their bodies use
            used.update(*PARTS.values(), *WHOLE.values(), *APART.values())
            self._cached = with_caches()
        for module, code in used_parts(used):
            if module.__name__ not in self._library and MARK not in names_in(module):
                self._mark(module, _by_key(code), spaces)
                self._library[module.__name__] = module
        for kind, name, function in methods_apart(used):
            self._patches.class_attribute(kind, name, function)
        if spaces:
            for function in _live_functions([space for space, _ in spaces.values()]):
                self._exchange(function, spaces[id(function.__globals__)][1])
            if "dataclass" in used:
                self._exchange_generated(files)
            if used & {"attr", "attrs"}:
                self._exchange_ordering(files)
        for name, module in found:
            if name in self.modules:
                for function in homeless_functions(module):
                    self._exchange_instructions(function, "made where nobody watches")

    def _mark(self, module: ModuleType, codes: _Codes, spaces: _Spaces) -> None:
        space = names_in(module)
        spaces[id(space)] = space, codes
        space[MARK] = events_of(module)

    def _exchange_generated(self, files: Mapping[str, str]) -> None:
        for kind, function in generated_functions(files):
            file = files[module_of(kind)]
            lines = [key[1] for key in _compiled[file][2] if key[0] == kind.__qualname__]
            code = written_out(kind, function.__name__, file, lines[0] if lines else 1)
            if code is not None and not function.__code__.co_freevars:
                self._old.append((function, function.__code__))
                function.__code__ = code
        for function in calling_c(files):
            self._exchange_instructions(function, "generated")

    def _exchange_ordering(self, files: Mapping[str, str]) -> None:
        for kind in classes_of(files):
            module = self.modules[module_of(kind)]
            for name, function in ordering(kind, module, 1):
                self._patches.class_attribute(kind, name, function)

    def _codes(self, name: str, module: ModuleType) -> _Codes | None:
        file = source_of(module)
        reason = "no source"
        if file is not None:
            try:
                return _rewritten(file)
            except (SyntaxError, ValueError, OSError, RecursionError) as error:
                reason = f"{type(error).__name__}: {error}"
        if not has_code(module):
            self.skipped[name] = reason
            return None
        self.bare[name] = reason
        return {}

    def _exchange(self, function: FunctionType, codes: _Codes) -> None:
        code = function.__code__
        found = codes.get(_key(code), [])
        if len(found) > 1:  # several on one line
            found = [other for other in found if _start(other) == _start(code)]
        if len(found) == 1:
            function.__code__ = found[0]
            self._old.append((function, code))
            self.functions += function.__globals__.get("__name__") not in self._library
        elif function.__globals__.get("__name__") in self._library:
            return
        elif (home := self.bare.get(function.__globals__.get("__name__", ""))) is not None:
            self._exchange_instructions(function, home)
        elif code.co_name != "<module>" and not is_generated(code):
            reason = "several functions look alike" if found else "made from other source"
            self._exchange_instructions(function, reason)

    def _exchange_instructions(self, function: FunctionType, reason: str) -> None:
        """Where there is no source that a function could be rewritten from."""
        code = watched_or_named(function, reason, id(function) in self._cached)
        if code is None:
            self.skipped[f"{function.__module__}.{function.__code__.co_qualname}"] = reason
        elif code is not function.__code__:
            self._old.append((function, function.__code__))
            function.__code__ = code
            self.functions += 1

    # -- code that turns up during the exploration (`python.rewriter.Rewriter`) ---------------

    def watch_text(self, value: Any, mode: str, frame: FrameType) -> CodeType | None:
        return watch_text(value, mode, frame)

    def watch_code(self, code: CodeType) -> CodeType:
        return watch_code(code)

    def watch_methods(self, kind: type) -> None:
        watch_methods(kind)

    def watch_class(self, kind: Any, line: int, module: ModuleType) -> None:
        defined(kind, line, module)

    def watch_called(self, function: FunctionType) -> bool:
        return self.strangers.called(function)

    def watch_used(self, kind: type) -> None:
        self.strangers.used(kind)

    def _live_strangers(self, spaces: Sequence[dict[str, Any]]) -> list[FunctionType]:
        self._cached.update(with_caches())
        return _live_functions(spaces)

    def _exchange_stranger(self, function: FunctionType) -> None:
        """Those that every run makes anew must not be kept."""
        code = function.__code__
        self._exchange_instructions(function, "made where nobody watches")
        if function.__code__ is not code:
            self._old.pop()
            self._strange[function] = code

    def _is_unseen(self, code: CodeType, module: object) -> bool:
        """Whether code that begins in a module that is watched is not watched itself."""
        if module in self._library or f"{module}.{code.co_qualname}" in self.skipped:
            return False
        if not touches_unseen(code):
            return False
        known = _compiled.get(code.co_filename)
        return known is None or not any(code is one for all_ in known[2].values() for one in all_)


def _live_functions(spaces: Sequence[dict[str, Any]]) -> list[FunctionType]:
    """The functions that have one of these namespaces, wherever they are held.

    A function refers to its namespace, and the interpreter finds all that refer to a few objects
    in half the time that it takes to look at everything here.
    """
    frozen = is_frozen()
    if frozen:
        gc.unfreeze()
    wanted = set(map(id, spaces))
    found = [
        thing
        for thing in (gc.get_referrers(*spaces) if len(spaces) <= FEW else gc.get_objects())
        if type(thing) is FunctionType and id(thing.__globals__) in wanted
    ]
    if frozen:
        gc.freeze()
    return found


class _Finder:
    """Sees to it that modules are instrumented as soon as they have been imported."""

    def __init__(self, instrument: Instrument) -> None:
        self._instrument = instrument

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
                    _call_after(spec.loader, lambda module: self._instrument.imported(name, module))
                return spec
        return None

    def invalidate_caches(self) -> None:
        """Nothing is cached."""


def _call_after(loader: Any, then: Callable[[ModuleType], None]) -> None:
    execute = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        execute(module)
        then(module)

    loader.exec_module = exec_module
