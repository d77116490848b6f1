"""Random programs of simulated threads: locks, variables, counters that are waited for, timeouts.

What a thread does may depend on what it has read.  Some programs deadlock.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.unit.stateless.simulated import Body, Simulated, World

VARIABLES = ("x", "x", "x", "x", "y")
LOCKS = ("m", "m", "n")
USUAL = ("write", "change", "section")
RARE = ("read", "add", "wait", "timed", "branch")


def random_program(seed: int) -> Simulated:
    chance = random.Random(seed)
    threads = chance.choice((2, 2, 3))
    length = chance.randint(2, 3) if threads == 2 else chance.randint(1, 2)
    bodies = [random_body(chance, length) for _ in range(threads)]
    if chance.random() < 0.3:
        bodies[0] = starting(bodies[0], bodies.pop())
    return Simulated(bodies)


def resting_program(seed: int) -> Simulated:
    """Threads that give way more than once."""
    chance = random.Random(seed)
    kinds = ("rest", "rest", "timed", "write", "change", "let")
    bodies = [random_body(chance, 3, kinds), random_body(chance, 2, kinds)]
    return Simulated(bodies)


def late_program(seed: int) -> Simulated:
    """A thread that has given way before there was anybody else, and one that it starts then."""
    chance = random.Random(seed)
    kinds = ("rest", "rest", "timed", "write", "change")
    first, second = random_body(chance, 3, kinds), random_body(chance, 2, kinds)

    def body(world: World) -> Body:
        yield world.nothing(yields=True)
        yield from starting(first, second)(world)

    return Simulated([body])


def planned_program(*plans: str) -> Simulated:
    """A thread for each plan, which has a `-` for each rest and names of variables to write."""

    def body_of(plan: str) -> Callable[[World], Body]:
        def body(world: World) -> Body:
            for act in plan:
                yield world.nothing(yields=True) if act == "-" else world.write(act, 1)

        return body

    return Simulated([body_of(plan) for plan in plans])


TURNS = (("-x-yz", "-x-yz"), ("-xx-y", "-xx-y"), ("--x", "-x"))
"""Plans of threads that rest in turn: how often each has done so before decides who is next."""


SECONDS = {"x": 1.0, "y": 4.0}
"""How long a thread rests, by the variable that another statement would touch."""


def random_body(
    chance: random.Random, length: int, among: tuple[str, ...] | None = None
) -> Callable[[World], Body]:
    kinds = [chance.choice(among or chance.choice((USUAL, USUAL, RARE))) for _ in range(length)]
    names = [(chance.choice(VARIABLES), chance.choice(LOCKS)) for _ in kinds]

    def body(world: World) -> Body:
        for kind, (variable, lock) in zip(kinds, names, strict=True):
            yield from statement(world, kind, variable, lock)

    return body


def starting(
    first: Callable[[World], Body], second: Callable[[World], Body]
) -> Callable[[World], Body]:
    def body(world: World) -> Body:
        yield world.start(second)
        yield from first(world)

    return body


def statement(world: World, kind: str, variable: str, lock: str) -> Body:
    match kind:
        case "rest":
            yield world.nothing(yields=True, seconds=SECONDS[variable])
        case "let":
            yield world.nothing(yields=True, seconds=0.0)
        case "read":
            yield world.read(variable)
        case "write":
            yield world.write(variable, 1)
        case "change":
            value = yield world.read(variable)
            yield world.write(variable, value + 1)
        case "section":
            yield world.acquire(lock)
            yield world.write(variable, 2)
            yield world.release(lock)
        case "add":
            yield world.add("counter")
        case "wait":
            yield world.wait("counter", 1)
        case "timed":
            taken = yield world.acquire_timed(lock)
            if taken:
                yield world.release(lock)
            else:
                yield world.nothing(yields=True)
        case "branch":
            value = yield world.read(variable)
            if value:
                yield world.write("z", value)
