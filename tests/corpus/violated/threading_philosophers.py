# expect: violated deadlock
"""Two philosophers in plain Python."""

import threading

forks = [threading.Lock() for _ in range(2)]


def philosopher(left, right):
    with left:
        with right:
            pass


def main():
    one = threading.Thread(target=philosopher, args=(forks[0], forks[1]))
    two = threading.Thread(target=philosopher, args=(forks[1], forks[0]))
    one.start()
    two.start()
    one.join()
    two.join()


main()
