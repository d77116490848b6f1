"""Classes are told apart by identity where `__hash__` or `__eq__` of a metaclass would mislead."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.runtime.observed_programs import module_of

import mazurka

SOURCE = """
import threading

class ById(type):
    def __hash__(cls):
        return id(cls) // 16

class Same(type):
    def __eq__(cls, other):
        return True
    def __hash__(cls):
        return hash(int)

class Empty(type):
    def __len__(cls):
        return 0
    def __bool__(cls):
        raise ValueError("a class is asked for its truth")

def run(meta, locked):
    Account = meta("Account", (), {"limit": 3, "__init__": lambda self: setattr(self, "n", 0)})
    Other = meta("Other", (Account,), {})
    account, lock = Account(), threading.Lock()
    def add():
        if locked:
            lock.acquire()
        account.n += Other().limit - 2
        Account.limit = 3
        if locked:
            lock.release()
    threads = [threading.Thread(target=add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert account.n == 2
    assert Account.limit == 3
"""
METACLASSES = ["ById", "Same", "Empty"]


@pytest.mark.parametrize("locked", [True, False])
@pytest.mark.parametrize("name", METACLASSES)
def test_programs_with_metaclasses_get_their_verdict(
    name: str, locked: bool, tmp_path: Path
) -> None:
    module = module_of(tmp_path, SOURCE)

    def test() -> None:
        module.run(getattr(module, name), locked)

    test.__module__ = module.__name__
    result = mazurka.explore(test, preemptions=1)
    assert result.verdict == ("holds" if locked else "violated"), result
