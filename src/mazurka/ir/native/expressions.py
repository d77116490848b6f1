"""Generate LLVM assembly text for expressions and cell accesses.

`ThreadText` collects the text of one thread's step function.  Values are operand strings: a
register (`%v12`) or a number.  No test is emitted for a fault that cannot happen according to the
value sets.  See `mazurka.ir.native.step` for the structure of the whole function.
"""

from __future__ import annotations

from dataclasses import dataclass

from mazurka.ir.expressions import (
    DIVISIONS,
    SHIFTS,
    Binary,
    Choice,
    Conditional,
    Const,
    Convert,
    Element,
    Expr,
    Load,
    Unary,
    walk,
)
from mazurka.ir.native.layout import Layout, Slot
from mazurka.ir.program import FAULTS, Fault, Program
from mazurka.ir.values.evaluation import cannot_fault, evaluate, truth_of
from mazurka.ir.values.footprints import Footprints

PREDICATES = {
    "eq": "eq", "ne": "ne", "lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge",
    "ult": "ult", "ule": "ule",
}  # fmt: skip
PLAIN = {"add": "add", "sub": "sub", "mul": "mul", "and": "and", "or": "or", "xor": "xor"}
SHIFT_NAMES = {"shl": "shl", "shr": "ashr", "lshr": "lshr"}


@dataclass
class Context:
    """What the texts of all threads share."""

    layout: Layout
    footprints: Footprints
    record: bool
    """Whether the steps report their footprints."""
    chooses: tuple[bool, ...]
    """For each thread, whether any of its steps is nondeterministic."""
    attributes: str = ""
    """LLVM attributes of the generated functions."""


def word_literal(value: int) -> str:
    """Write a 64-bit pattern as the signed number that LLVM expects."""
    return str(value - (1 << 64) if value >= 1 << 63 else value)


def is_public(program: Program, thread: int, address: int) -> bool:
    """Whether an access of a thread to a cell belongs to its footprint."""
    own = program.cells[address].owner == thread
    return address > 0 and (not own or address == program.threads[thread].counter)


