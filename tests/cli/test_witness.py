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
ANYWAY = {"enum": ["follow", "avoid"]}
OPERATORS = "==|!=|<=|<|>|>="
BRANCH = r"^(true|false|default|-?\d+)$"


def waypoint(
    kind: str, action: dict[str, Any], constraint: dict[str, Any] | None = None
) -> dict[str, Any]:
    """A waypoint of one type; a constraint is needed, or must not be there."""
    needed = {"type": {"const": kind}, "action": action, "location": LOCATION}
    if constraint is not None:
        needed["constraint"] = constraint
    return record(needed, {"thread_id": {"type": "integer", "minimum": 0}})


WAYPOINTS = [
    waypoint("target", {"const": "follow"}),
    waypoint("function_enter", ANYWAY),
    waypoint(
        "assumption",
        ANYWAY,
        record({"value": TEXT, "format": {"enum": ["c_expression", "ext_c_expression"]}}),
    ),
    waypoint(
        "branching",
        ANYWAY,
        record(
            {"value": {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": BRANCH}]}},
            {"format": TEXT},
        ),
    ),
    waypoint(
        "function_return",
        ANYWAY,
        record({
            "value": {"type": "string", "pattern": rf"^\\result\s*({OPERATORS})\s*-?\d+$"},
            "format": {"const": "acsl_expression"},
        }),
    ),
]  # fmt: skip
TIME = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)$"
HASH = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
METADATA = record({
    "format_version": {"enum": ["2.0", "2.1", "2.2"]},
    "uuid": {"type": "string", "pattern": "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"},
    "creation_time": {"type": "string", "pattern": TIME},
    "producer": record(
        {"name": TEXT, "version": TEXT},
        {"configuration": TEXT, "command_line": TEXT, "description": TEXT},
    ),
    "task": record({
        "input_files": {"type": "array", "items": TEXT, "minItems": 1},
        "input_file_hashes": {"type": "object", "additionalProperties": HASH},
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
                "items": record({"waypoint": {"oneOf": WAYPOINTS}}),
            }
        }),
    },
})  # fmt: skip
SCHEMA = {"type": "array", "minItems": 1, "items": ENTRY}
"""The format, as its paper and its documentation describe it."""


def validate(entries: list[dict[str, Any]]) -> None:
    """Refuse a witness that does not have the form, or whose segments are in no order.

    A segment has waypoints to avoid, and then one to follow; the last has the target, of a race
    both.  A thread has the number of the waypoint that enters its creation, `main` is 0."""
    jsonschema.validate(entries, SCHEMA)
    for entry in entries:
        threads = 1
        *others, final = [
            [each["waypoint"] for each in item["segment"]] for item in entry["content"]
        ]
        for segment in others:
            assert [each["action"] for each in segment[:-1]] == ["avoid"] * (len(segment) - 1)
            assert segment[-1]["action"] == "follow"
            assert all(each["type"] != "target" for each in segment)
            assert all(each.get("thread_id", 0) < threads for each in segment)
            threads += segment[-1]["type"] == "function_enter"
        followed = [each for each in final if each["action"] == "follow"]
        assert followed == final[len(final) - len(followed) :]
        assert followed
        assert all(each["type"] == "target" for each in followed)
        assert all(each.get("thread_id", 0) < threads for each in followed)


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
    validate(entries)
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
    validate(entries)
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


def test_a_loop_begins_once(mazurka: Command, tmp_path: Path) -> None:
    """The head of a loop is no statement that begins in each round, and neither are its parts."""
    text = """
#include <assert.h>
int x = 2, y;
int main(void) {
    while (x > 0)
        x--;
    for (x = 0; x < 2; x++)
        y++;
    do
        y++;
    while (x-- > 0);
    assert(y < 5);
    return 0;
}
"""
    _, entries = check(mazurka, tmp_path, text, "--property", "assert", "--strategy", "full")
    validate(entries)
    points = [each["segment"][0]["waypoint"]["location"] for each in entries[0]["content"]]
    lines = [(each["line"], "column" in each) for each in points]
    for head in (5, 7, 9):
        assert lines.count((head, False)) == 1
        assert (head, True) not in lines
    # Two rounds each of the first loops, and three of the last; and the assertion.
    bodies = [(6, True)] * 2 + [(8, True)] * 2 + [(10, True)] * 3 + [(12, True)]
    assert [each for each in lines if each[1]] == bodies


def test_numbers_are_those_of_their_types(mazurka: Command, tmp_path: Path) -> None:
    """Unsigned numbers of 64 bits are no negative ones."""
    text = """
extern unsigned long __VERIFIER_nondet_ulong(void);
extern long __VERIFIER_nondet_long(void);
extern unsigned __VERIFIER_nondet_uint(void);
extern char __VERIFIER_nondet_char(void);
extern void reach_error(void);
int main(void) {
    unsigned long a = __VERIFIER_nondet_ulong();
    long b = __VERIFIER_nondet_long();
    unsigned c = __VERIFIER_nondet_uint();
    char d = __VERIFIER_nondet_char();
    if (a == -1ul && b == -1 && c == -1u && d == -1)
        reach_error();
    return 0;
}
"""
    _, entries = check(mazurka, tmp_path, text, "--property", "assert")
    validate(entries)
    points = [each["segment"][0]["waypoint"] for each in entries[0]["content"]]
    values = [p["constraint"]["value"] for p in points if p["type"] == "function_return"]
    assert values == [rf"\result == {value}" for value in (2**64 - 1, -1, 2**32 - 1, -1)]


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
