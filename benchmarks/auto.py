"""How `auto` compares with the best single strategy on 49 models.

    python benchmarks/auto.py [--only NAME] [--processors 1] [--limit 60] [--json FILE]

The models are examples of the repository, models of `mazurka bench`, and classic algorithms in
`benchmarks/auto_models`, most of them large enough that choosing matters.  Each is checked by every
sound strategy that stores states, and by `auto`, each in a process of its own that has loaded the
engine before.  Times are seconds of processor time (user) for the whole check with preparation, so
that what else runs on the machine does not matter.

With `--processors 1`, as it is without the option, `auto` searches with its first choice alone, and
its time is comparable with that of a single strategy.  With more, several strategies search side by
side; processor time then counts all of them.

The last lines: the geometric mean of auto's time divided by that of the fastest strategy of each
row, and the rows above a second in which it takes more than twice as long.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import resource
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
EXAMPLES = "examples"
CLASSICS = "benchmarks/auto_models"
BENCH = "src/mazurka/bench/models"
SUBJECTS: list[tuple[str, dict[str, int]]] = [
    (f"{EXAMPLES}/alternating_bit.py", {}),
    (f"{EXAMPLES}/bakery.py", {"N": 3}),
    (f"{EXAMPLES}/bakery.py", {"N": 3, "ROUNDS": 3}),
    (f"{EXAMPLES}/bank_transfer_ordered.py", {}),
    (f"{EXAMPLES}/barrier_phases.py", {"WORKERS": 6, "ROUNDS": 4}),
    (f"{EXAMPLES}/bluetooth.py", {"FIXED": 1, "REQUESTS": 8}),
    (f"{EXAMPLES}/bounded_buffer.py", {"SIZE": 2, "PRODUCERS": 4, "CONSUMERS": 4}),
    (f"{EXAMPLES}/cigarette_smokers.py", {}),
    (f"{EXAMPLES}/dekker.py", {}),
    (f"{EXAMPLES}/peterson.py", {}),
    (f"{EXAMPLES}/peterson_filter.py", {"N": 4}),
    (f"{EXAMPLES}/philosophers_ordered.py", {"N": 9}),
    (f"{EXAMPLES}/philosophers_ordered.py", {"N": 12}),
    (f"{EXAMPLES}/philosophers_waiter.py", {"N": 9, "SEATS": 8}),
    (f"{EXAMPLES}/raft_election.py", {}),
    (f"{EXAMPLES}/raft_election.py", {"N": 4}),
    (f"{EXAMPLES}/readers_writers.py", {"READERS": 7, "WRITERS": 4}),
    (f"{EXAMPLES}/robots.py", {"N": 15}),
    (f"{EXAMPLES}/sleeping_barber.py", {"CUSTOMERS": 10, "CHAIRS": 3}),
    (f"{EXAMPLES}/ticket_lock.py", {"N": 5, "ROUNDS": 3}),
    (f"{EXAMPLES}/treiber_stack_tagged.py", {}),
    (f"{EXAMPLES}/user_driver.py", {"REQUESTS": 3}),
    (f"{EXAMPLES}/work_queue.py", {"WORKERS": 5, "JOBS": 7}),
    (f"{CLASSICS}/accounts.py", {"N": 9}),
    (f"{CLASSICS}/burns.py", {"N": 5}),
    (f"{CLASSICS}/coherence.py", {"N": 6}),
    (f"{CLASSICS}/counters.py", {"N": 6}),
    (f"{CLASSICS}/dijkstra_mutex.py", {"N": 4}),
    (f"{CLASSICS}/lamport_fast.py", {"N": 4}),
    (f"{CLASSICS}/leader_ring.py", {"N": 12}),
    (f"{CLASSICS}/mcs_lock.py", {"N": 5}),
    (f"{CLASSICS}/pipeline.py", {"N": 10, "ITEMS": 9}),
    (f"{CLASSICS}/private_work.py", {"N": 4}),
    (f"{CLASSICS}/readers_lock.py", {"READERS": 9, "WRITERS": 6}),
    (f"{CLASSICS}/semaphore_buffer.py", {"PRODUCERS": 8, "CONSUMERS": 8, "SIZE": 4}),
    (f"{CLASSICS}/sense_barrier.py", {"N": 6, "ROUNDS": 5}),
    (f"{CLASSICS}/szymanski.py", {"N": 5}),
    (f"{CLASSICS}/szymanski.py", {"N": 6}),
    (f"{CLASSICS}/token_ring.py", {"N": 5, "K": 4}),
    (f"{CLASSICS}/two_phase_commit.py", {"N": 6}),
    (f"{CLASSICS}/two_phase_commit.py", {"N": 7}),
    (f"{BENCH}/cartesian/file_system.py", {}),
    (f"{BENCH}/cartesian/indexer.py", {}),
    (f"{BENCH}/cartesian/shared_array.py", {}),
    (f"{BENCH}/cpc/auction_house.py", {}),
    (f"{BENCH}/cpc/shipping.py", {}),
    (f"{BENCH}/cpc/transaction_manager.py", {}),
    (f"{BENCH}/optimistic/clean.py", {}),
    (f"{BENCH}/speed/relaxation.py", {}),
]
GENEROUS = 3.0
"""A strategy that takes so much longer than the best up to now is not of interest."""
LEAST_LIMIT = 3.0


@dataclass
class Measured:
    """One check: processor seconds, or None where a limit was reached, and who answered."""

    seconds: float | None
    strategy: str
    verdict: str


def measure(path: str, definitions: dict[str, int], strategy: str, limit: float) -> Measured:
    """Check a model in a process of its own."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=work, args=(theirs, path, definitions, strategy, limit))
    process.start()
    theirs.close()
    result: Measured = ours.recv()
    process.join()
    return result


