import pytest
from pydispatch import dispatcher
from together import run_together

pytestmark = pytest.mark.mazurka


def clear_tables():
    for table in (dispatcher.connections, dispatcher.senders, dispatcher.sendersBack):
        table.clear()


def test_two_connect():
    """violated: both threads find no list for the signal, and one list replaces the other."""
    clear_tables()
    heard = []

    def first():
        heard.append(1)

    def second():
        heard.append(2)

    run_together(
        lambda: dispatcher.connect(first, signal="s", weak=False),
        lambda: dispatcher.connect(second, signal="s", weak=False),
    )
    dispatcher.send("s")
    assert sorted(heard) == [1, 2]


def test_two_send():
    """holds: `send` reads the tables, and calls."""
    clear_tables()
    heard = []

    def receiver(number):
        heard.append(number)

    dispatcher.connect(receiver, signal="s", weak=False)
    run_together(
        lambda: dispatcher.send("s", number=1),
        lambda: dispatcher.send("s", number=2),
    )
    assert sorted(heard) == [1, 2]
