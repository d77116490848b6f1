import io

import pytest
from rich.console import Console
from rich.progress import Progress
from together import run_together

pytestmark = pytest.mark.mazurka


def make_progress():
    return Progress(console=Console(file=io.StringIO()))


def test_advance():
    """holds: `advance` changes the task under the lock of the progress bar."""
    progress = make_progress()
    task = progress.add_task("work", total=9)
    run_together(lambda: progress.advance(task), lambda: progress.advance(task))
    assert progress.tasks[0].completed == 2


def test_two_tasks():
    """holds: a task gets its number under the lock."""
    progress = make_progress()
    run_together(lambda: progress.add_task("a"), lambda: progress.add_task("b"))
    assert len(progress.tasks) == 2


def test_read_then_update():
    """violated: reading `completed` and storing it are two sections of the lock."""
    progress = make_progress()
    task = progress.add_task("work", total=9)

    def add():
        progress.update(task, completed=progress.tasks[0].completed + 1)

    run_together(add, add)
    assert progress.tasks[0].completed == 2
