# expect: holds
"""An event that nobody clears stays set."""

from mazurka.model import Event

done = Event()


def setter():
    done.set()


def looker():
    if done.is_set():
        assert done.is_set()
        done.wait()


threads = [setter(), looker()]
