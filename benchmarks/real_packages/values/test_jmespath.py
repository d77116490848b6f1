from typing import ClassVar

import jmespath
import pytest
from jmespath.parser import Parser
from together import run_together

pytestmark = pytest.mark.mazurka


def test_search():
    """holds: the cache of parsers is a dictionary that both threads fill alike."""
    found = []
    run_together(*[lambda: found.append(jmespath.search("a.b", {"a": {"b": 1}}))] * 2)
    assert found == [1, 1]


class SmallParser(Parser):
    _CACHE: ClassVar = {}
    _MAX_SIZE = 1


def test_full_cache():
    """violated: both threads make room before one of them adds, so there are two in the end."""
    SmallParser().parse("x")
    run_together(lambda: SmallParser().parse("a"), lambda: SmallParser().parse("b"))
    assert len(SmallParser._CACHE) == 1
