"""Twenty small programs with threads, each with the answer that is right.

They are ordinary Python and know nothing of the tools that run them.  Each file says what the
threads share (`State`), what they do (`WORKERS`), and what is right in the end (`holds`).  The test
in `starting.py` makes a run of that; some tools start threads themselves and need the parts alone.
A program is run from a copy in a directory of its own, as a user's file would be.

Paper 001's work-stealing queue, `work_stealing.py`, is not one of the twenty.
"""

from __future__ import annotations

import shutil
from pathlib import Path

DIRECTORY = Path(__file__).parent
TEST_FILE = "starting.py"
PROGRAMS: dict[str, tuple[str, str | None]] = {
    "lock_order": ("locks in opposite orders, if an owner is seen", "deadlock"),
    "event_before_write": ("Event set before the write", "assert"),
    "inner_pool": ("ThreadPoolExecutor inside a thread", "assert"),
    "lost_wakeup": ("Condition: a wake-up is lost", "deadlock"),
    "module_lock": ("a lock at module level", None),
    "spin_loop": ("a loop that waits for a flag", None),
    "queue_sentinel": ("Queue: producer and consumer", None),
    "queue_empty": ("Queue: empty() and then get()", "deadlock"),
    "barrier_phases": ("Barrier between two phases", None),
    "condition_if": ("Condition: if instead of while", "exception"),
    "lazy_initialization": ("double-checked initialization", "assert"),
    "bank_transfer": ("transfers that order their locks", None),
    "bounded_pool": ("Semaphore that lets two of three in", None),
    "reader_writer": ("a writer that does not lock readers out", "assert"),
    "future_results": ("Futures that wait for each other's results", None),
    "timer_cancel": ("Timer: cancelled too late", "assert"),
    "check_then_act": ("dict: look, then fill", "assert"),
    "append_and_len": ("list: append, then len", "assert"),
    "closure_counter": ("nonlocal counter", "assert"),
    "module_counter": ("global counter", "assert"),
}
"""What each is about, and what goes wrong in some schedule with at most two preemptions; None if
nothing ever does."""


def copy_program(program: Path, directory: str | Path) -> Path:
    """Copy a program and the test that starts its threads; returns where the program is now."""
    shutil.copy(DIRECTORY / TEST_FILE, directory)
    return Path(shutil.copy(program, Path(directory, "program.py")))
