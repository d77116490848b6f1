"""`--engine symbolic` from the command line and from Python."""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path

import pytest
from tests.limits import ENDLESS, ENOUGH, NO_TIME, SOON

from mazurka import check
from mazurka.deadline import TimeLimitError
from mazurka.errors import OptionError, UnsupportedError
from mazurka.report.answer import HOLDS, INCONCLUSIVE, VIOLATED
from mazurka.report.observer import progress_text
from mazurka.search import Silent, Statistics
from mazurka.symbolic import outlook, portfolio
from mazurka.symbolic.portfolio import DiagramsBeside, ProofBeside

EXAMPLES = Path(__file__).parents[2] / "examples"
WIDE = """
from mazurka.model import Int, choose

x: Int[0, 2**32 - 1] = 0
y: Int[0, 2**32 - 1] = 0

def writer():
    global x, y
    value = choose(range(2**32))
    x = value
    y = value ^ 3000000001

def reader():
    a = x
    b = y
    assert not (a == 123456789 and b == a ^ 3000000001)

threads = [writer(), reader()]
"""
GUESSED = """
from mazurka.model import Array, Int, assume, atomic, choose

x: Int[0, 2047] = 0
seen = Array(Int[0, 1], 32)

def guesses():
    global x
    with atomic():
        value = choose(range(2048))
        assume(value == x + 1)
    x = value
    seen[choose(range(32))] = 1

def reads():
    before = x
    after = x
    first = seen[20]
    second = seen[20]
    assert before == after or first == second

threads = [guesses(), reads()]
"""
LIVELOCK = """
from mazurka.model import Int, atomic

x: Int[0, 1] = 0

def sets():
    global x
    x = 1

def spins():
    with atomic():
        while x == 1:
            pass

threads = [sets(), spins()]
"""
LONG_SECTION = """
from mazurka.model import Int, atomic, choose

x: Int[0, 100] = 0

def counts():
    global x
    top = choose(range(90))
    with atomic():
        while x < top:
            x += 1
    assert x == top

threads = [counts()]
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "model.py"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("interleaving", ["peephole", "sweeps"])
def test_violations_and_proofs(interleaving: str) -> None:
    asked = {"strategy": "bmc", "interleaving": interleaving}
    broken = check(EXAMPLES / "lost_update.py", **asked)
    assert (broken.verdict, broken.engine, broken.strategy) == (VIOLATED, "symbolic", "bmc")
    assert broken.violation is not None
    assert broken.violation.kind == "assert"
    fixed = check(EXAMPLES / "lost_update_fixed.py", **asked)
    assert fixed.verdict == HOLDS
    assert "all executions examined" in fixed.scope
    deadlock = check(EXAMPLES / "philosophers.py", **asked)
    assert deadlock.violation is not None
    assert deadlock.violation.kind == "deadlock"


PIPELINE = """
from mazurka.model import Int, atomic, await_, choose
WORD = 2**32
stage: Int[0, 2] = 0
given: Int[0, WORD - 1] = 0
computed: Int[0, WORD - 1] = 0
def reader():
    global given, stage
    while True:
        with atomic():
            await_(stage == 0)
            given = choose(range(WORD))
            stage = 1
def computer():
    global computed, stage
    while True:
        with atomic():
            await_(stage == 1)
            computed = (3 * given + 7) % WORD
            stage = 2
def checker():
    global stage
    while True:
        with atomic():
            await_(stage == 2)
            assert (computed - 7) % WORD == 3 * given % WORD
            stage = 0
