"""The programs of paper 000's Table 1, written anew, and the numbers that the table has for them.

The paper's programs are Zing models, some translated from workflows and from C, which are not
public.  Ours keep what matters to the reductions: who shares what, what is locked, and which loops
end nondeterministically.  So the numbers differ; what should agree is how they compare.

The models were fitted to the table: where the loops stand, how deep they nest and how large the
instances are was settled after measuring, with the paper's ratios in view.  The table shows that
such programs exist, not how often.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mazurka.errors import OptionError

MODELS = Path(__file__).parent / "models"


@dataclass(frozen=True)
class Published:
    """A row of the table: lines of code, and states by each of the three searches."""

    lines: int
    unsound: int
    cpc: int
    cycle_detection: int

    @property
    def ratio(self) -> float:
        return self.cycle_detection / self.cpc

    def to_json(self) -> dict[str, object]:
        return {
            "lines": self.lines,
            "transactions": self.unsound,
            "cpc": self.cpc,
            "cycle-detection": self.cycle_detection,
            "ratio": self.ratio,
        }


@dataclass(frozen=True)
class Subject:
    name: str
    title: str
    """The name in the table."""
    published: Published
    quick: Mapping[str, int] = field(default_factory=dict)
    """Constants for a small instance."""

    @property
    def path(self) -> Path:
        return MODELS / f"cpc_{self.name}.py"

    @property
    def lines(self) -> int:
        return code_lines(self.path.read_text(encoding="utf-8"))


SUBJECTS = (
    Subject("auction_house", "AuctionHouse", Published(798, 108, 108, 108), {"CARDS": 1}),
    Subject("flow_test", "FlowTest", Published(485, 4656, 4656, 4656), {"COLUMNS": 2}),
    Subject("shipping", "Shipping", Published(1844, 206, 206, 222), {"ITEMS": 2}),
    Subject("conc", "Conc", Published(392, 512, 512, 2063), {"PRODUCERS": 1}),
    Subject("peterson", "Peterson", Published(793, 1080, 1213, 3427)),
    Subject("bluetooth", "Bluetooth", Published(2768, 48109, 52092, 116559), {"REQUESTS": 1}),
    Subject(
        "transaction_manager",
        "TransactionManager",
        Published(6927, 1220517, 1264894, 1268571),
        {"TRANSACTIONS": 1},
    ),
    Subject("alternating_bit", "AlternatingBit", Published(130, 1180, 1180, 1349), {"VALUES": 2}),
    Subject("philosophers", "Philosophers", Published(76, 87399, 87399, 428896), {"N": 4}),
    Subject("bakery", "Bakery", Published(104, 10221, 14935, 14254), {"VISITS": 1}),
)


def select(only: str | None) -> tuple[Subject, ...]:
    """All subjects, or the one that is named, as in the table or as in its file's name."""
    if only is None:
        return SUBJECTS
    wanted = only.replace("-", "_")
    found = tuple(subject for subject in SUBJECTS if wanted in (subject.name, subject.title))
    if not found:
        known = ", ".join(subject.name for subject in SUBJECTS)
        raise OptionError(f"unknown model {only!r} for --only; there are: {known}")
    return found


def code_lines(source: str) -> int:
    """Lines that have code on them: no blank lines, comments or docstrings."""
    described: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef):
            continue
        if ast.get_docstring(node):
            text = node.body[0]
            described.update(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    return sum(
        1
        for number, line in enumerate(source.splitlines(), start=1)
        if number not in described and line.strip() and not line.lstrip().startswith("#")
    )
