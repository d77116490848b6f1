"""Programs whose number of Mazurkiewicz traces is known."""

from __future__ import annotations

from tests.unit.ir.programs import Body, Builder, equals, load, plus, put

from mazurka.ir.expressions import Binary, Choice, Const, Element, Expr, Load, negate
from mazurka.ir.program import FINISHED, Assign, Check, Fault, Kind, Mode, Program, Role

MESSAGES = 4
SLOTS = 128
INODES = 32
BLOCKS = 26


def own_variables(threads: int) -> Program:
    """Nobody meets anybody."""
    builder = Builder()
    for number in range(threads):
        builder.thread().line(put(builder.shared(f"x{number}", 0, 1), 1))
    return builder.program()


def same_variable(threads: int) -> Program:
    """Each thread writes x once."""
    builder = Builder()
    x = builder.shared("x", 0, threads)
    for number in range(threads):
        builder.thread().line(put(x, number))
    return builder.program()


def read_modify_write(threads: int, rounds: int) -> Program:
    """Each thread reads x and then writes it, without a lock."""
    builder = Builder()
    x = builder.shared("x", 0, threads * rounds)
    for _ in range(threads):
        body = builder.thread()
        copy = body.local("copy", 0, threads * rounds)
        body.line(*(put(copy, load(x)), put(x, plus(copy, 1))) * rounds)
    return builder.program()


def critical_sections(threads: int, rounds: int) -> Program:
    """Each thread takes the lock, counts, and gives the lock back, several times."""
    builder = Builder()
    x, lock = builder.shared("x", 0, threads * rounds), builder.lock()
    for _ in range(threads):
        body = builder.thread()
        here = body.at()
        for turn in range(rounds):
            inside, done = body.at(), body.at()
            after = FINISHED if turn == rounds - 1 else body.at()
            body.acquire(here, inside, lock)
            body.edge(inside, done, put(x, plus(x, 1)))
            body.edge(done, after, put(lock, 0), kind=Kind.RELEASE)
            here = after
    return builder.program()


def choices_beside_a_write(count: int) -> Program:
    """One thread chooses a number, then writes x; another one reads x."""
    builder = Builder()
    x = builder.shared("x", 0, count)
    body = builder.thread()
    copy = body.local("copy", 0, count)
    here, chosen = body.at(), body.at()
    body.edge(here, chosen, put(copy, Choice()), kind=Kind.CHOOSE, choices=count)
    body.edge(chosen, FINISHED, put(x, load(copy)))
    reader = builder.thread()
    seen = reader.local("seen", 0, count)
    reader.line(put(seen, load(x)))
    return builder.program()


def choice_that_others_enable() -> Program:
    """In one step: choose 0, or choose 1 if x has been set.  Another thread sets x."""
    builder = Builder()
    x = builder.shared("x", 0, 1)
    body = builder.thread()
    chosen = body.local("chosen", 0, 1)
    here, inside = body.at(), body.at(Mode.ATOMIC)
    body.edge(here, inside, put(chosen, Choice()), kind=Kind.CHOOSE, choices=2, atomic=True)
    allowed = Binary("or", equals(chosen, 0), equals(x, 1))
    body.edge(inside, FINISHED, kind=Kind.ASSUME, guard=allowed, atomic=True)
    builder.thread().line(put(x, 1))
    return builder.program()


def guard_of_two(first: bool) -> Program:
    """A thread fails if it finds x = y = 0; two others set one of them each."""
    builder = Builder()
    x, y = builder.shared("x", 0, 1), builder.shared("y", 0, 1)

    def waits() -> None:
        body = builder.thread()
        free = Binary("and", equals(x, 0), equals(y, 0))
        check = Check(Const(0), Fault.ASSERT, "came first")
        body.edge(body.at(), FINISHED, check, kind=Kind.AWAIT, guard=free)

    if first:
        waits()
    for cell in (x, y):
        builder.thread().line(put(cell, 1))
    if not first:
        waits()
    return builder.program()


def indexer(threads: int) -> Program:
    """Flanagan and Godefroid's Indexer: each thread enters four words in one hash table."""
    builder = Builder()
    table, *_ = (builder.shared(f"table[{slot}]", 0, 999) for slot in range(SLOTS))
    for number in range(threads):
        words = [message * 11 + number for message in range(1, MESSAGES + 1)]
        starts = [word * 7 % SLOTS for word in words]
        body = builder.thread()
        slot = body.local("slot", 0, SLOTS - 1, starts[0])
        places = [body.at() for _ in words]
        for turn, word in enumerate(words):
            last = turn == MESSAGES - 1
            after, start = (FINISHED, 0) if last else (places[turn + 1], starts[turn + 1])
            here: Expr = Element(Const(table), load(slot), SLOTS, 1)
            free = Binary("eq", Load(here), Const(0))
            taken, moved = Assign(here, Const(word)), put(slot, start)
            body.edge(places[turn], after, taken, moved, guard=free, kind=Kind.ATOMIC)
            step = put(slot, Binary("mod", plus(slot, 1), Const(SLOTS)))
            body.edge(places[turn], places[turn], step, guard=negate(free), kind=Kind.ATOMIC)
    return builder.program()


def file_system(threads: int) -> Program:
    """Flanagan and Godefroid's file system: each thread finds a block for its inode."""
    builder = Builder()
    inode = [builder.shared(f"inode[{i}]", 0, BLOCKS) for i in range(INODES)]
    inode_lock = [lock(builder, f"locki[{i}]", threads) for i in range(INODES)]
    busy = [builder.shared(f"busy[{b}]", 0, 1) for b in range(BLOCKS)]
    block_lock = [lock(builder, f"lockb[{b}]", threads) for b in range(BLOCKS)]
    for number in range(threads):
        body = builder.thread()
        mine = number % INODES
        start, read, leave = body.at(), body.at(), body.at()
        body.acquire(start, read, inode_lock[mine])
        block = number * 2 % BLOCKS
        look = body.at()
        body.edge(read, look, guard=equals(inode[mine], 0))
        body.edge(read, leave, guard=negate(equals(inode[mine], 0)))
        for _ in range(3):
            look = try_block(body, look, leave, block, inode[mine], (busy, block_lock))
            block = (block + 1) % BLOCKS
        body.edge(look, leave, Check(Const(0), Fault.ASSERT, "three blocks are always enough"))
        body.edge(leave, FINISHED, put(inode_lock[mine], 0), kind=Kind.RELEASE)
    return builder.program()


def lock(builder: Builder, name: str, threads: int) -> int:
    return builder.shared(name, 0, threads, role=Role.OWNER)


def try_block(
    body: Body, look: int, leave: int, block: int, inode: int, blocks: tuple[list[int], list[int]]
) -> int:
    """Take a block if it is free; else go on from the location that is returned."""
    busy, lock = blocks[0][block], blocks[1][block]
    inside, taking, noting, found, taken, after = (body.at() for _ in range(6))
    body.acquire(look, inside, lock)
    body.edge(inside, taking, guard=equals(busy, 0))
    body.edge(inside, taken, guard=negate(equals(busy, 0)))
    body.edge(taking, noting, put(busy, 1))
    body.edge(noting, found, put(inode, block + 1))
    body.edge(found, leave, put(lock, 0), kind=Kind.RELEASE)
    body.edge(taken, after, put(lock, 0), kind=Kind.RELEASE)
    return after
