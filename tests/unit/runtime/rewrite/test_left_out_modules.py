"""Which modules are left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from mazurka.errors import MazurkaError
from mazurka.runtime.rewrite.selection import require_modules


@pytest.fixture(autouse=True)
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "raising_module.py").write_text("raise RuntimeError('imported')\n", "utf-8")
    package = tmp_path / "raising_package"
    (package / "inner").mkdir(parents=True)
    for name in ("__init__.py", "inner/__init__.py", "inner/part.py"):
        (package / name).write_text("raise RuntimeError('imported')\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.parametrize(
    "name",
    ["raising_module", "raising_package", "raising_package.inner.part", "json.decoder", "os.path"],
)
def test_modules_that_exist_are_found_without_an_import(name: str) -> None:
    require_modules([name])


@pytest.mark.parametrize(
    "name",
    ["raising_module.py", "raising_package.part", "raising_package.inner.py", ".", "a..b", ""],
)
def test_modules_that_do_not_exist_are_refused_without_an_import(name: str) -> None:
    """The package before the last dot was imported, and what it raised was an internal error."""
    with pytest.raises(MazurkaError, match="there is no module"):
        require_modules([name])
