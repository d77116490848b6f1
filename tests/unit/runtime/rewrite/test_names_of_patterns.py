"""Names that rewritten code has beside those of the program: nobody meets them."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any

import mazurka


class Color(enum.Enum):
    RED = 1
    BLUE = 2


SHARED: Any = 0


def find(name: str) -> Any:
    """Make every name of this module one that may be bound by other means than statements."""
    return globals()[name]


def put(name: str, value: Any) -> None:
    globals()[name] = value


@dataclasses.dataclass
class Point:
    x: object
    y: object


def which(thing: Any) -> Any:
    match thing:
        case Color.RED:
            return "red"
        case Color.BLUE if thing:
            return "blue"
        case [Color.RED, x]:
            return x
        case {"a": Color.RED, **rest}:
            return rest
        case str() | Color.BLUE:
            return 0
    return None


def test_attributes_in_patterns_where_a_module_mentions_its_namespace() -> None:
    def program() -> None:
        things = (Color.RED, Color.BLUE, [Color.RED, 5], {"a": Color.RED, "b": 1}, "x", 7)
        assert [which(one) for one in things] == ["red", "blue", 5, {"b": 1}, 0, None]

    assert mazurka.explore(program, preemptions=1).verdict == "holds"


def bind_late(thing: Any) -> Any:
    x: Any = 0
    match thing:
        case [Color.RED, x]:
            pass
        case {"a": Color.RED, **x}:
            pass
        case Point(x=Color.RED, y=x):
            pass
        case (Color.RED | Color.BLUE) as x:
            pass
        case [Color.RED, *x, Color.BLUE]:
            pass
    return x


def test_names_are_bound_only_where_the_whole_pattern_matches() -> None:
    cases: list[tuple[Any, Any]] = [
        ([Color.RED, 1], 1),
        ([Color.BLUE, 1], 0),
        ({"a": Color.RED, "b": 1}, {"b": 1}),
        ({"a": 2}, 0),
        (Point(Color.RED, 3), 3),
        (Point(Color.BLUE, 4), 0),
        (Color.BLUE, Color.BLUE),
        ([Color.RED, 1, 2, Color.BLUE], [1, 2]),
        ([Color.RED, 1, 2], 0),
    ]

    def program() -> None:
        for thing, found in cases:
            assert bind_late(thing) == found

    assert mazurka.explore(program, preemptions=1).verdict == "holds"


def names_in_a_loop() -> list[list[str]]:
    seen = []
    for color in Color:
        seen.append(sorted(locals()))
        match color:
            case Color.BLUE:
                seen.append(sorted(vars()))
            case Color.RED:
                seen.append(dir())
    return seen


def names_in_a_handler() -> list[str]:
    global SHARED
    try:
        raise KeyError
    except KeyError as SHARED:  # noqa: F841
        return [*locals(), *dir()]


def members(thing: Any) -> list[str]:
    class Made(enum.Enum):
        match thing:
            case Color.RED:
                FIRST = 1
            case [Color.RED, SECOND]:
                pass
            case (Color.BLUE | None) as THIRD:
                pass

    return list(Made.__members__)


def call_own() -> Any:
    def dir() -> int:  # noqa: A001
        return 5

    def locals() -> None:  # noqa: A001
        return None

    return dir(), locals()


def test_the_program_sees_its_own_names_alone() -> None:
    def program() -> None:
        assert names_in_a_loop() == [["color", "seen"]] * 4
        assert names_in_a_handler() == []
        assert members(Color.RED) == ["FIRST"]
        assert members([Color.RED, 3]) == ["SECOND"]
        assert members(Color.BLUE) == ["THIRD"]
        assert members(5) == []
        assert call_own() == (5, None)

    result = mazurka.explore(program, preemptions=1)
    assert result.verdict == "holds"
