"""The block of 64-bit words through which Python and a compiled search share everything.

A kernel gets one argument, the address of such a block.  The first part describes the program,
the second the store, the third the search itself; arrays appear as their addresses.  Positions are
plain numbers, which the kernels take in as constants.
"""

from __future__ import annotations

# The program.
(
    STEP,              # address of the step function
    RECORDING_STEP,    # address of the variant that reports footprints, 0 where nothing needs it
    WORDS,             # words in a record of the store: a state, and what a search adds to it
    THREADS,
    COUNTER_WORD,      # arrays by thread: where its program counter lies
    COUNTER_SHIFT,
    COUNTER_MASK,
    CHOICE_OFFSET,     # array by thread: where its part of CHOICES begins
    CHOICES,           # array: number of choices at each location code
    CHOICES_LENGTH,
    MOST_CHOICES,      # array by thread
    OBSERVERS,         # array by thread: 1 where it only watches
    ANY_CHOICE,        # whether any step is nondeterministic
    FAULTS_WANTED,     # bit k: faults with code k are reported
    DEADLOCK_WANTED,
    RACE_WANTED,
) = range(16)  # fmt: skip

# Looking for races.
(
    FOOTPRINT,         # as `mazurka.ir.native` describes it: capacity, count, entries
    FOOTPRINT_LENGTH,
    RACING,            # array by cell: 1 where it can race
    CELLS,
    INDIVISIBLE,       # array by edge: 1 where the step it begins is one atomic operation
    EDGES,
    TOUCHED,           # array by cell and kind of access: threads, as bits
    EPOCH,             # array by cell: the state for which TOUCHED is valid
    CLOCK,             # counts the states that were examined
) = range(16, 25)  # fmt: skip

# The store.
(
    TABLE,
    CAPACITY,
    LOG,
    INLINE,            # whether states lie in the table itself
    FULL_AT,           # the number of states at which the table must grow
    OLD_TABLE,         # while growing
    OLD_CAPACITY,
) = range(25, 32)  # fmt: skip

# The search.
(
    SIZE,              # states in the store
    TRANSITIONS,
    BUDGET,            # transitions in this slice
    BUFFER,            # room for successors; the initial state lies there at first
    MOST_SUCCESSORS,   # how many fit
    MOVE_THREAD,       # what was found, and where
    MOVE_CHOICE,
    STACK,             # depth-first: states, or their positions in the log
    PROGRESS,          # depth-first: how far each frame's moves have been tried
    ROOM,              # depth-first: frames the stack can hold
    HEIGHT,
    DEEPEST,
    FRAME,
    ORIGINS,           # breadth-first: where each state came from
    MOVES,             # breadth-first: which moves to take
    POSITION,          # breadth-first: the state to expand next, and the end of its level
    END,
    SUCCESSOR,         # breadth-first: the first successor not dealt with yet
    RACE_CHECKED,
) = range(32, 51)  # fmt: skip

BLOCK_WORDS = 51

SUCCESSOR_WORDS = 4
"""What the buffer holds for each successor beside its state."""

# Why a search came back to Python.
SLICE, DONE, STORE_FULL, STACK_FULL, FAULT, DEADLOCK, RACE, FOOTPRINT_FULL = range(8)

FIRST_DEAD_END = 7
"""Faults from this code on (`livelock`, `bound`) have no successor: the step did not end."""

# Which moves a breadth-first search takes.
ALL_MOVES, SAME_THREAD, OTHER_THREADS = range(3)

# A depth-first frame's progress: four flags, then the next choice, then the next thread.
CHOICE_SHIFT = 4
CHOICE_BITS = 24
THREAD_SHIFT = CHOICE_SHIFT + CHOICE_BITS

# A breadth-first origin: a choice, a thread, the position of the predecessor.
ORIGIN_THREAD_SHIFT = 16
ORIGIN_POSITION_SHIFT = 24