threads = [reader(), computer(), checker()]
"""


def test_a_bounded_answer_is_inconclusive() -> None:
    verdict = check(EXAMPLES / "philosophers_ordered.py", strategy="bmc", rounds=3)
    assert verdict.verdict == INCONCLUSIVE
    assert verdict.limits == ("some execution has more than 3 rounds",)
    assert "all executions of up to 3 rounds examined (reduced by bmc), others" in verdict.scope


def test_wide_data(tmp_path: Path) -> None:
    verdict = check(write(tmp_path, WIDE), strategy="bmc")
    assert verdict.verdict == VIOLATED


@pytest.mark.parametrize("interleaving", ["partial-order", "transactions"])
@pytest.mark.parametrize("growth", [outlook.MOST_GROWTH, 0])
def test_what_depends_on_wide_choices_is_quantified_or_a_conflict(
    tmp_path: Path, interleaving: str, growth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outlook, "MOST_GROWTH", growth)
    model = write(tmp_path, GUESSED)
    asked = {"strategy": "bmc", "interleaving": interleaving, "properties": ("assert",)}
    assert check(model, **asked).verdict == VIOLATED
    fixed = write(tmp_path, GUESSED.replace("before == after or", "before <= after or"))
    assert check(fixed, **asked).verdict == HOLDS


def test_waiting_may_depend_on_wide_choices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = write(tmp_path, GUESSED.replace("before == after or", "before <= after or"))
    assert check(model, strategy="bmc").verdict == HOLDS
    monkeypatch.setattr(outlook, "MOST_GROWTH", 0)
    with pytest.raises(UnsupportedError, match="in more ways than can be listed"):
        check(model, strategy="bmc")


def test_an_explanation_does_not_cost_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def be_late(*_: object) -> None:
        raise TimeLimitError("the time limit was reached while explaining")

    monkeypatch.setattr("mazurka.symbolic.explaining.explain_circuit", be_late)
    verdict = check(EXAMPLES / "lost_update.py", strategy="bmc", explain=True)
    assert verdict.verdict == VIOLATED


def test_a_section_that_never_ends_is_a_violation(tmp_path: Path) -> None:
    verdict = check(write(tmp_path, LIVELOCK), strategy="bmc", unrolling=2)
    assert verdict.violation is not None
    assert verdict.violation.kind == "livelock"


def test_a_section_that_goes_round_too_often_is_not_known(tmp_path: Path) -> None:
    model = write(tmp_path, LONG_SECTION)
    short = check(model, strategy="bmc", unrolling=5)
    assert short.verdict == INCONCLUSIVE
    assert short.limits == ("the atomic section at line 9 goes round more than 5 times",)
    assert check(model, strategy="bmc", unrolling=95).verdict == HOLDS


def test_time_limits_hold() -> None:
    verdict = check(EXAMPLES / "philosophers_ordered.py", strategy="bmc", limit_seconds=NO_TIME)
    assert (verdict.verdict, verdict.limits) == (INCONCLUSIVE, ("time",))


def test_a_missing_solver_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pysat", None)
    with pytest.raises(OptionError, match=r"pip install 'mazurka-check\[symbolic\]'"):
        check(EXAMPLES / "lost_update.py", engine="symbolic")


def test_what_it_does_not_keep_is_refused() -> None:
    with pytest.raises(OptionError, match="does not preserve hang"):
        check(EXAMPLES / "lost_update.py", engine="symbolic", properties=("hang",))


def test_proofs_of_models_that_do_not_end(tmp_path: Path) -> None:
    path = tmp_path / "invariant.txt"
    proved = check(EXAMPLES / "philosophers_ordered.py", invariant=str(path))
    assert (proved.verdict, proved.strategy) == (HOLDS, "pdr")
    assert "none in any execution, by an inductive invariant of" in proved.scope
    lines = path.read_text(encoding="utf-8").splitlines()
    assert any(line.startswith("never: ") and "forks[0]" in line for line in lines)
    broken = check(EXAMPLES / "philosophers.py", strategy="pdr")
    assert broken.violation is not None
    assert broken.violation.kind == "deadlock"


def test_proofs_are_not_made_of_reduced_transitions() -> None:
    with pytest.raises(OptionError, match="--interleaving peephole is for bmc alone"):
        check(EXAMPLES / "peterson.py", strategy="pdr", interleaving="peephole")


def test_an_invariant_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="cannot be written"):
        check(EXAMPLES / "peterson.py", invariant=str(tmp_path / "missing" / "file"))


def test_searches_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    proved = check(EXAMPLES / "philosophers_ordered.py", engine="symbolic")
    assert (proved.verdict, proved.strategy) == (HOLDS, "portfolio")
    assert {"pdr has decided", "bdd has decided"} & set(proved.notes)
    monkeypatch.setattr(portfolio, "has_diagrams", lambda: False)
    proved = check(EXAMPLES / "philosophers_ordered.py", engine="symbolic")
    assert "an inductive invariant" in proved.scope
    assert "pdr has decided" in proved.notes
    monkeypatch.setattr(portfolio, "has_diagrams", lambda: True)
    monkeypatch.setattr(ProofBeside, "begin", lambda beside: None)
    proved = check(EXAMPLES / "philosophers_ordered.py", engine="symbolic", rounds=1000)
    assert "a decision diagram of all" in proved.scope
    assert "bdd has decided" in proved.notes
    broken = check(EXAMPLES / "lost_update.py", engine="symbolic", interleaving="peephole")
    assert broken.verdict == VIOLATED


def test_a_head_start_for_diagrams_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """On one processor the search for an invariant begins late, and decides where diagrams do not:
    these have said nothing when their start is over, or have failed."""
    monkeypatch.setattr(portfolio, "has_diagrams", lambda: True)
    monkeypatch.setattr(portfolio, "processors", lambda: 1)

    def fail(diagrams: DiagramsBeside) -> bool:
        diagrams.has_ended = True
        return False

    for late, listen in ((0.0, lambda diagrams: False), (math.inf, fail)):
        monkeypatch.setattr(portfolio, "HEAD_START_SECONDS", late)
        monkeypatch.setattr(DiagramsBeside, "listen", listen)
        proved = check(EXAMPLES / "philosophers_ordered.py", engine="symbolic", rounds=1000)
        assert "pdr has decided" in proved.notes


def test_two_searches_one_after_the_other(tmp_path: Path) -> None:
    asked = {"engine": "symbolic", "deterministic": True, "rounds": 1}
    assert check(EXAMPLES / "philosophers_ordered.py", **asked).verdict == HOLDS
    unknown = check(write(tmp_path, LONG_SECTION), **asked, unrolling=5)
    assert unknown.verdict == INCONCLUSIVE


def test_an_older_invariant_does_not_stay_where_nothing_was_proved(tmp_path: Path) -> None:
    path = tmp_path / "invariant.txt"
    path.write_text("never: x = 1\n", encoding="utf-8")
    check(EXAMPLES / "lost_update.py", invariant=str(path))
    assert path.read_text(encoding="utf-8").startswith("# No inductive invariant")


def test_induction(tmp_path: Path) -> None:
    proved = check(write(tmp_path, PIPELINE), strategy="k-induction", definitions={"WORD": 256})
    assert proved.verdict == HOLDS
    assert proved.scope.endswith("by induction over 1 step")
    short = check(EXAMPLES / "philosophers_ordered.py", strategy="k-induction", rounds=1)
    assert short.limits == ("some execution has more than 1 step",)


def test_induction_with_auxiliary_invariants() -> None:
    proved = check(EXAMPLES / "peterson.py", strategy="k-induction")
    assert proved.verdict == HOLDS
    assert "by induction over" in proved.scope


@pytest.mark.parametrize("strategy", ["pdr", "k-induction", "bdd"])
def test_proofs_do_not_pass_over_what_is_not_known(tmp_path: Path, strategy: str) -> None:
    model = write(tmp_path, LONG_SECTION)
    short = check(model, strategy=strategy, unrolling=5)
    assert short.limits == ("the atomic section at line 9 goes round more than 5 times",)
    livelock = check(write(tmp_path, LIVELOCK), strategy=strategy, unrolling=2)
    assert livelock.violation is not None
    assert livelock.violation.kind == "livelock"


@pytest.mark.parametrize("strategy", ["pdr", "k-induction"])
def test_time_limits_of_proofs_hold(strategy: str) -> None:
    verdict = check(EXAMPLES / "philosophers_ordered.py", strategy=strategy, limit_seconds=NO_TIME)
    assert (verdict.verdict, verdict.limits) == (INCONCLUSIVE, ("time",))


def test_diagrams_find_all_states(tmp_path: Path) -> None:
    explicit = check(EXAMPLES / "peterson.py", strategy="full", symmetry=False)
    proved = check(EXAMPLES / "peterson.py", strategy="bdd")
    assert proved.verdict == HOLDS
    assert explicit.statistics is not None
    assert proved.statistics is not None
    assert proved.statistics.states == explicit.statistics.states
    told = f"by a decision diagram of all {explicit.statistics.states:,} reachable states"
    assert proved.scope.endswith(told)
    broken = check(EXAMPLES / "philosophers.py", strategy="bdd")
    assert broken.violation is not None
    assert broken.violation.kind == "deadlock"
    # Twelve philosophers: far too many states to visit, but a diagram of some hundred nodes.
    many = check(EXAMPLES / "philosophers_ordered.py", strategy="bdd", definitions={"N": 12})
    assert many.verdict == HOLDS


def test_diagrams_need_a_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dd", None)
    with pytest.raises(OptionError, match=r"pip install 'mazurka-check\[bdd\]'"):
        check(EXAMPLES / "lost_update.py", strategy="bdd")


def test_limits_of_diagrams_hold(tmp_path: Path) -> None:
    """A step more at a time is seen of `ENDLESS`, which has 2**40: no diagram is ever complete."""
    late = check(write(tmp_path, ENDLESS), strategy="bdd", limit_seconds=3 * SOON)
    assert (late.verdict, late.limits) == (INCONCLUSIVE, ("time",))
    asked = {"strategy": "bdd", "definitions": {"N": 4}}
    full = check(EXAMPLES / "peterson_filter.py", limit_bytes=1_000_000, **asked)
    assert (full.verdict, full.limits) == (INCONCLUSIVE, ("memory",))


def test_orders_of_events(tmp_path: Path) -> None:
    fixed = check(EXAMPLES / "lost_update_fixed.py", strategy="events")
    assert fixed.verdict == HOLDS
    assert "all executions examined, for which 1 iteration suffice" in fixed.scope
    broken = check(EXAMPLES / "lost_update.py", strategy="events")
    assert broken.violation is not None
    assert broken.violation.kind == "assert"
    stuck = check(EXAMPLES / "philosophers.py", strategy="events")
    assert stuck.violation is not None
    assert stuck.violation.kind == "deadlock"
    endless = check(EXAMPLES / "peterson.py", strategy="events", rounds=2)
    assert endless.limits == ("some thread makes more than 2 iterations of its loops",)
    unknown = check(write(tmp_path, LONG_SECTION), strategy="events", unrolling=5)
    assert unknown.limits == ("the atomic section at line 9 goes round more than 5 times",)
    raced = check(EXAMPLES / "lost_update.py", strategy="events", properties=("race",))
    assert raced.violation is not None
    assert raced.violation.kind == "race"


def test_races() -> None:
    asked = {"strategy": "bmc", "properties": ("assert", "race")}
    verdict = check(EXAMPLES / "lost_update.py", **asked)
    assert verdict.verdict == VIOLATED
    race = check(EXAMPLES / "daisy.py", strategy="bmc", properties=("race",), rounds=2)
    assert race.violation is not None
    assert race.violation.kind == "race"
    fixed = check(EXAMPLES / "lost_update_fixed.py", **asked)
    assert fixed.verdict == HOLDS


EXPLAINED = {
    "full": [],
    "bmc": ["the circuit"],
    "portfolio": ["the circuit", "the circuit of the search for an invariant"],
    "bdd": ["the circuit"],
    "events": ["the events"],
}


@pytest.mark.parametrize("strategy", EXPLAINED)
def test_what_was_made_of_a_model_is_explained(
    monkeypatch: pytest.MonkeyPatch, strategy: str
) -> None:
    monkeypatch.setattr(portfolio, "processors", lambda: portfolio.SEARCHES)
    parts = check(EXAMPLES / "lost_update.py", strategy=strategy, explain=True).explanation
    first = "what was made of the model"
    assert [part.title for part in parts] == [first, *EXPLAINED[strategy]]
    assert all(name and text for part in parts for name, text in part.rows)
    assert check(EXAMPLES / "lost_update.py", strategy=strategy).explanation == ()


def test_an_explanation_counts_what_there_is(mazurka) -> None:
    """Two bits hold `counter`, which is 0, 1 or 2, and the lock, held by one of two threads or not.
    With lock patterns the lock is named, and threads without loops have no sticky place."""
    model = str(EXAMPLES / "lost_update_fixed.py")
    asked = ("--strategy", "bmc", "--interleaving", "transactions", "--explain")
    parts = mazurka("check", model, *asked, "--json").json["explanation"]
    rows = {name: text for part in parts for name, text in part["rows"]}
    assert "counter, lock" in rows["2 bits"]
    assert (rows["lock patterns"], rows["sticky"]) == ("lock", "no place: no thread goes round")
    assert "\n  lock patterns  lock\n" in mazurka("check", model, *asked).out
    assert mazurka("check", model, "--json").json["explanation"] is None


@pytest.mark.parametrize("strategy", ["bmc", "pdr", "bdd"])
@pytest.mark.parametrize("interleaving", ["full", "partial-order", "transactions", "sweeps"])
def test_an_explanation_says_how_many_latches_a_file_has(
    mazurka, strategy: str, interleaving: str
) -> None:
    model, asked = str(EXAMPLES / "lost_update_fixed.py"), ("--interleaving", interleaving)
    parts = mazurka("check", model, "--strategy", strategy, *asked, "--explain", "--json").json[
        "explanation"
    ]
    rows = dict(parts[-1]["rows"])
    header = mazurka("export", model, "--format", "aiger", "--ascii", *asked).out.split()
    assert rows["exported"].startswith(f"{header[3]} latches in a file")
    same = rows["latches"].startswith(f"{header[3]}:")
    assert same is rows["exported"].endswith(", these")


TURNS = """
from mazurka.model import Int
x: Int[0, 2] = 0
def turns():
    global x
    while True:
        x = (x + 1) % 3
