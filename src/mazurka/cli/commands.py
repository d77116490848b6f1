"""Commands made of functions: each parameter's annotation says how it is given.

    def check(file: Annotated[str, CommandArgument("FILE", "A model.")], json: Json = False) -> int

The library of the command line parses the arguments and lays out the help.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import click

from mazurka.cli.completion import Completer, complete_among


@dataclass(frozen=True)
class CommandArgument:
    """A value that stands by itself."""

    metavar: str
    help: str
    offered: Completer | None = None


@dataclass(frozen=True)
class CommandOption:
    """A value, or a flag, that has a name."""

    names: tuple[str, ...]
    metavar: str | None
    help: str
    offered: Completer | None = None
    hidden: bool = False


class PositionalArgument(click.Argument):
    """An argument that the help of its command describes."""

    def __init__(self, name: str, meaning: str, **settings: Any) -> None:
        super().__init__([name], **settings)
        self.meaning = meaning


class Command(click.Command):
    """A command whose help describes its arguments before its options."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [
            (each.human_readable_name, each.meaning + "  [required]")
            for each in self.params
            if isinstance(each, PositionalArgument)
        ]
        if rows:
            with formatter.section("Arguments"):
                formatter.write_dl(rows)
        super().format_options(ctx, formatter)


Kind = TypeVar("Kind", bound=Command)


def make_command(kind: type[Kind], name: str, function: Callable[..., int], epilog: str) -> Kind:
    """Make a command of a function; its parameter `context`, if there is one, gets the context."""
    hints = get_type_hints(function, include_extras=True)
    given = [each for each in inspect.signature(function).parameters.values() if each.name in hints]
    parameters = [
        make_parameter(each.name, *get_args(hints[each.name]), default=each.default)
        for each in given
        if hints[each.name] is not click.Context
    ]
    with_context = len(parameters) < len(given)
    return kind(
        name,
        params=parameters,
        callback=click.pass_context(function) if with_context else function,
        help=inspect.getdoc(function),
        epilog=epilog,
    )


def make_parameter(
    name: str, annotation: Any, spec: CommandArgument | CommandOption, *, default: Any
) -> click.Parameter:
    """Make an option or an argument of a type, and how it is given."""
    settings: dict[str, Any] = {"metavar": spec.metavar, "shell_complete": completion_of(spec)}
    kinds = [kind for kind in get_args(annotation) or (annotation,) if kind is not type(None)]
    several = get_origin(kinds[0]) is list
    if isinstance(spec, CommandArgument):
        return PositionalArgument(name, spec.help, type=kinds[0], **settings)
    if kinds[0] is bool:
        settings["is_flag"] = True
    else:
        settings |= {"type": str if several else kinds[0], "multiple": several}
        settings["callback"] = _list_or_none if several else None
    return click.Option(
        [name, *spec.names],
        default=default,
        help=spec.help,
        hidden=spec.hidden,
        show_default=default != "",
        **settings,
    )


def _list_or_none(ctx: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """Return the values of an option that may be repeated; None without any."""
    return list(value) or None


def completion_of(spec: CommandArgument | CommandOption) -> Callable[..., list[Any]]:
    """Make the function that tells the shell what to offer: the words of `dfs|bfs`, files, or
    what the option says itself."""
    metavar = spec.metavar or ""
    words = metavar.split("|")
    offered = spec.offered
    if offered is None and len(words) > 1 and all(word.islower() for word in words):
        offered = complete_among(lambda: words)
    kind = next((each for each in ("file", "dir") if each.upper() in metavar), "plain")
    if metavar.startswith(("PATH", "TRACE")):
        kind = "file"

    def complete(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        if offered is not None:
            return [CompletionItem(word) for word in offered(incomplete)]
        return [] if kind == "plain" else [CompletionItem(incomplete, type=kind)]

    return complete
