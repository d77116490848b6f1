"""The Python API: what the commands do, as functions that return objects.

They raise `mazurka.errors.MazurkaError` for everything the caller can put right: a missing file,
an unsupported construct, an option that makes no sense.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from mazurka.checking import load_program
from mazurka.comparing import Comparison, compare_file
from mazurka.ir.program import Program
from mazurka.report.tracefile import ReplayReport, load, replay_saved, save
from mazurka.report.verdict import Verdict
from mazurka.search import Observer, Silent
from mazurka.search.reading import Reading
from mazurka.search.request import CheckOptions
from mazurka.temporal import check_temporal, read_subject


def check(
    path: str | os.PathLike[str],
    *,
    engine: str = "auto",
    strategy: str = "auto",
    order: str = "dfs",
    self_check: bool = False,
    deterministic: bool = False,
    properties: Iterable[str] | None = None,
    language: str | None = None,
    definitions: Mapping[str, object] | None = None,
    merge: bool = True,
    granularity: str | None = None,
    max_threads: int = 8,
    max_depth: int = 8,
    model: str = "lp64",
    heap: int = 8,
    overflow: bool = False,
    limit_seconds: float | None = None,
    limit_bytes: int | None = None,
    explore_all: bool = False,
    explain: bool = False,
    counterexample: str = "auto",
    symmetry: bool = True,
    ltl: str | None = None,
    fair: bool = False,
    observer: Observer | None = None,
    **tuning: object,
) -> Verdict:
    """Check a model: do its properties hold?

    The file's name or content tells its language, unless `language` names one.
    `properties` are assertions, deadlocks and hangs unless given, hangs only where the strategy can
    look for them.  `definitions` override the model's constants.  The verdict is true where they
    hold, so a test can say `assert mazurka.check("model.py", definitions={"N": 3})`.  The options
    that strategies have of their own are given by name:
    `check("model.py", strategy="stubborn", proviso="sticky")`.
    With `symmetry=False` states that differ only in the numbers of alike threads are counted apart.
    With `explain` the verdict's `explanation` says what was made of the model.
    `ltl` is a temporal formula that all runs satisfy, with `fair` all fair ones; those that the
    model declares are checked as well.
    """
    options = CheckOptions(
        engine=engine,
        strategy=strategy,
        order=order,
        self_check=self_check,
        deterministic=deterministic,
        properties=None if properties is None else tuple(properties),
        reading=Reading(
            language=language,
            definitions={name: str(value) for name, value in (definitions or {}).items()},
            merge=merge,
            granularity=granularity,
            max_threads=max_threads,
            max_depth=max_depth,
            model=model,
            heap=heap,
            overflow=overflow,
        ),
        limit_seconds=limit_seconds,
        limit_bytes=limit_bytes,
        explore_all=explore_all,
        explain=explain,
        counterexample=counterexample,
        symmetry=symmetry,
        tuning=tuning,
    )
    watcher = observer or Silent()
    return check_temporal(os.fspath(path), options, watcher, ltl=ltl, fair=fair)


def compare(
    path: str | os.PathLike[str],
    *,
    engine: str = "auto",
    engines: Iterable[str] | None = None,
    strategies: Iterable[str] | None = None,
    order: str = "dfs",
    properties: Iterable[str] | None = None,
    language: str | None = None,
    definitions: Mapping[str, object] | None = None,
    merge: bool = True,
    granularity: str | None = None,
    max_threads: int = 8,
    max_depth: int = 8,
    model: str = "lp64",
    heap: int = 8,
    overflow: bool = False,
    limit_seconds: float | None = None,
    limit_bytes: int | None = None,
    symmetry: bool = True,
    observer: Observer | None = None,
    **tuning: object,
) -> Comparison:
    """Run several strategies (all, unless named) on one model, each to the end.

    `properties` are those of `check` unless given: strategies that cannot look for hangs look for
    the others, and their verdicts say so.  The result has one verdict a strategy in `verdicts`, and
    in `left_out` the strategies that cannot answer, each with the reason.  `engines` names several
    engines whose strategies are meant; `engine` names one.
    """
    options = CheckOptions(
        engine=engine,
        order=order,
        properties=None if properties is None else tuple(properties),
        reading=Reading(
            language=language,
            definitions={name: str(value) for name, value in (definitions or {}).items()},
            merge=merge,
            granularity=granularity,
            max_threads=max_threads,
            max_depth=max_depth,
            model=model,
            heap=heap,
            overflow=overflow,
        ),
        limit_seconds=limit_seconds,
        limit_bytes=limit_bytes,
        explore_all=True,
        symmetry=symmetry,
        tuning=tuning,
    )
    names = tuple(strategies) if strategies is not None else None
    among = tuple(engines) if engines is not None else None
    return compare_file(os.fspath(path), names, options, observer or Silent(), engines=among)


def replay(trace: str | os.PathLike[str]) -> ReplayReport:
    """Run a saved counterexample again, on the program as it is now."""
    return replay_on(trace)[0]


def replay_on(trace: str | os.PathLike[str]) -> tuple[ReplayReport, Program]:
    """Do the same, and return the program, too."""
    saved = load(os.fspath(trace))
    source = saved.input
    beside = Path(trace).parent / Path(source).name
    if not Path(source).exists() and beside.exists():
        source = str(beside)
    if saved.formula is None:
        program = load_program(source, saved.reading)
    else:
        program = read_subject(source, saved.reading, saved.formula).program
    return replay_saved(saved, program), program


def save_trace(path: str | os.PathLike[str], verdict: Verdict) -> None:
    """Save a verdict's counterexample for `replay`."""
    save(os.fspath(path), verdict)
