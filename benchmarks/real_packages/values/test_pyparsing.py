import pytest
from pyparsing import Word
from together import run_together

pytestmark = pytest.mark.mazurka


def test_first_parse():
    """violated: a sequence says that it is streamlined before its parts are those to parse by."""
    grammar = Word("a") + Word("b") + Word("c")
    found = []

    def parse():
        found.append(grammar.parse_string("a b c").as_list())

    run_together(parse, parse)
    assert found == [["a", "b", "c"]] * 2


def test_second_parse():
    """holds: a grammar that has been used is not changed any more."""
    grammar = Word("a") + Word("b") + Word("c")
    grammar.parse_string("a b c")
    found = []

    def parse():
        found.append(grammar.parse_string("a b c").as_list())

    run_together(parse, parse)
    assert found == [["a", "b", "c"]] * 2
