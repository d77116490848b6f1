"""Two futures: one thread answers the other's question with a question of its own.  Right."""

from concurrent.futures import Future


class State:
    def __init__(self) -> None:
        self.question: Future[int] = Future()
        self.answer: Future[int] = Future()
        self.total = 0


def asks(state: State) -> None:
    state.question.set_result(20)
    state.total = state.answer.result() + 2


def answers(state: State) -> None:
    state.answer.set_result(state.question.result() * 2)


def holds(state: State) -> bool:
    return state.total == 42


WORKERS = (asks, answers)
