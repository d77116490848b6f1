import pytest
import zope.event
from together import run_together

pytestmark = pytest.mark.mazurka


def test_two_notify():
    """holds: `notify` only reads the list of subscribers."""
    zope.event.subscribers.clear()
    heard = []
    zope.event.subscribers.append(heard.append)
    run_together(lambda: zope.event.notify(1), lambda: zope.event.notify(2))
    assert sorted(heard) == [1, 2]


def test_unsubscribe_beside_notify():
    """violated: `notify` goes through the list itself; a removal makes it skip the next one."""
    zope.event.subscribers.clear()
    heard = []

    def leaving(event):
        pass

    zope.event.subscribers.extend([leaving, heard.append])
    run_together(lambda: zope.event.notify(1), lambda: zope.event.subscribers.remove(leaving))
    assert heard == [1]
