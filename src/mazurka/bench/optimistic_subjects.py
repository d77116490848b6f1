"""The four programs of paper 002's experiments, as models, with the memory that the paper reports.

The paper's programs were Java, searched by Java PathFinder; their sources are not public.  The
models are written from its one-line descriptions, so only the shape of the table can be compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mazurka.bench.subjects import MODELS
from mazurka.errors import OptionError


@dataclass(frozen=True)
class Published:
    """A row of the paper's table: memory in MB at three granularities, and two ratios."""

    instruction: float
    line: float
    reduced: float
    instruction_ratio: float
    line_ratio: float
    out_of_memory: bool = False
    """The search by instructions (bytecodes) did not finish: its memory and ratio are more."""

    def to_json(self) -> dict[str, object]:
        return {
            "megabytes": {
                "instruction": self.instruction,
                "line": self.line,
                "reduced": self.reduced,
            },
            "instruction_ratio": self.instruction_ratio,
            "line_ratio": self.line_ratio,
            "instruction_complete": not self.out_of_memory,
        }


@dataclass(frozen=True)
class Subject:
    name: str
    title: str
    quick: Mapping[str, int]
    """Constants for a run of a fraction of a second."""
    published: Published

    @property
    def path(self) -> Path:
        return MODELS / f"optimistic_{self.name}.py"


SUBJECTS = (
    Subject(
        "halt_exception",
        "HaltException",
        {"WORKERS": 2, "COUNTS": 2, "TARGET": 3},
        Published(45.9, 4.3, 2.1, 22, 2.0),
    ),
    Subject(
        "clean",
        "Clean",
        {"ITEMS": 2},
        Published(8.2, 3.6, 2.3, 3.6, 1.6),
    ),
    Subject(
        "xtango_dp",
        "Xtango-DP",
        {"N": 2},
        Published(1800, 609, 236, 7.6, 2.6, out_of_memory=True),
    ),
    Subject(
        "xtango_qs",
        "Xtango-QS",
        {"N": 5, "PICTURES": 1},
        Published(1800, 346, 91, 20, 3.8, out_of_memory=True),
    ),
)


def select(only: str | None) -> tuple[Subject, ...]:
    """All subjects, or the one that is named."""
    if only is None:
        return SUBJECTS
    wanted = only.replace("-", "_").lower()
    found = tuple(subject for subject in SUBJECTS if subject.name == wanted)
    if not found:
        known = ", ".join(subject.name for subject in SUBJECTS)
        raise OptionError(f"unknown model {only!r} for --only; there are: {known}")
    return found
