import tempfile

import portalocker
import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


def test_one_file():
    """holds: `flock` of two open files of one path excludes."""
    count = {"n": 0}
    with tempfile.TemporaryDirectory() as folder:

        def add():
            with portalocker.Lock(f"{folder}/lock"):
                count["n"] = count["n"] + 1

        run_together(add, add)
    assert count["n"] == 2
