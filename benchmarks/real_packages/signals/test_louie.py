import louie
import pytest
from louie import dispatcher
from together import run_together

pytestmark = pytest.mark.mazurka


def first():
    return 1


def second():
    return 2


def test_first_receivers():
    """violated: both find no dictionary for the sender, and store one each."""
    dispatcher.reset()
    run_together(lambda: louie.connect(first, "signal"), lambda: louie.connect(second, "signal"))
    assert sorted(answer for _, answer in louie.send("signal")) == [1, 2]


def test_send():
    """holds: the receivers are only read."""
    dispatcher.reset()
    louie.connect(first, "signal")
    found = []
    run_together(
        lambda: found.append(louie.send("signal")), lambda: found.append(louie.send("signal"))
    )
    assert [answer for answers in found for _, answer in answers] == [1, 1]
