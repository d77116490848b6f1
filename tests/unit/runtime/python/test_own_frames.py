"""What a program sees of Mazurka's frames: no warning, class or error is about them."""

from __future__ import annotations

import inspect
import logging
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from io import StringIO

import pytest

import mazurka
from mazurka.report.answer import HOLDS
from mazurka.runtime.core.sites import RUNTIME_FOLDER


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


def in_two_threads(work: Callable[[], None]) -> None:
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def names_in(trace: object) -> list[str]:
    return [entry.name for entry in traceback.extract_tb(trace)]  # type: ignore[arg-type]


def fail_twice() -> None:
    """Fail in C code, and once more on the way out."""
    try:
        [].pop()
    except IndexError as error:
        first = error.__traceback__
        assert first is not None
        assert first.tb_next is None
        raise


def test_a_traceback_leads_through_the_program_alone() -> None:
    seen: list[list[str]] = []

    def work() -> None:
        try:
            fail_twice()
        except IndexError as error:
            seen.append(names_in(error.__traceback__))
            seen.append(names_in(getattr(error, "__trace" + "back__")))
            seen.append(names_in(sys.exc_info()[2]))

    def program() -> None:
        seen.clear()
        in_two_threads(work)
        assert seen == [["work", "fail_twice"]] * 6

    result = mazurka.explore(program, preemptions=1)
    assert result.verdict == HOLDS, result.report()


def test_instructions_follow_frames_as_source_does() -> None:
    """Code without source, in which all that is known are instructions."""
    space: dict[str, object] = {}
    text = "def look(error, frame):\n    return error.__traceback__.tb_next, frame.f_back"
    exec(compile(text, "<made>", "exec"), space)
    look: Callable[..., tuple[object, object]] = space["look"]  # type: ignore[assignment]

    def program() -> None:
        try:
            int("x")
        except ValueError as error:
            after, above = look(error, sys._getframe())
        assert after is None
        assert inspect.isframe(above)
        assert RUNTIME_FOLDER not in above.f_code.co_filename

    result = mazurka.explore(program, preemptions=1)
    assert result.verdict == HOLDS, result.report()


def test_a_stack_leads_through_the_program_alone() -> None:
    def inner() -> None:
        assert [frame.function for frame in inspect.stack(0)][:3] == ["inner", "outer", "run"]
        assert [entry.name for entry in traceback.extract_stack()][-2:] == ["outer", "inner"]

    def outer() -> None:
        inner()

    result = mazurka.explore(lambda: in_two_threads(outer), preemptions=1)
    assert result.verdict == HOLDS, result.report()


def test_a_log_and_a_future_show_the_lines_of_the_program() -> None:
    def work() -> object:
        return {}["missing"]

    def program() -> None:
        shown = StringIO()
        log = logging.Logger("log")
        log.addHandler(logging.StreamHandler(shown))
        with ThreadPoolExecutor(1) as pool:
            try:
                pool.submit(work).result()
            except KeyError:
                log.exception("failed")
                last = names_in(sys.exc_info()[2])[-1]
        assert last == "work"
        assert RUNTIME_FOLDER not in shown.getvalue()

    result = mazurka.explore(program, preemptions=1)
    assert result.verdict == HOLDS, result.report()


MAKERS: dict[type, Callable[[list[int]], object]] = {
    enumerate: enumerate,
    zip: lambda items: zip(items, items, strict=True),
    map: lambda items: map(str, items),
    filter: lambda items: filter(None, items),
}


@pytest.mark.parametrize("kind", MAKERS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("shared", [False, True])
def test_iterators_are_of_their_own_type(kind: type, shared: bool) -> None:
    def program() -> None:
        items = [1, 2]
        made = MAKERS[kind](items)

        def work() -> None:
            mine = made if shared else MAKERS[kind](items)
            assert isinstance(mine, kind)
            assert type(mine) is kind
            assert mine.__class__ is kind
            assert repr(mine).startswith(f"<{kind.__name__} object")
            next(mine, None)  # type: ignore[call-overload]

        in_two_threads(work)

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
