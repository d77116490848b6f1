"""The models that the speed benchmark runs, each written twice: for Mazurka and for SPIN.

The two versions of a model take the same steps, so they have the same states and transitions;
the benchmark checks that they do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mazurka.errors import OptionError

MODELS = Path(__file__).parent / "models"


@dataclass(frozen=True)
class Subject:
    """One model; its constants are given in full, so that both versions use the same."""

    name: str
    title: str
    constants: Mapping[str, int]
    quick: Mapping[str, int]
    """Constants for a run of a fraction of a second."""

    @property
    def python(self) -> Path:
        return MODELS / f"{self.name}.py"

    @property
    def promela(self) -> Path:
        return MODELS / f"{self.name}.pml"

    def chosen(self, *, quick: bool) -> Mapping[str, int]:
        return self.quick if quick else self.constants


SUBJECTS = (
    Subject("philosophers", "dining philosophers", {"N": 14}, {"N": 9}),
    Subject("peterson", "Peterson's mutual exclusion", {"N": 5}, {"N": 4}),
    Subject(
        "bounded_buffer",
        "a bounded buffer",
        {"PRODUCERS": 3, "CONSUMERS": 3, "SIZE": 5},
        {"PRODUCERS": 3, "CONSUMERS": 3, "SIZE": 3},
    ),
    Subject(
        "relaxation",
        "shortest paths in a shared array",
        {"WORKERS": 10, "LENGTH": 3, "SHORTCUT": 29},
        {"WORKERS": 4, "LENGTH": 6, "SHORTCUT": 20},
    ),
)


def select(only: str | None) -> tuple[Subject, ...]:
    """All subjects, or the one that is named."""
    if only is None:
        return SUBJECTS
    wanted = only.replace("-", "_")
    found = tuple(subject for subject in SUBJECTS if subject.name == wanted)
    if not found:
        known = ", ".join(subject.name for subject in SUBJECTS)
        raise OptionError(f"unknown model {only!r} for --only; there are: {known}")
    return found