def looks():
    while True:
        assert x != 2
threads = [turns(), looks()]
"""


def test_loops_without_an_end_are_followed_a_few_times_first(tmp_path: Path) -> None:
    """Two passes lead to the failure: three events of each thread, a pass being a read and a write
    of one, and a read of the other."""
    found = check(write(tmp_path, TURNS), strategy="events", properties=["assert"])
    assert found.verdict == VIOLATED
    (told,) = (note for note in found.notes if "events" in note)
    assert int(told.split()[0]) < 10


def test_a_report_says_what_looks_further(mazurka, tmp_path: Path) -> None:
    model = str(write(tmp_path, LONG_SECTION))
    assert (
        "a larger --unrolling"
        in mazurka("check", model, "--strategy", "bmc", "--unrolling", "5").out
    )
    endless = str(EXAMPLES / "peterson.py")
    for strategy in ("bmc", "events", "k-induction"):
        told = mazurka("check", endless, "--strategy", strategy, "--rounds", "1").out
        assert told.count("a larger --rounds looks further ahead") == 1


ADDS = """
from mazurka.model import Int, atomic, choose
total: Int[0, 2**62] = 0
def adds():
    global total
    amount = choose(range(2**60))
    with atomic():
        total = total + amount
def looks():
    assert total >= 0
