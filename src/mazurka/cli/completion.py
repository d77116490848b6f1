"""What the shell offers for the values of options: `mazurka check --strategy cp<Tab>`.

A shell asks at every Tab, so nothing is imported here that takes time; names are looked up when
they are asked for, without NumPy and LLVM.  Files are completed by the shell itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

Completer = Callable[[str], list[str]]


def complete_among(names: Callable[[], Iterable[str]]) -> Completer:
    """Offer the names that begin with what is there already."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return complete


def complete_list(names: Callable[[], Iterable[str]]) -> Completer:
    """Offer names for the last part of a list with commas, without those that are in it already."""

    def complete(incomplete: str) -> list[str]:
        given = incomplete.split(",")
        before = "".join(f"{name}," for name in given[:-1])
        left = (name for name in names() if name not in given[:-1])
        return [before + name for name in left if name.startswith(given[-1])]

    return complete


def strategies() -> list[str]:
    from mazurka.search.registry import strategy_names

    return strategy_names()


def strategies_or_auto() -> list[str]:
    return ["auto", *strategies()]


def strategies_of_tests() -> Iterable[str]:
    from mazurka.runtime.exploring.options import STRATEGIES

    return STRATEGIES


def named_engines() -> Iterable[str]:
    from mazurka.search.registry import ENGINES

    return ENGINES


def engines() -> list[str]:
    from mazurka.search.registry import AUTO

    return [AUTO, *named_engines()]


def properties() -> Iterable[str]:
    from mazurka.search.options import PROPERTIES

    return PROPERTIES
