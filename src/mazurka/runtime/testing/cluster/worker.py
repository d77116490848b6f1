"""What a worker of a cluster has: a process for the test, on its machine."""

from __future__ import annotations

import pickle
from contextlib import suppress
from typing import Any

from mazurka.errors import MazurkaError
from mazurka.processes import PIPE, Process, python, start
from mazurka.runtime.exploring.workers.process import WorkerReport
from mazurka.runtime.testing.cluster.process import CUT, EXPLORE, BranchAnswer, BranchTask
from mazurka.stateless.branches import Branch

SERVE = "mazurka.runtime.testing.cluster.process:main"


class BranchExplorer:
    """Passes orders on to a process that it starts (`cluster.process`)."""

    process: Process | None = None

    def begin(self, task: BranchTask) -> BranchAnswer:
        """Start a process that knows what the task says, instead of one that knew less."""
        self.end()
        path = task.python_path
        try:
            self.process = start(
                python(SERVE, tests=True),
                directory=task.directory,
                environment={} if path is None else {"PYTHONPATH": path},
                stdin=PIPE,
                stdout=PIPE,
            )
        except OSError as error:
            return failed(
                f"a worker of the cluster cannot start the test in {task.directory}"
                f" ({error.strerror}): the test must be in the same directory on all machines"
            )
        return self.ask(task)

    def cut(self, wanted: int) -> BranchAnswer:
        return self.ask((CUT, wanted, None))

    def explore(self, branch: Branch, limit_seconds: float | None) -> BranchAnswer:
        return self.ask((EXPLORE, branch, limit_seconds))

    def ask(self, order: Any) -> BranchAnswer:
        process = self.process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            pickle.dump(order, process.stdin)
            process.stdin.flush()
            answer = pickle.load(process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            self.end()
            return failed(
                f"a process of a worker has ended unexpectedly, with status {process.returncode};"
                " nothing is known of the executions that it had taken on"
            )
        assert isinstance(answer, BranchAnswer)
        return answer

    def end(self) -> None:
        """Kill the process, if there is one."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            for pipe in (self.process.stdin, self.process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()
        self.process = None


def failed(message: str) -> BranchAnswer:
    return BranchAnswer(report=WorkerReport(error=MazurkaError(message)))
