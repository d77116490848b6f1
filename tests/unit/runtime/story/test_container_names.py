"""What reports call containers to which no variable leads."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import mazurka
from mazurka.runtime.core.sites import AccessSite
from mazurka.runtime.story.container_names import name_container


@pytest.mark.parametrize(
    ("role", "text", "kept", "name"),
    [
        ("call_method", "node.children.setdefault", {}, "node.children"),
        ("write_item", "parent.children[k]", {}, "parent.children"),
        ("iterate", "parent.children[k]", {}, "parent.children[k]"),
        ("apply_operator", "key in self.cache", {}, "self.cache"),
        ("apply_operator", "key not in self.cache", {}, "self.cache"),
        ("iterate", "self.jobs", [], "self.jobs"),
        ("iterate", "self.queue.jobs", [], "self.queue.jobs"),
        ("call_method", "find(x).pop", [], "find(x)"),
        ("call", "self._find_all(things, of ...", [], "self._find_all(things, of ..."),
    ],
)
def test_expressions(role: str, text: str, kept: object, name: str) -> None:
    assert name_container(AccessSite("", 1, 0, 1, 0, role), text, kept) == name


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
    def fill(self, made: list[int]) -> None:
        if "_Box__made" not in self.__dict__:
            self.__made = 1
            made.append(self.__made)


def finding_attributes() -> None:
    box: Any = Box()
    made: list[int] = []

    def fill() -> None:
        if not hasattr(box, "made"):
            box.__dict__["made"] = 1
            made.append(1)

    run_twice(fill)
    assert made == [1]


class Bus:
    __slots__ = ("receivers",)

    def __init__(self) -> None:
        self.receivers: defaultdict[str, set[int]] = defaultdict(set)

    def add(self) -> None:
        self.receivers["event"].add(len(self.receivers["event"]))


def adding_to_slots() -> None:
    bus = Bus()
    run_twice(bus.add)
    assert len(bus.receivers["event"]) == 2


def filling_privately() -> None:
    box = Box()
    made: list[int] = []
    run_twice(lambda: box.fill(made))
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


def test_private_attributes_are_called_as_the_source_has_them() -> None:
    text = mazurka.explore(filling_privately, preemptions=2).report(160)
    assert "box.__made = 1" in text
    assert "_Box__made = 1" not in text


def test_slots_and_dictionaries_of_sets_lead_to_containers() -> None:
    text = mazurka.explore(adding_to_slots, preemptions=2).report(160)
    assert "bus.receivers['event'] = {0}" in text
    assert "self.receivers" not in text.partition("lines of")[0]
