"""The code of a program that is observed, for as long as an exploration goes on.

Modules stay as they were imported: by pytest, which rewrites assertions, or by anybody else.  Their
sources are rewritten and compiled once more, and every live function that belongs to one of them,
wherever it is held, is given the new code in place of its own.  The same is done to modules that
are imported meanwhile, and to code that comes into being while the test runs.

The modules of the project are rewritten before the first run; all others, installed packages and
the standard library, when a thread under control first enters a function of theirs (`traps`).
"""

from __future__ import annotations

import sys
from abc import ABCMeta
from collections.abc import Iterator, Mapping, Sequence
from types import CodeType, CoroutineType, FrameType, FunctionType, GeneratorType, ModuleType
from typing import Any, Final, TypeAlias

from mazurka.runtime.core.insides import (
    ancestors,
    is_module,
    module_of,
    names_in,
    names_in_class,
    qualified_name,
)
from mazurka.runtime.core.scheduler import session
from mazurka.runtime.core.sites import MARK, is_rewritten
from mazurka.runtime.python.library.finalizers import replace_parts_of_finalize
from mazurka.runtime.python.library.priorities import replace_parts_of_queues
from mazurka.runtime.python.library.threads import replace_parts_of_threads
from mazurka.runtime.python.places.settings import reset_caches
from mazurka.runtime.python.rewriter import Rewriter, at_present
from mazurka.runtime.rewrite import borrowed_methods, generated, library, sources
from mazurka.runtime.rewrite.bytecode import rewriting
from mazurka.runtime.rewrite.bytecode.assembly import UnknownCodeError
from mazurka.runtime.rewrite.exchange import Exchange
from mazurka.runtime.rewrite.imports import Imports
from mazurka.runtime.rewrite.live_functions import live_functions
from mazurka.runtime.rewrite.named_objects import find_parts
from mazurka.runtime.rewrite.on_demand import Entrances, has_code
from mazurka.runtime.rewrite.selection import BUILTINS, Rule, is_left_alone
from mazurka.runtime.rewrite.sources import NO_SOURCE, RewrittenSource
from mazurka.runtime.rewrite.traps import is_trap
from mazurka.runtime.sharing.locations import learned
from mazurka.runtime.sharing.monitoring import unobserved
from mazurka.runtime.sharing.older_state import older_state

_GENERATOR: Final = 0x20 | 0x80 | 0x200
"""The flags of functions that return before they run."""
_Spaces: TypeAlias = dict[int, tuple[dict[str, Any], RewrittenSource]]
"""By identity: the namespaces of modules, and what their functions are to run."""


def _replaced_parts() -> Iterator[tuple[type, str, Any]]:
    """Parts of classes of the library that need a model of their own."""
    yield from replace_parts_of_finalize()
    yield from replace_parts_of_queues()
    yield from replace_parts_of_threads()