threads = [adds(), looks()]
"""


@pytest.mark.parametrize("strategy", ["bmc", "pdr", "events", "k-induction"])
def test_a_race_is_told_whatever_can_be_chosen(tmp_path: Path, strategy: str) -> None:
    """Nobody goes through 2**60 outcomes to find those that race."""
    full = {} if strategy in ("events", "k-induction") else {"interleaving": "full"}
    found = check(
        write(tmp_path, ADDS),
        strategy=strategy,
        engine="symbolic",
        properties=["race"],
        limit_seconds=ENOUGH,
        **full,
    )
    assert found.verdict == VIOLATED
    assert found.violation is not None
    assert found.violation.kind == "race"


WAITS_WIDE = """
from mazurka.model import Int, atomic, await_, choose
x: Int[0, 3] = 0
y: Int[0, 2**40] = 0
def guesses():
    global y
    with atomic():
        value = choose(range(2**40))
        await_(value == 5 and x == 3)
        y = value
def moves():
    global x
    while True:
        x = (x + 1) % 3
threads = [guesses(), moves()]
"""


def test_a_run_is_judged_whatever_can_be_chosen(tmp_path: Path) -> None:
    model = write(tmp_path, WAITS_WIDE)
    found = check(
        model, strategy="pdr", engine="symbolic", ltl="F y == 5", fair=True, limit_seconds=ENOUGH
    )
    assert found.verdict == VIOLATED


class Watcher(Silent):
    """Keeps what it hears."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def progress(self, statistics: Statistics) -> None:
        self.lines.append(progress_text(statistics))


