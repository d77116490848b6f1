"""This machine as a device: threads are the workers.

It is for tests: the same kernel, compiled for this processor, takes the same ways as on a GPU.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import llvmlite.binding as llvm

from mazurka.compiled.memory import Area
from mazurka.ir.native.machine_code import make_machine
from mazurka.stateful.device.program import CodeTarget

FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)


class HostDevice:
    name = "this machine"
    target = CodeTarget.HOST

    def __init__(self, workers: int = 2, memory: int = 1 << 28) -> None:
        self.workers = self.most_workers = workers
        self.memory = memory
        self.areas: dict[int, Area] = {}
        self.launches = 0

    def free_bytes(self) -> int:
        return self.memory - sum(8 * area.length for area in self.areas.values())

    def allocate(self, count: int) -> int:
        area = Area((count + 7) // 8)
        self.areas[area.address] = area
        return area.address

    def release(self, address: int) -> None:
        del self.areas[address]

    def clear(self, address: int, count: int) -> None:
        ctypes.memset(address, 0, count)

    def copy(self, target: int, source: int, count: int) -> None:
        ctypes.memmove(target, source, count)

    def write(self, address: int, words: Sequence[int]) -> None:
        given = array("Q", words)
        ctypes.memmove(address, given.buffer_info()[0], 8 * len(given))

    def read(self, address: int, count: int) -> array[int]:
        result = array("Q", bytes(8 * count))
        ctypes.memmove(result.buffer_info()[0], address, 8 * count)
        return result

    def compile(self, module: llvm.ModuleRef, name: str) -> Any:
        machine = make_machine(1)
        options = llvm.create_pipeline_tuning_options(speed_level=1)
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
        engine = llvm.create_mcjit_compiler(module, machine)
        engine.finalize_object()
        return engine, FUNCTION(engine.get_function_address(name))

    def launch(self, function: Any, block: int, items: int) -> None:
        self.launches += 1
        _, entry = function
        with ThreadPoolExecutor(self.workers) as pool:
            for done in [
                pool.submit(entry, block, index, self.workers) for index in range(self.workers)
            ]:
                done.result()
