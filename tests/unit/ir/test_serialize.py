"""Programs as JSON: they read back as they were, and nothing malformed becomes a program."""

from __future__ import annotations

import copy
import json
from dataclasses import replace

import pytest

import mazurka
from mazurka.checking import load_program
from mazurka.errors import MazurkaError
from mazurka.ir.dot import to_dot
from mazurka.ir.expressions import (
    ONE,
    Binary,
    Choice,
    Conditional,
    Const,
    Convert,
    Element,
    Load,
    Unary,
)
from mazurka.ir.program import (
    FINISHED,
    Assign,
    Cell,
    Check,
    Edge,
    Fault,
    Kind,
    Location,
    Mode,
    Program,
    Role,
    Span,
    Thread,
)
from mazurka.ir.serialize import from_json, load_json, to_json
from mazurka.search.reading import Reading

HERE = Span("a.py", 3, 7)


def program_with_everything() -> Program:
    """One of each: all nodes, both operations, optional fields given and left out."""
    value = Conditional(
        Unary("not", Load(Const(1))),
        Convert(Binary("add", Choice(), ONE), 8, signed=True),
        Load(Element(Const(1), Choice(), 2, 1)),
    )
    edges = (
        Edge(
            3,
            4,
            Kind.CHOOSE,
            HERE,
            guard=Binary("lt", Load(Const(1)), Const(3)),
            operations=(Assign(Const(4), value), Check(ONE, Fault.LOCK, 'not "held"\n')),
            choices=2,
            atomic=True,
            subject=Const(1),
            text="choose",
        ),
        Edge(4, FINISHED, Kind.LOCAL, HERE),
    )
    locations = (*(Location() for _ in range(4)), Location(Mode.MERGED, HERE, (4,)))
    thread = Thread('t"0"', 3, 3, locations, edges, active=False, observer=True)
    cells = (
        Cell("null", 0, 0),
        Cell("a", -5, 5, 1, span=HERE),
        Cell("b", 0, 9, points=(0, 9), role=Role.POINTER),
        Cell("pc", 0, 4, 3, owner=0, role=Role.COUNTER),
        Cell("t", 0, 0, 7, owner=0, inferred=True),
    )
    return Program("every", cells, (thread,), {"N": 3}, {"a.py": "x\n"})


def test_it_reads_back_as_it_was():
    program = program_with_everything()
    assert from_json(json.loads(json.dumps(to_json(program)))) == program


def paths(value, path=()):
    """Every place in a JSON value."""
    yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from paths(item, (*path, key))
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from paths(item, (*path, position))


def changed(data, path, value):
    data = copy.deepcopy(data)
    if not path:
        return value
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return data


@pytest.mark.parametrize("junk", [None, True, -1, 2**70, 1.5, "junk", [], {}, [[]], ["load"]])
def test_junk_anywhere_is_refused_or_harmless(junk):
    """Whatever stands in place of any part, the answer is a `MazurkaError` or a sane program."""
    data = to_json(program_with_everything())
    refused = 0
    for path in paths(data):
        try:
            program = from_json(changed(data, path, junk))
        except MazurkaError:
            refused += 1
            continue
        assert from_json(to_json(program)) == program
    assert refused > 50


def test_missing_fields_are_named():
    data = to_json(program_with_everything())
    del data["threads"][0]["edges"][0]["kind"]
    with pytest.raises(MazurkaError, match=r"threads\[0\]\.edges\[0\] has no `kind`"):
        from_json(data)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("threads", 0, "edges", 0, "target"), 9, "target"),
        (("threads", 0, "edges", 0, "source"), 0, "source"),
        (("threads", 0, "counter"), 1, "ordinary cell"),
        (("threads", 0, "counter"), 99, "counter"),
        (("cells", 3, "high"), 3, "more locations"),
        (("cells", 1, "initial"), 6, "outside -5..5"),
        (("cells", 1, "initial"), True, "whole number"),
        (("threads",), [], "empty"),
        (("cells", 3, "owner"), 1, "owner"),
        (("threads", 0, "edges", 0, "guard"), ["add", ["const", 1]], "no expression"),
        (("threads", 0, "edges", 0, "kind"), "explode", "explode"),
    ],
)
def test_programs_that_cannot_run_are_refused(path, value, words):
    data = changed(to_json(program_with_everything()), path, value)
    with pytest.raises(MazurkaError, match=words):
        from_json(data)


