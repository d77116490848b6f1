import pytest
import simpy
from together import run_together

pytestmark = pytest.mark.mazurka


def test_own():
    """holds: own environments."""
    found = []

    def run(n):
        env = simpy.Environment()

        def p():
            yield env.timeout(n)
            found.append(env.now)

        env.process(p())
        env.run()

    run_together(lambda: run(1), lambda: run(2))
    assert sorted(found) == [1, 2]


def test_shared_run():
    """violated: two threads step one environment."""
    env = simpy.Environment()
    seen = []

    def p():
        for _ in range(2):
            yield env.timeout(1)
            seen.append(env.now)

    env.process(p())

    def go():
        try:
            while True:
                env.step()
        except simpy.core.EmptySchedule:
            pass

    run_together(go, go)
    assert seen == [1, 2]
