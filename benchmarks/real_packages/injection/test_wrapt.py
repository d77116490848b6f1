import pytest
import wrapt
from together import run_together

pytestmark = pytest.mark.mazurka


def test_synchronized():
    """holds: the decorator makes one lock for the function, and holds it during calls."""
    count = {"n": 0}

    @wrapt.synchronized
    def add():
        count["n"] = count["n"] + 1

    run_together(add, add)
    assert count["n"] == 2


def test_without_synchronized():
    """violated: a plain wrapper takes no lock."""
    count = {"n": 0}

    @wrapt.decorator
    def log(wrapped, instance, args, kwargs):
        return wrapped(*args, **kwargs)

    @log
    def add():
        count["n"] = count["n"] + 1

    run_together(add, add)
    assert count["n"] == 2


def test_attribute_of_a_proxy():
    """violated: the proxy hands `+=` on as a read and a write."""

    class Account:
        balance = 0

    account = Account()
    proxy = wrapt.ObjectProxy(account)

    def pay():
        proxy.balance += 1

    run_together(pay, pay)
    assert account.balance == 2
