"""`--engine`: which engine searches."""

from __future__ import annotations

import pytest

from mazurka import check, compare
from mazurka.errors import OptionError
from mazurka.search.registry import ENGINES, default_of, load_strategy, strategy_names


def test_every_strategy_belongs_to_one_engine():
    every = [name for engine in ENGINES for name in strategy_names(engine)]
    assert sorted(every) == strategy_names()
    assert len(set(every)) == len(every)
    assert all(load_strategy(name).engine == "stateless" for name in strategy_names("stateless"))
    assert {"dpor", "optimal-dpor"} <= set(strategy_names("stateless"))


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_has_a_default(engine):
    assert default_of(engine) in ("auto", *strategy_names(engine))


def test_the_strategy_decides_unless_an_engine_is_named(mazurka, model):
    found = mazurka("check", model("holds"), "--strategy", "dpor", "--json").json
    assert (found["engine"], found["options"]["engine"]) == ("stateless", "auto")
    found = mazurka("check", "holds.py", "--json").json
    assert (found["engine"], found["strategy"]) == ("stateful", "full")
    found = mazurka("check", "holds.py", "--engine", "stateful", "--json").json
    assert (found["engine"], found["choice"]) == ("stateful", "few states")


def test_an_engine_without_a_strategy_takes_its_default(mazurka, model):
    found = mazurka("check", model("holds"), "--engine", "stateless", "--json").json
    assert (found["engine"], found["strategy"]) == ("stateless", "optimal-dpor")
    assert found["options"]["engine"] == "stateless"
    assert check("holds.py", engine="stateless").strategy == "optimal-dpor"


def test_the_default_must_be_able_to_answer(mazurka, model):
    answer = mazurka("check", model("holds"), "--engine", "stateless", "--property", "hang")
    assert answer.status == 2
    assert "strategy 'optimal-dpor' does not preserve hang" in answer.err


@pytest.mark.parametrize(
    ("engine", "strategy", "words"),
    [
        ("stateless", "cpc", "'cpc' belongs to --engine stateful; --engine stateless has: dpor, "),
        ("stateful", "dpor", "'dpor' belongs to --engine stateless; --engine stateful has: ample"),
        ("syntactic", "auto", "'syntactic' is not known; there are: auto, stateful"),
    ],
)
def test_what_does_not_fit_is_refused_with_advice(model, engine, strategy, words):
    with pytest.raises(OptionError, match=words):
        check(model("holds"), engine=engine, strategy=strategy)


def test_compare_takes_the_strategies_of_one_engine(mazurka, model):
    data = mazurka("compare", model("holds"), "--engine", "stateless", "--json").json
    assert [result["strategy"] for result in data["results"]] == strategy_names("stateless")
    with pytest.raises(OptionError, match="belongs to --engine stateful"):
        compare("holds.py", engine="stateless", strategies=["full"])


def test_compare_takes_the_strategies_of_several_engines(mazurka, model):
    asked = ("compare", model("deadlock"), "--engines", "symbolic,stateful", "--rounds", "3")
    data = mazurka(*asked, "--property", "deadlock", "--json").json
    compared = [result["strategy"] for result in data["results"]]
    left_out = [each["strategy"] for each in data["left_out"]]
    assert compared[0] == "full"
    assert {*compared, *left_out} == {*strategy_names("stateful"), *strategy_names("symbolic")}
    assert {"cpc", "bmc", "pdr"} <= set(compared)
    assert {result["verdict"] for result in data["results"]} == {"violated"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"engines": ["stateful", "syntactic"]}, "'syntactic' is not known; there are: stateful"),
        ({"engines": ["stateful", "auto"]}, "'auto' is not known; there are: stateful"),
        ({"engines": ["stateful"], "engine": "symbolic"}, "give one of them"),
        ({"engines": ["stateless", "symbolic"], "strategies": ["cpc"]}, "does not name"),
    ],
)
def test_engines_that_cannot_be_compared_are_refused(model, options, words):
    with pytest.raises(OptionError, match=words):
        compare(model("holds"), **options)
