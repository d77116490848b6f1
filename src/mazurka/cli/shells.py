"""Installs completion in the shell that the user has."""

from __future__ import annotations

import os
from pathlib import Path

import click

from mazurka.cli.failures import COMPLETING
from mazurka.errors import OptionError

LINES = {
    "bash": (".bashrc", f'eval "$({COMPLETING}=bash_source mazurka)"'),
    "zsh": (
        ".zshrc",
        f'autoload -Uz compinit && compinit && eval "$({COMPLETING}=zsh_source mazurka)"',
    ),
    "fish": (".config/fish/completions/mazurka.fish", f"{COMPLETING}=fish_source mazurka | source"),
}
"""For each shell a file that it reads, and the line there that installs completion."""


def find_shell() -> str:
    """Return the name of the user's shell."""
    name = Path(os.environ.get("SHELL", "")).name
    if name not in LINES:
        raise OptionError(f"completion is for {', '.join(LINES)}; $SHELL does not name one of them")
    return name


def write_script(app: click.Command, shell: str) -> str:
    """Write the commands that teach a shell to complete."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    return kind(app, {}, "mazurka", COMPLETING).source()


def install_completion() -> str:
    """Add a line to a file of the user's shell, unless it is there; say what was done."""
    shell = find_shell()
    name, line = LINES[shell]
    file = Path.home() / name
    text = file.read_text("utf-8") if file.exists() else ""
    if line not in text.splitlines():
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as opened:
            opened.write(("" if not text or text.endswith("\n") else "\n") + line + "\n")
    return f"{shell} completes mazurka in new terminals, by a line in {file}"
