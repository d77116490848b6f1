"""The interface between rewritten code and the runtime: complete, documented, and one call deep."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import threading
from pathlib import Path
from types import ModuleType

import pytest

import mazurka
import mazurka.runtime.rewrite
from mazurka.runtime.core.sites import BEGIN_ROUND
from mazurka.runtime.python import events
from mazurka.runtime.python.events import EVENTS, Events, events_of

PER_MODULE = frozenset(
    {
        *("read_global", "write_global", "delete_global", "global_target", "show_globals"),
        "define_class",
    }
)
"""Events that know the module whose code calls them."""


def parameters(function: object) -> str:
    assert callable(function)
    shown = inspect.signature(function).parameters.values()
    return ", ".join("*" * (one.kind is one.VAR_POSITIONAL) + one.name for one in shown)


def specified() -> dict[str, str]:
    """By event: the text below it in the source."""
    body = ast.parse(inspect.getsource(Events)).body[0].body[1:]  # type: ignore[attr-defined]
    return {
        one.targets[0].id: text.value.value  # type: ignore[attr-defined]
        for one, text in zip(body[::2], body[1::2], strict=True)
    }


@pytest.mark.parametrize("name", EVENTS)
def test_an_event_is_the_function_that_its_specification_says(name: str) -> None:
    event = EVENTS[name]
    assert event.__name__ == name
    if name != "slice":
        assert event.__module__.startswith("mazurka.runtime.python."), "no call in between"
        assert specified()[name].startswith(f"({parameters(event)}): ")


def test_a_module_has_the_same_events_for_its_own_variables() -> None:
    module = ModuleType("somewhere")
    events = events_of(module)
    names = {name for name in vars(events) if not name.startswith("__")}
    assert names == set(EVENTS) == set(specified())
    for name in names:
        same = getattr(events, name) is getattr(Events, name)
        assert same is (name not in PER_MODULE)
        if not same:
            assert parameters(getattr(events, name)) == parameters(EVENTS[name])


def test_the_loop_detector_knows_the_event_of_rounds() -> None:
    assert Events.begin_round.__name__ == BEGIN_ROUND


def used_by_rewriters() -> set[str]:
    """The names of events that stand in the sources of the rewriters."""
    folder = Path(mazurka.runtime.rewrite.__file__).parent
    used = set()
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "Events":
                used.add(node.attr)
    return used


def test_rewriters_use_every_event_and_no_other() -> None:
    assert used_by_rewriters() == set(EVENTS)


def test_rewriters_know_events_from_the_class_alone() -> None:
    """Anywhere else in `rewrite`, the name of an event as a string would go unchecked."""
    folder = Path(mazurka.runtime.rewrite.__file__).parent
    texts = re.compile(r"[\"'](" + "|".join(name for name in EVENTS if "_" in name) + r")[\"']")
    found = [
        f"{file.name}: {text}"
        for file in folder.rglob("*.py")
        for text in texts.findall(file.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_events_are_found_where_the_interpreter_is_fastest() -> None:
    assert type(events_of(sys)) is ModuleType


# -- arguments by name ---------------------------------------------------------------------------


def test_what_passes_calls_on_takes_its_own_arguments_by_position() -> None:
    """Any name may be one of the program's: `ast.Dict(keys=[], values=[])`."""
    taken = []
    for file in Path(events.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef) and node.args.kwarg:
                own = [one.arg for one in (*node.args.args, *node.args.kwonlyargs)]
                taken += [f"{node.name}({', '.join(own)})"] if own else []
    assert taken == ["get_static_attribute(obj, attr)"], taken  # as `inspect.getattr_static`


def test_names_of_arguments_are_the_program_s() -> None:
    def test() -> None:
        found = []
        threads = [
            threading.Thread(target=lambda: found.append(ast.Dict(keys=[], values=[])))
            for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [one.values for one in found] == [[], []]

    assert mazurka.explore(test, preemptions=0).verdict == "holds"
