"""Sorts states, and merges sorted runs of them without those that are known already.

A *record* is a state: some words, compared as numbers, the first word first.  A *run* is a sorted
sequence of different records.  Runs lie in files; a part of each is in memory.  The kernel comes
back for more of a file, or for room in the output.
"""

from __future__ import annotations

from typing import Any

from mazurka.stateful import blocks
from mazurka.stateful.kernels.machine import block_at, compiled, numbers_at, peek
from mazurka.stateful.kernels.store import copy_words, same_words

NOBODY = -1


@compiled
def is_less(one: Any, other: Any, words: Any) -> Any:
    for position in range(words):
        left, right = peek(one, position), peek(other, position)
        if left != right:
            return left < right
    return False


@compiled
def merge_pieces(source: Any, begin: Any, middle: Any, end: Any, target: Any, words: Any) -> Any:
    """Merge the sorted records from `begin` to `middle` with those from there to `end`."""
    size = 8 * words
    left, right = begin, middle
    for position in range(begin, end):
        from_left = left < middle and (
            right >= end or not is_less(source + size * right, source + size * left, words)
        )
        taken = left if from_left else right
        copy_words(target + size * position, source + size * taken, words)
        if from_left:
            left += 1
        else:
            right += 1


@compiled
def sort(block: Any) -> Any:
    """Make the sorted pieces twice as long; RECORDS and SPARE change places each time."""
    words, count, width = block[blocks.RUN_WORDS], block[blocks.RECORD_COUNT], block[blocks.WIDTH]
    if width >= count:
        return blocks.RUN_DONE
    source, target = block[blocks.RECORDS], block[blocks.SPARE]
    begin = 0
    while begin < count:
        middle, end = min(begin + width, count), min(begin + 2 * width, count)
        merge_pieces(source, begin, middle, end, target, words)
        begin = end
    block[blocks.RECORDS], block[blocks.SPARE] = target, source
    block[blocks.WIDTH] = 2 * width
    return blocks.RUN_MORE


@compiled
def find(block: Any) -> Any:
    """The position of the record at SPARE among RECORDS, or -1."""
    words, wanted = block[blocks.RUN_WORDS], block[blocks.SPARE]
    for position in range(block[blocks.RECORD_COUNT]):
        if same_words(block[blocks.RECORDS] + 8 * words * position, wanted, words):
            return position
    return NOBODY


@compiled
def find_empty(inputs: Any, first: Any, beyond: Any) -> Any:
    """An input that has no record in memory, though its file goes on; NOBODY if there is none."""
    for number in range(first, beyond):
        place = number * blocks.INPUT_FIELDS
        none_left = inputs[place + blocks.INPUT_NEXT] == inputs[place + blocks.INPUT_END]
        if none_left and inputs[place + blocks.INPUT_ENDED] == 0:
            return number
    return NOBODY


@compiled
def take_least(inputs: Any, fresh: Any, target: Any, words: Any) -> Any:
    """Move the least record of the first inputs to an address; whether there was one.

    Several inputs may have it, and each of them goes on.
    """
    least = 0
    for number in range(fresh):
        place = number * blocks.INPUT_FIELDS
        here = inputs[place + blocks.INPUT_NEXT]
        if here != inputs[place + blocks.INPUT_END] and (least == 0 or is_less(here, least, words)):
            least = here
    if least == 0:
        return False
    copy_words(target, least, words)
    for number in range(fresh):
        place = number * blocks.INPUT_FIELDS
        here = inputs[place + blocks.INPUT_NEXT]
        if here != inputs[place + blocks.INPUT_END] and same_words(here, target, words):
            inputs[place + blocks.INPUT_NEXT] = here + 8 * words
    return True


@compiled
def advance(inputs: Any, number: Any, record: Any, words: Any) -> Any:
    """Go on in one input to the first record that is not less than a given one; whether it is the
    same."""
    place = number * blocks.INPUT_FIELDS
    here, end = inputs[place + blocks.INPUT_NEXT], inputs[place + blocks.INPUT_END]
    while here != end and is_less(here, record, words):
        here += 8 * words
    inputs[place + blocks.INPUT_NEXT] = here
    return here != end and same_words(here, record, words)


@compiled
def subtract(block: Any) -> Any:
    """Write the records of the first inputs in order, each once, without those of the others."""
    words, inputs = block[blocks.RUN_WORDS], numbers_at(block[blocks.INPUTS])
    fresh, total = block[blocks.FRESH_INPUTS], block[blocks.ALL_INPUTS]
    while True:
        record = block[blocks.OUTPUT] + 8 * words * block[blocks.OUTPUT_COUNT]
        if block[blocks.PENDING] == 0:
            if block[blocks.OUTPUT_COUNT] == block[blocks.OUTPUT_ROOM]:
                return blocks.RUN_OUTPUT_FULL
            empty = find_empty(inputs, 0, fresh)
            if empty != NOBODY:
                return -1 - empty
            if not take_least(inputs, fresh, record, words):
                return blocks.RUN_DONE
            block[blocks.PENDING], block[blocks.CHECKED] = 1, fresh
        known = False
        while block[blocks.CHECKED] < total and not known:
            number = block[blocks.CHECKED]
            known = advance(inputs, number, record, words)
            if find_empty(inputs, number, number + 1) != NOBODY:
                return -1 - number
            block[blocks.CHECKED] += 1
        if not known:
            block[blocks.OUTPUT_COUNT] += 1
        block[blocks.PENDING] = 0


@compiled
def run(address: Any) -> Any:
    block = block_at(address)
    if block[blocks.RUN_JOB] == blocks.JOB_SORT:
        return sort(block)
    if block[blocks.RUN_JOB] == blocks.JOB_FIND:
        return find(block)
    return subtract(block)
