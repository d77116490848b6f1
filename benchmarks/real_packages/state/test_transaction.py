import pytest
import transaction
from together import run_together

pytestmark = pytest.mark.mazurka


def test_thread_manager():
    """holds: the default manager is of the thread."""
    found = []

    def f():
        transaction.begin()
        found.append(transaction.get())
        transaction.commit()

    run_together(f, f)
    assert found[0] is not found[1]


def test_shared_manager():
    """violated: one manager for two: get makes two transactions."""
    tm = transaction.TransactionManager()
    found = []
    run_together(lambda: found.append(tm.get()), lambda: found.append(tm.get()))
    assert found[0] is found[1]


def test_commit_twice():
    """violated: both commit the same transaction."""
    tm = transaction.TransactionManager()
    tm.begin()
    run_together(tm.commit, tm.commit)
