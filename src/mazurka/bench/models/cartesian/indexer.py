"""Threads that enter messages in one hash table (paper 003, figure 12).

The program is Flanagan and Godefroid's (*Dynamic Partial-Order Reduction*, POPL 2005).
A transition is one compare-and-swap with what the thread then does for itself: take the next
message, hash it, or leave.  A slot that is taken is read, and the thread goes on to the next one.
Up to 11 threads never meet.
"""

from mazurka.model import Array, Int, atomic, cas

N = 12
SIZE = 128
MESSAGES = 4

table = Array(Int[0, MESSAGES * 11 + N], SIZE)


def worker(tid):
    message: Int[1, MESSAGES] = 1
    word: Int[11, MESSAGES * 11 + N] = 11 + tid
    slot: Int[0, SIZE - 1] = word * 7 % SIZE
    while True:
        with atomic():
            if not cas(table[slot], 0, word):
                slot = (slot + 1) % SIZE
            elif message < MESSAGES:
                message += 1
                word = message * 11 + tid
                slot = word * 7 % SIZE
            else:
                return


threads = [worker(tid) for tid in range(N)]