@pytest.mark.parametrize(
    ("strategy", "heard"),
    [
        ("bmc", r"^2 rounds  [\d,]+ clauses  \d+ MB  \d+\.\d s$"),
        ("k-induction", r"^1 steps  [\d,]+ clauses  "),
        ("pdr", r"^\d+ rounds  frame \d+: \d+ clauses, \d+ questions  "),
        (
            "portfolio",
            r"clauses  (pdr frame \d+: \d+ clauses, |bdd pass \d: a diagram of \d+ nodes)",
        ),
        ("bdd", r"^\d rounds?  pass \d: a diagram of \d+ nodes  "),
        ("events", r"^\d+ events, [\d,]+ clauses  "),
    ],
)
def test_progress_says_what_a_search_is_busy_with(strategy: str, heard: str) -> None:
    watcher = Watcher()
    # `bmc` alone decides Peterson's lock for two: in a portfolio nobody else may come to a word.
    others = {"events": "lost_update_fixed", "portfolio": "peterson_filter"}
    model = others.get(strategy, "peterson")
    rounds = {"rounds": 4} if strategy in ("bmc", "k-induction") else {}
    check(EXAMPLES / f"{model}.py", strategy=strategy, observer=watcher, **rounds)
    assert any(re.search(heard, line) for line in watcher.lines), watcher.lines


STACK_OR_QUEUE = """\
from mazurka.model import *
x: Int[0, 3] = 0
queue = Queue(2, Int[0, 3])
stack = LifoQueue(2, Int[0, 3])
def take():
    which, item = select(queue, stack if x < 3 else None)
    assert item == which + 1
def give():
    {first}
    {second}
    queue.put(1)
threads = [take(), give()]
"""


@pytest.mark.parametrize("strategy", ["full", "bmc", "bdd", "events", "cartesian", "optimal-dpor"])
def test_races_of_a_step_that_takes_from_a_stack(mazurka, tmp_path, monkeypatch, strategy):
    """What a `select` reads in its condition races with an atomic write, where an item is there."""
    monkeypatch.chdir(tmp_path)
    write, put = "swap(x, 1)", "stack.put(2)"
    for first, second, verdict in ((write, put, "holds"), (put, write, "violated")):
        text = STACK_OR_QUEUE.format(first=first, second=second)
        (tmp_path / "stack.py").write_text(text, encoding="utf-8")
        asked = ("check", "stack.py", "--json", "--strategy", strategy, "--property", "assert,race")
        found = mazurka(*asked).json
        assert found["verdict"] == verdict
        assert verdict == "holds" or found["violation"]["kind"] == "race"