def test_deep_nesting_is_refused():
    expr: list[object] = ["const", 1]
    for _ in range(600):
        expr = ["not", expr]
    data = changed(to_json(program_with_everything()), ("threads", 0, "edges", 0, "guard"), expr)
    with pytest.raises(MazurkaError, match="too deeply"):
        from_json(data)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000])
def test_files_that_are_not_json(tmp_path, content):
    path = tmp_path / "p.json"
    path.write_bytes(content)
    with pytest.raises(MazurkaError, match="not JSON") as caught:
        load_json(str(path))
    assert caught.value.file == str(path)


def test_dot_has_one_cluster_for_identical_threads_and_quotes_everything():
    program = program_with_everything()
    twice = replace(program, threads=(program.threads[0], program.threads[0]))
    text = to_dot(twice)
    assert text.count("subgraph cluster_") == 1
    assert 't\\"0\\"' in text
    assert "[(a < 3)]" in text
    for line in text.splitlines():
        assert line.replace("\\\\", "").replace('\\"', "").count('"') % 2 == 0


@pytest.mark.parametrize("claim", [[], [0], [0, 1], [171]])
def test_listed_values_of_a_file_are_a_claim(claim, tmp_path):
    """Packed states rely on the list: what is not proven is not believed."""
    model, exported = tmp_path / "model.py", tmp_path / "program.json"
    model.write_text(
        "from mazurka.model import *\nx: Int[0, 9] = 0\n"
        "def f():\n    global x\n    x = choose(0, 5, 7)\n    assert x != 7\n"
        "threads = [f(), f()]\n",
        encoding="utf-8",
    )
    data = to_json(load_program(str(model), Reading()))
    number = next(n for n, cell in enumerate(data["cells"]) if cell["name"] == "x")
    data["cells"][number]["points"] = claim
    exported.write_text(json.dumps(data), encoding="utf-8")
    for strategy in ("full", "cpc", "bmc"):
        assert mazurka.check(exported, strategy=strategy).verdict == "violated"
    data["cells"][number]["points"] = [0, 5, 7]
    exported.write_text(json.dumps(data), encoding="utf-8")
    assert load_program(str(exported), Reading()).cells[number].points == (0, 5, 7)


@pytest.mark.parametrize("strategy", ["full", "dpor", "cartesian", "auto"])
@pytest.mark.parametrize("distance", [0, 1, 2, -(2**62)])
def test_an_address_behind_the_last_cell_is_no_cell(distance, strategy, tmp_path):
    """The marks of a search for races are cells, too: the address was that of one of them."""
    model, exported = tmp_path / "model.py", tmp_path / "program.json"
    model.write_text(
        "import threading\nfrom mazurka.model import *\nx: Int[0, 9] = 0\ny: Int[0, 9] = 0\n"
        "def add():\n    global x\n    x += 1\n"
        "def main():\n    global y\n    y = 1\n"
        "    for each in [threading.Thread(target=add) for _ in range(2)]:\n        each.start()\n"
        "main()\n",
        encoding="utf-8",
    )
    data = to_json(load_program(str(model), Reading()))
    (y,) = (n for n, cell in enumerate(data["cells"]) if cell["name"] == "y")
    stray = len(data["cells"]) + distance
    text = json.dumps(data).replace(f'["assign", ["const", {y}]', f'["assign", ["const", {stray}]')
    exported.write_text(text, encoding="utf-8")
    verdict = mazurka.check(exported, strategy=strategy, properties=["assert", "race"])
    assert verdict.violation.kind == "memory"


def test_a_value_that_only_unreachable_code_stores(tmp_path):
    """The native code had no room for the value, and asked for some."""
    model = tmp_path / "model.py"
    model.write_text(
        "from mazurka.model import *\nx: Int[0, 7] = 0\na = Array(Int[0, 3], 3)\n"
        "def f():\n    global x\n    a[0] = 1\n    x = 7\n"
        "def g():\n    global x\n    x = 1\n"
        "threads = [f(), g()]\n",
        encoding="utf-8",
    )
    data = to_json(load_program(str(model), Reading()))
    numbers = {cell["name"]: number for number, cell in enumerate(data["cells"])}
    array, exported = numbers["a[0]"], tmp_path / "program.json"
    data["cells"][numbers["x"]]["points"] = [0, 1]
    text = json.dumps(data).replace(f'["assign", ["const", {array}]', '["assign", ["const", 0]')
    exported.write_text(text, encoding="utf-8")
    assert mazurka.check(exported, strategy="full").violation.kind == "memory"
