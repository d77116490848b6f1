"""Verdicts: when each is given, what it claims, and its JSON."""

from __future__ import annotations

from dataclasses import replace

import pytest
from reference_strategy import REFERENCE, reference_search
from small_programs import lost_update, straight_line, two_locks

from mazurka.errors import MazurkaError, OptionError
from mazurka.ir.expressions import ZERO
from mazurka.ir.program import Check, Fault
from mazurka.report.answer import ERROR
from mazurka.report.trace import ReplayMismatch
from mazurka.report.verdict import Verdict
from mazurka.search import Move, SearchResult, Statistics, Violation
from mazurka.search.request import CheckOptions, choose_strategy, validate

KEYS = {
    "tool", "version", "input", "verdict", "scope", "property", "strategy", "stats",
    "violation", "trace", "limits", "error",
}  # fmt: skip


def search_that_returns(result: SearchResult):
    return replace(REFERENCE, run=lambda program, options, observer: result)


def test_a_complete_search_without_violation_holds(judge):
    verdict = judge(lost_update(threads=1))
    assert verdict.verdict == "holds"
    assert verdict.exit_status == 0
    assert bool(verdict)
    # one thread, three steps: four states
    assert verdict.scope == (
        "assertions and deadlocks, and range, index and lock errors:"
        " all 4 reachable states examined"
    )


def test_the_json_has_every_key_of_the_design(judge):
    for verdict in (
        judge(lost_update()),
        judge(lost_update(threads=1)),
        Verdict(input=None, verdict=ERROR, error=MazurkaError("no")),
    ):
        assert set(verdict.to_json()) >= KEYS


def test_a_violation_has_place_and_trace(judge):
    data = judge(lost_update()).to_json()
    assert data["verdict"] == "violated"
    assert data["violation"]["kind"] == "assert"
    assert (data["violation"]["file"], data["violation"]["line"]) == ("small.py", 3)
    last = data["trace"][-1]
    assert last["source"].startswith("assert n == t + 1")
    assert set(last) >= {"thread", "file", "line", "source", "reads", "writes", "choice"}


def test_limits_make_a_verdict_inconclusive(judge):
    cut = search_that_returns(SearchResult(Statistics(states=7), limits=("time",)))
    verdict = judge(lost_update(), strategy=cut)
    assert (verdict.verdict, verdict.limits, verdict.exit_status) == ("inconclusive", ("time",), 3)
    assert "7 states examined, others were not" in verdict.scope


def test_a_violation_outweighs_a_limit(judge):
    found = reference_search(two_locks(), CheckOptionsForSearch, None)
    cut = search_that_returns(replace(found, limits=("memory",)))
    assert judge(two_locks(), strategy=cut).verdict == "violated"


def test_a_bound_is_no_violation(judge):
    program = straight_line(0)
    thread = program.threads[0]
    bounded = replace(
        thread.edges[0], operations=(Check(ZERO, Fault.BOUND, "the recursion goes too deep"),)
    )
    program = replace(program, threads=(replace(thread, edges=(bounded,)),))
    verdict = judge(program)
    assert verdict.verdict == "inconclusive"
    assert verdict.limits == ("the recursion goes too deep",)
    assert verdict.violation is None


def test_an_unsound_strategy_never_says_holds(judge):
    unsound = replace(REFERENCE, weakness="it may stop")
    verdict = judge(lost_update(threads=1), strategy=unsound)
    assert (verdict.verdict, verdict.limits) == ("inconclusive", ("unsound-strategy",))
    assert judge(two_locks(), strategy=unsound).verdict == "violated"


def test_an_unsound_strategy_that_was_cut_short_names_both_reasons(judge):
    result = SearchResult(Statistics(states=7), limits=("time",))
    unsound = replace(
        search_that_returns(result),
        weakness="it may stop",
    )
    verdict = judge(lost_update(), strategy=unsound)
    assert (verdict.verdict, verdict.limits) == ("inconclusive", ("time", "unsound-strategy"))
    assert "7 states examined, others were not" in verdict.scope


@pytest.mark.parametrize(
    ("program", "claim"),
    [
        (lost_update(threads=1), "4 states examined (reduced by cpc)"),
        (two_locks(), "9 states examined (reduced by cpc)"),
    ],
)
def test_a_reduction_does_not_claim_to_have_seen_every_state(judge, program, claim):
    """The strategy is the reference search under another name, so the counts are known: one
    thread with three steps; two threads, each before its locks, holding one, or finished, in
    every combination."""
    verdict = judge(program, strategy=replace(REFERENCE, name="cpc", reduces=True))
    assert verdict.scope.endswith(claim)
    assert "reachable" not in verdict.scope


def test_an_unsound_reduction_says_what_it_cannot(judge):
    unsound = replace(
        REFERENCE,
        name="transactions",
        reduces=True,
        weakness="it may stop",
    )
    verdict = judge(lost_update(threads=1), strategy=unsound)
    assert verdict.scope.endswith(
        "none found in 4 states (reduced by transactions), but the strategy may miss some"
    )


@pytest.mark.parametrize(
    "claim",
    [
        Violation("deadlock", ()),
        Violation("deadlock", (Move(0),)),
        Violation("assert", (Move(0),)),
        Violation("race", (), (Move(0), Move(1))),
        Violation("race", ()),
        Violation("deadlock", (Move(7),)),
        Violation("deadlock", (Move(0), Move(0))),
    ],
)
def test_a_claim_that_does_not_replay_is_never_reported(judge, claim):
    wrong = search_that_returns(SearchResult(Statistics(states=1), claim))
    with pytest.raises(ReplayMismatch):
        judge(two_locks(), strategy=wrong)


def test_the_kind_of_fault_must_be_the_one_claimed(judge):
    claim = Violation("range", (Move(0),))
    wrong = search_that_returns(SearchResult(Statistics(states=1), claim))
    with pytest.raises(ReplayMismatch, match="exception"):
        judge(straight_line(0), strategy=wrong)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"properties": ("asert",)}, "assert, deadlock, hang, race"),
        ({"order": "sideways"}, "dfs, bfs"),
        ({"engine": "syntactic"}, "not known; there are: auto, stateful, stateless"),
        ({"counterexample": "best"}, "auto, found, switches"),
        ({"limit_seconds": 0.0}, "--limit-time"),
        ({"limit_seconds": float("nan")}, "--limit-time"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, words):
    with pytest.raises(OptionError, match=words):
        validate(CheckOptions(**options))


def test_a_property_that_is_not_preserved_is_refused(monkeypatch):
    blind = replace(REFERENCE, name="blind", preserves=frozenset({"assert"}))
    known = {"blind": blind, "reference": replace(REFERENCE, name="reference")}
    monkeypatch.setattr("mazurka.search.request.load_strategy", known.__getitem__)
    monkeypatch.setattr("mazurka.search.request.load_all", lambda: list(known.values()))
    monkeypatch.setattr("mazurka.search.request.strategy_names", lambda: sorted(known))
    with pytest.raises(OptionError, match=r"does not preserve deadlock; .* do: reference"):
        choose_strategy(CheckOptions(strategy="blind"))
    allowed = choose_strategy(CheckOptions(strategy="blind", properties=("assert",)))
    assert allowed.name == "blind"


class CheckOptionsForSearch:
    properties = frozenset({"assert", "deadlock"})
