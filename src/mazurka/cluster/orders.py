"""What the command and the driver of a cluster send each other.

An *order* is the name of a method of the driver, and what it is given.  An *answer* has the number
of its order, so that one that nobody waits for any more can be told from the next.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any, BinaryIO

from mazurka.errors import InternalError


@dataclass(frozen=True)
class DriverOrder:
    name: str
    given: tuple[Any, ...]
    number: int | None = None
    """None where no answer is wanted."""
    forgotten: tuple[int, ...] = ()
    """Numbers of answers of workers that nobody will ask for any more."""


@dataclass(frozen=True)
class DriverAnswer:
    number: int
    value: Any = None
    error: BaseException | None = None
    """Raised by who waits for the answer."""


@dataclass(frozen=True)
class AnswerOf:
    """Stands for what a worker answers, where it is given to another worker or asked for."""

    number: int


def pack_answer(answer: DriverAnswer) -> bytes:
    """Pack an answer, or the reason why it cannot be packed."""
    try:
        return pickle.dumps(answer)
    except Exception as error:
        reason = InternalError(f"an answer of the cluster cannot be sent: {error!r}")
        return pickle.dumps(DriverAnswer(answer.number, error=reason))


def read(stream: BinaryIO) -> Any:
    """The next message.  Raises `EOFError` if there will be none."""
    try:
        return pickle.load(stream)
    except (OSError, pickle.UnpicklingError) as error:
        raise EOFError from error
