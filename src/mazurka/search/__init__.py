"""What every engine is asked and what it answers; how its strategies are found.

The package hands out the contract that engines and their callers share; the modules that act on it
(`registry`, `request`, `reading`, `races`, `resources`) are imported by name.
"""

from mazurka.search.options import (
    ORDERS,
    PROPERTIES,
    Option,
    SearchOptions,
    one_of,
    require_positive,
)
from mazurka.search.result import (
    BITSTATE,
    CUT_SHORT,
    LOST_WORKER,
    CellClass,
    ExplainedPart,
    Move,
    Round,
    SearchResult,
    Statistics,
    Violation,
)
from mazurka.search.strategy import Chosen, Observer, Silent, Strategy

__all__ = [
    "BITSTATE", "CUT_SHORT", "LOST_WORKER", "ORDERS", "PROPERTIES", "CellClass", "Chosen",
    "ExplainedPart", "Move", "Observer", "Option", "Round", "SearchOptions", "SearchResult",
    "Silent", "Statistics", "Strategy", "Violation", "one_of", "require_positive",
]  # fmt: skip
