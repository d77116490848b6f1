# expect: holds
"""A lock-free stack that counts its changes.

As in `treiber_stack.py`, but `top` holds a node and a tag in one number, and every change makes a
new tag.  A thread that was overtaken sees a tag it does not know and tries again, even if the
node is the same.
"""

from mazurka.model import Array, Bool, Int, cas

EMPTY = 2
NODES = 2
TAGS = 8
STEP = NODES + 1

below = Array(Int[0, EMPTY], NODES, [1, EMPTY])
in_use = Array(Bool, NODES)
top: Int[0, STEP * TAGS - 1] = 0


def next_top(old, node):
    tag = (old // STEP + 1) % TAGS
    return tag * STEP + node


def pop():
    while True:
        old = top
        node = old % STEP
        if node == EMPTY:
            return EMPTY
        if cas(top, old, next_top(old, below[node])):
            return node


def push(node):
    while True:
        old = top
        below[node] = old % STEP
        if cas(top, old, next_top(old, node)):
            return


def take(node):
    if node != EMPTY:
        assert not in_use[node], "a node is in use twice"
        in_use[node] = True


def slow():
    node = pop()
    take(node)


def busy():
    first = pop()
    take(first)
    second = pop()
    take(second)
    if first != EMPTY:
        in_use[first] = False
        push(first)
    last = pop()
    take(last)


threads = [slow(), busy()]
