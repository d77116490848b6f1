import pytest
import schedule
from together import run_together

pytestmark = pytest.mark.mazurka


def test_two_jobs():
    """holds: a job is added by one `append`."""
    scheduler = schedule.Scheduler()
    run_together(
        lambda: scheduler.every(5).seconds.do(print), lambda: scheduler.every(5).seconds.do(print)
    )
    assert len(scheduler.jobs) == 2


def test_two_cancel():
    """violated: `cancel_job` of a job that another thread cancels is ignored, but `run_all` of a
    copy still runs it."""
    scheduler = schedule.Scheduler()
    ran = []
    cancelled = []
    job = scheduler.every(5).seconds.do(lambda: ran.append(len(cancelled)))

    def cancel():
        scheduler.cancel_job(job)
        cancelled.append(1)

    run_together(scheduler.run_all, cancel)
    assert 1 not in ran
