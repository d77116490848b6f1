"""Packages import downwards only, and no modules import each other in a circle.

Late imports inside functions and imports for types alone count like all others: they are
dependencies of the text, whatever the moment at which they happen.
"""

from __future__ import annotations

from pathlib import Path

from tests.unit.import_graph import find_cycle, find_upward, read_graph

import mazurka

HOME = Path(mazurka.__file__).parent

LAYERS: tuple[tuple[str, ...], ...] = (
    ("version", "errors", "model"),
    (
        "deadline",
        "extras",
        "stack",
        "cache_folder",
        "interrupts",
        "processes",
        "supported_pythons",
        "system_limits",
    ),
    ("ir",),
    ("ir.values",),
    ("ir.passes",),
    ("ir.native",),
    ("analysis", "frontend.kit", "search"),
    ("frontend", "compiled", "ltl", "marked_search", "cluster"),
    ("stateful", "stateless", "symbolic"),
    ("auto", "report"),
    ("memory_model",),
    ("runtime.core",),
    ("runtime.sharing",),
    ("runtime.primitives",),
    ("runtime.program",),
    ("runtime.python",),
    ("runtime.rewrite",),
    ("runtime.story",),
    ("runtime.exploring",),
    ("runtime.testing",),
    ("runtime",),
    ("checking",),
    ("comparing", "temporal", "circuit_files", "witness"),
    ("api",),
    ("bench",),
    ("cli",),
    ("__main__", "__init__"),
)
"""From the lowest layer to the highest.  Packages of one row do not know each other.

The front of the package, `mazurka/__init__.py`, stands on top: it only hands out names.
"""


def test_packages_import_downwards_only() -> None:
    assert "\n".join(find_upward(read_graph(HOME), LAYERS)) == ""


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert " -> ".join(find_cycle(read_graph(HOME))) == ""


def test_late_and_type_only_imports_count(tmp_path: Path) -> None:
    for name, text in {
        "low/__init__.py": "",
        "low/late.py": "def work():\n    from house.high import roof\n    return roof",
        "low/typed.py": "if False:\n    import house.high.roof",
        "low/fine.py": "from house.low import late",
        "high/__init__.py": "",
        "high/roof.py": "from house.low.fine import late",
        "__init__.py": "",
        "lost.py": "",
    }.items():
        path = tmp_path / "house" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    graph = read_graph(tmp_path / "house")

    assert find_upward(graph, (("low",), ("high",))) == [
        "__init__ stands on no layer",
        "lost stands on no layer",
        "low.late imports high.roof",
        "low.typed imports high.roof",
    ]
    cycle = find_cycle(graph)
    assert cycle[0] == cycle[-1]
    assert set(cycle) == {"low.late", "high.roof", "low.fine"}
