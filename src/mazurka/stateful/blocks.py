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
    FOOTPRINT,         # as `mazurka.ir.native.step` describes it: capacity, count, entries
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
    INLINE,            # where states lie: LOGGED, IN_TABLE or AS_BITS
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

# The synchronization discipline (`mazurka.analysis.discipline`).
(
    LAWS,              # array by cell
    USES,              # array by cell: who touched it, and how
    CANDIDATES,        # array by cell and place: numbers of locks held at every access, plus one
    LOCK_NUMBERS,      # array by cell: number of the lock plus one, 0 where it is none
    LOCKS,             # array by lock: LOCK_FIELDS words each
    LOCK_COUNT,
    LOCK_CODES,        # array by lock and thread: the owner cell's code when the thread holds it
    EDGE_MOVERS,       # array by edge
    CREATING,          # array by edge: 1 where it creates a thread
    PLACES,            # array by location code (as CHOICES): PLACE_... flags
    WAKE_LOCKS,        # array by location code: number of the lock taken when woken, plus one
    INSIDE,            # array by location code: the groups whose regions it belongs to, as bits
    GROUP_OF,          # array by cell: its group, as a bit
    OWNERS,            # array by cell: the thread whose local it is, plus one
    RULES,             # RULE_... flags
    MOVER_USE,           # how much of a mover counts: `analysis.movers.Reading`, in order
    FIXED,             # array by edge: movers that are known beforehand
    TOUCHED_FROM,      # bytes by cell and location code: 1 where it was touched from there
    BROKEN_CELL,       # what was found
) = range(51, 70)  # fmt: skip

# Transactions.
(
    COMPLETION,        # when a transaction is ended by force: `stateful.variants.Completion`
    INFO,              # bytes by state: INFO_... flags, and who was there before its commit
    INFO_BYTES,        # bytes for each state
    INITIAL_MASKS,     # array by thread and word: its local cells; 0 where nobody asks
    INITIAL,           # the initial state
    INNER_LOOP,        # whether invisible steps are run through without storing their states
) = range(70, 76)  # fmt: skip

# Cartesian vectors.
(
    CYCLE_RULE,        # when a prefix is left off: `stateful.variants.CycleRule`, in order
    LOOPS_COUNTED,     # whether threads that have ended loop, and are counted
    PREFIXES,          # array by prefix: PREFIX_... words
    MOST_PREFIXES,     # how many fit
    PREFIX_STATES,     # where each prefix has got to, and a spare state
    FEET,              # what the last step of each prefix touches, FOOTPRINT_LENGTH words each
    MARKS,             # array by cell: MARK_... sets of threads
    MARK_EPOCH,        # array by cell: the vector for which its marks are valid
    PASSED,            # the states that prefixes have passed: prefix, state
    PASSED_TABLE,      # hash table of positions in PASSED, with the vector they belong to
    PASSED_CAPACITY,
    LENGTHS,           # array by state: how many steps its origin took to it
    PAPER_TRANSITIONS, # transitions as the paper counts them
    PREFIX_COUNT,      # how many prefixes the last vector has
) = range(76, 90)  # fmt: skip

# Persistent sets.
(
    RELATION,          # how the sets are made: PERSISTENT_... below
    STACK_PROVISO,     # whether a set whose steps all close cycles is passed over
    COLUMNS,           # array by cell: its place in the bit sets below, -1 where no conflict can be
    COLUMN_WORDS,      # words of a bit set
    OWN,               # by location code: what a step uses beside its footprint
    LATER,             # by pattern of locks and location code: what may be read later, and written
    PATTERNS,          # hash table: the locks held, as bits, and the number of the pattern
    PATTERN_CAPACITY,
    TRAITS,            # array by location code: TRAIT_... flags
    ACTING,            # the threads that do not only watch, as bits
    PLACES_AT,         # array by thread: where it is in the state at hand, as a location code
    EXAMINED,          # what is known of the threads in the state at hand: EXAMINED_... sets
    NOW,               # by thread: what its step reads there, and writes
    CONFLICTS,         # array by thread: the threads that may interfere with it, as bits
    REMAINING,         # array by frame: threads of the set whose steps have not been tried
    HELD,              # what was found: locks for which there is no pattern yet
) = range(90, 106)  # fmt: skip

