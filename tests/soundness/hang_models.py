"""Small models with and without hangs: what `docs/semantics.md` says of them."""

from __future__ import annotations

HANGING = {
    "both want to enter": """
        flag = [False, False]
        def enter(me):
            flag[me] = True
            while flag[1 - me]:
                pass
            flag[me] = False
        threads = [enter(0), enter(1)]
    """,
    "a flag that never comes": """
        done = False
        def poll():
            while not done:
                yield_()
        def end():
            pass
        threads = [poll(), end()]
    """,
    "a lost hand-over": """
        busy: Int[0, 1] = 1
        turn = False
        waiting = False
        def leave():
            global busy, turn
            if waiting:
                turn = True
            busy = 0
        def enter():
            global waiting
            if busy == 1:
                waiting = True
                while not turn:
                    pass
        threads = [leave(), enter()]
    """,
    "swaps the same value": """
        taken: Int[0, 1] = 0
        def lock():
            global taken
            free = False
            while not free:
                with atomic():
                    free = taken == 0
                    taken = 1
        threads = [lock(), lock()]
    """,
    "a lock that is tried": """
        m = Mutex()
        def holds():
            m.acquire()
        def tries():
            while not m.acquire(blocking=False):
                pass
        threads = [holds(), tries()]
    """,
    "waits beside one that spins": """
        m = Mutex()
        go = False
        def spins():
            with m:
                while not go:
                    pass
        def waits():
            global go
            with m:
                go = True
        threads = [spins(), waits()]
    """,
    "a joined thread that spins": """
        go = False
        def spins():
            while not go:
                pass
        def main():
            worker = threading.Thread(target=spins)
            worker.start()
            worker.join()
        threads = [main()]
    """,
    "chooses, and stays": """
        go = False
        def spins():
            n = 0
            while not go:
                n = choose(0, 1)
        threads = [spins()]
    """,
    "counts and starts again": """
        go = False
        def spins():
            k: Int[0, 3] = 0
            while not go:
                k = k + 1
                if k == 3:
                    k = 0
        threads = [spins()]
    """,
    "writes what is there": """
        go = False
        x: Int[0, 1] = 0
        def spins():
            global x
            while not go:
                x = 0
        threads = [spins()]
    """,
    "takes back what it wrote": """
        n: Int[0, 2] = 0
        def spins():
            while True:
                with atomic():
                    fetch_add(n, 1)
                    fetch_add(n, -1)
        threads = [spins()]
    """,
    "hidden behind one that goes round": """
        flag = [False, False]
        def idles():
            n = 0
            while True:
                n = 1 - n
        def enter(me):
            flag[me] = True
            while flag[1 - me]:
                pass
        threads = [idles(), enter(0), enter(1)]
    """,
    "stopped beside one that it could not help": """
        go = False
        x = False
        def stopped():
            global x
            assume(x)
            x = True
        def spins():
            while not go:
                pass
        threads = [stopped(), spins()]
    """,
    "stopped before a lock of the one that spins": """
        m = Mutex()
        go = False
        def stopped():
            global go
            assume(go)
            with m:
                go = True
        def spins():
            m.acquire()
            while not go:
                pass
        threads = [stopped(), spins()]
    """,
}

NOT_HANGING = {
    "somebody ends it": """
        done = False
        def poll():
            while not done:
                pass
        def end():
            global done
            done = True
        threads = [poll(), end()]
    """,
    "may leave by a choice": """
        def leaves():
            while choose(True, False):
                pass
        threads = [leaves()]
    """,
    "may write by a choice": """
        x: Int[0, 1] = 0
        def writes():
            global x
            while True:
                if choose(False, True):
                    x = 1 - x
        threads = [writes()]
    """,
    "may fail by a choice": """
        go = False
        def fails():
            while not go:
                n = choose(0, 1)
                assert n == 0
        threads = [fails()]
    """,
    "the second one writes": """
        x: Int[0, 1] = 0
        def spins():
            while True:
                pass
        def writes():
            global x
            while True:
                x = 1 - x
        threads = [spins(), writes()]
    """,
    "gives way for ever": """
        flag = [False, False]
        def enter(me):
            flag[me] = True
            while flag[1 - me]:
                flag[me] = False
                flag[me] = True
            flag[me] = False
        threads = [enter(0), enter(1)]
    """,
    "takes a lock again and again": """
        m = Mutex()
        go = False
        def polls():
            while True:
                with m:
                    if go:
                        break
        threads = [polls()]
    """,
    "stopped beside one that spins": """
        go = False
        def stopped():
            global go
            n = choose(0, 1)
            assume(n == 1)
            go = True
        def spins():
            while not go:
                pass
        threads = [stopped(), spins()]
    """,
    "stopped where it would end a wait": """
        m = Mutex()
        go = False
        def stopped():
            m.acquire()
            assume(go)
            m.release()
        def waits():
            global go
            with m:
                go = True
        def spins():
            while not go:
                pass
        threads = [stopped(), waits(), spins()]
    """,
    "stopped where it could help later in the loop": """
        first = False
        go = False
        def stopped():
            global go
            assume(first)
            go = True
        def spins():
            while not first:
                if go:
                    break
        threads = [stopped(), spins()]
    """,
    "stopped with the choice that would leave": """
        go = False
        def spins():
            n = 0
            while n == 0:
                with atomic():
                    n = choose(0, 1)
                    assume(n == 0 or go)
        threads = [spins()]
    """,
    "nobody moves": """
        m = Mutex()
        def waits():
            m.acquire()
            m.acquire()
        def ends():
            pass
        threads = [waits(), ends()]
    """,
}
