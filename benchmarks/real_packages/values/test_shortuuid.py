import uuid

import pytest
import shortuuid
from together import run_together

pytestmark = pytest.mark.mazurka


def test_encode():
    """holds: nothing is changed."""
    su = shortuuid.ShortUUID()
    u = uuid.UUID(int=12345)
    found = []
    run_together(lambda: found.append(su.encode(u)), lambda: found.append(su.encode(u)))
    assert found[0] == found[1]
    assert su.decode(found[0]) == u


def test_set_alphabet():
    """violated: alphabet and its length are two fields."""
    su = shortuuid.ShortUUID("ab")
    found = []
    u = uuid.UUID(int=5)
    run_together(lambda: found.append(su.encode(u)), lambda: su.set_alphabet("abcd"))
    assert found[0] in (shortuuid.ShortUUID("ab").encode(u), shortuuid.ShortUUID("abcd").encode(u))


def test_random_differ():
    """holds: random names."""
    su = shortuuid.ShortUUID()
    found = []
    run_together(lambda: found.append(su.random(8)), lambda: found.append(su.random(8)))
    assert found[0] != found[1]
