"""Modules of which only parts are observed: what reaches into what it is given, or keeps something.

These parts are rewritten like the program, when a thread enters them (`on_demand`).  Only these
parts, and not the modules that they are in: Mazurka itself uses those modules, in the threads that
it controls.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final, cast

from mazurka.runtime.core.insides import field_of, is_module, names_in, names_in_class
from mazurka.runtime.core.sites import MARK
from mazurka.runtime.python.events import events_of
from mazurka.runtime.python.library.managers import OBSERVED_IF_HELD
from mazurka.runtime.rewrite.source.statements import compile_tree
from mazurka.runtime.rewrite.sources import RewrittenSource, source_file

PARTS: Final[dict[str, frozenset[str]]] = {
    "collections": frozenset({"Counter", "UserDict", "UserList", "UserString", "ChainMap"}),
    "collections.abc": frozenset(  # as `_collections_abc` calls itself
        {"Mapping", "MutableMapping", "MappingView", "KeysView", "ItemsView", "ValuesView"}
        | {"Sequence", "MutableSequence", "Set", "MutableSet"}
    ),
    "copy": frozenset(
        {"copy", "deepcopy", "_reconstruct", "_keep_alive", "_deepcopy_list"}
        | {"_deepcopy_tuple", "_deepcopy_dict", "_deepcopy_method", "_copy_immutable"}
    ),
    "dataclasses": frozenset(
        {"asdict", "_asdict_inner", "astuple", "_astuple_inner", "replace", "_replace"}
    ),
    "copyreg": frozenset({"pickle", "add_extension", "remove_extension"}),
    "enum": frozenset({"EnumType", "EnumMeta", "Enum.__new__", "Flag._missing_"}),
    "functools": frozenset(
        {"cached_property", "singledispatch", "singledispatchmethod", "partialmethod"}
        | {"update_wrapper", "wraps"}
    ),
    "heapq": frozenset({"nlargest", "nsmallest", "merge"}),
    "tokenize": frozenset({"Untokenizer", "untokenize"}),
    "typing": frozenset(
        {"Protocol", "_ProtocolMeta", "_proto_hook", "_get_protocol_attrs", "get_type_hints"}
        | {"_BaseGenericAlias", "_GenericAlias", "runtime_checkable", "ForwardRef", "_eval_type"}
        | {"overload", "get_overloads", "clear_overloads"}
    ),
    **dict.fromkeys(
        ("warnings", "_py_warnings"),  # the latter from Python 3.14 on
        frozenset(
            {"catch_warnings", "simplefilter", "filterwarnings", "resetwarnings", "_add_filter"}
            | {"_Context", "_GlobalContext", "_get_context", "_set_context", "_new_context"}
            | {"_get_filters"}
        ),
    ),
}
"""By module: classes, functions and single methods that are rewritten."""
PRIVATE: Final = {"unittest.mock": frozenset({"_mock_set_magics"})}
"""By module: functions that only fill an object that nobody else has."""
APART: Final[dict[str, frozenset[str]]] = {
    "contextlib": frozenset(
        {"_RedirectStream", "redirect_stdout", "redirect_stderr", "chdir"}
        | {"_BaseExitStack", "ExitStack", "_GeneratorContextManager", "contextmanager"}
    ),
}
"""By module: classes whose methods are rewritten, and replaced by functions with a namespace of
their own, since the others of the module are to be known for what they are; and functions that make
objects of such classes."""

ALL_NAMES: Final = frozenset[str]().union(*APART.values())
"""What a program uses of which nothing is known."""
_rewritten: dict[str, RewrittenSource | None] = {}


def rewrite_methods_apart(names: Iterable[str]) -> Iterator[tuple[type, str, Any]]:
    """Classes, names of methods, and what is to be in their places."""
    used = set(names)
    for name, parts in APART.items():
        for module, source in _rewrite(name, parts) if used & parts else ():
            space = {**names_in(module), MARK: events_of(module)}
            for part in source.whole.co_consts:
                if isinstance(part, CodeType) and issubclass(type(space.get(part.co_name)), type):
                    yield from _methods_of(space[part.co_name], part, space)


def _methods_of(
    kind: type, body: CodeType, space: dict[str, Any]
) -> Iterator[tuple[type, str, Any]]:
    for code in body.co_consts:
        held = names_in_class(kind).get(code.co_name) if isinstance(code, CodeType) else None
        old = held.__func__ if type(held) is staticmethod else held
        if type(old) is not FunctionType or MARK in old.__globals__:
            continue
        if old.__closure__ is None:
            new = FunctionType(code, space, code.co_name, old.__defaults__)
            new.__kwdefaults__ = old.__kwdefaults__
            if (
                field_of(kind, "__name__") == "_GeneratorContextManager"
                and code.co_name in OBSERVED_IF_HELD
            ):
                new = cast(FunctionType, OBSERVED_IF_HELD[code.co_name](old, new))
            yield kind, code.co_name, staticmethod(new) if old is not held else new


def _rewrite(name: str, parts: frozenset[str]) -> Iterator[tuple[ModuleType, RewrittenSource]]:
    """Rewrite parts of a module, once; nothing where it has no source."""
    module = sys.modules.get(name)
    if module is None or not is_module(module):
        return
    if name not in _rewritten:
        code = _compile(module, parts)
        _rewritten[name] = None if code is None else RewrittenSource(code)
    source = _rewritten[name]
    if source is not None:
        yield module, source


def _compile(module: ModuleType, parts: frozenset[str]) -> CodeType | None:
    file = source_file(module)
    if file is None:
        return None
    try:
        tree = ast.parse(Path(file).read_bytes(), file)
    except (OSError, SyntaxError):
        return None
    wanted = {part.partition(".")[0] for part in parts}
    tree.body = [part for part in tree.body if getattr(part, "name", "") in wanted]
    return compile_tree(tree, file) if tree.body else None
