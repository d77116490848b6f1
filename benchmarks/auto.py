"""How `auto` compares with the best single strategy on the examples.

    python benchmarks/auto.py [--repeat 3] [--limit 20]

Every example, and larger sizes of some, is checked by each sound strategy that stores states and by
`auto`; seconds are those of all rounds of a search, the best of some repetitions.  The last line is
the geometric mean of auto's time divided by that of the fastest strategy of each row.  Times below
a millisecond are dominated by what is the same for all and count as one millisecond.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

from mazurka import check
from mazurka.search.registry import load_strategy, strategy_names

EXAMPLES = Path(__file__).parent.parent / "examples"
LARGER: list[tuple[str, dict[str, int]]] = [
    ("bakery", {"N": 3}),
    ("barrier_phases", {"WORKERS": 4, "ROUNDS": 3}),
    ("bluetooth", {"FIXED": 1, "REQUESTS": 3}),
    ("bounded_buffer", {"SIZE": 2, "PRODUCERS": 4, "CONSUMERS": 4}),
    ("peterson_filter", {"N": 4}),
    ("philosophers_ordered", {"N": 9}),
    ("philosophers_ordered", {"N": 12}),
    ("philosophers_waiter", {"N": 8, "SEATS": 7}),
    ("sleeping_barber", {"CUSTOMERS": 5}),
    ("ticket_lock", {"N": 4, "ROUNDS": 4}),
    ("work_queue", {"WORKERS": 4, "JOBS": 5}),
]
LEAST = 0.001
"""Seconds below which a difference means nothing."""


def seconds(path: Path, definitions: dict[str, int], strategy: str, repeat: int, limit: float):
    """The best time, or None where the limit was reached."""
    best: float | None = None
    used = strategy
    for _ in range(repeat):
        verdict = check(path, strategy=strategy, definitions=definitions, limit_seconds=limit)
        if "time" in verdict.limits:
            return None, used
        if best is None or verdict.total_seconds < best:
            best, used = verdict.total_seconds, verdict.strategy or strategy
    return best, used


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--limit", type=float, default=20.0)
    arguments = parser.parse_args()
    stored = [
        name
        for name in strategy_names()
        if load_strategy(name).sound and not load_strategy(name).over_schedules
    ]
    subjects = [(path.stem, {}) for path in sorted(EXAMPLES.glob("*.py"))]
    ratios = []
    print(f"{'example':34}{'best':>16}{'seconds':>10}{'auto chose':>14}{'seconds':>10}{'ratio':>8}")
    for name, definitions in [*subjects, *LARGER]:
        path = EXAMPLES / f"{name}.py"
        times = {}
        for strategy in stored:
            found, _ = seconds(path, definitions, strategy, arguments.repeat, arguments.limit)
            if found is not None:
                times[strategy] = found
        took, used = seconds(path, definitions, "auto", arguments.repeat, arguments.limit)
        best = min(times, key=lambda each: times[each], default=None)
        label = name + "".join(f" {key}={value}" for key, value in definitions.items())
        if best is None or took is None:
            print(f"{label:34}{best or 'none':>16}{'':>10}{used:>14}  not within the limit")
            continue
        ratio = max(took, LEAST) / max(times[best], LEAST)
        ratios.append(ratio)
        print(f"{label:34}{best:>16}{times[best]:>10.4f}{used:>14}{took:>10.4f}{ratio:>8.2f}")
        sys.stdout.flush()
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"geometric mean of {len(ratios)} ratios: {mean:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
