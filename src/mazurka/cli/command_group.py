"""The command that has the others: a file where a command should stand is told which one to use."""

from __future__ import annotations

import os
import shlex
from typing import Any

import click

from mazurka.errors import OptionError

SUFFIXES = (".py", ".json")


class CommandGroup(click.Group):
    """`mazurka five.py` asks whether `mazurka check five.py` was meant."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)  # the usual ones first

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in self.commands and is_file_name(args[0]):
            meant = shlex.join(["mazurka", command_for(args[0]), *args])
            raise OptionError(f"{args[0]!r} is not a command; did you mean `{meant}`?")
        return super().resolve_command(ctx, args)


def is_file_name(word: str) -> bool:
    """Whether a word means a file, there or not; an option does not."""
    name = word.partition("::")[0]
    return not word.startswith("-") and (name.endswith(SUFFIXES) or os.path.exists(name))


def command_for(word: str) -> str:
    """The command that a file is for, by its name: tests are named as pytest wants it."""
    path, _, test = word.partition("::")
    name = os.path.basename(path)
    is_test = bool(test) or name.startswith("test_") or name.endswith("_test.py")
    return "test" if is_test or os.path.isdir(path) else "check"
