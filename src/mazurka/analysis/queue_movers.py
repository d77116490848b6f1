"""How puts and gets move: a step at an end of a queue that only one thread uses.

Paper 000 asks of a left mover that it can be moved before every step of another thread that it
follows, and that such a step never disables it.  Locks, semaphores and events fulfil both in all
states.  A put into a bounded queue, or a get, does not: it may have had to wait for that other
step.  But a search by transactions moves a step to the left only from the state in which it has
found the step to be possible (`docs/soundness.md`, step 3): a thread that cannot move there ends
its transaction, and so does a thread one of whose choices is blocked.  What it needs is

    (L)  if t's step and a sequence of steps of other threads are possible in a state s, then t's
         step is also possible after the sequence, and the sequence after t's step, with the same
         result and the same faults.

Of a right mover it needs more: what t did may be moved behind steps of others in any state.

    (R)  if t's step is possible in s, and then a step of another thread, then this one is possible
         in s, and t's step after it, with the same result and the same faults.

| step | mover | condition |
|---|---|---|
| put, offer, end of an offer | left | no other thread puts there, or looks at the count |
| get, take | left | no other thread gets there, or looks at the count |
| get from a queue whose puts never wait | both | the same |
| anything else | none | |

*Proof of (L).*  The others use the queue only at the other end, each time by one put or get that
is all the step does with shared cells that t's step touches.  Let t put, and let the queue have
room in s.  Others can only take items out, so there is room all along, and a put commutes with a
get that is possible before it (`mazurka.analysis.channels`).  After the put, every get is still
possible, and takes the same item.  Let t get, and let the queue have an item in s: others can only
add items, the oldest stays the oldest, and the same argument holds.  In a rendezvous channel only
one of the three operations is possible at a time, and only the thread itself can do the one that
is possible in s, so no step of the sequence touches the channel at all.

*Several queues.*  The edges of `select` exclude each other by a cell of the thread's own, or the
queues are no channels.  So its choice is that of a queue, and a put into another queue changes
nothing for a choice that is possible.  A choice that is blocked ends the transaction.

*Proof of (R)* for a get from a queue whose puts never wait.  If the other step is a put, it is
possible before the get, and both orders lead to the same state; no other step touches the queue.
This is about the program with endless slots, in which a put finds room whatever has been moved
behind it; as for persistent sets, a search that never puts into a full queue is also a search of
that program, and else it is inconclusive (`mazurka.analysis.channels`).  A put is no right mover:
the get that follows it may need its item.  A get from a queue with a bound is none either: the put
that follows it may need its room.
"""

from __future__ import annotations

from mazurka.analysis.channels import Channels, End, TwoEndedQueue, find_channels
from mazurka.analysis.laws import Law, Laws, Mover
from mazurka.analysis.ownership import reach
from mazurka.ir.program import FIRST_LOCATION, Mode


def apply_queue_laws(laws: Laws) -> None:
    """Let the steps at the ends of queues move that one thread has for itself."""
    channels = find_channels(laws.program)
    if not channels.channels:
        return
    for channel in channels.channels.values():
        for cell in channel.cells:
            if laws.of_cell[cell] is Law.NEVER:
                laws.of_cell[cell] = Law.QUEUE
    moves = QueueMovers(laws, channels)
    for number, thread in enumerate(laws.program.threads):
        for location in range(FIRST_LOCATION, len(thread.locations)):
            if thread.locations[location].mode is not Mode.ATOMIC:
                moves.enter(number, location)


class QueueMovers:
    """Finds the movers of steps that touch channels."""

    def __init__(self, laws: Laws, channels: Channels) -> None:
        self.laws = laws
        self.channels = channels
        program = laws.program
        self.ends_of = [self._find_ends(number) for number in range(len(program.threads))]
        """By thread: the ends that its steps use, or look at."""
        self.bounded = self._find_bounded()

    def _find_ends(self, number: int) -> int:
        thread, found = self.channels.program.threads[number], 0
        for position in range(len(thread.edges)):
            touched = self.channels.taking(number, position)
            found |= touched.reads | touched.writes
        return found

    def _find_bounded(self) -> set[int]:
        """Find the channels at which some put waits for room."""
        found: set[int] = set()
        for uses, related in zip(self.channels.uses, self.channels.of_edge, strict=True):
            for use, edge_use in zip(uses, related, strict=True):
                if use is not None and edge_use is not None and use.end is End.PUTTING:
                    found.update(channel.base for channel in edge_use.of if use.waits)
        return found

    def enter(self, number: int, location: int) -> None:
        """Set the movers of the edges of a location."""
        thread, first = self.laws.program.threads[number], self.laws.program.first_edge[number]
        if not self._find_using(number, reach(thread, location).edges):
            return
        for position in thread.outgoing[location]:
            target = thread.edges[position].target
            merged = thread.locations[target].mode is not Mode.VISIBLE
            edges = (position, *(reach(thread, target).edges if merged else ()))
            mover = self._judge(number, self._find_using(number, edges))
            if thread.locations[target].mode is not Mode.ATOMIC:
                mover &= self.laws.edge_movers[first + position]
            elif self._touches_more(number, edges):
                mover = Mover.NONE
            self.laws.edge_movers[first + position] = mover

    def _find_using(self, number: int, edges: tuple[int, ...]) -> set[int]:
        """Find the edges that have something to do with a channel."""
        return {each for each in edges if self.channels.of_edge[number][each] is not None}

    def _judge(self, number: int, using: set[int]) -> Mover:
        """Return the mover of steps that take one of the given edges."""
        mover = Mover.BOTH if using else Mover.NONE
        for position in using:
            use = self.channels.of_edge[number][position]
            if use is None or use.end is None or not self.channels.is_lone(number, position):
                return Mover.NONE
            for channel in use.of:
                mover &= self._move_at(number, channel, use.end)
        return mover

    def _move_at(self, number: int, channel: TwoEndedQueue, end: End) -> Mover:
        mine = channel.at(end)
        others = (ends for other, ends in enumerate(self.ends_of) if other != number)
        if any(ends & mine for ends in others):
            return Mover.NONE
        endless = channel.form.capacity and channel.base not in self.bounded
        return Mover.BOTH if end is End.GETTING and endless else Mover.LEFT

    def _touches_more(self, number: int, edges: tuple[int, ...]) -> bool:
        """Whether steps of several edges touch shared cells beside those of channels."""
        first, cells = self.laws.program.first_edge[number], self.laws.program.cells
        for position in edges:
            touched = self.laws.touched[first + position]
            for cell in touched.reads | touched.writes:
                if cells[cell].owner != number and not self.channels.cells >> cell & 1:
                    return True
        return False