def work(answers: Any, path: str, definitions: dict[str, int], strategy: str, limit: float) -> None:
    from mazurka import check

    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    verdict = check(
        ROOT / path, strategy=strategy, definitions=definitions, limit_seconds=10 * limit
    )
    used = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
    cut = set(verdict.limits) & {"time", "memory"}
    name = verdict.strategy or strategy
    answers.send(Measured(None if cut or used > limit else used, name, verdict.verdict))


def load_engine(processors: int) -> list[str]:
    """Load all kernels, so that no check waits for them; the strategies to compare."""
    from mazurka.compiled.cache import KERNELS, kernel
    from mazurka.search import Silent
    from mazurka.search.registry import load_strategy, strategy_names
    from mazurka.stateful import auto

    for name in KERNELS["stateful"]:
        kernel(name, Silent())
    auto.processors = lambda: processors
    stored = [load_strategy(name) for name in strategy_names("stateful")]
    return [each.name for each in stored if each.sound and not each.over_schedules]


def compare(
    path: str, definitions: dict[str, int], names: list[str], most: float
) -> dict[str, Any]:
    found: dict[str, Measured] = {}
    limit = most
    for name in ["auto", *names]:
        found[name] = measure(path, definitions, name, limit)
        times = [each.seconds for each in found.values() if each.seconds is not None]
        limit = min([most, *(max(LEAST_LIMIT, GENEROUS * seconds) for seconds in times)])
    return {"model": path, "definitions": definitions, "found": found}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="models whose names contain this")
    parser.add_argument("--processors", type=int, default=1)
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--json", help="write all figures to this file")
    arguments = parser.parse_args()
    names = load_engine(arguments.processors)
    ratios: list[float] = []
    slow: list[str] = []
    rows = []
    print(f"{'model':44}{'best':>16}{'seconds':>9}{'auto chose':>15}{'seconds':>9}{'ratio':>7}")
    for path, definitions in SUBJECTS:
        if arguments.only not in path:
            continue
        row = compare(path, definitions, names, arguments.limit)
        rows.append(row)
        found: dict[str, Measured] = row["found"]
        chosen = found.pop("auto")
        times = {name: each.seconds for name, each in found.items() if each.seconds is not None}
        best = min(times, key=lambda name: times[name], default=None)
        label = Path(path).stem + "".join(f" {key}={value}" for key, value in definitions.items())
        if best is None or chosen.seconds is None:
            print(f"{label:44}{best or 'none':>16}{'':>9}{chosen.strategy:>15}  beyond the limit")
            slow += [label] if best is not None else []
            continue
        ratio = chosen.seconds / times[best]
        ratios.append(max(ratio, 1.0))
        slow += [label] if times[best] > 1 and ratio > 2 else []
        print(
            f"{label:44}{best:>16}{times[best]:>9.2f}{chosen.strategy:>15}"
            f"{chosen.seconds:>9.2f}{ratio:>7.2f}",
            flush=True,
        )
        found["auto"] = chosen
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"geometric mean of {len(ratios)} ratios: {mean:.3f}")
    print(f"more than twice as long as a best time above a second: {', '.join(slow) or 'none'}")
    if arguments.json:
        for row in rows:
            row["found"] = {name: asdict(each) for name, each in row["found"].items()}
        Path(arguments.json).write_text(json.dumps(rows, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
