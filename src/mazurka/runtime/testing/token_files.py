"""Find the file that a token names: to replay a token is to import this file.

A token comes from a report, a chat or an issue, and a text that looks like one can name any file.
So a file is imported only if it lies in the project directory (`find_project`), links resolved, or
if the user asks for others, too.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from mazurka.runtime.testing.collecting import split_target
from mazurka.runtime.testing.importing import SETTINGS, CollectionError

MARKS = (*SETTINGS, "setup.py", ".git", ".hg")
"""What lies in the root of a project."""
OUTSIDE = "--outside"


def locate_target(target: str, *, outside: bool = False) -> str:
    """Find the target of a token, whose path may begin at the root of the project.

    Refuse a file outside of the project directory, unless `outside` allows it."""
    path, name = split_target(target)
    here = Path.cwd()
    project = find_project(here)
    for directory in (here, *here.parents):
        found = directory / path
        if not found.is_file():
            continue
        if not outside and not found.resolve().is_relative_to(project.resolve()):
            raise CollectionError(
                f"the token would import {found.resolve()}, which is not in the project directory"
                f" {project}; if you trust that file, add {OUTSIDE}"
            )
        shown = path if directory == here else str(found)
        return shown if name is None else f"{shown}::{name}"
    raise CollectionError(
        "the token is of a test in this file, which is neither here nor in a directory above: run"
        " mazurka replay in the directory in which the test was run",
        file=path,
    )


def find_project(here: Path) -> Path:
    """Find the project directory: the nearest directory upwards with settings or a repository.

    It is the current directory where there is none, and no directory above one that belongs to
    another user, or to which others can write: they could have put such a file there."""
    for directory in (here, *here.parents):
        if any((directory / mark).exists() for mark in MARKS):
            return directory
        if not is_own(directory.parent):
            break
    return here


def is_own(directory: Path) -> bool:
    if not hasattr(os, "getuid"):
        return True
    try:
        status = directory.stat()
    except OSError:
        return False
    return status.st_uid == os.getuid() and not status.st_mode & stat.S_IWOTH
