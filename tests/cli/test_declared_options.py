"""A strategy with an option of its own is one file: nothing else has to know of it."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mazurka import check, compare
from mazurka.cli import main
from mazurka.errors import InternalError, OptionError
from mazurka.search.options import TAKEN
from mazurka.search.registry import declared_options, load_strategy
from mazurka.stateful import strategies

TOY = """\
from mazurka.search import Option
from mazurka.search import SearchResult, Statistics
from mazurka.search import Strategy

FRUIT = Option(name="ripe_fruit", default="apple", values=("apple", "plum"), help="What to eat.")
BITES = Option(name="bites", default=3, help="How often to bite.")


def run(program, options, observer):
    eaten = f"{options.value(BITES)} bites of a {options.value(FRUIT)}"
    return SearchResult(Statistics(states=2, transitions=1), notes=(eaten,))


STRATEGY = Strategy(
    name="toy",
    summary="eats",
    preserves=frozenset({"assert", "deadlock"}),
    orders=("dfs",),
    run=run,
    options=(FRUIT, BITES),
)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose files are strategies of the stateful engine."""
    path = tmp_path / "more_strategies"
    path.mkdir()
    monkeypatch.setattr(strategies, "__path__", [*strategies.__path__, str(path)])
    yield path
    for file in path.glob("*.py"):
        sys.modules.pop(f"{strategies.__name__}.{file.stem}", None)


@pytest.fixture
def toy(folder: Path) -> None:
    (folder / "toy.py").write_text(TOY, encoding="utf-8")


@pytest.mark.usefixtures("toy")
def test_it_belongs_to_the_engine_of_its_package():
    assert load_strategy("toy").engine == "stateful"


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize("command", ["check", "compare"])
def test_help_lists_the_options_with_their_strategies(mazurka, command):
    lines = [" ".join(line.split()) for line in mazurka(command, "--help").out.splitlines()]
    assert "toy eats" in lines[lines.index("Strategies:") :]
    start = lines.index("Options of --strategy toy:")
    assert lines[start + 1].startswith("--bites N How often to bite.")
    assert lines[start + 2].startswith("--ripe-fruit apple|plum What to eat.")
    assert "Options of --strategy ample, lock-patterns, stubborn:" in lines


@pytest.mark.usefixtures("toy")
def test_check_takes_them_and_json_says_so(mazurka, model):
    asked = ("--strategy", "toy", "--ripe-fruit", "plum", "--bites=4", "--json")
    found = mazurka("check", model("holds"), *asked).json
    assert (found["engine"], found["strategy"]) == ("stateful", "toy")
    assert found["notes"] == ["4 bites of a plum"]
    assert (found["options"]["ripe_fruit"], found["options"]["bites"]) == ("plum", 4)
    usual = mazurka("check", "holds.py", "--strategy", "toy", "--json").json
    assert usual["notes"] == ["3 bites of a apple"]
    assert (usual["options"]["ripe_fruit"], usual["options"]["bites"]) == ("apple", 3)


@pytest.mark.usefixtures("toy")
def test_a_strategy_can_tell_what_was_given(mazurka, model, folder):
    """With `--cluster`, no `--workers` means all, and `--workers 1` means one."""
    text = TOY.replace("eaten = ", "eaten = str(sorted(options.tuning)) or ")
    (folder / "toy.py").write_text(text, encoding="utf-8")
    name = model("holds")
    for given, known in (("--ripe-fruit=plum", ["ripe_fruit"]), ("--bites=3", ["bites"])):
        found = mazurka("check", name, "--strategy", "toy", given, "--json").json
        assert found["notes"] == [str(known)]


@pytest.mark.usefixtures("toy")
def test_compare_gives_them_to_those_who_take_them(mazurka, model):
    asked = ("--strategies", "full,toy", "--bites", "5", "--json")
    plain, found = mazurka("compare", model("holds"), *asked).json["results"]
    assert found["notes"] == ["5 bites of a apple"]
    assert (plain["options"]["bites"], found["options"]["bites"]) == (3, 5)


@pytest.mark.usefixtures("toy")
def test_the_python_interface_takes_them(model):
    name = model("holds")
    assert check(name, strategy="toy", ripe_fruit="plum").notes == ("3 bites of a plum",)
    (verdict,) = compare(name, strategies=["toy"], bites=1).verdicts
    assert verdict.notes == ("1 bites of a apple",)


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"strategy": "toy", "ripe_fruit": "pear"}, "ripe fruit 'pear' is not known; there are"),
        ({"strategy": "toy", "bites": "many"}, "--bites needs int, not 'many'"),
        ({"strategy": "toy", "crumbs": 3}, "no option 'crumbs'; strategies have: bites, clus"),
        ({"strategy": "cpc", "bites": 4}, "--bites means nothing to strategy 'cpc'; .* toy"),
        ({"strategy": "auto", "bites": 4}, "--bites needs --strategy toy"),
    ],
)
def test_what_makes_no_sense_is_refused(model, options, words):
    with pytest.raises(OptionError, match=words):
        check(model("holds"), **options)


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("--ripe-fruit=pear", "mazurka: ripe fruit 'pear' is not known; there are: apple, plum"),
        ("--bites=many", "mazurka: --bites needs int, not 'many'"),
    ],
)
def test_the_command_line_refuses_values_in_the_same_words(mazurka, model, given, words):
    ran = mazurka("check", model("holds"), "--strategy", "toy", given)
    assert (ran.status, ran.err.strip()) == (2, words)


@pytest.mark.usefixtures("toy")
def test_an_option_may_be_declared_twice_if_both_mean_the_same(folder):
    (folder / "other.py").write_text(TOY.replace('"toy"', '"other"'), encoding="utf-8")
    assert "bites" in declared_options()
    (folder / "third.py").write_text(
        TOY.replace('"toy"', '"third"').replace("default=3", "default=4"), encoding="utf-8"
    )
    words = "--bites is declared twice, differently: by strategies 'other' and 'third'; share"
    with pytest.raises(InternalError, match=words):
        declared_options()


@pytest.mark.parametrize("name", ["max_depth", "trace", "properties"])
def test_an_option_that_all_strategies_have_cannot_be_declared(folder, mazurka, model, name):
    (folder / "toy.py").write_text(TOY.replace('"bites"', f'"{name}"'), encoding="utf-8")
    words = f"toy.py declares an option '{name}' of strategy 'toy', but all strategies have one"
    for arguments in (["--help"], [model("holds"), "--strategy", "toy", "--max-depth", "3"]):
        ran = mazurka("check", *arguments)
        assert ran.status == 2
        assert words in ran.err
    with pytest.raises(InternalError, match=words):
        check("holds.py", strategy="toy")


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('"bites"', '"max-depth"', "'max-depth' of strategy 'toy', which is no name of lower-case"),
        ('"bites"', '"Bites"', "'Bites' of strategy 'toy', which is no name of lower-case letters"),
        ('"bites"', '""', "'' of strategy 'toy', which is no name of lower-case letters"),
        ('"apple", values', '"pear", values', "default is refused: ripe fruit 'pear' is not known"),
        ("(FRUIT, BITES)", "[FRUIT, BITES]", "options of strategy 'toy' that are no tuple"),
        ('("dfs",)', '("dfs")', "orders of strategy 'toy' that are no tuple of dfs, bfs"),
        ('{"assert",', '{"asserts",', "properties of strategy 'toy' that are not among assert"),
    ],
)
def test_declarations_of_the_wrong_form_are_refused(folder, before, after, words):
    assert before in TOY
    (folder / "toy.py").write_text(TOY.replace(before, after), encoding="utf-8")
    with pytest.raises(InternalError, match=words):
        declared_options()


def test_no_option_of_all_strategies_can_be_declared():
    """Those of the commands, by their flags and by their names, and those in Python."""
    taken = {"help"}
    for function in (check, compare):
        command = main.app.commands[function.__name__]
        flags = {word for parameter in command.params for word in parameter.opts if "--" in word}
        taken |= {flag.removeprefix("--").replace("-", "_") for flag in flags}
        taken |= {parameter.name for parameter in command.params}
        taken |= {*inspect.signature(function).parameters} - {"tuning"}
    assert taken == TAKEN
