"""The options that strategies declare for themselves, on the command line.

They join a command only where its arguments contain something that the command does not know by
itself, or help is wanted: to list them, the declarations of all strategies are imported.
"""

from __future__ import annotations

from typing import Any

from mazurka.cli.commands import Command, CommandOption, make_parameter
from mazurka.search.registry import declared_options, load_all, strategies_with

KNOWN = "mazurka.known"
"""In a context's `meta`: all arguments are the command's own."""


class StrategyCommand(Command):
    """A command that takes the strategies' options, too; `context.obj` has those that are given."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        own = {name for parameter in self.params for name in parameter.opts}
        ctx.meta[KNOWN] = {flag_in(word) for word in args if word.startswith("-")} <= own
        return super().parse_args(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        own = super().get_params(ctx)
        return own if ctx.meta.get(KNOWN) else [*own, *strategy_parameters()]

    def invoke(self, ctx: Any) -> Any:
        own = {parameter.name for parameter in self.params}
        given = [name for name in ctx.params if name not in own and is_given(ctx, name)]
        declared = declared_options() if given else {}
        ctx.obj = {name: declared[name].read(ctx.params[name]) for name in given}
        ctx.params = {name: value for name, value in ctx.params.items() if name in own}
        return super().invoke(ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The command's own options, the strategies, and options of these, by who takes them."""
        ctx.meta[KNOWN] = True
        super().format_options(ctx, formatter)
        with formatter.section("Strategies"):
            formatter.write_dl([(strategy.name, strategy.summary) for strategy in load_all()])
        declared = declared_options()
        groups: dict[str, list[Any]] = {}
        for parameter in strategy_parameters():
            takers = ", ".join(strategies_with(declared[parameter.name]))
            groups.setdefault(takers, []).append(parameter.get_help_record(ctx))
        for strategies, records in sorted(groups.items()):
            with formatter.section(f"Options of --strategy {strategies}"):
                formatter.write_dl(records)


def is_given(ctx: Any, name: str) -> bool:
    """Whether an option was given: its default may mean something else than to leave it out."""
    source = ctx.get_parameter_source(name)
    return source is None or source.name != "DEFAULT"


def flag_in(word: str) -> str:
    """The option in a word: `--order` in `--order=bfs`, `-D` in `-DN=3`."""
    return word.partition("=")[0] if word.startswith("--") else word[:2]


def strategy_parameters() -> list[Any]:
    """The declared options as the command line's library has them: flags, and words."""
    return [
        make_parameter(
            name,
            bool if isinstance(option.default, bool) else str,
            CommandOption((option.flag,), option.metavar, option.help),
            default=option.default if isinstance(option.default, bool) else str(option.default),
        )
        for name, option in declared_options().items()
    ]
