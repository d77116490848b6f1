"""Bounds that a reduced search need not pass: those of queues without a bound.

A put for which the analysis has no room left is `bound`, and makes the unreduced search
inconclusive.  Where the queue's ends are independent, a search by persistent sets or transactions
takes the queue for endless and may never put into a full one (`mazurka.analysis.channels`).
"""

from __future__ import annotations

from mazurka.analysis.channels import End, find_channels
from mazurka.ir.interpreter import FaultReport
from mazurka.ir.program import Fault, Program
from mazurka.stateful.reference.full import StateSpace

ENDLESS = frozenset(
    {
        "stubborn",
        "lock-patterns",
        "ample",
        "cpc",
        "cpc-strict",
        "cycle-detection",
        "optimistic",
        "transactions",
    }
)
"""The strategies that take such queues for endless."""


def is_full_queue(program: Program, report: FaultReport) -> bool:
    """Whether a fault is a put into a queue without a bound that had no room left."""
    if report.fault is not Fault.BOUND:
        return False
    channels = find_channels(program)
    thread = max(n for n, first in enumerate(program.first_edge) if first <= report.edge)
    position = report.edge - program.first_edge[thread]
    use, related = channels.uses[thread][position], channels.of_edge[thread][position]
    if use is None or related is None or not related.of:
        return False
    return use.end is End.PUTTING and not use.waits


def kinds_beside_full_queues(program: Program, whole: StateSpace) -> set[str]:
    """The kinds of violation that are left if queues are endless; `bound` is among them."""
    kept = [fault for fault in whole.faults if not is_full_queue(program, fault[2])]
    return {str(report.fault) for _, _, report in kept} | (
        whole.kinds & {"deadlock", "hang", "race"}
    )
