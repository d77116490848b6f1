# expect: holds
"""`notify` wakes the thread that has waited longest: first come, first served."""

from mazurka.model import Condition, Int

called = Condition()
came: Int[0, 2] = 0
went: Int[0, 2] = 0


def customer():
    global came, went
    with called:
        came += 1
        ticket = came
        called.wait()
        went += 1
        assert went == ticket, "served out of turn"


def clerk():
    for expected in range(1, 3):
        served = False
        while not served:
            with called:
                if came >= expected and went == expected - 1:
                    called.notify()
                    served = True
    # went is looked at under the lock, so the second call is made when the first has left


threads = [customer(), customer(), clerk()]
