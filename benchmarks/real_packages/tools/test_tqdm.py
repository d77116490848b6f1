import io

import pytest
import tqdm
from together import run_together

pytestmark = pytest.mark.mazurka


def make_bar(**options):
    tqdm.tqdm.monitor_interval = 0
    return tqdm.tqdm(total=9, file=io.StringIO(), mininterval=1000, **options)


def test_update():
    """violated: `update` counts with `+=`, outside of the lock."""
    bar = make_bar()
    run_together(bar.update, bar.update)
    assert bar.n == 2


def test_disabled():
    """holds: a disabled bar does nothing."""
    bar = make_bar(disable=True)
    run_together(bar.update, bar.update)
    assert bar.n == 0
