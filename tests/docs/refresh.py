"""Rewrites the outputs that the documentation shows: `python -m tests.docs.refresh`.

Outputs that are right already stay as they are, so that measured times do not change at random;
so do those that leave lines out, which a person has to look at.  Names of pages
(`docs/commands.md`) leave the others alone.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.docs.pages import (
    ELLIPSIS,
    agrees,
    blocks,
    commands,
    name_of,
    pages,
    prepare_directory,
    run,
)


def refreshed(page: Path, directory: Path) -> str:
    """The page's text with its outputs brought up to date."""
    prepare_directory(page, directory)
    lines = page.read_text(encoding="utf-8").splitlines()
    replaced: list[tuple[int, int, list[str]]] = []
    for block in blocks(page):
        if block.language != "console":
            continue
        content: list[str] = []
        for command in commands(block):
            printed = run(command.text, directory)
            keep = agrees(command.output, printed) or ELLIPSIS in command.output
            content += [f"$ {command.text}", *(command.output if keep else printed)]
        replaced.append((block.line - 1, block.line - 1 + len(block.lines), content))
    for start, end, content in reversed(replaced):
        lines[start:end] = [line.rstrip() for line in content]
    return "\n".join(lines) + "\n"


def main(names: Sequence[str]) -> None:
    for page in pages():
        if names and name_of(page) not in names:
            continue
        with tempfile.TemporaryDirectory() as directory:
            text = refreshed(page, Path(directory))
        if text != page.read_text(encoding="utf-8"):
            page.write_text(text, encoding="utf-8")
            print(f"{name_of(page)}: rewritten")


if __name__ == "__main__":
    main(sys.argv[1:])
