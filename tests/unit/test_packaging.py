"""What pip knows of Mazurka, and what Mazurka and its pages say of pip."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from mazurka import extras
from mazurka.extras import DISTRIBUTION, EXTRAS, MODELS, SYMBOLIC, C, MissingExtraError
from mazurka.version import __version__

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OWN_FILES = [
    path
    for path in (ROOT / "src" / "mazurka").rglob("*")
    if path.is_file() and path.suffix != ".pyc"
]
CAPTURED: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
PLACES = ("src", "docs", "examples", "tests", "benchmarks")
OTHER_PROJECT = re.compile(
    r"pip3? install [^\n]*?(?<![\w./'\-])['\"]?mazurka(?![\w\-])|(?<![\w\-])mazurka\[[a-z]"
)
"""Our name without its ending, where pip would install another project."""


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("pip install mazurka", True),
        ("python -m pip install -U 'mazurka[c]'", True),
        ("the extra `mazurka[symbolic]`", True),
        ("pip install 'mazurka-check[c]'", False),
        ("pip install '.[test]' && python3 -m mazurka check", False),
    ],
)
def test_the_name_of_another_project_is_recognized(text: str, wrong: bool) -> None:
    assert bool(OTHER_PROJECT.search(text.partition(" && ")[0])) is wrong


def test_nothing_tells_people_to_install_another_project() -> None:
    files = [path for place in PLACES for path in (ROOT / place).rglob("*")]
    files += [*ROOT.glob("*.*"), *(ROOT / ".github").rglob("*"), *(ROOT / ".ci").iterdir()]
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in files
        if path.suffix in (".py", ".md", ".cff", ".yml", ".toml") and path != Path(__file__)
        for line in path.read_text(encoding="utf-8").splitlines()
        if OTHER_PROJECT.search(line.partition(" && ")[0])
    ]
    assert found == []


def test_the_names_of_the_project() -> None:
    assert PROJECT["name"] == DISTRIBUTION
    assert list(PROJECT["scripts"]) == ["mazurka"]


def test_extras_are_those_of_the_project() -> None:
    known = PROJECT["optional-dependencies"]
    assert {extra.name for extra in EXTRAS} | {"test", "test-threads"} == set(known)
    for extra in EXTRAS:
        limits = re.findall(r"python_version < '3\.(\d+)'", " ".join(known[extra.name]))
        newest = None if extra.newest is None else [str(extra.newest[1] + 1)]
        assert (limits or None) == newest, extra.name


def test_the_base_is_light() -> None:
    """Whatever takes megabytes is an extra."""
    assert {re.split("[<>=]", each)[0] for each in PROJECT["dependencies"]} == {"click", "rich"}


def test_a_missing_extra_names_the_command_or_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pysat", None)
    monkeypatch.setattr(sys, "version_info", (3, 14, 0))
    with pytest.raises(MissingExtraError, match=r"^a solver: pip install 'mazurka-check\[symb"):
        SYMBOLIC.require("a solver")
    monkeypatch.setattr(sys, "version_info", (3, 15, 0))
    with pytest.raises(MissingExtraError, match=r"python-sat has no wheel for Python .* 3\.14 or"):
        SYMBOLIC.require("a solver")


def test_a_free_threaded_build_may_have_no_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "is_free_threaded", lambda: True)
    for minor, has_wheel in ((13, False), (14, True), (15, False)):
        monkeypatch.setattr(sys, "version_info", (3, minor, 0))
        assert MODELS.has_wheel is has_wheel
    assert "numba has no wheel for free-threaded Python" in MODELS.advice
    assert C.has_wheel


def test_the_version_is_the_same_everywhere() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {__version__}\n" in citation
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"(?m)^## ([\d.]+)", changes).group(1) == __version__  # type: ignore[union-attr]


LARGEST_WHEEL = 2_050_000
"""Bytes; the wheel had 1,964,000 when this was written."""


def test_the_distributions_can_be_built_and_uploaded(tmp_path: Path) -> None:
    """Without a network; the wheel has the package and nothing else, and says what it is."""
    pytest.importorskip("build")
    pytest.importorskip("twine")
    project = tmp_path / "project"
    names = ("pyproject.toml", "README.md", "LICENSE")
    shutil.copytree(ROOT / "src", project / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in names:
        shutil.copyfile(ROOT / name, project / name)

    def run(*words: str) -> str:
        done = subprocess.run([sys.executable, "-m", *words], cwd=project, **CAPTURED)
        assert done.returncode == 0, done.stdout
        return str(done.stdout)

    run("build", "--no-isolation")
    files = sorted((project / "dist").iterdir())
    assert [file.name for file in files] == [
        f"mazurka_check-{__version__}-py3-none-any.whl",
        f"mazurka_check-{__version__}.tar.gz",
    ]
    assert "PASSED" in run("twine", "check", "--strict", *map(str, files))
    assert files[0].stat().st_size < LARGEST_WHEEL
    with zipfile.ZipFile(files[0]) as wheel:
        inside = wheel.namelist()
    assert {name.partition("/")[0] for name in inside} == {
        "mazurka",
        f"mazurka_check-{__version__}.dist-info",
    }
    source = {f"mazurka/{path.relative_to(ROOT / 'src' / 'mazurka')}" for path in OWN_FILES}
    assert source - set(inside) == set()


def test_a_person_starts_a_release() -> None:
    """And nothing else does; templates for issues ask for what a report needs."""
    texts = {path.name: path.read_text("utf-8") for path in (ROOT / ".github").rglob("*.yml")}
    found = {name: yaml.safe_load(text) for name, text in texts.items()}
    release = found.pop("release.yml")
    assert list(release[True]) == ["workflow_dispatch"]  # YAML reads the key `on` so
    assert release["permissions"] == {"contents": "read"}
    assert release["jobs"]["publish"]["permissions"] == {"id-token": "write"}
    assert set(found) >= {"1-wrong-verdict.yml", "2-bug.yml", "3-feature.yml", "config.yml"}
    for template in found.values():
        for part in template.get("body", ()):
            assert part["type"] == "markdown" or part["attributes"]["label"]
