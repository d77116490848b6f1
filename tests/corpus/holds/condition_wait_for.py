# expect: holds
"""`wait_for` loops until its predicate holds."""

from mazurka.model import Condition, Int

changed = Condition()
stage: Int[0, 2] = 0


def advance():
    global stage
    for _ in range(2):
        with changed:
            stage += 1
            changed.notify_all()


def watch(target):
    with changed:
        changed.wait_for(lambda: stage >= target)
        assert stage >= target


threads = [advance(), watch(1), watch(2)]
