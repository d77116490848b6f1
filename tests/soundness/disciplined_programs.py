"""Random programs that follow a locking discipline, most of the time.

`random_program` makes threads that touch anything at any time; a reduction finds little to reduce
there, and has little to get wrong.  `disciplined_program` decides first how each cell is meant to
be shared (protected by a lock, used by one thread, never written, handed over, unprotected) and
then writes threads that mostly keep to it.  In half of the programs nobody ever forgets it.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from mazurka.ir.expressions import Const, Load
from mazurka.ir.program import FINISHED, FIRST_LOCATION, Assign, Kind, Program, Thread
from tests.soundness.disciplined_threads import DisciplinedThread, observing
from tests.soundness.disciplined_world import World
from tests.soundness.sharpening import sharpen
from tests.soundness.synchronizing import DONE

MOST_STATES = 2000
"""Larger programs get no assertion: finding one takes too long."""
LENGTHS = {2: (3, 4, 5), 3: (2, 3, 3), 4: (2, 2, 3)}
"""How many statements a thread has, by the number of threads."""


WAITING_CHOICES = frozenset({"waiting choices"})
"""What makes threads choose between waiting and going on, in one step."""
MEETING = 0.7
"""How often the first thread begins by asking and choosing to wait, and the second by answering."""


def disciplined_program(rng: Random, extra: frozenset[str] = frozenset()) -> Program:
    """A program to test reductions with; `extra` names features that it has in any case."""
    world = World(rng, extra)
    program = world.assemble(_threads(world))
    program = replace(program, declared=world.declarations())
    return program if world.asserts else sharpen(program, rng, MOST_STATES)


def _threads(world: World) -> list[Thread]:
    creators = _creators(world)
    watcher = world.threads - 1 if "observer" in world.features else None
    threads = []
    for number in range(world.threads):
        thread = DisciplinedThread(world, number)
        if number == watcher and number not in creators:
            observing(thread)
            threads.append(thread.thread(observer=True))
            continue
        children = [child for child, creator in creators.items() if creator == number]
        _write(thread, children, created=number in creators)
        threads.append(thread.thread(active=number not in creators))
    return threads


def _creators(world: World) -> dict[int, int]:
    """For each thread that is not there from the beginning, who creates it."""
    if "creation" not in world.features:
        return {}
    created = [n for n in range(1, world.threads) if world.rng.random() < 0.75]
    return {n: world.rng.choice((0, world.rng.randrange(n))) for n in created}


def _write(thread: DisciplinedThread, children: list[int], *, created: bool) -> None:
    rng, world = thread.rng, thread.world
    if "waiting choices" in world.features and thread.number < 2 and rng.random() < MEETING:
        (thread.do_choose_to_wait, thread.do_answer)[thread.number]()
    if children:
        _initialise(thread)
    for child in children:
        status = world.sharing.status + child
        argument = Assign(Const(world.arguments[child]), thread.value())
        thread.create(child, status, *rng.choice(((), (argument,))))
        if rng.random() < 0.2:
            thread.statement()
    length = rng.choice(LENGTHS[world.threads]) - bool(children)
    for _ in range(length):
        if not thread.ended:
            thread.statement()
    for child in children:
        if rng.random() < 0.75:
            thread.join(world.sharing.status + child)
    if children:
        _look_back(thread)
    elif not thread.ended and rng.random() < 0.3:
        thread.do_assertion()
    if "loops" in world.features and not thread.ended and rng.random() < 0.2:
        thread.do_spin()
    _end(thread, created=created)


def _initialise(thread: DisciplinedThread) -> None:
    """Before there are other threads, nobody needs a lock."""
    sharing, rng = thread.sharing, thread.rng
    cells = [*sharing.constants, *sharing.guarded[sharing.locks[0]], *sharing.loose]
    for cell in cells[: rng.randint(0, 2)]:
        thread.step(Kind.ACCESS, Assign(Const(cell), Const(rng.randint(0, 1))))


def _look_back(thread: DisciplinedThread) -> None:
    """After the others are joined, nobody needs a lock either."""
    sharing, rng = thread.sharing, thread.rng
    for cell in sharing.guarded[rng.choice(sharing.locks)][: rng.randint(0, 1)]:
        thread.require(thread.guess(Load(Const(cell))))


def _end(thread: DisciplinedThread, *, created: bool) -> None:
    if thread.ended:
        return
    if created:
        done = Assign(Const(thread.sharing.status + thread.number), Const(DONE))
        thread.edge(thread.here, FINISHED, Kind.EXIT, done, atomic=True)
    elif thread.rng.random() < 0.12:
        thread.edge(thread.here, FIRST_LOCATION, Kind.LOCAL)
    else:
        thread.edge(thread.here, FINISHED, Kind.LOCAL)
