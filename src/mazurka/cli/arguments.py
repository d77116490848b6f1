"""The options that several commands share, and their translation."""

from __future__ import annotations

from typing import Annotated

from mazurka.cli.commands import CommandArgument, CommandOption
from mazurka.cli.completion import (
    Completer,
    complete_among,
    complete_list,
    engines,
    properties,
)
from mazurka.errors import OptionError
from mazurka.frontend.registry import frontend_names
from mazurka.search import one_of


def option(form: str, text: str, offered: Completer | None = None) -> CommandOption:
    """Make an option of a command from how it is written: `-D --define NAME=VALUE`.

    The shell offers the words of `dfs|bfs`, and files, by itself, other values by `offered`.
    """
    words = form.split()
    names = tuple(word for word in words if word.startswith("-"))
    metavar = words[-1] if len(names) < len(words) else None
    return CommandOption(names, metavar, text, offered)


File = Annotated[str, CommandArgument("FILE", "A Python model, a C program, or exported JSON.")]
Language = Annotated[
    str | None,
    option(
        "--language NAME",
        f"The language of FILE: {', '.join(frontend_names())}; unless given, its name or"
        " content tells.",
        complete_among(frontend_names),
    ),
]
Define = Annotated[
    list[str] | None,
    option("-D --define NAME=VALUE", "Override a constant of the model; repeatable."),
]
UsualProperty = Annotated[
    str | None,
    option(
        "--property LIST",
        "What to check, separated by commas: assert, deadlock, hang, race; the first three unless"
        " given, hang only if the strategy can. Range, index and lock errors are always checked.",
        complete_list(properties),
    ),
]
Order = Annotated[str, option("--order dfs|bfs", "Depth-first or breadth-first.")]
Engine = Annotated[
    str,
    option(
        "--engine NAME|auto",
        "The engine that searches; auto takes the strategy's.",
        complete_among(engines),
    ),
]
LimitTime = Annotated[float | None, option("--limit-time S", "Stop after this many seconds.")]
LimitMemory = Annotated[
    float | None,
    option(
        "--limit-memory MB",
        "Stop the search at this many megabytes; 4000 unless given, less where there is less.",
    ),
]
NoSymmetry = Annotated[
    bool,
    option(
        "--no-symmetry",
        "Tell alike threads apart: keep states that differ only in the numbers of threads which"
        " run the same code.",
    ),
]
NoMerge = Annotated[
    bool, option("--no-merge", "Keep local steps apart, as the papers count states.")
]
Granularity = Annotated[
    str | None,
    option(
        "--granularity instruction|line",
        "What a step is: a single instruction, or a source line (which may hide violations);"
        " one shared access unless given.",
    ),
]
MaxThreads = Annotated[int, option("--max-threads N", "Most threads created at run time.")]
MaxDepth = Annotated[int, option("--max-depth N", "Deepest recursion of a function.")]
Model = Annotated[
    str, option("--model ilp32|lp64", "For C: the width of long and of pointers, 32 or 64 bits.")
]
Heap = Annotated[
    int, option("--heap N", "For C: most objects that each place in the code allocates.")
]
Overflow = Annotated[bool, option("--overflow", "For C: signed overflow is an error.")]
Json = Annotated[bool, option("--json", "Print one JSON object on stdout.")]

Form = Annotated[
    str,
    option(
        "--format text|json|svg",
        "What to print: text, one JSON object as with --json, or a sequence chart of the"
        " counterexample.",
    ),
]
FORMS = ("text", "json", "svg")


def choose_form(form: str, json: bool) -> str:
    """What to print; `--json` is short for one of the forms."""
    one_of("format", form, FORMS)
    if json and form == "svg":
        raise OptionError("--json and --format svg both say what to print; give one of them")
    return "json" if json else form


def parse_definitions(given: list[str] | None, path: str) -> dict[str, str]:
    """`["N=3"]` as a mapping; for a C program `N` is short for `N=1`, as for compilers."""
    definitions: dict[str, str] = {}
    for text in given or []:
        if path.endswith((".c", ".h")) and text.strip().isidentifier():
            text = f"{text}=1"
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
