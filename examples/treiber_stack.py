# expect: violated assert "a node is in use twice"
"""A lock-free stack with the ABA problem.

To pop, a thread reads the top node and the one below it, and swings `top` from the first to the
second with one `cas`.  The `cas` looks whether the top is still the same node, and takes that for
"nothing has happened".  But the others may have popped two nodes and pushed the first one back:
the top is the same, what was below it is in somebody's hands, and the `cas` hands it out again.

`treiber_stack_tagged.py` counts the changes along with the top, which is the usual cure.
"""

from mazurka.model import Array, Bool, Int, cas

EMPTY = 2
NODES = 2

below = Array(Int[0, EMPTY], NODES, [1, EMPTY])
in_use = Array(Bool, NODES)
top: Int[0, EMPTY] = 0


def pop():
    while True:
        node = top
        if node == EMPTY:
            return EMPTY
        if cas(top, node, below[node]):
            return node


def push(node):
    while True:
        old = top
        below[node] = old
        if cas(top, old, node):
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
