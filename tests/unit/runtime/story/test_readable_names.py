"""Names and values in the table of steps: classes made by the test, and values longer than a
column."""

from __future__ import annotations

import threading

import mazurka
from mazurka.runtime.story.labels import simplify_name


def make() -> type:
    class Local:
        count = 0

    return Local


def counting_in_classes() -> None:
    classes = [make(), make()]

    def work() -> None:
        for one in classes:
            one.count += 1  # type: ignore[attr-defined]

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert classes[0].count == 2  # type: ignore[attr-defined]


def test_classes_of_the_test_are_called_as_its_variables() -> None:
    text = mazurka.explore(counting_in_classes, preemptions=2).report(160)
    assert "classes[0].count ➜ 0" in text
    assert "classes[1].count = 1" in text
    assert "builtins.type" not in text
    assert "read one.count" not in text


def test_objects_that_are_not_told_apart_have_readable_names() -> None:
    assert simplify_name("any builtins.type.count") == "a local class.count"
    assert simplify_name("any package.module.Node.next") == "any Node.next"
    assert simplify_name("box.value") == "box.value"


def writing_long_values() -> None:
    texts = {"key": ""}

    def work() -> None:
        texts["key"] = texts["key"] + "abcdefgh " * 4

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(texts["key"]) == 72


def test_long_values_are_not_cut_off_at_the_edge_of_a_column() -> None:
    result = mazurka.explore(writing_long_values, preemptions=2)
    for width in (80, 100, 200):
        text = result.report(width)
        assert "abcdefgh abcdefgh abcdefgh abcdefgh '" in " ".join(text.split())
        for line in text.splitlines():
            assert len(line) <= width or line.startswith("  mazurka replay "), line
