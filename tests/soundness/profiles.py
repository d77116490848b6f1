"""How Hypothesis runs the tests over random programs.

Shrinking a program of a hundred draws takes minutes and rarely helps more than the printed seed, so
it is left out; `--hypothesis-seed` repeats a failure.
"""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, settings

random_programs = settings(
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
