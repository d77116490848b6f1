"""Every strategy on one program, side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mazurka import __version__
from mazurka.checking import (
    CheckOptions,
    check_program,
    choose_strategy,
    load_program,
    ordered,
    strategies_for,
    validate,
)
from mazurka.errors import OptionError
from mazurka.report.verdict import UNREDUCED, Verdict
from mazurka.stateful.strategy import Observer, load_strategy, strategy_names


@dataclass(frozen=True)
class Comparison:
    """One verdict a strategy; `left_out` says why a strategy has none."""

    input: str
    properties: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    left_out: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> dict[str, object]:
        return {
            "tool": "mazurka",
            "version": __version__,
            "input": self.input,
            "property": list(self.properties),
            "results": [verdict.to_json() for verdict in self.verdicts],
            "left_out": [{"strategy": name, "reason": why} for name, why in self.left_out],
            "error": None,
        }


def compare_file(
    path: str, names: tuple[str, ...] | None, options: CheckOptions, observer: Observer
) -> Comparison:
    """Run the strategies named, or all that can answer; each explores everything."""
    validate(options)
    left_out: list[tuple[str, str]] = []
    chosen: list[str] = []
    for name in names if names is not None else every_strategy():
        wanted = replace(options, strategy=name)
        try:
            choose_strategy(wanted)
            chosen.append(name)
        except OptionError as error:
            if names is not None:
                raise
            left_out.append((name, error.message))
    if not chosen:
        able = ", ".join(strategies_for(options.properties)) or "none"
        raise OptionError(f"no strategy can answer this; for these properties there are: {able}")
    program = load_program(path, options.reading)
    verdicts: list[Verdict] = []
    for name in chosen:
        if verdicts and "interrupted" in verdicts[-1].limits:
            left_out.append((name, "interrupted"))
            continue
        wanted = replace(options, strategy=name)
        verdicts.append(check_program(path, program, load_strategy(name), wanted, observer))
    return Comparison(path, ordered(options.properties), tuple(verdicts), tuple(left_out))


def every_strategy() -> list[str]:
    """All strategies, the unreduced one first: the others are measured against it."""
    return sorted(strategy_names(), key=lambda name: (name != UNREDUCED, name))
