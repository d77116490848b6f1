"""A program's search kernel as one LLVM module: kernel, step functions, the program's numbers.

`mazurka.stateful.kernels.device` is compiled once, by Numba, to LLVM's bitcode, for no machine in
particular.  Here it is linked with the step functions of a program and with functions that return
the program's numbers, and gets an entry for each job, which has room for states of the right size.
What comes out is optimized as a whole: the numbers become constants and the step function is a part
of the loop, unless the program is so large that compiling it would take longer than it saves.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass

import llvmlite.binding as llvm

from mazurka.compiled.cache import bitcode
from mazurka.errors import UnsupportedError
from mazurka.ir.native.plain_step import INVALID
from mazurka.ir.native.step import PLAIN_STEP, NativeProgram, generate_assembly
from mazurka.search import Observer
from mazurka.stateful import blocks

MOST_THREADS = 64
FIRST_ACCESSES = 64
"""How many accesses of all threads in one state there is room for at first."""
PARAMETERS = "i64 %src, i64 %thread, i64 %choice, i64 %dst, i64 %footprint"


class Job(enum.Enum):
    """What a device can be asked to do; the names of the entries."""

    EXPAND = blocks.DEVICE_EXPAND
    ENTER = blocks.DEVICE_ENTER
    GO_BACK = blocks.DEVICE_GO_BACK

    @property
    def entry(self) -> str:
        return self.name.lower()


class CodeTarget(enum.Enum):
    """What code is made for."""

    CUDA = "nvptx64-nvidia-cuda"
    HOST = ""


@dataclass(frozen=True)
class Question:
    """What a search on a device is to look for, as numbers that its kernel asks for."""

    faults_wanted: int
    deadlock_wanted: bool
    hang_wanted: bool
    race_wanted: bool


class DeviceProgram:
    """Writes the modules of one program for one question."""

    def __init__(self, native: NativeProgram, question: Question, observer: Observer) -> None:
        self.native = native
        self.layout = native.layout
        self.question = question
        self.observer = observer
        self.most_accesses = FIRST_ACCESSES
        threads = len(native.program.threads)
        if threads > MOST_THREADS:
            raise UnsupportedError(
                f"{threads} threads; a search on a device takes at most {MOST_THREADS}"
            )

    def module(self, job: Job, target: CodeTarget) -> llvm.ModuleRef:
        """Write the module whose function `job.entry` does one job."""
        symbol, code = bitcode("device", self.observer)
        whole = llvm.parse_bitcode(code)
        if target is CodeTarget.CUDA:
            whole = llvm.parse_assembly(keep_on_device(str(whole)))
            whole.triple, whole.data_layout = target.value, ""
        for text in self.texts(job, target, symbol):
            part = llvm.parse_assembly(text)
            part.triple, part.data_layout = whole.triple, whole.data_layout
            whole.link_in(part)
        for function in whole.functions:
            if not function.is_declaration and function.name != job.entry:
                function.linkage = "internal"
        return whole

    def texts(self, job: Job, target: CodeTarget, symbol: str) -> list[str]:
        texts = [self.numbers(), self.entry(job, target, symbol)]
        texts += [as_one_piece(text) for text in self.steps()]
        return texts

    def numbers(self) -> str:
        """What the kernel asks for, as functions."""
        program, layout = self.native.program, self.layout
        observers = sum(1 << n for n, thread in enumerate(program.threads) if thread.observer)
        values = {
            "words_of_state": layout.words,
            "thread_count": len(program.threads),
            "observers": observers - (1 << 64) if observers >> 63 else observers,
            "any_choice": max(max(bounds) for bounds in layout.choices) > 1,
            "faults_wanted": self.question.faults_wanted,
            "deadlock_wanted": self.question.deadlock_wanted,
            "hang_wanted": self.question.hang_wanted,
            "walks_apart": self.native.symmetry is not None,
            "race_wanted": self.question.race_wanted,
            "most_accesses": self.most_accesses,
        }
        return "\n".join(
            f"define i64 @{name}() alwaysinline {{ ret i64 {int(value)} }}"
            for name, value in values.items()
        )

    def steps(self) -> list[str]:
        """The step functions; those that nobody asks for are only names."""
        unused = f"({PARAMETERS}) {{ ret i64 {INVALID} }}"
        texts = [self.native.assembly(record=False)]
        if self.native.symmetry is None:
            texts.append(f"define i64 @walk_step{unused}")
        else:
            texts.append(
                f"declare i64 @{PLAIN_STEP}(i64, i64, i64, i64, i64)\n"
                f"define i64 @walk_step({PARAMETERS}) alwaysinline {{\n"
                f"  %result = call i64 @{PLAIN_STEP}({PARAMETERS})\n"
                "  ret i64 %result\n}"
            )
        if self.question.race_wanted:
            texts.append(generate_assembly(self.layout, record=True, name="recording_step"))
        else:
            texts.append(f"define i64 @recording_step{unused}")
        return texts

    def entry(self, job: Job, target: CodeTarget, symbol: str) -> str:
        """The function that a worker runs, with room for two states, a footprint and accesses."""
        rooms = {"source": self.layout.words, "target": self.layout.words}
        long = self.most_accesses if self.question.race_wanted else 0
        rooms |= {"footprint": long + 3, "accesses": long + 1}
        arguments = ", ".join(f"i64 %{name}" for name in rooms)
        begin = begin_on_grid if target is CodeTarget.CUDA else begin_with_number
        lines = [
            f"declare i32 @{symbol}(ptr, ptr, {', '.join(['i64'] * 8)})",
            *begin(job.entry),
            "  %result = alloca i64",
            "  %failure = alloca ptr",
        ]
        for name, length in rooms.items():
            lines.append(f"  %room_{name} = alloca [{length} x i64]")
            lines.append(f"  %{name} = ptrtoint ptr %room_{name} to i64")
        lines += [
            f"  %status = call i32 @{symbol}(ptr %result, ptr %failure, i64 {job.value},"
            f" i64 %block, i64 %index, i64 %workers, {arguments})",
            "  ret void",
            "}",
        ]
        return "\n".join(lines)


def begin_on_grid(entry: str) -> list[str]:
    """Emit the beginning of a function that finds out which worker of a GPU it is."""
    registers = ("tid", "ctaid", "ntid", "nctaid")
    lines = [f"declare i32 @llvm.nvvm.read.ptx.sreg.{name}.x()" for name in registers]
    lines.append(f"define ptx_kernel void @{entry}(i64 %block) {{")
    for name in registers:
        lines.append(f"  %{name}_short = call i32 @llvm.nvvm.read.ptx.sreg.{name}.x()")
        lines.append(f"  %{name} = zext i32 %{name}_short to i64")
    return [
        *lines,
        "  %before = mul i64 %ctaid, %ntid",
        "  %index = add i64 %before, %tid",
        "  %workers = mul i64 %nctaid, %ntid",
    ]


def begin_with_number(entry: str) -> list[str]:
    """Emit the beginning of a function that is told which worker it is."""
    return [f"define void @{entry}(i64 %block, i64 %index, i64 %workers) {{"]


def keep_on_device(text: str) -> str:
    """Have atomic accesses ordered among the workers of the device only: nobody else looks."""
    ordering = r"(?=(?:monotonic monotonic|monotonic|acquire|release|acq_rel)(?:, align|$))"
    return re.sub(r"(?<!monotonic )" + ordering, 'syncscope("device") ', text, flags=re.MULTILINE)


def as_one_piece(text: str) -> str:
    """Have all functions of a text become parts of those that call them, but for those that say
    otherwise."""
    return re.sub(
        r"^(define (?!.*(?:noinline|alwaysinline)).*)\{", r"\1alwaysinline {", text, flags=re.M
    )
