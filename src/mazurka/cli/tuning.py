"""The options that strategies declare for themselves, on the command line.

They join a command only where its arguments contain something that the command does not know by
itself, or help is wanted: to list them, the declarations of all strategies are imported.
"""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

KNOWN = "mazurka.known"
"""In a context's `meta`: all arguments are the command's own."""


class StrategyCommand(TyperCommand):
    """A command that takes the strategies' options, too; `context.obj` has those that are given."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        own = {name for parameter in self.params for name in parameter.opts}
        flags = {word.partition("=")[0] for word in args if word.startswith("-")}
        ctx.meta[KNOWN] = flags <= own
        return super().parse_args(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        own = super().get_params(ctx)
        return own if ctx.meta.get(KNOWN) else [*own, *strategy_parameters()]

    def invoke(self, ctx: Any) -> Any:
        own = {parameter.name for parameter in self.params}
        ctx.obj = {name: ctx.params.pop(name) for name in list(ctx.params) if name not in own}
        return super().invoke(ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The command's own options, and then those of strategies, by who takes them."""
        ctx.meta[KNOWN] = True
        super().format_options(ctx, formatter)
        groups: dict[str, list[Any]] = {}
        for parameter in strategy_parameters():
            groups.setdefault(takers(parameter.name), []).append(parameter.get_help_record(ctx))
        for strategies, records in sorted(groups.items()):
            with formatter.section(f"Options of --strategy {strategies}"):
                formatter.write_dl(records)


def takers(name: str) -> str:
    from mazurka.search.registry import declared_options, strategies_with

    return ", ".join(strategies_with(declared_options()[name]))


def strategy_parameters() -> list[Any]:
    """The declared options as the command line's library has them.

    It makes parameters from a function's signature, so it is given a function with that signature.
    """
    from mazurka.search.registry import declared_options

    def declared() -> None: ...

    hints = {
        name: Annotated[
            type(option.default),
            typer.Option(option.flag, metavar=option.metavar, help=option.help),
        ]
        for name, option in declared_options().items()
    }
    declared.__annotations__ = hints
    vars(declared)["__signature__"] = inspect.Signature(
        [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=declared_options()[name].default,
                annotation=hint,
            )
            for name, hint in hints.items()
        ]
    )
    app = typer.Typer(add_completion=False)
    app.command()(declared)
    return list(vars(typer.main.get_command(app))["params"])
