"""A GPU of NVIDIA's, through its driver; no CUDA toolkit is needed.

LLVM writes PTX, which the driver compiles for the GPU that is there.  The driver is reached through
`cuda-bindings`, the extra `cuda`.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Sequence
from typing import Any

import llvmlite.binding as llvm

from mazurka.errors import OptionError
from mazurka.extras import CUDA
from mazurka.stateful.device.program import CodeTarget

BLOCK_THREADS = 128
"""Workers that are started together, and share a multiprocessor."""
BLOCKS_EACH = 64
"""How many times as many groups of workers as multiprocessors are started at most."""
OLDEST_CAPABILITY = (7, 0)
"""Before, workers that wait for each other could wait for ever."""
RESERVE = 1 << 29
"""Memory that is left to others."""


class NoDeviceError(OptionError):
    """There is no GPU to search on."""


class CudaDevice:
    target = CodeTarget.CUDA

    def __init__(self) -> None:
        try:
            from cuda.bindings import driver
        except ImportError as error:
            raise NoDeviceError(
                f"--device cuda needs the package cuda-bindings: {CUDA.advice}"
            ) from error
        self.driver: Any = driver
        self.compiling_seconds = 0.0
        try:
            (status,) = driver.cuInit(0)
        except RuntimeError as error:  # the driver's library is not there
            raise NoDeviceError(
                f"--device cuda: there is no NVIDIA driver here ({error})"
            ) from None
        if status != driver.CUresult.CUDA_SUCCESS:
            raise NoDeviceError(
                f"--device cuda: there is no usable NVIDIA GPU here ({self.describe(status)})"
            )
        self.gpu = self.do(driver.cuDeviceGet(0))
        self.name = self.do(driver.cuDeviceGetName(100, self.gpu)).split(b"\0")[0].decode()
        self.context = self.do(driver.cuDevicePrimaryCtxRetain(self.gpu))
        self.do(driver.cuCtxSetCurrent(self.context))
        attributes = driver.CUdevice_attribute
        self.processors = self.ask(attributes.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
        self.most_workers = self.processors * BLOCKS_EACH * BLOCK_THREADS
        self.capability = (
            self.ask(attributes.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
            self.ask(attributes.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
        )
        if self.capability < OLDEST_CAPABILITY:
            raise NoDeviceError(
                f"--device cuda: {self.name} has compute capability"
                f" {'.'.join(map(str, self.capability))}; a search needs 7.0 or newer"
            )

    def describe(self, status: Any) -> str:
        failed, text = self.driver.cuGetErrorString(status)
        known = failed == self.driver.CUresult.CUDA_SUCCESS and text is not None
        return text.decode() if known else str(status)

    def do(self, answer: tuple[Any, ...]) -> Any:
        """Take the result of a call of the driver."""
        status, *rest = answer
        if status == self.driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
            raise MemoryError
        if status != self.driver.CUresult.CUDA_SUCCESS:
            raise RuntimeError(f"the GPU's driver says: {self.describe(status)}")
        return rest[0] if rest else None

    def ask(self, attribute: Any) -> int:
        return int(self.do(self.driver.cuDeviceGetAttribute(attribute, self.gpu)))

    def free_bytes(self) -> int:
        status, free, _ = self.driver.cuMemGetInfo()
        self.do((status,))
        return max(int(free) - RESERVE, 0)

    def allocate(self, count: int) -> int:
        return int(self.do(self.driver.cuMemAlloc(max(count, 8))))

    def release(self, address: int) -> None:
        self.do(self.driver.cuMemFree(address))

    def clear(self, address: int, count: int) -> None:
        self.do(self.driver.cuMemsetD8(address, 0, count))

    def copy(self, target: int, source: int, count: int) -> None:
        self.do(self.driver.cuMemcpyDtoD(target, source, count))

    def write(self, address: int, words: Sequence[int]) -> None:
        given = array("Q", words)
        self.do(self.driver.cuMemcpyHtoD(address, given.buffer_info()[0], 8 * len(given)))

    def read(self, address: int, count: int) -> array[int]:
        result = array("Q", bytes(8 * count))
        self.do(self.driver.cuMemcpyDtoH(result.buffer_info()[0], address, 8 * count))
        return result

    def compile(self, module: llvm.ModuleRef, name: str) -> Any:
        """LLVM makes PTX of the module, the driver machine code."""
        began = time.perf_counter()
        code = write_ptx(module, self.capability)
        loaded = self.do(self.driver.cuModuleLoadData(code.encode() + b"\0"))
        function = self.do(self.driver.cuModuleGetFunction(loaded, name.encode()))
        self.compiling_seconds += time.perf_counter() - began
        return function

    def launch(self, function: Any, block: int, items: int) -> None:
        import ctypes

        groups = (items + BLOCK_THREADS - 1) // BLOCK_THREADS
        grid = max(1, min(groups, self.processors * BLOCKS_EACH))
        stream, extra = 0, 0
        self.do(
            self.driver.cuLaunchKernel(
                *(function, grid, 1, 1, BLOCK_THREADS, 1, 1, 0, stream),
                ((block,), (ctypes.c_int64,)),
                extra,
            )
        )
        self.do(self.driver.cuCtxSynchronize())


def write_ptx(module: llvm.ModuleRef, capability: tuple[int, int]) -> str:
    """Optimize a module and write it as PTX."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(CodeTarget.CUDA.value)
    number = min(capability[0] * 10 + capability[1], NEWEST_KNOWN)
    machine = target.create_target_machine(cpu=f"sm_{number}", features="+ptx80", opt=3)
    module.data_layout = str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    text: str = machine.emit_assembly(module)
    return text


NEWEST_KNOWN = 90
"""PTX for an older GPU runs on newer ones."""
