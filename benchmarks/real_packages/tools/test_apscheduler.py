import pytest
from apscheduler.schedulers.background import BackgroundScheduler
from together import run_together

pytestmark = pytest.mark.mazurka


def test_pending_jobs():
    """holds: pending jobs are added under the lock of the job stores."""
    scheduler = BackgroundScheduler(timezone="UTC")
    run_together(
        lambda: scheduler.add_job(print, "interval", hours=1),
        lambda: scheduler.add_job(print, "interval", hours=1),
    )
    assert len(scheduler.get_jobs()) == 2
