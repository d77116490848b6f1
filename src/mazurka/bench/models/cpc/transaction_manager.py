"""A transaction manager: two-phase commit with time-outs, and a table of transactions in doubt.

Each transaction has a coordinator and a participant, which exchange messages.  The coordinators'
table is guarded by a lock and so is the participants' table, which holds those in doubt: ready to
commit, outcome not known.  A timer aborts transactions that have not been decided, at any moment.
A recovery service goes through those in doubt and asks the coordinators' table for the outcome,
so that a participant may learn it twice, but never two different ones.
"""

from mazurka.model import Array, Bool, Int, Mutex, Queue, choose

TRANSACTIONS = 2
FREE = 0
ACTIVE = 1
COMMITTED = 2
ABORTED = 3

table_lock = Mutex()
status = Array(Int[FREE, ABORTED], TRANSACTIONS)
armed = Array(Bool, TRANSACTIONS)

doubt_lock = Mutex()
in_doubt = Array(Bool, TRANSACTIONS)
learned = Array(Int[FREE, ABORTED], TRANSACTIONS)

prepares = Array(Queue(1, Int[0, 0]), TRANSACTIONS)
votes = Array(Queue(1, Bool), TRANSACTIONS)
outcomes = Array(Queue(1, Int[COMMITTED, ABORTED]), TRANSACTIONS)


def begin(i):
    with table_lock:
        assert status[i] == FREE, "a transaction begins twice"
        status[i] = ACTIVE
        armed[i] = True


def decide(i, vote):
    """Commit, unless the participant objects or the timer was first."""
    with table_lock:
        armed[i] = False
        if status[i] == ACTIVE:
            status[i] = COMMITTED if vote else ABORTED
        return status[i]


def coordinator(i):
    begin(i)
    prepares[i].put(0)
    outcome = decide(i, votes[i].get())
    outcomes[i].put(outcome)
    with table_lock:
        assert status[i] == outcome, "a decision was taken back"


def learn(i, outcome):
    with doubt_lock:
        if in_doubt[i]:
            in_doubt[i] = False
            learned[i] = outcome
        assert learned[i] == outcome, "a participant was told two outcomes"


def participant(i):
    prepares[i].get()
    ready = choose(False, True)
    if ready:
        with doubt_lock:
            in_doubt[i] = True
    votes[i].put(ready)
    outcome = outcomes[i].get()
    if ready:
        learn(i, outcome)
    else:
        assert outcome == ABORTED, "committed against the participant's vote"


def timer():
    while True:
        with table_lock:
            i = choose(range(TRANSACTIONS))
            if armed[i]:
                armed[i] = False
                if status[i] == ACTIVE:
                    status[i] = ABORTED


def recovery():
    while True:
        with doubt_lock:
            i = choose(range(TRANSACTIONS))
            asks = in_doubt[i]
        if asks:
            with table_lock:
                outcome = status[i]
            if outcome in (COMMITTED, ABORTED):
                learn(i, outcome)


threads = (
    [coordinator(i) for i in range(TRANSACTIONS)]
    + [participant(i) for i in range(TRANSACTIONS)]
    + [timer(), recovery()]
)