# Cartesian vectors, several at a time.
(
    JOB,               # what the kernel is to do: JOB_... below
    VECTOR_OPEN,       # whether the vector of the state at POSITION has been begun
    VECTOR_PASSED,     # that vector: states in PASSED, transitions as the paper counts, and moves
    VECTOR_PAPER,
    VECTOR_MOVES,
    STUCK_TOGETHER,    # whether the prefixes of the last vector lead to a deadlock
    LAST_POSITION,     # the end of the states whose vectors are asked for
    OUTBOX,            # what a worker hands over: vectors in order, OUT_... words and their ends
    OUTBOX_ROOM,
    OUTBOX_USED,
    OUTBOX_READ,       # how much of it has been entered in the store
) = range(106, 117)  # fmt: skip

HASHES = 117
"""How many bits stand for a state that is stored as bits."""

# Looking for hangs.
(
    HANG_WANTED,
    STATE_WORDS,       # words of a state, without what a search adds to it
    SHARED_MASKS,      # array by thread and word: the bits of cells that are not its own
    WALK,              # the states of one thread's walk
    WALK_ROOM,         # how many fit
    WALK_TABLE,        # hash table: the number of the walk, and a position in WALK
    WALK_CAPACITY,
    WALKS,             # how many walks there were
    WALK_STEP,         # address of the step function for walks, which renames no threads
) = range(118, 127)  # fmt: skip

WAITING_FOR = 127
"""By location code: what a step that is blocked reads beside its footprint (persistent sets)."""
ENDS = 128
"""In which ways executions were seen to end: ENDS_... flags."""

# Temporal formulas.
(
    CLAIM,             # the thread that is the automaton; the program's are those before it
    ACCEPTING,         # array by code of its counter: 1 where it is accepting
    CONDITIONS,        # array: a thread, and whether its fairness is asked for, or that it goes on
    CONDITION_COUNT,
    COLOURS,           # bytes by state: COLOUR_... below
    RED_BASE,          # the first frame of the inner search, 0 where there is none
    ABLE_AT,           # array by frame: the threads that can move, as bits
    STOPPED_AT,        # array by frame: the threads that an assumption stops, as bits
    MOST_MOVES,        # the most choices that a thread of the program has
    MOST_CLAIMS,       # the most choices that the automaton has
    CLOSED_AT,         # what was found: the state at which a cycle closes
) = range(129, 140)  # fmt: skip

# Breadth-first search by several workers.
(
    WORKER,            # its number
    WORKERS,
    SEGMENT,           # how many states each worker's part of the log has room for
    AT_WORK,           # how many of them expand the level
    RANGES,            # array by worker, RANGE_WORDS each: its part of the level
    MEETING,           # array: MEETING_... words, which all workers share
    FINDINGS,          # array: FINDING_... words each
    FINDING_COUNT,
    FINDING_ROOM,
) = range(140, 149)  # fmt: skip

# Breadth-first search by parts: each worker has the states that belong to its part.
(
    PART,              # the worker's number
    PARTS,
    OUTBOXES,          # array by part: the address of the states for it
    OUT_COUNTS,        # array by part: how many there are
    OUT_ROOM,          # how many have room
    SENT,              # states that were sent before: SENT_TAG, and the state
    SENT_CAPACITY,     # how many have room, a power of two
    INBOX,             # states that have come
    INBOX_COUNT,
    INBOX_READ,        # how many of them have been dealt with
    TARGET,            # the state whose predecessor is looked for
) = range(149, 160)  # fmt: skip

REDUCED = 160
"""Whether workers try a persistent set of threads in each state, or all."""

