"""Which part a state belongs to: chosen such that most steps stay within a part.

A part could be told by a hash of the whole state, and all parts would be of one size.  But nearly
every step would lead to another part, and a state that is sent takes longer than one that stays: it
is copied, transferred, and looked up by somebody who was doing something else.  Lerda and Sisto
("Distributed-Memory Model Checking with SPIN", SPIN 1999) let a part of the state decide, what one
process has of its own, so that only steps of this process may lead to another worker.

Here the bits that decide, the *key*, are chosen by what the search has seen.  One worker begins
alone (`mazurka.stateful.cluster.search`).  When a level is large enough, a sample of its states and
of their successors tells for any key how many steps would lead to another part, and how the states
would be spread.  Keys are made of the variables of one thread, its place included, and of shared
cells: first the best of these alone, then the best of them beside it, as long as that pays.

A key with few values would leave parts of different sizes, so what is compared is the time that a
level would take: that of the largest part, in which some states are sent.  Later levels will be
spread in another way than this one, the more so the fewer values a key has (`DRIFT`).

Hashes of keys are dealt out to parts by how often they occur in the sample, the most frequent
first, each to the part that has the fewest states so far.

Any placement is right: it is a function of the state alone.  This one merely takes less time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heapreplace
from typing import Any

import numpy as np
import numpy.typing as npt

from mazurka.ir.native.layout import Layout

Words = npt.NDArray[np.uint64]
"""Packed states: a row each."""

SENDING_COST = 1.0
"""What sending a state takes, beside what a step takes that does not lead to another part."""
DRIFT = 0.5
"""How much later levels are expected to differ from the sample, for a key with one value a part."""
LEAST_HASHES, HASHES_A_PART = 1 << 10, 1 << 5
MOST_CANDIDATES, MOST_COMPANIONS = 128, 24
"""How many pieces of a key are tried alone, and how many beside others."""
LEAST_GAIN = 0.005

FIRST_FACTOR, NEXT_FACTOR = 0xA0761D6478BD642F, 0xE7037ED1A0B428DB
MIXERS = ((0x9E3779B97F4A7C15, 32), (0xD6E8FEB86659FD93, 29))
WORD = (1 << 64) - 1


@dataclass(frozen=True)
class Placement:
    """The bits that decide, and the part for each hash of them."""

    key: tuple[tuple[int, int], ...]
    """The number of a word, and a mask."""
    owners: tuple[int, ...]

    @property
    def shift(self) -> int:
        return 65 - len(self.owners).bit_length()

    def find_owners(self, states: Words) -> npt.NDArray[np.int64]:
        """The part of each state, as `mazurka.stateful.kernels.partition` finds it."""
        return np.array(self.owners)[hash_keys(self.key, states, self.shift)]


def hash_keys(key: Sequence[tuple[int, int]], states: Words, shift: int) -> npt.NDArray[np.uint64]:
    """The hash of each state's key, without its lowest bits."""
    value, factor = np.zeros(len(states), np.uint64), FIRST_FACTOR
    for number, mask in key:
        word = states[:, number] & np.uint64(mask)
        value += (word ^ (word >> np.uint64(31))) * np.uint64(factor)
        factor = factor * NEXT_FACTOR & WORD
    for multiplier, fold in MIXERS:
        value *= np.uint64(multiplier)
        value ^= value >> np.uint64(fold)
    return value >> np.uint64(shift)


@dataclass(frozen=True)
class Observed:
    """Some states of a level, and some steps from them."""

    states: Words
    sources: Words
    targets: Words


@dataclass(frozen=True)
class TriedKey:
    """What is expected of a key."""

    cost: float
    mask: Words
    placement: Placement


def choose_placement(layout: Layout, seen: Observed, parts: int) -> Placement:
    """The placement that is expected to take the least time."""
    everything = np.full(layout.words, WORD, np.uint64)
    best = try_key(everything, seen, parts)
    pieces = find_pieces(layout, seen)
    base = np.zeros(layout.words, np.uint64)
    beside: TriedKey | None = None
    while pieces:
        trials = [try_key(base | piece, seen, parts) for piece in pieces]
        order = sorted(range(len(trials)), key=lambda number: trials[number].cost)
        found = trials[order[0]]
        if beside is not None and found.cost > beside.cost - LEAST_GAIN:
            break
        beside, base = found, found.mask
        pieces = [pieces[number] for number in order[1 : MOST_COMPANIONS + 1]]
    return min((best, beside or best), key=lambda trial: trial.cost).placement


def find_pieces(layout: Layout, seen: Observed) -> list[Words]:
    """Masks of what a key can be made of: those that the fewest steps change, and that differ among
    states at all."""
    changed = seen.sources ^ seen.targets
    varying = np.bitwise_or.reduce(seen.states ^ seen.states[:1], axis=0)
    masks = [mask for mask in make_masks(layout) if (varying & mask).any()]
    return sorted(masks, key=lambda mask: int(((changed & mask) != 0).any(axis=1).sum()))[
        :MOST_CANDIDATES
    ]


def make_masks(layout: Layout) -> list[Words]:
    """A mask for what each thread has of its own, and for each cell that is nobody's."""
    program = layout.program
    counters = {thread.counter: number for number, thread in enumerate(program.threads)}
    masks: dict[Any, Words] = {}
    for address, (cell, slot) in enumerate(zip(program.cells, layout.slots, strict=True)):
        if slot.width:
            thread = counters.get(address, cell.owner)
            whose = ("cell", address) if thread is None else ("thread", thread)
            mask = masks.setdefault(whose, np.zeros(layout.words, np.uint64))
            mask[slot.word] |= np.uint64(slot.mask << slot.shift)
    return list(masks.values())


def try_key(mask: Words, seen: Observed, parts: int) -> TriedKey:
    """Spread the sample by a key, and see what comes of it."""
    key = tuple((number, int(word)) for number, word in enumerate(mask) if word)
    hashes = LEAST_HASHES
    while hashes < HASHES_A_PART * parts:
        hashes *= 2
    shift = 65 - hashes.bit_length()
    counts = np.bincount(hash_keys(key, seen.states, shift).astype(np.int64), minlength=hashes)
    owners, largest = deal_out(counts.tolist(), parts)
    placement = Placement(key, owners)
    sent = 0.0
    if len(seen.sources):
        stay = placement.find_owners(seen.sources) == placement.find_owners(seen.targets)
        sent = 1.0 - float(stay.mean())
    shares = counts / counts.sum()
    unevenness = largest * parts / int(counts.sum())
    drift = DRIFT * float(np.sqrt(parts * (shares * shares).sum()))
    return TriedKey(unevenness * (1 + SENDING_COST * sent) + drift, mask, placement)


def deal_out(counts: Sequence[int], parts: int) -> tuple[tuple[int, ...], int]:
    """A part for each hash, by how often it occurs; and how many states the largest part has."""
    owners = [number % parts for number in range(len(counts))]
    loads = [(0, part) for part in range(parts)]
    heapify(loads)
    occurring = [number for number, count in enumerate(counts) if count]
    for number in sorted(occurring, key=lambda number: (-counts[number], number)):
        load, part = loads[0]
        owners[number] = part
        heapreplace(loads, (load + counts[number], part))
    return tuple(owners), max(load for load, _ in loads)
