"""What a program sees of Mazurka's frames: no warning, class or error is about them."""

from __future__ import annotations

import sys
import threading
import warnings

import mazurka
from mazurka.report.answer import HOLDS


def warn_from_here() -> None:
    warnings.warn("of the caller", stacklevel=2)


def test_a_warning_is_about_the_line_that_warns() -> None:
    def program() -> None:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            warnings.warn("here", stacklevel=1)
            warn_from_here()
            warnings.warn("there", UserWarning, 2)
            warnings.warn("nowhere", stacklevel=1000)
        line = program.__code__.co_firstlineno
        assert [one.filename for one in found[:2]] == [__file__, __file__]
        assert [one.lineno - line for one in found[:2]] == [3, 4]
        assert found[2].filename != __file__
        assert "mazurka" not in found[3].filename

    result = mazurka.explore(program, preemptions=1)
    assert result.verdict == HOLDS, result.report()


def test_a_filter_finds_the_module_that_warns() -> None:
    def program() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.filterwarnings("error", module=__name__.replace(".", "[.]"))
            warnings.warn("an error here", stacklevel=1)

    assert mazurka.explore(program, preemptions=1).verdict == "violated"


def test_a_class_belongs_to_the_module_that_makes_it() -> None:
    def program() -> None:
        made = type("Made", (), {"n": 1})
        named = type("Named", (), {"__module__": "elsewhere"})
        assert (made.__module__, named.__module__) == (__name__, "elsewhere")

    result = mazurka.explore(program, preemptions=1)
    assert result.verdict == HOLDS, result.report()


def test_recursion_that_is_too_deep_to_be_observed_is_an_error() -> None:
    def flatten(items: list[object]) -> list[object]:
        found: list[object] = []
        for each in (flatten(one) if isinstance(one, list) else [one] for one in items):
            found += each
        return found

    def program() -> None:
        nested: list[object] = [1]
        for _ in range(sys.getrecursionlimit() // 3):
            nested = [nested]
        thread = threading.Thread(target=flatten, args=(nested,))
        thread.start()
        thread.join()

    result = mazurka.explore(program, preemptions=1)
    assert result.verdict == "error"
    assert "no frames are left to observe them with" in str(result.error)