class ThreadText:
    def __init__(self, context: Context, number: int) -> None:
        self.context = context
        self.number = number
        self.program = context.layout.program
        self.counter = self.program.threads[number].counter
        self.lines: list[str] = []
        self.block = "entry"
        self.registers = 0
        self.choices = 1
        self.scratch: set[int] = set()
        """Scratch cells that the text uses; they must be initialized at its start."""
        self.scratch_array: set[int] = set()
        """Scratch cells among which an address expression chooses; they are in one array."""
        self.faults: set[Fault] = set()

    # --- text ---------------------------------------------------------------------------

    def emit(self, line: str) -> None:
        self.lines.append("  " + line)

    def value(self, instruction: str) -> str:
        self.registers += 1
        name = f"%v{self.registers}"
        self.lines.append(f"  {name} = {instruction}")
        return name

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")
        self.block = name

    def fresh_label(self, stem: str) -> str:
        self.registers += 1
        return f"{stem}{self.registers}"

    def jump(self, target: str) -> None:
        self.emit(f"br label %{target}")

    def branch(self, condition: str, then: str, otherwise: str) -> None:
        self.emit(f"br i1 {condition}, label %{then}, label %{otherwise}")

    def require(self, condition: str, fault: Fault) -> None:
        """Emit a test that ends the step with the fault unless the condition holds."""
        self.faults.add(fault)
        on = self.fresh_label("ok")
        self.branch(condition, on, f"fault{FAULTS.index(fault) + 1}")
        self.label(on)

    # --- cells --------------------------------------------------------------------------

    def slot(self, address: int) -> Slot:
        return self.context.layout.slots[address]

    def is_public(self, address: int) -> bool:
        return is_public(self.program, self.number, address)

    def record(self, address: str, targets: tuple[int, ...], write: bool) -> None:
        """Record an access in the footprint, except to the thread's own local cells."""
        if not self.context.record:
            return
        public = [self.is_public(target) for target in targets]
        if not any(public):
            return
        step = "1"
        if not all(public):
            place = self.value(f"getelementptr i64, ptr @public{self.number}, i64 {address}")
            step = self.value(f"load i64, ptr {place}")
        count = self.value("load i64, ptr %count")
        last = self.value("load i64, ptr %footprint")
        fits = self.value(f"icmp ult i64 {count}, {last}")
        index = self.value(f"select i1 {fits}, i64 {count}, i64 {last}")
        place = self.value(f"getelementptr i64, ptr %entries, i64 {index}")
        twice = self.value(f"shl i64 {address}, 1")
        entry = self.value(f"or i64 {twice}, {int(write)}")
        self.emit(f"store i64 {entry}, ptr {place}")
        more = self.value(f"add i64 {count}, {step}")
        self.emit(f"store i64 {more}, ptr %count")

    def word_pointer(self, word: int) -> str:
        return self.value(f"getelementptr i64, ptr %dst, i64 {word}") if word else "%dst"

    def load_cell(self, address: int) -> str:
        slot = self.slot(address)
        if slot.scratch:
            return self.value(f"load i64, ptr {self.scratch_pointer(address)}")
        if slot.width == 0:
            return str(slot.base)
        word = self.value(f"load i64, ptr {self.word_pointer(slot.word)}")
        return self.decode(slot, self.extract(word, str(slot.shift), slot))

    def extract(self, word: str, shift: str, slot: Slot) -> str:
        moved = word if shift == "0" else self.value(f"lshr i64 {word}, {shift}")
        return self.value(f"and i64 {moved}, {word_literal(slot.mask)}")

    def decode(self, slot: Slot, code: str) -> str:
        if slot.points is None:
            return self.value(f"add i64 {code}, {slot.base}") if slot.base else code
        result = str(slot.points[0])
        for position, point in enumerate(slot.points[1:], 1):
            same = self.value(f"icmp eq i64 {code}, {position}")
            result = self.value(f"select i1 {same}, i64 {point}, i64 {result}")
        return result

    def encode(self, slot: Slot, value: str) -> str:
        if not value.startswith("%"):
            return word_literal(slot.encode(int(value)))
        if slot.points is None:
            return self.value(f"sub i64 {value}, {slot.base}") if slot.base else value
        result = "0"
        for position, point in enumerate(slot.points[1:], 1):
            same = self.value(f"icmp eq i64 {value}, {point}")
            result = self.value(f"select i1 {same}, i64 {position}, i64 {result}")
        return result

    def store_cell(self, address: int, value: str) -> None:
        slot = self.slot(address)
        if slot.scratch:
            self.emit(f"store i64 {value}, ptr {self.scratch_pointer(address)}")
        elif slot.width:
            self.insert(self.word_pointer(slot.word), str(slot.shift), slot, value)

    def insert(self, pointer: str, shift: str, slot: Slot, value: str) -> None:
        """Store a value in its bits of a word; constants are combined at compile time."""
        code = self.encode(slot, value)
        word = self.value(f"load i64, ptr {pointer}")
        if shift.startswith("%"):
            place = self.value(f"shl i64 {word_literal(slot.mask)}, {shift}")
            hole = self.value(f"xor i64 {place}, -1")
            moved = self.value(f"shl i64 {code}, {shift}")
        else:
            everything = (1 << 64) - 1
            hole = word_literal(everything ^ slot.mask << int(shift))
            if code.startswith("%"):
                moved = self.value(f"shl i64 {code}, {shift}") if shift != "0" else code
            else:
                moved = word_literal((int(code) & everything) << int(shift) & everything)
        result = self.value(f"and i64 {word}, {hole}")
        if moved != "0":
            result = self.value(f"or i64 {result}, {moved}")
        self.emit(f"store i64 {result}, ptr {pointer}")

    def scratch_pointer(self, address: int) -> str:
        self.scratch.add(address)
        return f"%s{address}"

    def locate(self, address: str, targets: tuple[int, ...]) -> tuple[str, str]:
        """Compute the word pointer and the shift of a packed cell that is chosen at run time."""
        slots = [self.slot(target) for target in targets]
        steps = {
            (b.shift - a.shift, y - x)
            for (a, x), (b, y) in zip(
                zip(slots, targets, strict=True), zip(slots[1:], targets[1:], strict=True),
                strict=False,
            )
        }  # fmt: skip
        if len({slot.word for slot in slots}) == 1 and len(steps) == 1:
            bits, cells = steps.pop()
            if bits % cells == 0:
                offset = self.value(f"sub i64 {address}, {targets[0]}")
                scaled = self.value(f"mul i64 {offset}, {bits // cells}")
                shift = self.value(f"add i64 {scaled}, {slots[0].shift}")
                return self.word_pointer(slots[0].word), shift
        entry = self.value(f"getelementptr i64, ptr @places, i64 {address}")
        place = self.value(f"load i64, ptr {entry}")
        word = self.value(f"lshr i64 {place}, 6")
        shift = self.value(f"and i64 {place}, 63")
        return self.value(f"getelementptr i64, ptr %dst, i64 {word}"), shift

    def chosen_scratch(self, address: str, targets: tuple[int, ...]) -> str:
        self.scratch.update(targets)
        self.scratch_array.update(targets)
        offset = self.value(f"sub i64 {address}, %scratch_first")
        return self.value(f"getelementptr i64, ptr %scratch, i64 {offset}")

    # --- addresses ----------------------------------------------------------------------

    def targets(self, address: Expr) -> tuple[int, ...]:
        return self.context.footprints.targets(address, self.choices)

    def require_cell(self, expr: Expr, address: str) -> tuple[int, ...]:
        """Emit a `memory` fault unless the address denotes a cell; return the possible cells."""
        targets = self.targets(expr)
        if not self.context.footprints.is_surely_cell(expr, self.choices):
            low = self.value(f"sub i64 {address}, 1")
            inside = self.value(f"icmp ult i64 {low}, {len(self.program.cells) - 1}")
            self.require(inside, Fault.MEMORY)
        return targets

    def load(self, expr: Expr) -> str:
        address = self.evaluate(expr)
        targets = self.require_cell(expr, address)
        if not targets:
            return "0"  # after a fault that is certain
        self.record(address if len(targets) > 1 else str(targets[0]), targets, write=False)
        if len(targets) == 1:
            return self.load_cell(targets[0])
        constants = self.context.layout.constants
        varying = tuple(target for target in targets if target not in constants)
        if len(varying) == len(targets):
            return self.load_chosen(address, targets)
        entry = self.value(f"getelementptr i64, ptr @constants, i64 {address}")
        constant = self.value(f"load i64, ptr {entry}")
        if not varying:
            return constant
        mark = self.value(f"getelementptr i64, ptr @varying, i64 {address}")
        varies = self.value(f"icmp ne i64 {self.value(f'load i64, ptr {mark}')}, 0")
        first = self.value(f"select i1 {varies}, i64 {address}, i64 {varying[0]}")
        chosen = self.load_chosen(first, varying)
        return self.value(f"select i1 {varies}, i64 {chosen}, i64 {constant}")

    def load_chosen(self, address: str, targets: tuple[int, ...]) -> str:
        """Emit a load of one of some cells that have the same coding."""
        if len(targets) == 1:
            return self.load_cell(targets[0])
        slot = self.slot(targets[0])
        if slot.scratch:
            return self.value(f"load i64, ptr {self.chosen_scratch(address, targets)}")
        if slot.width == 0:
            return str(slot.base)
        pointer, shift = self.locate(address, targets)
        word = self.value(f"load i64, ptr {pointer}")
        return self.decode(slot, self.extract(word, shift, slot))

    # --- expressions --------------------------------------------------------------------

    def evaluate(self, expr: Expr) -> str:
        match expr:
            case Const(value):
                return str(value)
            case Load(address):
                return self.load(address)
            case Unary(operator, operand):
                return self.unary(operator, self.evaluate(operand))
            case Binary(operator, left, right):
                return self.binary(operator, left, right)
            case Conditional():
                return self.conditional(expr)
            case Element():
                return self.element(expr)
            case Convert(operand, width, signed):
                return self.convert(self.evaluate(operand), width, signed)
            case Choice():
                return self.value("load i64, ptr %choice") if self.choices > 1 else "0"

    def truth(self, expr: Expr) -> str:
        """Evaluate the expression as an i1."""
        if isinstance(expr, Binary) and expr.operator in PREDICATES:
            left, right = self.evaluate(expr.left), self.evaluate(expr.right)
            return self.value(f"icmp {PREDICATES[expr.operator]} i64 {left}, {right}")
        if isinstance(expr, Unary) and expr.operator == "not":
            return self.value(f"xor i1 {self.truth(expr.operand)}, true")
        return self.value(f"icmp ne i64 {self.evaluate(expr)}, 0")

    def number_of(self, condition: str) -> str:
        return self.value(f"zext i1 {condition} to i64")

    def unary(self, operator: str, operand: str) -> str:
        if operator == "not":
            return self.number_of(self.value(f"icmp eq i64 {operand}, 0"))
        if operator == "invert":
            return self.value(f"xor i64 {operand}, -1")
        negative = self.value(f"sub i64 0, {operand}")
        if operator == "neg":
            return negative
        below = self.value(f"icmp slt i64 {operand}, 0")
        return self.value(f"select i1 {below}, i64 {negative}, i64 {operand}")

    def binary(self, operator: str, left: Expr, right: Expr) -> str:
        x, y = self.evaluate(left), self.evaluate(right)
        if operator in PLAIN:
            return self.value(f"{PLAIN[operator]} i64 {x}, {y}")
        if operator in PREDICATES:
            return self.number_of(self.value(f"icmp {PREDICATES[operator]} i64 {x}, {y}"))
        if operator in ("min", "max"):
            below = self.value(f"icmp {'slt' if operator == 'min' else 'sgt'} i64 {x}, {y}")
            return self.value(f"select i1 {below}, i64 {x}, i64 {y}")
        lookup = self.context.footprints.lookup
        second = evaluate(right, lookup, self.choices)
        if operator in SHIFTS:
            if second.low < 0 or second.high > 63:
                self.require(self.value(f"icmp ult i64 {y}, 64"), Fault.EXCEPTION)
            return self.value(f"{SHIFT_NAMES[operator]} i64 {x}, {y}")
        assert operator in DIVISIONS
        if second.contains(0):
            self.require(self.value(f"icmp ne i64 {y}, 0"), Fault.EXCEPTION)
        if operator in ("udiv", "urem"):
            return self.value(f"{operator} i64 {x}, {y}")
        first = evaluate(left, lookup, self.choices)
        natural = first.low >= 0 and second.low >= 0
        return self.natural(operator, x, y) if natural else self.division(operator, x, y)

    def natural(self, operator: str, x: str, y: str) -> str:
        """Divide a number that is not negative by a positive one."""
        return self.value(f"{'udiv' if operator in ('floordiv', 'div') else 'urem'} i64 {x}, {y}")

    def division(self, operator: str, x: str, y: str) -> str:
        """Divide signed numbers; -1 is a special case, since the machine's division may trap."""
        minus = self.value(f"icmp eq i64 {y}, -1")
        safe = self.value(f"select i1 {minus}, i64 1, i64 {y}")
        quotient = self.value(f"sdiv i64 {x}, {safe}")
        rest = self.value(f"srem i64 {x}, {safe}")
        negated = self.value(f"sub i64 0, {x}")
        quotient = self.value(f"select i1 {minus}, i64 {negated}, i64 {quotient}")
        if operator == "div":
            return quotient
        if operator == "rem":
            return rest
        inexact = self.value(f"icmp ne i64 {rest}, 0")
        mixed = self.value(f"xor i64 {rest}, {y}")
        opposite = self.value(f"icmp slt i64 {mixed}, 0")
        down = self.value(f"and i1 {inexact}, {opposite}")
        if operator == "floordiv":
            lower = self.value(f"sub i64 {quotient}, 1")
            return self.value(f"select i1 {down}, i64 {lower}, i64 {quotient}")
        moved = self.value(f"add i64 {rest}, {y}")
        return self.value(f"select i1 {down}, i64 {moved}, i64 {rest}")

    def element(self, expr: Element) -> str:
        base = self.evaluate(expr.base)
        index = self.evaluate(expr.index)
        indexes = evaluate(expr.index, self.context.footprints.lookup, self.choices)
        if indexes.is_empty or indexes.low < 0 or indexes.high >= expr.length:
            self.require(self.value(f"icmp ult i64 {index}, {expr.length}"), Fault.INDEX)
        scaled = self.value(f"mul i64 {index}, {expr.stride}")
        return self.value(f"add i64 {base}, {scaled}")

    def convert(self, operand: str, width: int, signed: bool) -> str:
        if width == 64:
            return operand
        if not signed:
            return self.value(f"and i64 {operand}, {(1 << width) - 1}")
        high = self.value(f"shl i64 {operand}, {64 - width}")
        return self.value(f"ashr i64 {high}, {64 - width}")

    def conditional(self, expr: Conditional) -> str:
        test = self.truth(expr.test)
        known = truth_of(evaluate(expr.test, self.context.footprints.lookup, self.choices))
        if known is not None:  # a branch that is never taken may hold faults that never happen
            return self.evaluate(expr.then if known else expr.otherwise)
        if self.is_harmless(expr.then) and self.is_harmless(expr.otherwise):
            then, otherwise = self.evaluate(expr.then), self.evaluate(expr.otherwise)
            return self.value(f"select i1 {test}, i64 {then}, i64 {otherwise}")
        labels = [self.fresh_label(stem) for stem in ("then", "else", "join")]
        self.branch(test, labels[0], labels[1])
        incoming = []
        for label, side in zip(labels, (expr.then, expr.otherwise), strict=False):
            self.label(label)
            result = self.evaluate(side)
            incoming.append(f"[ {result}, %{self.block} ]")
            self.jump(labels[2])
        self.label(labels[2])
        return self.value(f"phi i64 {', '.join(incoming)}")

    def is_harmless(self, expr: Expr) -> bool:
        """Whether evaluating `expr` needlessly has no effect: no fault, no access to record."""
        if self.context.record and any(isinstance(part, Load) for part in walk(expr)):
            return False
        return cannot_fault(expr, self.context.footprints.lookup, self.choices)
