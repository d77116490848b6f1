# expect: violated assert "not finished"
"""Nobody waited for the thread."""

from mazurka.model import Int, spawn

n: Int[0, 1] = 0


def work():
    global n
    n = 1


def main():
    worker = spawn(work)
    assert not worker.is_alive() or n <= 1
    assert n == 1, "not finished"


threads = [main()]
