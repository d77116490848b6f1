"""One thing for one word: no class name occurs twice."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import mazurka

HOME = Path(mazurka.__file__).parent
EXAMPLES = (HOME / "bench" / "programs", HOME / "bench" / "models")
"""Programs to be checked, which are no part of Mazurka's own code."""


def test_no_class_name_occurs_twice() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in sorted(HOME.rglob("*.py")):
        if any(folder in path.parents for folder in EXAMPLES):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{path.relative_to(HOME)}:{node.lineno}")
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
