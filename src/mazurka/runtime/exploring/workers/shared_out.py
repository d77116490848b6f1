"""What explorations have in common whose runs are shared out among processes.

This process scouts first, as if it were alone, and notes what it learns as lessons for the others.
Processes of this machine (`workers.parallel`) and those of a cluster (`testing.cluster`) do the
rest.
"""

from __future__ import annotations

from collections.abc import Callable

from mazurka.errors import MazurkaError
from mazurka.report.answer import ERROR
from mazurka.runtime.exploring.exploration import Exploration
from mazurka.runtime.exploring.observed_program import ObservedProgram
from mazurka.runtime.exploring.workers.lessons import Lesson, UnshareableError, take_lessons
from mazurka.stateless.explored import Explored
from mazurka.stateless.runs import OutOfTime


class SharedOut(Exploration):
    """One exploration of one test by several processes; fills in a result."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.lessons: list[Lesson] = []
        self.not_observed: set[str] = set()
        self.unobserved_code: set[str] = set()
        self.has_concluded = False
        """Whether scouting has been enough."""

    def has_run(self) -> bool:
        """Explore; False, with a note of the reason, where several processes cannot."""
        try:
            self.run()
            self.tell_skips()
        except UnshareableError as why:
            self.result.notes = (*self.result.notes, f"explored by one process: {why}")
            return False
        except OutOfTime:
            self.conclude_late()
        except MazurkaError as error:
            self.result.verdict, self.result.scope, self.result.error = ERROR, "", error
        return True

    def explain_together(
        self, explored: Explored, prepare: Callable[[ObservedProgram], object]
    ) -> None:
        """Explain a failure that others have found, or look for one that nobody has seen; what is
        to be known of the program beforehand is for `prepare`, and for the lessons."""

        def explain(program: ObservedProgram) -> None:
            prepare(program)
            take_lessons(program, self.lessons)
            if self.is_to_explain(explored):
                self.explain(explored.failures[0], program, self.check_races(program))
                return
            unseen = self.look_for_unseen(program, explored)
            if unseen is not None:
                self.explain_unseen(unseen, program)

        if self.is_to_explain(explored) or self.may_miss(explored):
            self.control(explain, timed=False)

    def is_enough(self, explored: Explored) -> bool:
        return self.has_concluded