class ObservedCode(Rewriter):
    """Keeps modules observed for as long as its context is open."""

    def __init__(self, is_wanted: Rule, is_left: Rule = is_left_alone) -> None:
        self._is_wanted = is_wanted
        self._is_left = is_left
        """Says which modules are never observed."""
        self.modules: dict[str, ModuleType] = {}
        """The modules that are observed."""
        self.sourceless: dict[str, str] = {}
        """Those of them that have no source to be rewritten, and why; their instructions are."""
        self.skipped: dict[str, str] = {}
        """Modules and functions that were wanted and could not be rewritten, and why."""
        self.functions = 0
        """How many functions of the program run rewritten code; none would be worth nothing."""
        self._library: set[str] = set()
        """Modules of the standard library of which parts are observed."""
        self._cached: set[int] = set()
        """The identities of functions with caches, if instructions have to be rewritten."""
        self._entered: set[CodeType] = set()
        """The code of functions without a module that were entered."""
        self.met: list[str] = []
        """Modules that were observed because a thread under control entered them."""
        self._hooked: list[Any] = []
        """Abstract classes with a `__subclasshook__` that is observed."""
        self._exchange = Exchange()

    def __enter__(self) -> ObservedCode:
        live_functions.forget_added()
        self.entrances = Entrances(self._is_left, self._observe_entered)
        entrances = self.entrances
        self._imports = Imports(self._observe_import, entrances.watch_new, entrances.silence)
        found = [
            (name, module)
            for name, module in list(sys.modules.items())
            if is_module(module) and self._wants(name, module)
        ]
        try:
            self._observe_modules(found)
            for kind, name, part in _replaced_parts():
                self._exchange.replace_method(kind, name, part)
        except BaseException:
            self._exchange.restore()
            raise
        unobserved.is_unobserved = self._is_unobserved
        unobserved.is_covered = self.entrances.covers
        unobserved.is_silent = self.entrances.silence.is_kept
        at_present.rewriter = self
        self._imports.watch()
        return self

    def __exit__(self, *error: object) -> None:
        self.entrances.open_all()
        self._imports.stop()
        at_present.rewriter = Rewriter()
        unobserved.is_unobserved = unobserved.is_covered = unobserved.is_silent = None
        del self.entrances, self._imports  # they refer to this object
        self._exchange.restore()
        live_functions.forget_added()
        self.modules.clear()
        self.sourceless.clear()
        self._cached.clear()
        self._entered.clear()
        self._library.clear()
        self._hooked.clear()

    def restore_made(self) -> None:
        """Let functions that runs have made, and that live on, be as their source says."""
        live_functions.refresh()
        self._exchange.restore_made(live_functions.added())

    def _wants(self, name: str, module: ModuleType) -> bool:
        file = names_in(module).get("__file__")
        return type(file) is str and self._is_wanted(name, file)

    def _observe_import(self, name: str, module: ModuleType) -> None:
        if self._wants(name, module) and name not in self.modules:
            self._observe_modules([(name, module)])

    # -- code that is entered (`on_demand.Entrances`) ------------------------------------------

    def _observe_entered(self, function: FunctionType) -> None:
        """Observe a function that a thread under control is about to run, and all of its module."""
        name: Any = dict.get(function.__globals__, "__name__")
        module = sys.modules.get(name) if type(name) is str else None
        if (
            module is not None
            and name != BUILTINS
            and is_module(module)
            and names_in(module) is function.__globals__
        ):
            if self._is_left(name, str(names_in(module).get("__file__"))):
                self._observe_parts(name, module)
            elif name not in self.modules:
                self._observe_modules([(name, module)], on_demand=True)
                if name in self.modules:  # a module of C code has none; some of its functions have
                    older_state.hold_for_now(find_parts(module))
                    self.met.append(name)
                    learned.news.append(f"module {name}")
        if self.entrances.close(function):
            code = function.__code__
            if code not in self._entered:  # or it is made anew in every run
                self._entered.add(code)
                self._cached.update(live_functions.cached_functions())
                learned.news.append(f"function {function.__qualname__} #{len(self._entered)}")
            self._observe_instructions(function, "made where nobody watches")

    def _observe_parts(self, name: str, module: ModuleType) -> None:
        """Observe those parts of a module that reach into what they are given."""
        source = self._rewrite_module(name, module)
        if source is not None and name not in self._library:
            self._exchange.mark(module)
            self._library.add(name)
            for function in self.entrances.close_all(names_in(module)):
                self._observe_function(function, source)
            learned.news.append(f"parts of {name}")

    # -- modules -----------------------------------------------------------------------------

    def _observe_modules(
        self, found: Sequence[tuple[str, ModuleType]], *, on_demand: bool = False
    ) -> None:
        spaces: _Spaces = {}
        by_name: dict[str, RewrittenSource] = {}
        for name, module in found:
            source = self._rewrite_module(name, module)
            if source is not None:
                self._mark(module, source, spaces)
                self.modules[name] = module
                if source is not NO_SOURCE:
                    by_name[name] = source
        used = {name for source in by_name.values() for name in source.names}
        if self.sourceless:  # there is no telling what their code uses
            used |= library.ALL_NAMES
            self._cached = live_functions.cached_functions()
        self._observe_library(used)
        if spaces:
            find = self._find_closed if on_demand else self._find_functions
            functions = find(spaces)
            if on_demand:  # no thread has run any of these before
                older_state.hold_captured(functions)
            for function in functions:
                self._observe_function(function, spaces[id(function.__globals__)][1])
            self._observe_classes(by_name, used)
            self._observe_borrowed(by_name)
            self._find_hooked(by_name)

    def _rewrite_module(self, name: str, module: ModuleType) -> RewrittenSource | None:
        file = sources.source_file(module)
        reason = "no source"
        if file is not None:
            try:
                done: RewrittenSource = session.current.do_aside(sources.rewrite_file, file)
                return done
            except (SyntaxError, ValueError, OSError, RecursionError) as error:
                reason = f"{type(error).__name__}: {error}"
        if not has_code(module):
            self.skipped[name] = reason
            return None
        self.sourceless[name] = reason
        return NO_SOURCE

    def _mark(self, module: ModuleType, source: RewrittenSource, spaces: _Spaces) -> None:
        space = names_in(module)
        spaces[id(space)] = space, source
        self._exchange.mark(module)

    def _observe_library(self, used: set[str]) -> None:
        for kind, name, method in library.rewrite_methods_apart(used):
            self._exchange.replace_method(kind, name, method)

    # -- functions ---------------------------------------------------------------------------

    def _find_functions(self, spaces: _Spaces) -> list[FunctionType]:
        live_functions.refresh()
        lives = [
            live for space, _ in spaces.values() for live in live_functions.of_namespace(space)
        ]
        return [function for live in lives if (function := live()) is not None]

    def _find_closed(self, spaces: _Spaces) -> list[FunctionType]:
        """The functions of namespaces that have traps, which are all; take the traps out."""
        return [one for space, _ in spaces.values() for one in self.entrances.close_all(space)]

    def _observe_function(self, function: FunctionType, source: RewrittenSource) -> None:
        """Give a function the code that its source has been rewritten to, or its instructions."""
        code, home = function.__code__, function.__globals__.get("__name__", "")
        if code.co_name in library.PRIVATE.get(home, ()):
            return
        found = source.find(code)
        if len(found) == 1:
            self._exchange.replace_code(function, found[0])
            self.functions += home not in self._library
        elif home in self._library:
            return
        elif home in self.sourceless:
            self._observe_instructions(function, self.sourceless[home])
        elif code.co_name != "<module>" and not generated.is_generated(code):
            reason = "several functions look alike" if found else "made from other source"
            self._observe_instructions(function, reason)

    def _observe_instructions(self, function: FunctionType, reason: str) -> None:
        """Rewrite a function without source; the result names it if that cannot be."""
        code = function.__code__
        fills = id(function) in self._cached and not code.co_flags & _GENERATOR
        try:
            rewritten = rewriting.rewrite_code(code, fills=fills)
        except UnknownCodeError as error:
            self.entrances.refuse(function, f"{reason}; {error}")
            self.skipped[f"{function.__module__}.{code.co_qualname}"] = reason
            return
        if rewritten is not code:
            self._exchange.replace_code(function, rewritten)
            self.functions += 1

    # -- classes -----------------------------------------------------------------------------

    def _observe_borrowed(self, by_name: Mapping[str, RewrittenSource]) -> None:
        for name, source in by_name.items():
            for path in source.borrowing:
                kind = borrowed_methods.find_class(self.modules[name], path)
                if kind is not None:
                    self.observe_borrowed(kind)

    def _find_hooked(self, by_name: Mapping[str, RewrittenSource]) -> None:
        """Find the abstract classes whose own code says what is a subclass of them."""
        for name, source in by_name.items():
            for path in source.hooked:
                kind = borrowed_methods.find_class(self.modules[name], path)
                if issubclass(type(kind), ABCMeta):
                    self._hooked.append(kind)

    def forget_answers(self) -> None:
        """Let abstract classes ask their code again: C code keeps what it has said."""
        waiting: list[Any] = [*self._hooked]
        while waiting:
            kind = waiting.pop()
            reset_caches(kind)
            waiting += [one for one in type.__subclasses__(kind) if issubclass(type(one), ABCMeta)]

    def observe_borrowed(self, kind: type) -> None:
        for name, method in borrowed_methods.replace_borrowed(kind):
            self._exchange.replace_method(kind, name, method)

    def _observe_classes(self, by_name: Mapping[str, RewrittenSource], used: set[str]) -> None:
        has_dataclasses, has_attrs = "dataclass" in used, bool(used & {"attr", "attrs"})
        if not has_dataclasses and not has_attrs:
            return
        for kind in generated.find_classes(by_name):
            module = self.modules[module_of(kind)]
            if has_dataclasses:
                line = by_name[module_of(kind)].line_of(qualified_name(kind))
                self._observe_dataclass(kind, module, line)
            if has_attrs:
                self._observe_order(kind, module, 1)

    def _observe_dataclass(self, kind: type, module: ModuleType, line: int) -> None:
        for function, code in generated.rewrite_dataclass(kind, str(module.__file__), line):
            self._exchange.replace_code(function, code)
        for function in generated.find_initializers_calling_c(kind):
            self._observe_instructions(function, "generated")

    def _observe_order(self, kind: type, module: ModuleType, line: int) -> None:
        for name, method in generated.write_order(kind, module, line):
            self._exchange.replace_method(kind, name, method)

    # -- code that turns up during the exploration (`python.rewriter.Rewriter`) ----------------

    def observe_text(self, value: Any, mode: str, frame: FrameType) -> CodeType | None:
        return rewriting.rewrite_text(value, mode, frame)

    def observe_code(self, code: CodeType) -> CodeType:
        try:
            return rewriting.rewrite_code(code)
        except UnknownCodeError as error:
            unobserved.note_code(code.co_qualname, str(error))
            return code

    def observe_methods(self, kind: type) -> None:
        for function in generated.find_generated(kind):
            self._observe_instructions(function, "generated")

    def observe_initializer(self, kind: type) -> None:
        for base in ancestors(kind):
            function = names_in_class(base).get("__init__")
            if type(function) is FunctionType and generated.is_generated(function.__code__):
                self._observe_instructions(function, "generated")
                learned.learn_moving(f"{module_of(base)}.{qualified_name(base)}.__init__ is called")

    def observe_class(self, kind: Any, line: int, module: ModuleType) -> None:
        if not isinstance(kind, type):
            return
        self.observe_borrowed(kind)
        self._observe_dataclass(kind, module, line)
        for function, code in generated.rewrite_text_methods(kind):
            self._exchange.replace_code(function, code)
            function.__globals__[MARK] = vars(module)[MARK]
        self._observe_order(kind, module, line)

    def observe_called(self, function: FunctionType) -> bool:
        return self.entrances.enter(function) and (
            MARK in function.__globals__ or is_rewritten(function.__code__)
        )

    def is_trap(self, code: CodeType) -> bool:
        return is_trap(code)

    def observe_resumed(self, thing: Any) -> None:
        if type(thing) in (GeneratorType, CoroutineType):
            self.entrances.resume(thing)

    def _is_unobserved(self, code: CodeType, module: object) -> bool:
        """Whether code that begins in a module that is observed is not observed itself."""
        if module in self._library or self.entrances.knows(code):
            return False
        if type(module) is str and code.co_name in library.PRIVATE.get(module, ()):
            return False
        if generated.fills_new_object(code) or not rewriting.touches_unobserved(code):
            return False
        return not sources.is_from_source(code)
