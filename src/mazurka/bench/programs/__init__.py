"""Twenty small programs with threads, each with the answer that is right.

They are ordinary Python and know nothing of the tools that run them.  Each file has a function
`test` that starts the threads, and its parts for tools that start threads themselves: `State`,
`WORKERS` and `holds`.  It is run from a copy in a directory of its own, as a user's file would be.

Paper 001's work-stealing queue, `work_stealing.py`, is not one of the twenty.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

DIRECTORY = Path(__file__).parent


@dataclass(frozen=True)
class Program:
    name: str
    title: str
    failure: str | None = None
    """What goes wrong in some schedule with at most two preemptions; None if nothing ever does."""

    @property
    def file(self) -> Path:
        return DIRECTORY / f"{self.name}.py"


PROGRAMS = (
    Program("lock_order", "locks in opposite orders, if an owner is seen", "deadlock"),
    Program("event_before_write", "Event set before the write", "assert"),
    Program("inner_pool", "ThreadPoolExecutor inside a thread", "assert"),
    Program("lost_wakeup", "Condition: a wake-up is lost", "deadlock"),
    Program("module_lock", "a lock at module level"),
    Program("spin_loop", "a loop that waits for a flag"),
    Program("queue_sentinel", "Queue: producer and consumer"),
    Program("queue_empty", "Queue: empty() and then get()", "deadlock"),
    Program("barrier_phases", "Barrier between two phases"),
    Program("condition_if", "Condition: if instead of while", "exception"),
    Program("lazy_initialization", "double-checked initialization", "assert"),
    Program("bank_transfer", "transfers that order their locks"),
    Program("bounded_pool", "Semaphore that lets two of three in"),
    Program("reader_writer", "a writer that does not lock readers out", "assert"),
    Program("future_results", "Futures that wait for each other's results"),
    Program("timer_cancel", "Timer: cancelled too late", "assert"),
    Program("check_then_act", "dict: look, then fill", "assert"),
    Program("append_and_len", "list: append, then len", "assert"),
    Program("closure_counter", "nonlocal counter", "assert"),
    Program("module_counter", "global counter", "assert"),
)
