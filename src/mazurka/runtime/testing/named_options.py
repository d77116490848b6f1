"""Options by name: those of `mazurka.explore`, of the marker, and of the command line over both."""

from __future__ import annotations

from dataclasses import fields, replace
from difflib import get_close_matches
from typing import Any

from mazurka.errors import OptionError
from mazurka.runtime.exploring.options import SEARCHES, STRATEGIES, ExploreOptions
from mazurka.stateless.iterative import REDUCTIONS


def guess_meaning(value: object) -> str:
    """Guess which option was meant by a value without a name."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f": preemptions={value}"
    if isinstance(value, str):
        return f": {'strategy' if value in STRATEGIES else 'instrument'}={value!r}"
    return ": preemptions=2"


def read_options(given: dict[str, Any], base: ExploreOptions | None = None) -> ExploreOptions:
    """Read options by name; refuse one that does not exist, with those that do."""
    names = {field.name for field in fields(ExploreOptions)}
    for name in given:
        if name not in names:
            close = get_close_matches(name, names, 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            known = ", ".join(sorted(names))
            raise OptionError(f"there is no option {name!r}; there are {known}{hint}")
    if "instrument" in given:
        wanted = given["instrument"]
        given = {**given, "instrument": (wanted,) if isinstance(wanted, str) else tuple(wanted)}
    return replace(base or ExploreOptions(), **given)


def read_marker(marker: Any, base: ExploreOptions | None = None) -> ExploreOptions:
    """Read the options of `@pytest.mark.mazurka(...)`."""
    if marker.args:
        raise OptionError(
            f"the marker mazurka takes options by name{guess_meaning(marker.args[0])}"
        )
    return read_options(dict(marker.kwargs), base)


def refuse_useless(given: dict[str, Any]) -> None:
    """Refuse options of the command line that no test could have.  A seed may be for tests that say
    themselves that their schedules are random."""
    takes_seed = "strategy" in given
    read_options({name: given[name] for name in given if name != "seed" or takes_seed})


def override_options(own: ExploreOptions, given: dict[str, Any]) -> ExploreOptions:
    """Let the options of the command line take the place of a test's own.

    Several processes are for one strategy only, a seed is for others, and some have no bound on
    preemptions; a test whose strategy does not take one of these goes without it, or no session
    could have it that has both kinds of tests.  So does a test that is given another strategy than
    its own.
    """
    strategy = given.get("strategy", own.strategy)
    useless = {"seed"} if strategy in SEARCHES else set()
    if strategy != "algorithm2":
        useless.add("workers")
    if strategy in REDUCTIONS:
        useless.add("preemptions")
    if "strategy" in given:
        kept = {name: getattr(ExploreOptions(), name) for name in useless if name not in given}
        own = replace(own, **kept, strategy=strategy) if kept else own
    else:
        given = {name: value for name, value in given.items() if name not in useless}
    if "instrument" in given:
        given = {**given, "instrument": dict.fromkeys((*own.instrument, *given["instrument"]))}
    return read_options(given, own)