# Which part a state belongs to (`mazurka.stateful.cluster.placement`).
(
    KEY,               # array: the number of a word, and a mask; the bits that decide
    KEY_LENGTH,        # how many such pairs there are; 0: all states belong to the first part
    KEY_SHIFT,         # how many bits of a key's hash are left out; the others number an owner
    KEY_OWNERS,        # array by those: a part
    OWNERS_AT,         # array by successor: the part that it belongs to
    SAMPLED,           # successors of the states in the inbox: the number of the state, and words
    SAMPLED_COUNT,
    SAMPLED_ROOM,
) = range(161, 169)  # fmt: skip

BLOCK_WORDS = 169

# A worker's part of a level: the first state that nobody has claimed, and the end; and where the
# worker's states end.  The words of two workers are never in one line of the cache.
RANGE_NEXT, RANGE_END, RANGE_STORED = range(3)
RANGE_WORDS = 16

# Where workers meet: whether all are to return, how many have nothing left of the level, how many
# levels there were, how many states a worker claims at a time, and whether somebody has found
# something in this level.  The first three lie in lines of their own.
MEETING_CALLED_BACK, MEETING_ARRIVED, MEETING_LEVEL = 0, 16, 32
MEETING_SHARE, MEETING_FOUND = 48, 49
MEETING_WORDS = 64

# From how many states on a level is shared out, and how many a worker claims at a time at most.
SMALL_LEVEL, MOST_CLAIMED = 1 << 11, 64

# What a worker has found: FAULT, STUCK, QUIET or RACE, in which state, by which move.
FINDING_KIND, FINDING_POSITION, FINDING_THREAD, FINDING_CHOICE = range(4)
FINDING_WORDS = 4

# What the worker of a part is to do: expand its states of a level, store those that have come, or
# look for a predecessor; find out which of the states in the inbox are quiet, or what their
# successors are.
JOB_EXPAND_PART, JOB_RECEIVE, JOB_GO_BACK, JOB_EXAMINE, JOB_SAMPLE = range(5)

# A state that was sent: its hash, whose lowest bit is set, so that no place in use begins with 0.
SENT_TAG = 0
SENT_STATE = 1

# What a worker of a breadth-first search is to do: put the initial state into the store, expand its
# part of a level, or enter its states in a new table.
JOB_START, JOB_EXPAND, JOB_ENTER = range(3)

# A state of a nested search: not seen, on the outer stack, left by the outer search, seen by the
# inner one.
COLOUR_WHITE, COLOUR_CYAN, COLOUR_BLUE, COLOUR_RED = range(4)

# Where states lie: in a log, with their positions in the table; in the table itself; or nowhere,
# and the table has some bits for each.
LOGGED, IN_TABLE, AS_BITS = range(3)

# The ways in which executions end: nobody moves, and no thread is stopped, or some thread is.
ENDS_FREELY, ENDS_STOPPED = 1, 2

SUCCESSOR_WORDS = 4
"""What the buffer holds for each successor beside its state."""

# Why a search came back to Python.
SLICE, DONE, STORE_FULL, STACK_FULL, FAULT, STUCK, RACE, FOOTPRINT_FULL, BROKEN = range(9)
PREFIXES_FULL, PASSED_FULL = 9, 10
PATTERN_MISSING = 12
OUTBOX_FULL, FOUND = 13, 14
QUIET, WALK_FULL = 15, 16
CYCLE = 17
MISSENT = 18

FIRST_DEAD_END = 8
"""Faults from this code on (`livelock`, `bound`) have no successor: the step did not end."""

# Which moves a breadth-first search takes.
ALL_MOVES, SAME_THREAD, OTHER_THREADS = range(3)

# A depth-first frame's progress: five flags, then the next choice, then the next thread.
CHOICE_SHIFT = 5
CHOICE_BITS = 24
THREAD_SHIFT = CHOICE_SHIFT + CHOICE_BITS

