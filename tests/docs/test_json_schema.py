"""All that `--json` prints agrees with docs/output.schema.json, which has each of its keys."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from mazurka.cli.failures import run_guarded
from mazurka.cli.main import app
from mazurka.report.answer import HEAD
from tests.docs.pages import ROOT

SCHEMA = json.loads((ROOT / "docs" / "output.schema.json").read_text(encoding="utf-8"))
KINDS = SCHEMA["$defs"]
TESTS = """
import threading

import mazurka

value = 0


def add():
    global value
    value += 1


def run(*targets):
    threads = [threading.Thread(target=target) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@mazurka.explore(preemptions=1)
def test_lost():
    run(add, add)
    assert value == 2


@mazurka.explore(preemptions=1)
def test_stuck():
    locks = [threading.Lock(), threading.Lock()]

    def take(first, second):
        with first, second:
            pass

    run(lambda: take(*locks), lambda: take(*reversed(locks)))


def test_fine():
    run(add)
"""


def example(name: str) -> str:
    return str(ROOT / "examples" / f"{name}.py")


@pytest.fixture
def printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., dict[str, Any]]:
    """Run a command with `--json`; return the object that it prints."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "test_threads.py").write_text(TESTS, encoding="utf-8")

    def run(*words: str) -> dict[str, Any]:
        run_guarded(app, [*words, "--json"])
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    return run


def test_the_schema_is_a_schema_of_this_version() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for kind in ("check", "exploration", "several tests", "comparison", "replay"):
        properties = KINDS[kind]["properties"]
        assert properties["schema_version"]["const"] == HEAD["schema_version"]
        assert set(HEAD) <= set(properties)
    assert f"Version {HEAD['schema_version']}." in SCHEMA["description"]


def require(kind: str, value: dict[str, Any]) -> None:
    """Check that a value is of a kind of the schema, and that the schema has all of its keys."""
    jsonschema.validate(value, SCHEMA)
    jsonschema.validate(value, {"$defs": KINDS, "$ref": f"#/$defs/{kind}"})
    assert list(unlisted(KINDS[kind], value, kind)) == []


def unlisted(schema: dict[str, Any], value: object, where: str) -> Iterator[str]:
    """Yield the keys of objects for which the schema has no entry, where it has entries at all."""
    if "$ref" in schema:
        schema = KINDS[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        schema = next(one for one in schema["anyOf"] if one != {"type": "null"})
        yield from unlisted(schema, value, where) if value is not None else ()
    elif "allOf" in schema:
        known: dict[str, Any] = {}
        for one in schema["allOf"]:
            one = KINDS[one["$ref"].rpartition("/")[2]] if "$ref" in one else one
            known |= one["properties"]
        yield from unlisted({"properties": known}, value, where)
    elif isinstance(value, list):
        for one in value:
            yield from unlisted(schema["items"], one, f"{where}[]")
    elif isinstance(value, dict) and "properties" in schema:
        for key, part in value.items():
            if key not in schema["properties"]:
                yield f"{where}.{key}"
            else:
                yield from unlisted(schema["properties"][key], part, f"{where}.{key}")


@pytest.mark.parametrize(
    "words",
    [
        (example("lost_update"),),
        (example("lost_update_fixed"), "--explain"),
        (example("lost_update"), "--property", "race", "--strategy", "cpc", "--explore-all"),
        (example("lost_update_fixed"), "--strategy", "dpor"),
        (example("lost_update_fixed"), "--strategy", "bmc"),
        (example("philosophers"), "--counterexample", "shortest"),
        ("missing.py",),
    ],
)
def test_check(printed: Callable[..., dict[str, Any]], words: tuple[str, ...]) -> None:
    require("check", printed("check", *words))


def test_compare_and_replay(printed: Callable[..., dict[str, Any]]) -> None:
    require("comparison", printed("compare", example("lost_update")))
    require("comparison", printed("compare", "missing.py"))
    printed("check", example("lost_update"), "--trace", "bug.json")
    again = printed("replay", "bug.json")
    require("replay", again)
    assert again["outcome"] == "reproduced"


def test_tests(printed: Callable[..., dict[str, Any]]) -> None:
    every = printed("test", "test_threads.py")
    require("several tests", every)
    verdicts = {one["input"].rpartition("::")[2]: one for one in every["results"]}
    assert [one["verdict"] for one in verdicts.values()] == ["violated", "violated", "holds"]
    require("exploration", printed("test", "test_threads.py::test_lost"))
    require("exploration", printed("replay", verdicts["test_stuck"]["replay"]))
