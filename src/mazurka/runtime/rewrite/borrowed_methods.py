"""Special methods that a class has borrowed from C code: `__getattr__ = dict.__getitem__`.

The interpreter calls the special methods of a class without an event: `thing.name` comes to
`__getattr__`, `len(thing)` to `__len__`.  If they are Python functions, their code is observed.  A
class may have a callable of C code there instead: a method of another type, or one that is bound
to some object (`__len__ = items.__len__`, `__call__ = partial(f, 1)`).  For as long as an
exploration goes on, such a class has a function in its place, which makes the same call as
rewritten code would.

A built-in container's own method under its own name (`__len__ = list.__len__` in a subclass of
`list`) stays: it does what it would do if it were inherited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from operator import attrgetter, itemgetter, methodcaller
from types import CodeType, MethodWrapperType, ModuleType
from typing import Any, Final

from mazurka.runtime.core.insides import (
    function_in,
    module_of,
    names_in,
    names_in_class,
    qualified_name,
)
from mazurka.runtime.core.sites import AccessSite, number_of
from mazurka.runtime.python.calls import call
from mazurka.runtime.python.catalogue import BUILT_IN, DESCRIPTORS

_OPTIMIZED: Final = 1
"""A flag of the code of functions, which that of classes does not have."""
_CALLED: Final = frozenset(
    {*BUILT_IN, *DESCRIPTORS, MethodWrapperType, partial, attrgetter, itemgetter, methodcaller}
)
_OTHERS: Final = frozenset(
    {"__new__", "__init__", "__init_subclass__", "__class_getitem__", "__subclasshook__"}
    | {"__getattribute__", "__class__", "__set_name__", "__prepare__"}
)
"""Special names under which callables are found by other means than operators."""


def is_special(name: str) -> bool:
    """Tell whether the interpreter calls what a class has under a name."""
    return name.startswith("__") and name.endswith("__") and name not in _OTHERS


def binds_special_names(code: CodeType) -> bool:
    """Tell whether the code of a class binds special names by other means than definitions."""
    if code.co_flags & _OPTIMIZED:
        return False
    defined = {part.co_name for part in code.co_consts if isinstance(part, CodeType)}
    return any(is_special(name) and name not in _DATA | defined for name in code.co_names)


_DATA: Final = frozenset(
    {"__module__", "__qualname__", "__doc__", "__slots__", "__annotations__", "__name__"}
    | {"__match_args__", "__classcell__", "__firstlineno__", "__static_attributes__", "__dict__"}
)
"""Special names in the code of classes that stand for no methods."""


def find_class(module: ModuleType, path: str) -> type | None:
    """Find a class of a module by its qualified name."""
    names: Any = names_in(module)
    found: Any = None
    for part in path.split("."):
        found = names.get(part)
        if not issubclass(type(found), type):
            return None
        names = names_in_class(found)
    return found if qualified_name(found) == path else None


def replace_borrowed(kind: type) -> Iterator[tuple[str, Any]]:
    """Give the names of special methods that a class has borrowed, and what observes them."""
    for name, value in list(names_in_class(kind).items()):
        called = function_in(value) if type(value) is staticmethod else value
        if is_special(name) and type(called) in _CALLED and not _is_inherited(kind, name, called):
            yield name, _observe(value, called, name, _site_of(kind, name))


def _is_inherited(kind: type, name: str, value: Any) -> bool:
    """Tell whether a class has a method that it would have anyway."""
    if type(value) not in DESCRIPTORS or value.__name__ != name:
        return False
    return issubclass(kind, value.__objclass__)


def _observe(value: Any, called: Any, name: str, site: int) -> Callable[..., Any]:
    is_bound = value is not called or not hasattr(type(value), "__get__")

    def method(self: Any, /, *arguments: Any, **named: Any) -> Any:
        bound = called if is_bound else called.__get__(self, type(self))
        return call(bound, site)(*arguments, **named)

    method.__name__ = method.__qualname__ = name
    return method


_sites: dict[tuple[str, str, str], int] = {}
"""By module, class and name: the number of the place that stands for a borrowed method."""


def _site_of(kind: type, name: str) -> int:
    key = (module_of(kind), qualified_name(kind), name)
    if key not in _sites:
        _sites[key] = number_of(AccessSite(__file__, 1, 0, 1, 0, "call"))
    return _sites[key]
