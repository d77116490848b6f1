"""What stands behind the one name that instrumented modules get: all that rewritten code calls."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any

from mazurka.runtime import accesses, accesses_calls, accesses_expressions

_FUNCTIONS = {
    **{
        name: getattr(accesses, name)
        for name in ("load", "store", "delete", "spot", "held", "look_cell", "touch_cell")
    },
    "cell_spot": accesses.cell_spot,
    **{
        name: getattr(accesses_expressions, name)
        for name in (
            *("item", "store_item", "delete_item", "item_spot", "held_item", "augment"),
            *("augment_attribute", "augment_item", "binary", "compared", "explanation"),
            *("tested", "whole", "each", "each_delegated"),
        )
    },
    **{name: getattr(accesses_calls, name) for name in ("made", "method", "callee", "handed")},
    "slice": slice,
}


def namespace_of(module: ModuleType) -> SimpleNamespace:
    """The functions for one module, whose globals some of them know."""
    space: dict[str, Any] = module.__dict__

    def look_global(name: str, site: int) -> None:
        accesses.look_global(module, name, site)

    def touch_global(value: Any, name: str, site: int) -> Any:
        return accesses.touch_global(value, module, name, site)

    def global_spot(name: str, site: int) -> accesses.Spot:
        return accesses.GlobalSpot(space, module, name, site)

    return SimpleNamespace(
        **_FUNCTIONS, look_global=look_global, touch_global=touch_global, global_spot=global_spot
    )
