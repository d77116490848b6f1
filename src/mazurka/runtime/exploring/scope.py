"""What a verdict covers, in a sentence, so that nobody takes it for more."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import EXTENSION_SUFFIXES
from typing import Final

from mazurka.report.answer import HOLDS, VIOLATED
from mazurka.report.words import counted
from mazurka.runtime.core.insides import is_module
from mazurka.runtime.exploring.options import ExploreOptions
from mazurka.stateless.explored import Explored

NAMED = {"time": "the time limit was hit", "interrupted": "it was interrupted"}


def describe_bound(bound: int | None) -> str:
    if bound is None:
        return "all executions"
    if bound == 0:
        return "all executions without preemptions"
    return f"all executions with at most {counted(bound, 'preemption')}"


def describe_scope(
    verdict: str, explored: Explored, options: ExploreOptions, not_observed: Sequence[str]
) -> str:
    """Say what a verdict covers: `all executions with at most 2 preemptions; 46 partial orders`."""
    parts = [_describe_extent(verdict, explored, options)]
    if not_observed:
        parts.append(f"not observed: {', '.join(not_observed)}{_advise(not_observed)}")
    return "; ".join(parts)


def _advise(names: Sequence[str]) -> str:
    """Say how to have some of what was not observed observed, as far as it is Python code."""
    found = [name for name in names if _is_python(name)]
    if not found:
        return ""
    if len(names) == 1:
        return f" (--instrument {names[0]} watches it)"
    name = found[0] if len(found) == 1 else "NAME"
    return f" (--instrument {name} watches {', '.join(found)})"


def _is_python(name: str) -> bool:
    """Whether something is a module, or a package, of Python alone; state that C code keeps, or the
    system, cannot be watched."""
    file = getattr(sys.modules.get(name), "__file__", None)
    if not (isinstance(file, str) and file.endswith(".py")) or name in _OUTSIDE:
        return False
    if name in sys.stdlib_module_names:
        return f"_{name}" not in sys.stdlib_module_names
    files = (
        getattr(module, "__file__", None)
        for other, module in list(sys.modules.items())
        if other.startswith(f"{name}.") and is_module(module)
    )
    return not any(isinstance(file, str) and file.endswith(_COMPILED) for file in files)


_COMPILED: Final = tuple(EXTENSION_SUFFIXES)
_OUTSIDE: Final = frozenset(
    {
        *("os", "pathlib", "shutil", "tempfile", "glob", "fileinput", "linecache", "subprocess"),
        *("platform", "getpass", "http", "urllib", "socketserver", "smtplib", "dbm", "shelve"),
    }
)
"""Modules of Python code that are about what is outside of the process."""


def _describe_extent(verdict: str, explored: Explored, options: ExploreOptions) -> str:
    count = explored.executions
    if options.sampled:
        random = counted(count, "random schedule")
        return f"{random} run, seed {options.seed}; nothing is claimed of others"
    what = counted(count, "schedule" if options.strategy == "cb-dfs" else "partial order")
    once = f"{what}, {'run once' if count == 1 else 'each run once'}"
    level = explored.levels[-1] if explored.levels else None
    if verdict == HOLDS:
        bound = None if level is None or explored.exhaustive else level.bound
        return f"{describe_bound(bound)}; {once}"
    before = [level for level in explored.levels if level.complete]
    done = f"; nothing found among {describe_bound(before[-1].bound)}" if before else ""
    if verdict == VIOLATED:
        return f"{once} until the failure{done}"
    why = " and ".join(_describe_limit(limit) for limit in explored.limits)
    return f"{once}, then {why}{done}"


def _describe_limit(name: str) -> str:
    """Say which limit has ended a search."""
    number, _, unit = name.partition(" ")
    if unit in ("run", "runs"):
        most = "execution" if number == "1" else "executions"
        return f"the limit of {number} {most} was hit"
    return NAMED.get(name, name)
