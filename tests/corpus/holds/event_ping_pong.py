# expect: holds
"""Two events, set and cleared in turn."""

from mazurka.model import Event, Int

ping = Event()
pong = Event()
ball: Int[0, 1] = 0


def left():
    global ball
    while True:
        assert ball == 0
        ball = 1
        ping.set()
        pong.wait()
        pong.clear()


def right():
    global ball
    while True:
        ping.wait()
        ping.clear()
        assert ball == 1
        ball = 0
        pong.set()


threads = [left(), right()]