# A breadth-first origin: a choice, a thread, the position of the predecessor.
ORIGIN_THREAD_SHIFT = 16
ORIGIN_POSITION_SHIFT = 24

# A lock: where its owner cell lies, the code for "free", and flags.
LOCK_WORD, LOCK_SHIFT, LOCK_MASK, LOCK_FREE, LOCK_FLAGS = range(5)
LOCK_FIELDS = 5
LOCK_EXCLUSIVE, LOCK_MOVABLE = 1, 2

# A cell's use: who touched it (a thread plus one), then flags.
USE_MANY = 0xFFFF
USE_WRITTEN, USE_DECLARED = 1 << 16, 1 << 17
MOST_CANDIDATES = 4

# A location.
PLACE_WAITS, PLACE_FINISHED, PLACE_IDLE, PLACE_RECORDS, PLACE_HEAD, PLACE_TAKES = 1, 2, 4, 8, 16, 32
PLACE_AWAITS = 64

# The discipline as a whole.
RULE_HANDOVER, RULE_REDUCES, RULE_GROUPS = 1, 2, 4

# A transaction's frame: flags, then the next choice, the thread, and how many threads have run.
FRAME_MOVED, FRAME_WAITING, FRAME_STOPPED = 1, 2, 4
FRAME_PHASE, FRAME_LM, FRAME_RM, FRAME_XEND, FRAME_CPC = 8, 16, 32, 64, 128
FRAME_SUCCESSOR, FRAME_CLOSES_CYCLE, FRAME_RACE_CHECKED, FRAME_PUSHED = 256, 512, 1024, 2048
FRAME_FLAGS = 4095
FRAME_CHOICE_SHIFT, FRAME_TID_SHIFT, FRAME_NUM_SHIFT = 12, 32, 48

# A state of a transaction search.
INFO_COMMITTED, INFO_CPC, INFO_ON_STACK = 1, 2, 4
INFO_FIRST_THREAD = 3
"""From this bit on: the threads that were here before their commit."""

# A prefix of a cartesian vector.
(
    PREFIX_THREAD,
    PREFIX_CHOICE,     # of its first step
    PREFIX_LENGTH,
    PREFIX_FLAGS,
    PREFIX_FEET,       # how many entries its last step has in FEET
    PREFIX_RESULT,     # what the step function said about the last step
    PREFIX_FAULT,      # the number of the step that first failed, 0 for none
) = range(7)  # fmt: skip
PREFIX_FIELDS = 7
PREFIX_EXTENDABLE, PREFIX_INFINITE, PREFIX_DEAD_END, PREFIX_FIRST_MOVED = 1, 2, 4, 8

# Who has touched a cell: with the last step of a prefix, or with an earlier one.
MARK_EARLIER_READ, MARK_EARLIER_WRITE, MARK_LAST_READ, MARK_LAST_WRITE = range(4)
MARK_FIELDS = 4

# When a prefix that returns to one of its states is left off.
RETURN_RULE, LITERAL_RULE, TABLE1_RULE = range(3)

# How persistent sets are made.
PERSISTENT_CLOSURE, PERSISTENT_AMPLE = range(2)

# Where a set of locks stands in the table of patterns.
PATTERN_FACTOR, PATTERN_SHIFT = 0x9E3779B97F4A7C15, 32

# A location, for persistent sets.
TRAIT_STICKY, TRAIT_SAFE = 1, 2

# Sets of threads in the state at hand.
(
    EXAMINED_KNOWN,    # their steps have been tried
    EXAMINED_ENABLED,
    EXAMINED_WAITING,
    EXAMINED_STOPPED,
    EXAMINED_DEAD_END, # a step of theirs has no successor
    EXAMINED_RELATED,  # their row of CONFLICTS is valid
) = range(6)  # fmt: skip
EXAMINED_WORDS = 6

# A frame of a search with persistent sets, beside choice and thread: whether it has its set.
# FRAME_PUSHED says of every frame of a reduced search whether a state was pushed from it.
FRAME_CHOSEN = 1

