# expect: holds
"""Two names of one list of objects: what is appended by one is there by the other."""


class Box:
    def __init__(self):
        self.v = 0


def worker():
    boxes = []
    boxes.append(Box())
    same = boxes
    same.append(Box())
    assert len(boxes) == 2
    boxes[1].v = 1
    assert same[1].v == 1


threads = [worker()]
