"""Rewrites the outputs that the documentation shows: `python -m tests.docs.refresh`.

Outputs that are right already stay as they are, and so do the figures of lines in which only these
differ: measured times do not change at random.  `--measure` takes these anew, too, on a machine
with nothing else to do.  Outputs that leave lines out stay; a person has to look at them.  Names of
pages (`docs/commands.md`) leave the others alone.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.docs.pages import (
    ELLIPSIS,
    MEASURED,
    agrees,
    blocks,
    commands,
    name_of,
    normalised,
    pages,
    prepare_directory,
    run,
)

MEASURE = "--measure"


def refreshed(page: Path, directory: Path, *, measure: bool) -> str:
    """The page's text with its outputs brought up to date, and measured anew if asked for."""
    prepare_directory(page, directory)
    lines = page.read_text(encoding="utf-8").splitlines()
    replaced: list[tuple[int, int, list[str]]] = []
    for block in blocks(page):
        if block.language != "console":
            continue
        content: list[str] = []
        for command in commands(block):
            printed = run(command.text, directory)
            if ELLIPSIS in command.output:
                shown: Sequence[str] = command.output
            elif measure:
                shown = printed
            elif agrees(command.output, printed):
                shown = command.output
            else:
                shown = keep_measured(command.output, printed)
            content += [f"$ {command.text}", *shown]
        replaced.append((block.line - 1, block.line - 1 + len(block.lines), content))
    for start, end, content in reversed(replaced):
        lines[start:end] = [line.rstrip() for line in content]
    return "\n".join(lines) + "\n"


def keep_measured(shown: Sequence[str], printed: Sequence[str]) -> list[str]:
    """What was printed, with the figures that the page has already where only these differ."""
    known = {normalised((line,))[0]: line for line in shown}
    return [take_figures(known.get(normalised((line,))[0], line), line) for line in printed]


def take_figures(old: str, new: str) -> str:
    """A line with the measured figures of another one, unless it would become longer or shorter."""
    for pattern, _ in MEASURED:
        for there, here in zip(pattern.finditer(new), pattern.finditer(old), strict=False):
            if len(there[0]) == len(here[0]):  # so that positions further on stay right
                new = new[: there.start()] + here[0] + new[there.end() :]
    return new


def main(arguments: Sequence[str]) -> None:
    names = [argument for argument in arguments if argument != MEASURE]
    for page in pages():
        if names and name_of(page) not in names:
            continue
        with tempfile.TemporaryDirectory() as directory:
            text = refreshed(page, Path(directory), measure=MEASURE in arguments)
        if text != page.read_text(encoding="utf-8"):
            page.write_text(text, encoding="utf-8")
            print(f"{name_of(page)}: rewritten")


if __name__ == "__main__":
    main(sys.argv[1:])
