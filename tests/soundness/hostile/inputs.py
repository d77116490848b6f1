"""What Mazurka reads, by kind, and damaged input of each kind.

An input is some files and one action: mostly a command line of `mazurka`, sometimes only a part of
one, where the whole command would spend most of its time on something else than reading.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from tests.docs.pages import blocks, pages
from tests.soundness.hostile.mutations import (
    GENERAL,
    JSON,
    NUMBERS,
    PIECES,
    PROGRAM,
    PYTHON,
    C,
    Mutation,
    as_bytes,
    change_json,
    mutate,
)

ROOT = Path(__file__).parents[3]
LONGEST_SEED = 6_000
"""Characters of a file that is worth damaging: reading a longer one takes too long."""
LIMITS = ("--limit-time", "3", "--limit-memory", "300")
SMALL_MODEL = """\
from mazurka.model import Int, Mutex
N = 2
x: Int[0, 3] = 0
done = False
m = Mutex()
def worker(i):
    global x, done
    with m:
        x = (x + 1) % 3
    done = True
threads = [worker(i) for i in range(N)]
"""
TEST = """\
import threading


class Cell:
    value = 0


def test_update():
    cell = Cell()

    def update():
        cell.value += 1

    threads = [threading.Thread(target=update) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cell.value == 2
"""
LONG_TEST = TEST + "".join(f"# {number:060}\n" for number in range(60))
"""So long that what it is rewritten to is kept in the cache."""
CONFIGURATION = """\
[project]
name = "shop"

[tool.mazurka]
preemptions = 1
timeouts = "last-resort"
max-steps = 5000
leave_out = ["json", "logging"]
races = true
seconds = 2.5
workers = 1
"""
FORMULAS = (
    *("G (x > 0 -> F x == 0)", "F done", "G F x == 1", "done == True U x < 3", "X X !done"),
    *("[] <> (x + 1 == 2 && !done)", "x <= 2 W done", "worker(0)@12 -> F worker(1)@end", "true"),
    *("(F G done) <-> !(G F !done)", "x - 1 > 2 R done", "-x < 0 M done", "not done or x != 2"),
)


@dataclass(frozen=True)
class HostileInput:
    """Files, and what is done with them."""

    kind: str
    action: tuple[str, ...]
    """The name of an action (`children.ACTIONS`), and its arguments."""
    files: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Trace:
    """A saved counterexample, and the model that it is of."""

    name: str
    model: str
    text: str


@dataclass(frozen=True)
class Seeds:
    """What is damaged; everything of the first row is files of this project."""

    models: tuple[str, ...]
    c_programs: tuple[str, ...]
    programs: tuple[str, ...] = ()
    """Exported JSON."""
    traces: tuple[Trace, ...] = ()
    tokens: tuple[str, ...] = ()
    circuits: tuple[tuple[str, bytes, str], ...] = ()
    """A model, its circuit, a witness."""
    cache: Mapping[str, bytes] = field(default_factory=dict)
    """The files of a cache, by their names in it."""
    cached_answer: str = ""
    """What a test whose code is in that cache is found to do."""


def find_texts(*patterns: str) -> list[str]:
    """The contents of files of this project that are not too long."""
    texts = [file.read_text("utf-8") for each in patterns for file in sorted(ROOT.glob(each))]
    return [text for text in texts if len(text) <= LONGEST_SEED]


def find_models() -> tuple[str, ...]:
    shown = [block.text for page in pages() for block in blocks(page) if block.language == "python"]
    models = [text for text in shown if "threads = " in text and "mazurka.model" in text]
    folders = ("examples/*.py", "tests/corpus/*/*.py", "src/mazurka/bench/models/*/*.py")
    return (*find_texts(*folders), *models)


def find_c_programs() -> tuple[str, ...]:
    shown = [block.text for page in pages() for block in blocks(page) if "#include" in block.text]
    return (*find_texts("tests/corpus/c/*.c", "tests/corpus/c/*.i"), *shown)


# --- models and programs --------------------------------------------------------------------------

STRATEGIES = ("auto", "auto", "full", "cpc", "stubborn", "cartesian", "dpor", "optimistic")
SWITCHES: tuple[tuple[str, ...], ...] = (
    *(("--no-merge",), ("--granularity", "instruction"), ("--granularity", "line"), ("--json",)),
    *(("--property", "assert"), ("--property", "assert,deadlock,race"), ("--order", "bfs")),
    *(("--explain",), ("--format", "svg"), ("--trace", "trace.json"), ("--max-depth", "2")),
    *(("--explore-all",), ("--deterministic",), ("--no-symmetry",), ("--full-trace",)),
    *(("--self-check",), ("--counterexample", "switches"), ("--max-threads", "2")),
)


def choose_action(rng: Random, name: str, *more: str) -> tuple[str, ...]:
    """What is done with a program: mostly it is only read; else it is checked, or what a search
    finds is compared with what the interpreter does."""
    chance = rng.random()
    if chance < 0.6:
        return ("read", name, rng.choice(("merge", "merge", "instruction", "line", "raw")))
    if chance < 0.8:
        return ("agree", name, rng.choice(("merge", "raw")), str(rng.randrange(1000)))
    if chance < 0.84:
        form = rng.choice((("json",), ("dot",), ("aiger", "--ascii")))
        return ("mazurka", "export", name, "--format", *form, *LIMITS, *more)
    switches = [word for each in rng.sample(SWITCHES, rng.choice((0, 1, 2))) for word in each]
    strategy = () if "bfs" in switches else ("--strategy", rng.choice(STRATEGIES))
    return ("mazurka", "check", name, *LIMITS, *strategy, *switches, *more)


def damage(rng: Random, mutations: Sequence[Mutation], texts: Sequence[str]) -> bytes:
    text = mutate(rng, mutations, texts)
    return as_bytes(text) if rng.random() < 0.995 else text.encode("utf-16", "surrogatepass")


def damage_model(rng: Random, seeds: Seeds) -> HostileInput:
    data = damage(rng, PYTHON, seeds.models)
    return HostileInput("python", choose_action(rng, "model.py"), {"model.py": data})


def damage_c_program(rng: Random, seeds: Seeds) -> HostileInput:
    name = rng.choice(("program.c", "program.c", "program.i"))
    width = () if rng.random() < 0.8 else ("--model", "ilp32")
    data = damage(rng, C, seeds.c_programs)
    action = choose_action(rng, name, *(width if rng.random() < 0.5 else ()))
    return HostileInput("c", action, {name: data})


def damage_program(rng: Random, seeds: Seeds) -> HostileInput:
    data = damage(rng, PROGRAM, seeds.programs)
    return HostileInput("json", choose_action(rng, "program.json"), {"program.json": data})


def damage_trace(rng: Random, seeds: Seeds) -> HostileInput:
    trace = rng.choice(seeds.traces)
    own = [trace.text, trace.text, *(each.text for each in seeds.traces)]
    shown = rng.choice(((), (), ("--json",), ("--format", "svg"), ("--full-trace",), ("--step",)))
    files = {"trace.json": damage(rng, JSON, own), trace.name: trace.model.encode()}
    return HostileInput("trace", ("mazurka", "replay", "trace.json", *shown), files)


# --- tokens, formulas, configuration, words of the command line -----------------------------------


def as_word(text: str) -> str:
    """A text as a word of a command line, which has no zero bytes."""
    return as_bytes(text).replace(b"\0", b"").decode("utf-8", "surrogateescape")


def damage_token(rng: Random, seeds: Seeds) -> HostileInput:
    token = rng.choice(seeds.tokens)
    if rng.random() < 0.25:
        token = mutate(rng, GENERAL, seeds.tokens)
    else:
        body = token.partition("-")[2]
        packed = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
        content = zlib.decompress(packed).decode()
        changed = as_bytes(change_json(rng, content, content))
        if rng.random() < 0.1:
            changed = as_bytes(mutate(rng, GENERAL, [content]))
        armoured = base64.urlsafe_b64encode(zlib.compress(changed, 9)).decode().rstrip("=")
        token = f"{token.partition('-')[0]}-{armoured}"
    files = {"test_cell.py": TEST.encode()}
    return HostileInput("token", ("mazurka", "replay", as_word(token)), files)


def damage_formula(rng: Random, seeds: Seeds) -> HostileInput:
    text = as_word(mutate(rng, GENERAL, FORMULAS))
    files = {"model.py": SMALL_MODEL.encode()}
    if rng.random() < 0.9:
        return HostileInput("formula", ("formula", "model.py", text), files)
    fair = ("--fair",) * (rng.random() < 0.5)
    action = ("mazurka", "check", "model.py", *LIMITS, f"--ltl={text}", *fair)
    return HostileInput("formula", action, files)


def damage_configuration(rng: Random, seeds: Seeds) -> HostileInput:
    text = CONFIGURATION
    if rng.random() < 0.5:
        key = rng.choice([line for line in text.splitlines() if "=" in line]).partition(" =")[0]
        values = (*NUMBERS, *map(json.dumps, PIECES), '"none"', "[]", "{}", "[1]", "true", '"any"')
        text += f"{key.replace('_', '-')} = {rng.choice(values)}\n"
        text = text.replace(f"\n{key} = ", f"\n# {key} = ")
    else:
        text = mutate(rng, GENERAL, [text])
    files = {"pyproject.toml": as_bytes(text), "test_cell.py": TEST.encode()}
    return HostileInput("configuration", ("configuration", "test_cell.py"), files)


WORDS = (
    *NUMBERS,
    *PIECES,
    *("", " ", "-", "--", "x", "N=", "=3", "N=3", "N=x", "N=1e3", "N=[1]", "assert", "race,assert"),
    *("bfs", "dfs", "none", "auto", "full", "-1", "1e-300", "1,2", "model.py", "nothing.py", "."),
    *("memory", "disk", "bitstate", "json", "svg", "text", "aiger", "c", "python", "ir", "x=y=z"),
)
LEFT_OUT = frozenset({"--cluster", "--help", "--version", "-h", "--real-time"})
"""Options that start other programs, or say that a test may take as long as it likes."""
COMMANDS = ("check", "check", "check", "compare", "export", "replay", "test")
MOST_PROCESSES = 4


def damage_command(rng: Random, seeds: Seeds) -> HostileInput:
    command = rng.choice(COMMANDS)
    given: list[str] = []
    known = options_of(command)
    for name, takes_value in rng.sample(known, rng.choice((1, 1, 2, 3))):
        value = rng.choice(WORDS) if rng.random() < 0.8 else mutate(rng, GENERAL, WORDS)[:5000]
        if name == "--workers" and MOST_PROCESSES < _number(value) < 1000:
            value = "3"
        if name in WRITING:  # nothing outside the folder is written
            value = value.replace("/", "_").replace("..", "_")
        given += [name, as_word(value)] if takes_value else [name]
    file = {"replay": "trace.json", "test": "test_cell.py"}.get(command, "model.py")
    if rng.random() < 0.1:
        file = as_word(mutate(rng, GENERAL, [file]))[:5000]
    words = [file, *given] if rng.random() < 0.5 else [*given, file]
    limits: tuple[str, ...] = () if command in ("export", "replay") else LIMITS[:2]
    if "--limit-time" in given:
        limits = ()
    trace = rng.choice(seeds.traces)
    files = {"model.py": SMALL_MODEL.encode(), "test_cell.py": TEST.encode()}
    files |= {"trace.json": trace.text.encode(), trace.name: trace.model.encode()}
    return HostileInput("command", ("mazurka", command, *words, *limits), files)


WRITING = frozenset({"--trace", "--witness", "--output", "-o", "--store-dir", "--json"})


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0


def options_of(command: str) -> list[tuple[str, bool]]:
    """The options of a command: a name, and whether it takes a value."""
    from mazurka.cli.main import app

    found = app.commands[command]
    return [
        (option.opts[-1], not getattr(option, "is_flag", False))
        for option in found.params
        if option.param_type_name == "option" and not LEFT_OUT & set(option.opts)
    ]


# --- circuits and the cache -----------------------------------------------------------------------


def as_text(data: bytes) -> str:
    """Bytes as `mutations.as_bytes` gives them back."""
    return data.decode("utf-8", "surrogateescape")


def damage_circuit(rng: Random, seeds: Seeds) -> HostileInput:
    model, circuit, witness = rng.choice(seeds.circuits)
    text, shown = as_text(circuit), witness
    if rng.random() < 0.6:
        text = mutate(
            rng,
            GENERAL,
            [text, *(as_text(each[1]) for each in seeds.circuits)],
        )
    else:
        shown = mutate(rng, GENERAL, [witness, *(each[2] for each in seeds.circuits)])
    files = {"model.py": model.encode(), "circuit": as_bytes(text), "witness": as_bytes(shown)}
    action = ("mazurka", "replay", "witness", "--circuit", "circuit")
    return HostileInput("circuit", action, files)


def damage_cache(rng: Random, seeds: Seeds) -> HostileInput:
    files = {f"cache/{name}": data for name, data in seeds.cache.items()}
    name = rng.choice(sorted(files))
    data = bytearray(files[name])
    for _ in range(rng.choice((1, 1, 2, 20))):
        place = rng.randrange(len(data) + 1)
        if rng.random() < 0.6 and place < len(data):
            data[place] = rng.randrange(256)
        elif rng.random() < 0.5:
            del data[place : place + rng.choice((1, 100, 10**9))]
        else:
            data[place:place] = rng.randbytes(9)
    files[name] = bytes(data)
    files["test_long.py"] = LONG_TEST.encode()
    return HostileInput("cache", ("cached", "test_long.py", seeds.cached_answer), files)


KINDS: Mapping[str, Callable[[Random, Seeds], HostileInput]] = {
    "python": damage_model,
    "c": damage_c_program,
    "json": damage_program,
    "trace": damage_trace,
    "token": damage_token,
    "formula": damage_formula,
    "configuration": damage_configuration,
    "command": damage_command,
    "circuit": damage_circuit,
    "cache": damage_cache,
}
WEIGHTS = {
    "python": 30,
    "c": 25,
    "json": 12,
    "trace": 8,
    "token": 4,
    "formula": 6,
    "configuration": 3,
    "command": 6,
    "circuit": 5,
    "cache": 1,
}


def make_input(seed: int, number: int, seeds: Seeds, kinds: Sequence[str]) -> HostileInput:
    """Make the input of a number, of one of some kinds; the same one each time."""
    rng = Random(f"{seed} {number} {' '.join(kinds)}")
    kind = rng.choices(kinds, [WEIGHTS[each] for each in kinds])[0]
    return KINDS[kind](rng, seeds)
