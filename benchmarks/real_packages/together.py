"""Start threads, and wait for them: what almost every test here does."""

from __future__ import annotations

import threading
from collections.abc import Callable


def run_together(*calls: Callable[[], object]) -> None:
    """Run each call in a thread of its own, and return when all have ended."""
    threads = [threading.Thread(target=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
