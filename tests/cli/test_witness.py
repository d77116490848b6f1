"""Witnesses of C programs have the form that the format describes, and lead to the violation."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from tests.cli.conftest import Outcome

TICKETS = """
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int tickets = 1;
void *sell(void *unused) {
    int wanted = __VERIFIER_nondet_int();
    if (tickets >= 1 && wanted == 7)
        tickets--;
    return 0;
}
int main(void) {
    pthread_t clerk[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&clerk[i], 0, sell, 0);
    pthread_join(clerk[0], 0);
    pthread_join(clerk[1], 0);
    if (tickets < 0)
        reach_error();
    return 0;
}
"""
TEXT = {"type": "string", "minLength": 1}
NUMBER = {"type": "integer", "minimum": 1}


def record(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    """An object with these fields and no others."""
    return {
        "type": "object",
        "properties": required | (optional or {}),
        "required": list(required),
        "additionalProperties": False,
    }


LOCATION = record({"file_name": TEXT, "line": NUMBER}, {"column": NUMBER, "function": TEXT})
FORMATS = {"enum": ["c_expression", "acsl_expression"]}
CONSTRAINT = record({"value": TEXT}, {"format": FORMATS})
PLAIN = record({
    "type": {"enum": ["target", "function_enter"]},
    "action": {"enum": ["follow", "avoid"]},
    "location": LOCATION,
}, {"thread_id": {"type": "integer", "minimum": 0}})  # fmt: skip
CONSTRAINED = record({
    "type": {"enum": ["assumption", "branching", "function_return"]},
    "action": {"enum": ["follow", "avoid"]},
    "location": LOCATION,
    "constraint": CONSTRAINT,
}, {"thread_id": {"type": "integer", "minimum": 0}})  # fmt: skip
METADATA = record({
    "format_version": {"enum": ["2.0", "2.1", "2.2"]},
    "uuid": {"type": "string", "pattern": "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"},
    "creation_time": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"},
    "producer": record({"name": TEXT, "version": TEXT}),
    "task": record({
        "input_files": {"type": "array", "items": TEXT, "minItems": 1},
        "input_file_hashes": {"type": "object", "additionalProperties": TEXT},
        "specification": TEXT,
        "data_model": {"enum": ["ILP32", "LP64"]},
        "language": {"const": "C"},
    }),
})  # fmt: skip
ENTRY = record({
    "entry_type": {"const": "violation_sequence"},
    "metadata": METADATA,
    "content": {
        "type": "array",
        "minItems": 1,
        "items": record({
            "segment": {
                "type": "array",
                "minItems": 1,
                "items": record({"waypoint": {"oneOf": [PLAIN, CONSTRAINED]}}),
            }
        }),
    },
})  # fmt: skip
SCHEMA = {"type": "array", "minItems": 1, "items": ENTRY}
"""The format, as its paper and its documentation describe it."""


Command = Callable[..., Outcome]


def check(
    mazurka: Command, folder: Path, text: str, *options: str
) -> tuple[str, list[dict[str, Any]]]:
    """What is printed, and the entries of the witness."""
    program, witness = folder / "tickets.c", folder / "witness.yml"
    program.write_text(text, encoding="utf-8")
    outcome = mazurka("check", str(program), "--witness", str(witness), *options)
    assert outcome.status == 1
    entries = yaml.safe_load(witness.read_text(encoding="utf-8")) if witness.exists() else []
    return outcome.out, entries


def test_a_witness_is_valid_and_ends_at_the_target(mazurka: Command, tmp_path: Path) -> None:
    output, entries = check(mazurka, tmp_path, TICKETS, "--property", "assert", "--model", "ilp32")
    assert "the witness is in" in output
    jsonschema.validate(entries, SCHEMA)
    task = entries[0]["metadata"]["task"]
    digest = hashlib.sha256((tmp_path / "tickets.c").read_bytes()).hexdigest()
    assert task["input_file_hashes"] == {"tickets.c": digest}
    assert task["data_model"] == "ILP32"
    segments = [each["segment"] for each in entries[0]["content"]]
    assert all(len(segment) == 1 for segment in segments)
    points = [segment[0]["waypoint"] for segment in segments]
    assert [p["type"] == "target" for p in points] == [False] * (len(points) - 1) + [True]
    last = points[-1]["location"]
    assert (last["line"], last["column"], last["function"]) == (19, 9, "main")
    created = [p for p in points if p["type"] == "function_enter"]
    assert [(p["thread_id"], p["location"]["line"]) for p in created] == [(0, 15), (0, 15)]
    assert created[0]["location"]["column"] == TICKETS.split("\n")[14].index(";")
    chosen = [p for p in points if p["type"] == "function_return"]
    assert {p["constraint"]["value"] for p in chosen} == {r"\result == 7"}
    assert {p["thread_id"] for p in chosen} == {1, 2}
    sold = [p for p in points if p["location"]["line"] == 9]
    assert sorted(p["thread_id"] for p in sold) == [1, 2]  # one each, though it is two steps
    assert {(p["location"]["function"], p["location"]["column"]) for p in sold} == {("sell", 9)}


def test_a_race_has_two_targets_in_one_segment(mazurka: Command, tmp_path: Path) -> None:
    _, entries = check(mazurka, tmp_path, TICKETS, "--property", "race")
    jsonschema.validate(entries, SCHEMA)
    last = [each["waypoint"] for each in entries[0]["content"][-1]["segment"]]
    assert [each["type"] for each in last] == ["target", "target"]
    assert len({each["thread_id"] for each in last}) == 2
    assert "data-race" in entries[0]["metadata"]["task"]["specification"]


def test_a_declaration_is_where_it_stands(mazurka: Command, tmp_path: Path) -> None:
    """What initializes a variable is no part of the statements that use the variable later."""
    text = """
#include <pthread.h>
int x;
void *f(void *unused) {
    int v = x;
    if (v == 0) {
        v = 3;
        x = v;
    }
    return 0;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, f, 0);
    pthread_create(&b, 0, f, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"""
    _, entries = check(mazurka, tmp_path, text, "--property", "race", "--strategy", "full")
    last = [each["waypoint"]["location"] for each in entries[0]["content"][-1]["segment"]]
    assert {(each["line"], each["column"]) for each in last} == {(5, 5), (8, 9)}


def test_violations_that_the_format_does_not_know_are_named(
    mazurka: Command, tmp_path: Path
) -> None:
    text = """
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void) { pthread_mutex_lock(&m); pthread_mutex_lock(&m); return 0; }
"""
    output, entries = check(mazurka, tmp_path, text)
    assert "no witness" in output
    assert not entries


@pytest.mark.parametrize("kept", ["something else", "x = 1\n"])
def test_other_files_are_not_overwritten(mazurka: Command, tmp_path: Path, kept: str) -> None:
    program, witness = tmp_path / "tickets.c", tmp_path / "witness.yml"
    program.write_text(TICKETS, encoding="utf-8")
    witness.write_text(kept, encoding="utf-8")
    assert mazurka("check", str(program), "--witness", str(witness)).status == 2
    assert witness.read_text(encoding="utf-8") == kept


def test_witnesses_are_for_c(mazurka: Command, tmp_path: Path) -> None:
    model = tmp_path / "model.py"
    model.write_text("def f():\n    assert False\nthreads = [f()]\n", encoding="utf-8")
    outcome = mazurka("check", str(model), "--witness", str(tmp_path / "w.yml"))
    assert (outcome.status, "C programs" in outcome.err) == (2, True)