# What the kernel for cartesian vectors is to do: search on, make vectors for others to enter, enter
# vectors that were made, or only make the vector of the state before POSITION.
JOB_SEARCH, JOB_COLLECT, JOB_MERGE, JOB_INSPECT = range(4)

# A vector in an outbox: its counts, whether it contains a violation, how many ends follow.  An end:
# its origin without the position, its length, its hash, the state.
OUT_PAPER, OUT_MOVES, OUT_FOUND, OUT_ENDS = range(4)
OUT_FIELDS = 4
END_MOVE, END_LENGTH, END_HASH = range(3)
END_FIELDS = 3

# The block of the kernel that sorts and merges runs of states, which has no other.
(
    RUN_JOB,           # what to do: JOB_SORT, JOB_SUBTRACT, JOB_FIND
    RUN_WORDS,         # words in a record
    RECORDS,           # sorting, finding: the records, and how many there are
    RECORD_COUNT,
    SPARE,             # sorting: as much room again; finding: the record that is looked for
    WIDTH,             # sorting: how long the sorted pieces are
    INPUTS,            # merging: array by input: INPUT_... words
    FRESH_INPUTS,      # how many of them are merged; those behind them are taken away
    ALL_INPUTS,
    OUTPUT,            # what is written, and how many records there are, and can be
    OUTPUT_COUNT,
    OUTPUT_ROOM,
    PENDING,           # whether the record behind the output's end may have to be taken away
    CHECKED,           # the input that is to be asked about it next
) = range(14)  # fmt: skip
RUN_BLOCK_WORDS = 14

JOB_SORT, JOB_SUBTRACT, JOB_FIND = range(3)

# An input: the address of its next record, the end of those in memory, whether these are the last.
INPUT_NEXT, INPUT_END, INPUT_ENDED = range(3)
INPUT_FIELDS = 3

# What the kernel comes back with: it is done, sorted pieces are twice as long, the output has no
# room, or a negative number: the input of that number, counted from -1 downwards, has no records.
RUN_DONE, RUN_MORE, RUN_OUTPUT_FULL = range(3)

# The block of a search on a device, which has no other.  What several workers write is atomic.
(
    DEVICE_LOG,            # the states, in the order of their levels
    DEVICE_TABLE,
    DEVICE_SLOTS,
    DEVICE_ROOM,           # how many states log and table have room for
    DEVICE_SIZE,           # how many places of the log have been taken; may pass the room
    DEVICE_FULL,           # 1 if a state found no room
    DEVICE_FROM,           # the part of the log that is to be expanded
    DEVICE_UNTIL,
    DEVICE_TRANSITIONS,    # those of this part
    DEVICE_FINDING_COUNT,  # how much was found in this part; may pass the room
    DEVICE_FINDINGS,       # array: FINDING_... words each
    DEVICE_FINDING_ROOM,
    DEVICE_OVERLONG,       # 1 if footprints were too long to be compared
    DEVICE_ENDED_FREELY,   # 1 if an execution was seen to end, and no thread was stopped
    DEVICE_COUNTER_WORD,   # arrays by thread: where its program counter lies
    DEVICE_COUNTER_SHIFT,
    DEVICE_COUNTER_MASK,
    DEVICE_CHOICE_OFFSET,  # array by thread: where its part of the next one begins
    DEVICE_CHOICES,        # array: number of choices at each location code
    DEVICE_MASKS,          # array by thread and word: the bits of cells that are not its own
    DEVICE_RACING,         # array by cell: 1 if it can race
    DEVICE_INDIVISIBLE,    # array by edge: 1 if the step that it begins is one atomic operation
    DEVICE_TARGET,         # the state whose predecessor is looked for
    DEVICE_ORIGIN,         # its origin: the smallest that was found
) = range(24)  # fmt: skip
DEVICE_BLOCK_WORDS = 24

# What a device is to do.
DEVICE_EXPAND, DEVICE_ENTER, DEVICE_GO_BACK = range(3)
