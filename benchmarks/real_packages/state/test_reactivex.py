import pytest
from reactivex import operators
from reactivex.subject import Subject
from together import run_together

pytestmark = pytest.mark.mazurka


def test_two_on_next():
    """holds: a subject copies its observers under its lock, and calls them."""
    subject = Subject()
    heard = []
    subject.subscribe(heard.append)
    run_together(lambda: subject.on_next(1), lambda: subject.on_next(2))
    assert sorted(heard) == [1, 2]


def test_scan():
    """violated: observers are called without the lock, and `scan` keeps its sum in a variable."""
    subject = Subject()
    sums = []
    subject.pipe(operators.scan(lambda total, number: total + number, 0)).subscribe(sums.append)
    run_together(lambda: subject.on_next(1), lambda: subject.on_next(2))
    assert sorted(sums)[1] == 3


def test_two_subscribe():
    """holds: observers are added under the lock."""
    subject = Subject()
    heard = []
    run_together(lambda: subject.subscribe(heard.append), lambda: subject.subscribe(heard.append))
    subject.on_next(1)
    assert heard == [1, 1]
