import os

import pytest
from environs import Env
from together import run_together

pytestmark = pytest.mark.mazurka


def test_two_prefixes():
    """violated: the prefix is an attribute of the object, for all threads."""
    os.environ.update(A_NAME="a", B_NAME="b")
    env, found = Env(), []

    def read(prefix):
        with env.prefixed(prefix):
            found.append(env.str("NAME"))

    run_together(lambda: read("A_"), lambda: read("B_"))
    assert sorted(found) == ["a", "b"]


def test_read():
    """holds: the variables are only read, and each thread stores under a key of its own."""
    os.environ.update(A_NAME="a", B_NAME="b")
    env, found = Env(), []
    run_together(lambda: found.append(env.str("A_NAME")), lambda: found.append(env.str("B_NAME")))
    assert sorted(found) == ["a", "b"]
