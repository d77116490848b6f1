import bisect
import collections
import copy
import heapq
import queue

import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


def test_counter():
    """violated: `+=` on an element is a read and a write."""
    counter = collections.Counter()

    def add():
        counter["a"] += 1

    run_together(add, add)
    assert counter["a"] == 2


def test_deque():
    """holds: `append` is one operation."""
    items = collections.deque()
    run_together(lambda: items.append(1), lambda: items.append(2))
    assert sorted(items) == [1, 2]


def test_deque_iteration():
    """violated: going through a deque fails if it is changed."""
    items = collections.deque([1, 2])

    def add_up():
        total = 0
        for item in items:
            total += item

    run_together(add_up, lambda: items.append(3))


def test_defaultdict():
    """holds: a missing list is made and stored by C code at once."""
    groups = collections.defaultdict(list)
    run_together(lambda: groups["a"].append(1), lambda: groups["a"].append(2))
    assert sorted(groups["a"]) == [1, 2]


def test_ordered_dict():
    """violated: the other thread removes the key between `in` and `move_to_end`."""
    items = collections.OrderedDict(a=1)

    def touch():
        if "a" in items:
            items.move_to_end("a")

    run_together(touch, lambda: items.pop("a"))


def test_chain_map():
    """violated: `pop` of the first map raises if the other thread was faster."""
    settings = collections.ChainMap({"a": 1}, {"b": 2})

    def remove():
        if "a" in settings:
            settings.pop("a")

    run_together(remove, remove)


def test_heap():
    """holds: `heappush` is one call of C code, as long as the elements are numbers."""
    heap = []
    run_together(lambda: heapq.heappush(heap, 2), lambda: heapq.heappush(heap, 1))
    assert heap == [1, 2]


def test_bisect_then_insert():
    """violated: the place is found, and used in a second step."""
    numbers = []

    def add(number):
        numbers.insert(bisect.bisect(numbers, number), number)

    run_together(lambda: add(1), lambda: add(2))
    assert numbers == [1, 2]


def test_deepcopy():
    """violated: `deepcopy` goes through the dictionary while a key is added."""
    items = {"a": [1]}
    run_together(lambda: copy.deepcopy(items), lambda: items.setdefault("b", []))


def test_queue_look_then_get():
    """violated: the other thread takes the item between `empty` and `get_nowait`."""
    items = queue.Queue()
    items.put(1)

    def take():
        if not items.empty():
            items.get_nowait()

    run_together(take, take)


def test_simple_queue():
    """holds: `get` waits for an item."""
    items = queue.SimpleQueue()
    got = []
    run_together(lambda: got.append(items.get()), lambda: items.put(1))
    assert got == [1]
