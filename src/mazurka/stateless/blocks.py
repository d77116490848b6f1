"""The block of 64-bit words through which Python and the kernel of context bounds share everything.

A kernel gets one argument, the address of such a block; arrays appear as their addresses.
Positions are plain numbers, which the kernels take in as constants.

A set of events is as many words as `WORDS` says, the first event in the lowest bit of the first
word.  A set of threads is one word.
"""

from __future__ import annotations

# The present run.
(
    WORDS,             # how many words a set of events takes
    EVENTS,            # how many there are
    FRESH,             # from which event on the run is another one than at the last call
    THREADS,           # how many there are
    MOST_THREADS,      # for how many there is room in COVERS
    MOST_EVENTS,       # for how many there is room in STANDS and VERSIONS, by thread and by object
    PAST,              # by event: what is before it, and the event itself
    HASHES,            # by event: the hash of its action, two words, the low one first
    SCHEDULE,          # by event: whose it is
    AWAITED,           # by event: the threads that may need it
    WRITTEN_ENDS,      # by event: where the objects that it writes end in WRITTEN
    WRITTEN,           # numbers of objects
    COVERS,            # by event: how many are right before it, plus one, and which; 0 if not known
    LINES,             # by thread: its events
    STANDING,          # by thread: whether it has begun
    STANDS,            # by thread and position: where it stands, STAND_... and the events it needs
    WRITES,            # by object: the events that write it
    WATCHING,          # by object: the threads that have been seen to look at it
    VERSIONS,          # by object and number of writes: which of its states that is
) = range(19)  # fmt: skip

# The states that are known.
(
    LOG,               # records, one behind the other: RECORD_... and the arrivals
    LOG_SIZE,          # words in use
    LOG_ROOM,
    TABLE,             # open addressing by hash: where a record begins, plus one; 0 is free
    TABLE_SLOTS,       # a power of two
    ENTRIES,           # how many slots are in use
    STATES,            # how many states are worked out
    UNSEEN,            # steps from them that lead to others
) = range(19, 27)  # fmt: skip

# What is to be done, and with what.
(
    OPERATION,         # one of the numbers below
    CURSOR,            # a set of events: the prefix to be worked out
    CURSOR_LOW,        # the hash of its state
    CURSOR_HIGH,
    PHASE,             # of WORK_OUT; 0 at first
    CALL,              # numbers the prefixes that were asked for
    FOUND,             # where the record of a state is; -1 if there is none
    ITEMS,             # prefixes to be worked out: ITEM_..., the events of F(s), the events
    ITEM_COUNT,
    ITEM_ROOM,
    NEXT,              # the one that is at hand
    CHECKED,           # how many states were known when limits were looked at last
    CHECK_EVERY,
    SCRATCH,           # a set of events
    ASKED_THREAD,      # where it is not known whether a thread can go on: which
    ASKED_POSITION,    # and how many steps it has taken
    ASKED_PREFIX,      # a set of events: at which prefix
    ANSWERED,          # threads about which that has been said at the prefix at hand
    ANSWERS,           # those of them that can go on
    LEVEL,             # of the search: marks of other levels mean nothing
    BOUND,             # of MARK
    MARKED,            # MARK: hashes of terminal states; then of the states closed, two words each
    MARKED_COUNT,
    WAITING,           # a stack of records for MARK
    MARK_ROOM,         # how many states there may be in both
) = range(27, 52)  # fmt: skip
BLOCK_WORDS = 52

# Operations.
(
    FIND,              # find the record of the state at the cursor
    WORK_OUT,          # work out the prefix at the cursor, and its own
    FINISH,            # the same, and mark its state, which is a terminal one
    MARK,              # mark terminal states
    REHASH,            # enter all records in a table that is empty
) = range(5)  # fmt: skip

# What a kernel returns.
(
    DONE,
    NO_ROOM,           # the log, the table or the items are too small; call again
    ASK,               # whether a thread can go on; say so, and call again
    CHECK,             # look at limits, and call again
    MISSING,           # a state is not known that should be
) = range(5)  # fmt: skip

# A record: the hash of a state s; E(s); its shape; the marks of Algorithm 2; its arrivals.
RECORD_LOW, RECORD_HIGH, RECORD_ABLE, RECORD_SHAPE, RECORD_MARKS, RECORD_WORDS = range(6)
# The shape: how many arrivals, whether it is worked out, and CB(s, t) of the t that are none.
SHAPE_COUNT_BITS = 6
SHAPE_DONE = 1 << 6
SHAPE_COST = 8
# The marks: whether it is closed, how many steps are left, and at which level that is so.  While it
# is not worked out: in which call it has been found.
MARKS_CLOSED = 1
MARKS_LEFT = 1
MARKS_LEVEL = 32
# An arrival: where the record of s - t' is, t', and CB(s - t', t').
ARRIVAL_THREAD = 40
ARRIVAL_COST = 48
ARRIVAL_THREAD_BITS = 8

# An item: where its record is, how many events F(s) has; then these, and the prefix.
ITEM_RECORD, ITEM_SIZE, ITEM_FRONTIER = range(3)

# Where a thread stands: what that depends on, the object, the states for which the answer is known,
# and those of them in which it can go on; then the events that it needs.
STAND_KIND, STAND_OBJECT, STAND_KNOWN, STAND_CAN, STAND_NEEDS = range(5)
# Kinds.
(
    NEVER,             # it is at its end
    PLAIN,             # it can go on
    NEEDING,           # it can go on once its needs have happened
    LOOKING,           # that depends on the state of one object
    ASKING,            # it has to be asked
) = range(5)  # fmt: skip
MOST_STATES = 64
"""States of an object that have a bit each."""
