# expect: violated deadlock
"""The cigarette smokers (Patil, 1971), solved in the way that does not work.

An agent puts two of three ingredients on the table.  Each smoker owns one ingredient and waits
for the two others, one after the other.  Two smokers may each grab one of the two ingredients
on the table; then neither can go on, and the agent waits for somebody to smoke.
"""

from mazurka.model import Array, Semaphore, choose

INGREDIENTS = 3  # tobacco, paper, matches

on_table = Array(Semaphore(0, max=1), INGREDIENTS)
smoked = Semaphore(0, max=1)


def agent():
    while True:
        missing = choose(range(INGREDIENTS))
        for ingredient in range(INGREDIENTS):
            if ingredient != missing:
                on_table[ingredient].release()
        smoked.acquire()


def smoker(mine):
    while True:
        on_table[(mine + 1) % INGREDIENTS].acquire()
        on_table[(mine + 2) % INGREDIENTS].acquire()
        smoked.release()


threads = [agent()] + [smoker(i) for i in range(INGREDIENTS)]
