# expect: violated assert "both at once"
"""Two threads that have nothing in common but the invariant."""

from mazurka.model import Bool, invariant

left: Bool = False
right: Bool = False

invariant(not (left and right), "both at once")


def light_left():
    global left
    left = True
    left = False


def light_right():
    global right
    right = True
    right = False


threads = [light_left(), light_right()]
