"""What stands behind the one name that instrumented modules get: all that rewritten code calls."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from mazurka.runtime.python import bytecode as accesses_instructions
from mazurka.runtime.python import caches as accesses_caches
from mazurka.runtime.python import calls as accesses_calls
from mazurka.runtime.python import expressions as accesses_expressions
from mazurka.runtime.python import loops as accesses_loops
from mazurka.runtime.python import turning
from mazurka.runtime.python import variables as accesses
from mazurka.runtime.python.spaces import shown_space
from mazurka.runtime.rewrite.generated import defined

_FUNCTIONS = {
    **{
        name: getattr(accesses, name)
        for name in ("load", "space", "store", "delete", "spot", "held", "look_cell", "touch_cell")
    },
    "cell_spot": accesses.cell_spot,
    **{
        name: getattr(accesses_expressions, name)
        for name in (
            *("item", "store_item", "delete_item", "item_spot", "held_item", "augment"),
            *("augment_attribute", "augment_item", "binary", "compared", "explanation"),
            *("tested", "whole", "spread", "searched", "formatted", "matched", "compared_with"),
        )
    },
    **{name: getattr(accesses_calls, name) for name in ("made", "method", "callee", "handed")},
    "handed_code": accesses_instructions.handed_code,
    **{
        name: getattr(accesses_loops, name)
        for name in ("each", "each_later", "each_delegated", "each_kept", "stepped_to")
    },
    "again": turning.again,
    "filling": accesses_caches.filling,
    "slice": slice,
}


def namespace_of(module: ModuleType) -> ModuleType:
    """The functions for one module, whose globals some of them know.

    They are kept in a module, because the interpreter is fastest to find them there.
    """
    space: dict[str, Any] = module.__dict__

    def look_global(name: str, site: int) -> None:
        accesses.look_global(module, name, site)

    def touch_global(value: Any, name: str, site: int) -> Any:
        return accesses.touch_global(value, module, name, site)

    def drop_global(name: str, site: int) -> None:
        accesses.drop_global(module, name, site)

    def shown_globals(shown: dict[str, Any]) -> dict[str, Any]:
        return shown_space(shown, module)

    def defined_here(kind: Any, line: int) -> None:
        defined(kind, line, module)

    def global_spot(name: str, site: int) -> accesses.Spot:
        return accesses.GlobalSpot(space, module, name, site)

    namespace = ModuleType(f"accesses of {module.__name__}")
    namespace.__dict__.update(
        _FUNCTIONS,
        look_global=look_global,
        touch_global=touch_global,
        drop_global=drop_global,
        global_spot=global_spot,
        shown_globals=shown_globals,
        defined=defined_here,
    )
    return namespace
