"""Larger tests, of the size that people write: some 50 to 150 operations in an execution."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor


def all_of(*bodies: Callable[[], None]) -> None:
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class Cache:
    """What has been computed, by key."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._known: dict[int, int] = {}
        self.hits = 0

    def get(self, key: int) -> int | None:
        with self._guard:
            found = self._known.get(key)
            if found is not None:
                self.hits += 1
            return found

    def put(self, key: int, value: int) -> None:
        with self._guard:
            self._known[key] = value


class Request:
    def __init__(self, key: int) -> None:
        self.key = key
        self.value = 0
        self.done = threading.Event()


def service() -> None:
    """Three clients, two workers, a cache and a queue; some 70 operations in an execution."""
    cache = Cache()
    requests: queue.Queue[Request | None] = queue.Queue()

    def client(key: int) -> None:
        request = Request(key)
        requests.put(request)
        request.done.wait()
        assert request.value == key * key

    def work() -> None:
        while (request := requests.get()) is not None:
            value = cache.get(request.key)
            if value is None:
                value = request.key * request.key
                cache.put(request.key, value)
            request.value = value
            request.done.set()

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    all_of(lambda: client(1), lambda: client(2), lambda: client(1))
    for _ in workers:
        requests.put(None)
    for worker in workers:
        worker.join()
    assert cache.hits <= 1


def executor() -> None:
    """An executor with two threads: futures, callbacks, and an error that reaches its future."""
    done: list[int] = []
    guard = threading.Lock()

    def note(future: Future[int]) -> None:
        with guard:
            done.append(0 if future.exception() else future.result())

    with ThreadPoolExecutor(2) as threads:
        futures = [threads.submit(divmod, 7, number) for number in (2, 0)]
        squares = [threads.submit(pow, number, 2) for number in (3, 4)]
        for future in squares:
            future.add_done_callback(note)
        assert [future.result() for future in squares] == [9, 16]
        assert isinstance(futures[1].exception(), ZeroDivisionError)
    assert sorted(done) == [9, 16]


class Buffer:
    """A buffer with room for some items, and two conditions on one lock."""

    def __init__(self, room: int) -> None:
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._items: deque[int] = deque()
        self._room = room
        self.most = 0

    def put(self, item: int) -> None:
        with self._changed:
            while len(self._items) >= self._room:
                self._changed.wait()
            self._items.append(item)
            self.most = max(self.most, len(self._items))
            self._changed.notify_all()

    def take(self) -> int:
        with self._changed:
            while not self._items:
                self._changed.wait()
            self._changed.notify_all()
            return self._items.popleft()


def buffer() -> None:
    """Two producers and a consumer."""
    items, taken = Buffer(1), list[int]()

    def produce(first: int) -> None:
        items.put(first)
        items.put(first + 1)

    def consume() -> None:
        for _ in range(4):
            taken.append(items.take())

    all_of(lambda: produce(0), lambda: produce(10), consume)
    assert sorted(taken) == [0, 1, 10, 11]
    assert items.most == 1


class Connections:
    """A pool of connections; who gets none in time goes without."""

    def __init__(self, size: int) -> None:
        self._free = threading.Semaphore(size)
        self._guard = threading.Lock()
        self._idle = list(range(size))
        self.used = 0

    def take(self, timeout: float) -> int | None:
        if not self._free.acquire(timeout=timeout):
            return None
        with self._guard:
            self.used += 1
            return self._idle.pop()

    def give_back(self, connection: int) -> None:
        with self._guard:
            self._idle.append(connection)
        self._free.release()


def pool() -> None:
    """Four threads, two connections."""
    connections, missed = Connections(2), list[int]()

    def work(number: int) -> None:
        connection = connections.take(1.0)
        if connection is None:
            missed.append(number)
        else:
            connections.give_back(connection)

    all_of(*[lambda number=number: work(number) for number in range(4)])  # type: ignore[misc]
    assert connections.used + len(missed) == 4


class Bus:
    """Topics, and who has subscribed to them."""

    def __init__(self) -> None:
        self._guard = threading.RLock()
        self._topics: dict[str, list[Callable[[int], None]]] = {}

    def subscribe(self, topic: str, receive: Callable[[int], None]) -> None:
        with self._guard:
            self._topics.setdefault(topic, []).append(receive)

    def publish(self, topic: str, message: int) -> int:
        with self._guard:
            receivers = list(self._topics.get(topic, ()))
        for receive in receivers:
            receive(message)
        return len(receivers)


class Inbox:
    def __init__(self) -> None:
        self._guard = threading.Lock()
        self.messages: list[int] = []

    def receive(self, message: int) -> None:
        with self._guard:
            self.messages.append(message)


def bus() -> None:
    """Two publishers, and a subscriber that comes late."""
    topics, inboxes = Bus(), [Inbox() for _ in range(3)]
    for inbox in inboxes[:2]:
        topics.subscribe("news", inbox.receive)

    def publish(first: int) -> None:
        for message in (first, first + 1):
            assert topics.publish("news", message) >= 2

    all_of(
        lambda: publish(0),
        lambda: publish(10),
        lambda: topics.subscribe("news", inboxes[2].receive),
    )
    assert all(sorted(inbox.messages) == [0, 1, 10, 11] for inbox in inboxes[:2])
