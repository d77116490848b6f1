"""Every interleaving, unreduced: what all reductions are measured against.

Visits each reachable state once, depth-first or breadth-first, or one of each set of states that
differ only in the numbers of interchangeable threads (`mazurka.stateful.quotient`).  It delays no
thread, so there is no ignoring problem, and it keeps every property Mazurka knows.

Where the visited states do not fit into memory, `--store disk` keeps them in files: a breadth-first
search, complete as any other (`mazurka.stateful.beyond_memory.disk_search`).  `--store bitstate`
keeps a few bits for each state, depth-first, may pass states over, and never says *holds*
(`mazurka.stateful.beyond_memory.bitstate`).

With `--workers N` several threads search together, breadth-first
(`mazurka.stateful.searches.parallel`); with `--device cuda` a GPU does
(`mazurka.stateful.device.search`), and with `--cluster` the processors of several machines
(`mazurka.stateful.cluster.search`).
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from mazurka.cluster.option import CLUSTER, asked_workers
from mazurka.errors import OptionError
from mazurka.ir.program import Program
from mazurka.search import (
    CUT_SHORT,
    LOST_WORKER,
    Observer,
    SearchOptions,
    SearchResult,
    Statistics,
    Strategy,
)
from mazurka.search.resources import address_space_is_limited
from mazurka.stateful.variants import (
    DEVICE,
    HASHES,
    STORE,
    STORE_DIR,
    WORKERS,
    DeviceKind,
    StoreKind,
)

if TYPE_CHECKING:
    from mazurka.stateful.device.machine import Device


def run(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
    store = StoreKind(options.value(STORE))
    if store is StoreKind.BITSTATE and options.order == "dfs":
        return run_bitstate(program, options, observer)
    if store is StoreKind.DISK:
        options = replace(options, order="bfs")
    search = run_on_disk if store is StoreKind.DISK else run_in_memory
    result = search(program, options, observer)
    if not options.self_check or CUT_SHORT.intersection(result.limits):
        return result
    from mazurka.stateful.self_check import check_full

    return replace(result, notes=(*result.notes, check_full(program, options, result)))


def run_in_memory(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
    from mazurka.stateful.quotient import code_for
    from mazurka.stateful.searches.breadth_first import BreadthFirst
    from mazurka.stateful.searches.depth_first import DepthFirst
    from mazurka.stateful.searches.parallel import ParallelSearch

    if options.value(CLUSTER):
        return run_on_cluster(program, options, observer)
    device = find_device(options, observer)
    if device is not None:
        return run_on_device(program, options, observer, device)
    workers = 1 if address_space_is_limited() else options.value(WORKERS)
    if workers > 1:
        options = replace(options, order="bfs")
        found = ParallelSearch(code_for(program, options), options, observer, workers).run()
        return replace(found, order="bfs")
    kind = BreadthFirst if options.order == "bfs" else DepthFirst
    return kind(code_for(program, options), options, observer).run()


def find_device(options: SearchOptions, observer: Observer) -> Device | None:
    """The GPU to search on, where one is asked for, or wanted if there is one."""
    kind = DeviceKind(options.value(DEVICE))
    if kind is DeviceKind.CPU:
        return None
    from mazurka.stateful.device.cuda import CudaDevice, NoDeviceError

    try:
        return CudaDevice()
    except NoDeviceError as error:
        if kind is DeviceKind.CUDA:
            raise
        observer.notice(f"{error}; the search runs on this machine's processors")
        return None


def run_on_device(
    program: Program, options: SearchOptions, observer: Observer, device: Device
) -> SearchResult:
    from mazurka.stateful.device.search import DeviceSearch
    from mazurka.stateful.quotient import code_for

    options = replace(options, order="bfs")
    search = DeviceSearch(code_for(program, options), options, observer, device)
    try:
        return replace(search.run(), order="bfs")
    finally:
        search.release()


def run_on_cluster(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
    from mazurka.cluster.connection import Connection, HiredCrew
    from mazurka.cluster.crew import LostWorkerError, Post
    from mazurka.stateful.cluster.part import PartOptions, StatePart
    from mazurka.stateful.cluster.search import ClusterSearch
    from mazurka.stateful.quotient import code_for

    options, workers = replace(options, order="bfs"), asked_workers(options)
    bare = replace(program)  # without what was worked out about it, which cannot be sent

    def given(post: Post) -> tuple[Program, PartOptions, int]:
        asked = PartOptions(
            properties=options.properties,
            symmetry=options.symmetry,
            limit_bytes=options.limit_bytes,
            parts=post.size,
            neighbours=post.neighbours,
        )
        return bare, asked, post.number

    try:
        with (
            Connection(options.value(CLUSTER), workers, observer) as connection,
            HiredCrew(connection, workers, StatePart, given, observer) as crew,
        ):
            found = ClusterSearch(code_for(program, options), options, observer, crew).run()
            return replace(found, notes=(*found.notes, crew.described))
    except LostWorkerError as lost:  # before the search has begun
        return SearchResult(Statistics(), limits=(LOST_WORKER,), notes=(lost.note,), order="bfs")


def run_on_disk(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
    from mazurka.stateful.beyond_memory.disk_search import DiskSearch
    from mazurka.stateful.beyond_memory.sorted_files import ScratchDirectory
    from mazurka.stateful.quotient import code_for

    with ScratchDirectory(options.value(STORE_DIR)) as scratch:
        return DiskSearch(code_for(program, options), options, observer, scratch).run()


def run_bitstate(program: Program, options: SearchOptions, observer: Observer) -> SearchResult:
    from mazurka.stateful.beyond_memory.bitstate import Bitstate
    from mazurka.stateful.quotient import code_for

    return Bitstate(code_for(program, options), options, observer).run()


def refuse(options: SearchOptions) -> None:
    """What the ways to store states do not go with."""
    store = StoreKind(options.value(STORE))
    directory = options.value(STORE_DIR)
    if store is StoreKind.BITSTATE and options.order == "bfs":
        raise OptionError(
            "--store bitstate searches depth-first: a breadth-first search would keep the states"
            " in its queue; use --store disk, or leave out --order bfs"
        )
    if directory and store is not StoreKind.DISK:
        raise OptionError("--store-dir is for --store disk")
    if directory and not os.path.isdir(directory):
        raise OptionError(f"--store-dir {directory}: there is no such directory")
    if options.value(DEVICE) != DEVICE.default and store is not StoreKind.MEMORY:
        raise OptionError(
            f"--device {options.value(DEVICE)} keeps states in memory; leave out --store"
        )
    if options.value(CLUSTER) and store is not StoreKind.MEMORY:
        raise OptionError("--cluster keeps states in memory; leave out --store")
    if options.value(CLUSTER) and options.value(DEVICE) != DEVICE.default:
        raise OptionError("--cluster and --device both say what searches; give one of them")
    if options.value(HASHES) != HASHES.default and store is not StoreKind.BITSTATE:
        raise OptionError("--hashes is for --store bitstate")


STRATEGY = Strategy(
    name="full",
    summary="every interleaving, unreduced",
    preserves=frozenset({"assert", "deadlock", "hang", "race"}),
    orders=("dfs", "bfs"),
    run=run,
    reduces=False,
    options=(STORE, STORE_DIR, HASHES, WORKERS, DEVICE, CLUSTER),
    refuse=refuse,
)
