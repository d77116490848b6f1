# expect: holds
"""A queue whose condition does not hold is left out, whatever it contains."""

from mazurka.model import Int, Queue, select

requests, answers = Queue(2, Int[0, 9]), Queue(1, Int[0, 9])


def client():
    requests.put(1)
    requests.put(2)


def server():
    busy = False
    done = 0
    while done < 2:
        which, item = select(requests if not busy else None, answers)
        if which == 0:
            assert not busy
            busy = True
            answers.put(item)
        else:
            assert busy
            busy = False
            done += 1


threads = [client(), server()]
