"""`--store`: where the visited states are kept."""

from __future__ import annotations

import pytest

from mazurka import check

MODEL = """\
from mazurka.model import Int

a: Int[0, 99] = 0
b: Int[0, 99] = 0
N = 9
WRONG = 0


def first():
    global a
    for _ in range(N):
        a += 1


def second():
    global b
    for _ in range(N):
        b += 1
    assert a + b < 2 * N or not WRONG


threads = [first(), second()]
"""


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "counting.py"
    path.write_text(MODEL, encoding="utf-8")
    return str(path)


def words(answer):
    """What is printed, however the lines are broken."""
    return " ".join(answer.out.split())


def test_disk_answers_as_memory_does(mazurka, model, tmp_path):
    """`auto` takes `full`, and the answer says that the search was breadth-first."""
    plain = mazurka("check", model, "--strategy", "full", "--order", "bfs", "--json").json
    store = ("--store", "disk", "--store-dir", str(tmp_path))
    answer = mazurka("check", model, *store, "--json")
    assert answer.status == 0
    assert (answer.json["strategy"], answer.json["order"]) == ("full", "bfs")
    for name in ("states", "transitions", "depth"):
        assert answer.json["stats"][name] == plain["stats"][name]
    assert answer.json["stats"]["disk_bytes"] >= 8 * plain["stats"]["states"]
    assert plain["stats"]["disk_bytes"] is None
    assert answer.json["options"]["store"] == "disk"
    assert " on disk strategy full, breadth-first" in words(mazurka("check", model, *store))


def test_a_violation_on_disk_is_the_shortest(mazurka, model):
    arguments = ("check", model, "-D", "WRONG=1", "--json")
    answer = mazurka(*arguments, "--store", "disk")
    assert answer.status == 1
    assert answer.json["counterexample"] == "shortest"
    plain = mazurka(*arguments, "--strategy", "full", "--order", "bfs")
    assert len(answer.json["trace"]) == len(plain.json["trace"])


def test_bits_never_hold(mazurka, model):
    answer = mazurka("check", model, "--store", "bitstate", "--limit-memory", "10")
    assert answer.status == 3
    assert words(answer).startswith("inconclusive: states are stored as bits")
    assert "by estimate more than 99.99 % of those that were met" in words(answer)
    assert "--store disk misses none" in words(answer)
    told = mazurka("check", model, "--store", "bitstate", "--limit-memory", "10", "--json").json
    assert told["limits"] == ["bitstate"]
    assert 0.9999 < told["stats"]["coverage"] <= 1


def test_bits_find_violations(mazurka, model):
    arguments = ("check", model, "-D", "WRONG=1", "--store", "bitstate", "--limit-memory", "10")
    answer = mazurka(*arguments)
    assert answer.status == 1
    assert "misses" not in words(answer)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--store", "tape"), "store 'tape' is not known; there are: memory, disk, bitstate"),
        (("--store", "disk", "--strategy", "cpc"), "it is for --strategy full"),
        (("--store", "disk", "--engine", "stateless"), "it is for --strategy full"),
        (("--store", "bitstate", "--order", "bfs"), "use --store disk, or leave out --order bfs"),
        (("--store-dir", "."), "--store-dir needs --strategy full"),
        (("--store-dir", ".", "--strategy", "full"), "--store-dir is for --store disk"),
        (("--store", "disk", "--store-dir", "nowhere/at/all"), "there is no such directory"),
        (("--hashes", "4", "--strategy", "full"), "--hashes is for --store bitstate"),
        (("--hashes", "0", "--store", "bitstate"), "--hashes must be greater than 0"),
        (("--hashes", "99", "--store", "bitstate"), "--hashes must be 32 or less"),
    ],
)
def test_what_makes_no_sense_is_refused(mazurka, model, arguments, complaint):
    answer = mazurka("check", model, *arguments)
    assert answer.status == 2
    assert complaint in answer.err


def test_the_end_of_memory_tells_of_the_disk(mazurka, model):
    full = ("check", model, "-D", "N=99", "--strategy", "full", "--limit-memory", "0.01")
    assert "--store disk keeps visited states on disk" in words(mazurka(*full))
    other = mazurka("check", model, "-D", "N=99", "--strategy", "cpc", "--limit-memory", "0.01")
    assert words(other).startswith("inconclusive: memory limit")
    assert "--store disk" not in words(other)


def test_from_python(model):
    assert check(model, store="disk").verdict == "holds"
    verdict = check(model, store="bitstate", limit_bytes=10_000_000)
    assert verdict.verdict == "inconclusive"
    assert not verdict
