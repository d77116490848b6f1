# expect: violated assert
"""A loop variable holds the last thread only: the others are not joined."""

import threading

done = [0, 0, 0]


def f(i):
    done[i] = 1


def main():
    for i in range(3):
        t = threading.Thread(target=f, args=(i,))
        t.start()
    t.join()
    assert done[2] == 1
    assert done[0] == 1


main()
