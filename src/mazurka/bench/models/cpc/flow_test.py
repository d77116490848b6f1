"""A workflow: activities that run side by side, ordered by links alone.

An activity waits until all links into it are settled.  It runs if one of them is true, works out
its result in the workflow's variables, and settles its outgoing links by conditions that the
model leaves open.  An activity that does not run settles its links to false, so that nobody waits
for ever (dead-path elimination).  The links make a grid: from each activity to its right and down.
"""

from mazurka.model import Array, Bool, Int, Mutex, Semaphore, choose

ROWS = 2
COLUMNS = 3

right = Array(Bool, ROWS * COLUMNS)  # the link from this activity to its right neighbour
down = Array(Bool, ROWS * COLUMNS)
right_settled = Array(Semaphore(0, max=1), ROWS * COLUMNS)
down_settled = Array(Semaphore(0, max=1), ROWS * COLUMNS)

variables = Mutex()
finished: Int[0, ROWS * COLUMNS] = 0
ran: Int[0, ROWS * COLUMNS] = 0


def settle(here, goes_right, goes_down):
    right[here] = goes_right
    right_settled[here].release()
    down[here] = goes_down
    down_settled[here].release()


def incoming(row, column):
    """Whether a link into this activity is true; the first activity always runs."""
    here = row * COLUMNS + column
    wanted = row == 0 and column == 0
    if column > 0:
        right_settled[here - 1].acquire()
        wanted = right[here - 1]
    if row > 0:
        down_settled[here - COLUMNS].acquire()
        wanted = down[here - COLUMNS] or wanted
    return wanted


def activity(row, column):
    global finished, ran
    runs = incoming(row, column)
    with variables:
        if runs:
            ran += 1
        finished += 1
        assert finished >= (row + 1) * (column + 1), "an activity did not wait for its links"
        assert 1 <= ran <= finished, "the first activity did not run"
    if runs:
        settle(row * COLUMNS + column, choose(False, True), choose(False, True))
    else:
        settle(row * COLUMNS + column, False, False)


threads = [activity(row, column) for row in range(ROWS) for column in range(COLUMNS)]
