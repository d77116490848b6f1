"""What reports call containers to which no variable leads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import mazurka
from mazurka.runtime.core.sites import AccessSite
from mazurka.runtime.story.container_names import name_container


@pytest.mark.parametrize(
    ("text", "kept", "name"),
    [
        ("node.children.setdefault", {}, "node.children"),
        ("parent.children[k]", {}, "parent.children"),
        ("key in self.cache", {}, "self.cache"),
        ("key not in self.cache", {}, "self.cache"),
        ("self.jobs", [], "self.jobs"),
        ("self.queue.jobs", [], "self.queue.jobs"),
        ("find(x).pop", [], "find(x)"),
        ("self._find_all(things, of ...", [], "self._find_all(things, of ..."),
    ],
)
def test_expressions(text: str, kept: object, name: str) -> None:
    assert name_container(AccessSite("", 1, 0, 1, 0, "call"), text, kept) == name


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("if not hasattr(box, 'made'):", "box.__dict__"),
        ("return len(self.jobs)", "self.jobs"),
        ("return len(find(1))", "len"),
    ],
)
def test_functions_of_their_first_argument(tmp_path: Path, line: str, name: str) -> None:
    file = tmp_path / "source.py"
    file.write_text(f"{line}\n")
    function = "hasattr" if "hasattr" in line else "len"
    column = line.index(function)
    site = AccessSite(str(file), 1, column, 1, column + len(function), "call")
    assert name_container(site, site.text, {}) == name


class Box:
    pass


def finding_attributes() -> None:
    box: Any = Box()
    made: list[int] = []

    def fill() -> None:
        if not hasattr(box, "made"):
            box.__dict__["made"] = 1
            made.append(1)

    run_twice(fill)
    assert made == [1]


def run_twice(body: Callable[[], None]) -> None:
    threads = [threading.Thread(target=body) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_an_entry_of_the_dictionary_of_an_object_is_its_attribute() -> None:
    text = mazurka.explore(finding_attributes, preemptions=2).report(160)
    assert "check then act: Thread-1 finds no box.made at line" in text
    assert "sets it to 1 in between" in text
