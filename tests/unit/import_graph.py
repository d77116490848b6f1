"""The import graph of a source tree: which module imports which, anywhere in its text."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

Graph = Mapping[str, frozenset[str]]


def read_graph(folder: Path) -> dict[str, frozenset[str]]:
    """Read the imports of each module of a package; late and type-only imports count, too.

    Modules are named without the package's own name; `__init__` is the package itself.
    """
    paths = {_name_of(folder, path): path for path in folder.rglob("*.py")}
    return {
        name: frozenset(_imports(path, folder.name, paths)) - {name} for name, path in paths.items()
    }


def _name_of(folder: Path, path: Path) -> str:
    parts = path.relative_to(folder).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def _imports(path: Path, package: str, modules: Collection[str]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if name.split(".")[0] == package:
                inner = name.partition(".")[2]
                yield inner if inner in modules else inner.rpartition(".")[0] or "__init__"


def find_cycle(graph: Graph) -> list[str]:
    """Find modules that import each other in a circle; empty if there are none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1]
        return cycle[::-1]
    return []


def find_upward(graph: Graph, layers: tuple[tuple[str, ...], ...]) -> list[str]:
    """Find imports that do not point down, and modules that stand on no layer."""
    heights = {name: height for height, row in enumerate(layers) for name in row}
    found = []
    for module, imported in sorted(graph.items()):
        own = package_of(module, heights)
        if own is None:
            found.append(f"{module} stands on no layer")
            continue
        for other in sorted(imported):
            theirs = package_of(other, heights)
            if theirs is None or (theirs != own and heights[theirs] >= heights[own]):
                found.append(f"{module} imports {other}")
    return found


def package_of(module: str, heights: Mapping[str, int]) -> str | None:
    """Find the innermost package with a layer that a module belongs to."""
    name = module
    while name not in heights:
        name, dot, _ = name.rpartition(".")
        if not dot:
            return None
    return name
