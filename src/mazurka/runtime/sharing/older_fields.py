"""The fields that the interpreter keeps of functions, classes and other built-in objects.

A field is not a variable.  Examples are the annotations of a function, the bases of a class, the
traceback of an exception and the functions of a property.  A program changes a field by an
assignment, by `raise`, or by C code such as `error.__init__(text)`.  So all fields are copied when
a run meets an older object, and those that have changed are written again after the run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from gc import get_referents
from types import FunctionType, ModuleType
from typing import Any, Final, NamedTuple, TypeAlias

from mazurka.runtime.core.insides import field_of, function_in, names_in, names_in_class

Values: TypeAlias = tuple[Any, ...]
_MISSING: Final = object()


class OlderFields(NamedTuple):
    """How the fields of objects of a type are read and written."""

    read: Callable[[Any], Values]
    write: Callable[[Any, Values, Values], None]
    """Takes the object, its old values and its present ones."""


def _assigned(kind: type, *names: str) -> OlderFields:
    """Fields that can be assigned one by one."""
    slots: list[Any] = [vars(kind)[name] for name in names if name in vars(kind)]

    def write(thing: Any, old: Values, present: Values) -> None:
        for slot, value, now in zip(slots, old, present, strict=True):
            if value is _MISSING and now is not value:
                slot.__delete__(thing)
            elif now is not value:
                slot.__set__(thing, value)

    return OlderFields(lambda thing: tuple(_read(slot, thing) for slot in slots), write)


def _read(slot: Any, thing: Any) -> Any:
    try:
        return slot.__get__(thing)
    except AttributeError:
        return _MISSING


def _initialized(kind: Any, read: Callable[[Any], Values]) -> OlderFields:
    """Fields that only `__init__` writes."""
    return OlderFields(read, lambda thing, old, present: kind.__init__(thing, *old))


def _of_classes() -> OlderFields:
    """Fields of classes that Python code has made; those of others never change."""
    inner = _assigned(type, "__name__", "__qualname__", "__bases__", "__abstractmethods__")
    return OlderFields(
        lambda one: inner.read(one) if field_of(one, "__flags__") & _HEAP else (), inner.write
    )


_HEAP: Final = 1 << 9
"""The flag of types that are made at run time."""
_OF_FUNCTIONS: Final = (
    *("__defaults__", "__kwdefaults__", "__name__", "__qualname__", "__type_params__"),
)


def _of_functions() -> OlderFields:
    """Fields of functions.  Asking for annotations makes a dictionary, which says what its absence
    says.  From Python 3.14 on, a function may have another one that evaluates them: then asking
    runs code, and to assign one of the two drops the other."""
    if "__annotate__" not in vars(FunctionType):
        return _assigned(FunctionType, *_OF_FUNCTIONS, "__annotations__")
    inner = _assigned(FunctionType, *_OF_FUNCTIONS)
    annotate, annotations = (vars(FunctionType)[f"__{n}__"] for n in ("annotate", "annotations"))

    def read(one: Any) -> Values:
        evaluating = annotate.__get__(one)
        known = annotations.__get__(one) if evaluating is None else find_evaluated(one)
        return (*inner.read(one), evaluating, known)

    def write(one: Any, old: Values, present: Values) -> None:
        inner.write(one, old[:-2], present[:-2])
        if old[-2] is None:
            annotations.__set__(one, old[-1])
        elif old[-2] is not present[-2] or old[-1] is not present[-1]:
            annotate.__set__(one, old[-2])

    return OlderFields(read, write)


def find_evaluated(function: FunctionType) -> Any:
    """Find the annotations that a function keeps since somebody has asked for them; None if nobody
    has."""
    of_c: Any = function
    others = (function.__globals__, of_c.__builtins__, function.__kwdefaults__)
    found = [
        one
        for one in get_referents(function)
        if type(one) is dict and all(one is not other for other in others)
    ]
    own = function.__dict__ if found else None  # which is made if there is none
    return next((one for one in found if one is not own), None)


def evaluates_annotations(thing: Any) -> bool:
    """Tell whether to ask a function, a class or a module for annotations evaluates them now, and
    keeps them: from Python 3.14 on, the first to ask makes them."""
    kind = type(thing)
    if kind is FunctionType:
        return getattr(thing, "__annotate__", None) is not None and find_evaluated(thing) is None
    if issubclass(kind, type):
        of_class = names_in_class(thing)
        is_kept = "__annotations_cache__" in of_class
        return of_class.get("__annotate_func__") is not None and not is_kept
    if not issubclass(kind, ModuleType):
        return False
    space = names_in(thing)
    return space.get("__annotate__") is not None and "__annotations__" not in space


def makes_annotations(thing: Any) -> bool:
    """Tell whether to ask a class or a module for annotations makes a dictionary now, since it has
    none: then they can be deleted."""
    kind = type(thing)
    if issubclass(kind, type):
        return names_in_class(thing).keys().isdisjoint(("__annotations__", "__annotations_cache__"))
    return issubclass(kind, ModuleType) and "__annotations__" not in names_in(thing)


_OF_PROPERTY: Final = tuple(vars(property)[name] for name in ("fget", "fset", "fdel"))
_FIELDS: Final[dict[type, OlderFields]] = {
    FunctionType: _of_functions(),
    type: _of_classes(),
    BaseException: _assigned(
        BaseException, "args", "__traceback__", "__context__", "__cause__", "__suppress_context__"
    ),
    property: _initialized(property, lambda one: tuple(get.__get__(one) for get in _OF_PROPERTY)),
    staticmethod: _initialized(staticmethod, lambda one: (function_in(one),)),
    classmethod: _initialized(classmethod, lambda one: (function_in(one),)),
    deque: OlderFields(
        lambda one: (vars(deque)["maxlen"].__get__(one),),
        lambda one, old, present: deque.__init__(one, (), *old),
    ),
}
"""By type.  `__code__` is not among them: explorations exchange it themselves."""


def find_fields(kind: type) -> OlderFields | None:
    """Find how the fields of objects of a type are read and written; None if there are none."""
    return next((fields for base, fields in _FIELDS.items() if issubclass(kind, base)), None)
