"""The reference pages and the program agree: options, JSON keys, strategies, mutants, limits."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click
import pytest

import mazurka
from mazurka.checking import load_program
from mazurka.cli.failures import run_guarded
from mazurka.cli.main import app
from mazurka.errors import MazurkaError
from mazurka.frontend.registry import frontend_names
from mazurka.report.answer import ERROR, EXIT_STATUS
from mazurka.report.verdict import Verdict
from mazurka.search.reading import Reading
from mazurka.search.registry import load_strategy, strategy_names
from tests.docs.limit_cases import INCONCLUSIVE, REFUSED
from tests.docs.pages import ROOT

DOCS = ROOT / "docs"
COMMANDS = (DOCS / "commands.md").read_text(encoding="utf-8")
PARSERS: dict[str, Any] = dict(app.commands)
NAMES = sorted(PARSERS)


def section(heading: str, text: str = COMMANDS) -> str:
    """The text under a heading, up to the next one of the same level."""
    level = heading.split()[0]
    _, _, rest = text.partition(f"\n{heading}\n")
    assert rest, f"there is no section {heading}"
    return re.split(rf"(?m)^{level} ", rest)[0]


def first_cells(text: str) -> list[str]:
    """The first column of the tables in a text."""
    return [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")]


def documented_options(command: str) -> set[str]:
    found: set[str] = set()
    for cell in first_cells(section(f"## mazurka {command}")):
        found |= set(re.findall(r"`(--?[A-Za-z-]+)", cell))
    return found


def helped_options(text: str) -> set[str]:
    """The options that `--help` lists, apart from those for help itself."""
    lines = [line for line in text.splitlines() if re.match(r"  -", line)]
    found = {name for line in lines for name in re.findall(r"(?<!\S)(--?[A-Za-z-]+)", line)}
    return found - {"-h", "--help"}


def test_every_command_has_a_section() -> None:
    assert sorted(re.findall(r"(?m)^## mazurka (\w+)$", COMMANDS)) == NAMES


@pytest.mark.parametrize("command", NAMES)
def test_options_are_those_of_the_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_guarded(app, [command, "--help"]) == 0
    assert documented_options(command) == helped_options(capsys.readouterr().out)


@pytest.mark.parametrize("command", NAMES)
def test_defaults_are_those_of_the_program(command: str) -> None:
    for option in PARSERS[command].get_params(click.Context(PARSERS[command])):
        if not isinstance(option.default, str | int) or isinstance(option.default, bool):
            continue
        rows = [
            line
            for line in section(f"## mazurka {command}").splitlines()
            if line.startswith("|") and f"`{option.opts[0]} " in line.split("|")[1]
        ]
        assert rows, option.opts
        shown = rows[0].split("|")[-2].strip().strip("`")
        assert shown == str(option.default) or "as for `check`" in rows[0]


def test_languages_are_the_front_ends() -> None:
    rows = [line for line in section("## mazurka check").splitlines() if line.startswith("| `--la")]
    assert sorted(re.findall(r"`(\w+)`", rows[0].split("|")[2])) == list(frontend_names())


def keys_in(heading: str) -> set[str]:
    """The names in the first column of the first table under a heading or a sentence."""
    _, _, rest = COMMANDS.partition(f"\n{heading}\n\n")
    table = rest.split("\n\n")[0]
    return {name for cell in first_cells(table) for name in re.findall(r"`(\w+)`", cell)}


def example(name: str) -> str:
    return str(ROOT / "examples" / f"{name}.py")


def test_keys_of_the_json_object() -> None:
    keys = keys_in("### The JSON object")
    for verdict in (
        mazurka.check(example("lost_update")),
        mazurka.check(example("lost_update_fixed")),
        Verdict(input=None, verdict=ERROR, error=MazurkaError("no such file")),
    ):
        assert set(verdict.to_json()) == keys


def test_keys_inside_the_json_object() -> None:
    found = mazurka.check(
        example("lost_update"), properties=["race"], strategy="cpc", explore_all=True
    )
    verdict = found.to_json()
    assert isinstance(verdict["stats"], dict)
    scheduled = mazurka.check(example("lost_update_fixed"), strategy="dpor").to_json()["stats"]
    assert isinstance(scheduled, dict)
    unrolled = mazurka.check(example("lost_update_fixed"), strategy="bmc").to_json()["stats"]
    assert isinstance(unrolled, dict)
    every = set(verdict["stats"]) | set(scheduled) | set(unrolled)
    assert every == keys_in("`stats`:")
    assert isinstance(verdict["trace"], list)
    assert set(verdict["trace"][0]) == keys_in("A step of `trace`:")
    for name in ("options", "violation", "ending", "race", "rounds", "classification"):
        inner = verdict[name][0] if isinstance(verdict[name], list) else verdict[name]
        row = next(line for line in COMMANDS.splitlines() if line.startswith(f"| `{name}` |"))
        assert set(inner) <= set(re.findall(r"`(\w+)`", row)), name
    json.dumps(verdict)


@pytest.mark.parametrize("command", ["compare", "replay"])
def test_keys_of_the_other_json_objects(command: str, tmp_path: Path) -> None:
    if command == "compare":
        keys = set(mazurka.compare(example("lost_update")).to_json())
    else:
        trace = tmp_path / "bug.json"
        mazurka.save_trace(trace, mazurka.check(example("lost_update")))
        keys = set(mazurka.replay(trace).to_json())
    rows = section(f"## mazurka {command}").splitlines()
    row = next(line for line in rows if line.startswith("| `--json` |"))
    assert keys <= set(re.findall(r"`(\w+)`", row))


def test_exit_statuses() -> None:
    rows = re.findall(r"(?m)^\| (\d) \| `(\w+)` \|", section("### Exit status"))
    assert {verdict: int(status) for status, verdict in rows} == EXIT_STATUS


def test_every_strategy_says_what_it_preserves() -> None:
    soundness = (DOCS / "soundness.md").read_text(encoding="utf-8")
    rows = {
        line.split("|")[1].strip(" `"): [cell.strip() for cell in line.split("|")[2:6]]
        for line in section("## Strategies", soundness).splitlines()
        if line.startswith("| `")
    }
    assert sorted(rows) == strategy_names()
    for name, cells in rows.items():
        strategy = load_strategy(name)
        word = "yes" if strategy.sound else "unsound"
        claimed = {
            kept
            for kept, cell in zip(("assert", "deadlock", "hang", "race"), cells, strict=True)
            if cell == word
        }
        assert claimed == strategy.preserves, name


def test_the_row_of_the_option_names_every_strategy() -> None:
    rows = section("## mazurka check").splitlines()
    (row,) = [line for line in rows if line.startswith("| `--strategy NAME` |")]
    assert set(strategy_names()) < set(re.findall(r"`([a-z-]+)`", row))


def test_mutants_on_the_page_exist() -> None:
    soundness = (DOCS / "soundness.md").read_text(encoding="utf-8")
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "tests/mutants").glob("*.py")]
    for mutant in first_cells(section("## Mutants", soundness))[1:]:
        assert any(f'"{mutant}"' in source for source in sources), mutant


def without_ticks(text: str) -> str:
    return " ".join(text.replace("`", "").split())


LIMITS = without_ticks((DOCS / "limits.md").read_text(encoding="utf-8"))


def model(source: str, directory: Path) -> str:
    path = directory / "model.py"
    path.write_text(source, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_are_as_the_page_says(case: str, tmp_path: Path) -> None:
    with pytest.raises(MazurkaError) as caught:
        load_program(model(REFUSED[case], tmp_path), Reading())
    assert without_ticks(caught.value.message) in LIMITS


@pytest.mark.parametrize("case", INCONCLUSIVE)
def test_bounds_are_as_the_page_says(case: str, tmp_path: Path) -> None:
    verdict = mazurka.check(model(INCONCLUSIVE[case], tmp_path))
    (message,) = verdict.limits
    assert without_ticks(message) in LIMITS


@pytest.mark.parametrize(
    ("definitions", "properties", "message"),
    [
        ({"N": 256}, ["assert"], "256 threads; a search takes at most 255"),
        ({"N": 65}, ["race"], "65 threads; races are looked for among at most 64"),
        (
            {"CHOICES": 300},
            ["assert"],
            "one step has 90,000 nondeterministic outcomes; a search takes at most 65,535:"
            " choose in several steps, or from a smaller range",
        ),
    ],
)
def test_engine_limits_are_as_the_page_says(
    definitions: dict[str, int], properties: list[str], message: str, tmp_path: Path
) -> None:
    source = (
        "from mazurka.model import Int, atomic, choose\nN, CHOICES = 1, 2\nx: Int[0, 99999] = 0\n"
        "def f():\n    global x\n    with atomic():\n"
        "        x = choose(range(CHOICES))\n        x = choose(range(CHOICES))\n"
        "threads = [f() for i in range(N)]\n"
    )
    with pytest.raises(MazurkaError) as caught:
        mazurka.check(
            model(source, tmp_path),
            engine="stateful",
            definitions=definitions,
            properties=properties,
        )
    assert caught.value.message == message
    assert without_ticks(message) in LIMITS
