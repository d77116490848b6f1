"""The options that several commands share, and their translation."""

from __future__ import annotations

from typing import Annotated

import typer

from mazurka.errors import OptionError
from mazurka.frontend.registry import frontend_names

File = Annotated[str, typer.Argument(metavar="FILE", help="A Python model, or exported JSON.")]
Language = Annotated[
    str | None,
    typer.Option(
        "--language",
        metavar="NAME",
        help=f"The language of FILE: {', '.join(frontend_names())}; unless given, its name or"
        " content tells.",
    ),
]
Define = Annotated[
    list[str] | None,
    typer.Option(
        "-D", "--define", metavar="NAME=VALUE", help="Override a constant of the model; repeatable."
    ),
]
Property = Annotated[
    str,
    typer.Option(
        "--property",
        metavar="LIST",
        help="What to check, separated by commas: assert, deadlock, race."
        " Range, index and lock errors are always checked.",
    ),
]
Order = Annotated[
    str, typer.Option("--order", metavar="dfs|bfs", help="Depth-first or breadth-first.")
]
Engine = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="NAME|auto",
        help="The engine that searches; auto takes the strategy's.",
    ),
]
LimitTime = Annotated[
    float | None, typer.Option("--limit-time", metavar="S", help="Stop after this many seconds.")
]
LimitMemory = Annotated[
    float | None,
    typer.Option(
        "--limit-memory",
        metavar="MB",
        help="Stop the search at this many megabytes; 4000 unless given, less where there is less.",
    ),
]
NoMerge = Annotated[
    bool,
    typer.Option("--no-merge", help="Keep local steps apart, as the papers count states."),
]
Granularity = Annotated[
    str | None,
    typer.Option(
        "--granularity",
        metavar="instruction|line",
        help="What a step is: a single instruction, or a source line (which may hide violations);"
        " one shared access unless given.",
    ),
]
MaxThreads = Annotated[
    int, typer.Option("--max-threads", metavar="N", help="Most threads created at run time.")
]
MaxDepth = Annotated[
    int, typer.Option("--max-depth", metavar="N", help="Deepest recursion of a function.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]


def parse_definitions(given: list[str] | None) -> dict[str, str]:
    """`["N=3"]` as a mapping."""
    definitions: dict[str, str] = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        if not equals or not name.strip().isidentifier() or not value.strip():
            raise OptionError(f"-D needs NAME=VALUE, not {text!r}")
        if definitions.setdefault(name.strip(), value.strip()) != value.strip():
            raise OptionError(f"-D gives {name.strip()} two values")
    return definitions


def parse_list(text: str, what: str) -> tuple[str, ...]:
    """A comma list without repetitions; an empty one is a mistake."""
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if not names:
        raise OptionError(f"{what} needs at least one name")
    return names


def seconds(value: float | None) -> float | None:
    """A time limit; an infinite one is none."""
    return None if value == float("inf") else value


def megabytes(value: float | None) -> int | None:
    if value is None:
        return None
    if not 0 < value < 1e12:
        raise OptionError(f"--limit-memory must be a number of megabytes above 0, not {value:g}")
    return max(int(value * 1_000_000), 1)
