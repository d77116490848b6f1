"""The option of all strategies that can use a cluster."""

from __future__ import annotations

from mazurka.search import Option, SearchOptions

CLUSTER = Option(
    name="cluster",
    default="",
    help="Search on a Ray cluster: its address, or auto for the one that runs, or else one of this"
    " machine alone (full, sleep-sets and those with dpor).",
    implies="full",
)


def asked_workers(options: SearchOptions) -> int | None:
    """How many workers are asked for by `--workers`; None for as many as there are processors."""
    workers = options.tuning.get("workers")
    return workers if isinstance(workers, int) else None
