"""Native code that brings a state into its canonical form (`mazurka.ir.symmetry`).

The keys of a class's members are collected from the packed state, sorted as unsigned numbers, and
written back; if they are sorted already, nothing is written.  A key contains everything that
belongs to a member: the bits of its cells, and one bit for each holder that names it.  So the
sorted keys are all that is needed to write the state of the renamed members.

The codes of a cell are in the order of its values, and the columns that count most are in the
highest bits, so keys compare as `ThreadClass.keys` do.  Columns that lie side by side in a word for
every member are collected as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mazurka.ir.native.layout import WORD_BITS, Layout, Slot
from mazurka.ir.symmetry import Symmetry, ThreadClass


@dataclass(frozen=True)
class KeyPart:
    """Some bits of a state that belong to one member: columns that lie side by side."""

    word: int
    shift: int
    width: int

    @property
    def mask(self) -> int:
        return (1 << self.width) - 1


@dataclass(frozen=True)
class Field:
    """A place in a key: for each member a part of the state, or a holder that may name it."""

    parts: tuple[KeyPart, ...]
    holder: Slot | None
    word: int
    shift: int


def fits(layout: Layout, each: ThreadClass) -> bool:
    """Whether the cells of each column are packed alike, and holders know all members or none."""
    for column in each.columns:
        codings = {(slot.width, slot.base, slot.points) for slot in _slots(layout, column)}
        if len(codings) > 1:
            return False
    return all(
        _knows(layout.slots[holder], each.members) != {True, False} for holder in each.holders
    )


def fitting_symmetry(layout: Layout, symmetry: Symmetry | None) -> Symmetry | None:
    """The classes that native code can sort; None if there are none."""
    if symmetry is None:
        return None
    classes = tuple(each for each in symmetry.classes if fits(layout, each))
    return Symmetry(classes) if classes else None


def generate_canonical_step(layout: Layout, symmetry: Symmetry, plain: str) -> str:
    """Generate `step`, which calls the step function `plain` and makes the result canonical."""
    numbers = range(len(symmetry.classes))
    bodies = [_ClassText(layout, symmetry.classes[n], f"sort{n}").generate() for n in numbers]
    arguments = "i64 %src, i64 %thread, i64 %choice, i64 %dst, i64 %footprint"
    lines = [
        f"define i64 @step({arguments}) {{",
        f"  %result = call i64 @{plain}({arguments})",
        "  %none = icmp slt i64 %result, 0",
        "  br i1 %none, label %end, label %sort",
        "sort:",
        "  %to = inttoptr i64 %dst to ptr",
        *(f"  call void @sort{number}(ptr %to)" for number in numbers),
        "  br label %end",
        "end:",
        "  ret i64 %result",
        "}",
    ]
    return "\n".join([*bodies, *lines]) + "\n"


def _slots(layout: Layout, addresses: Sequence[int]) -> list[Slot]:
    return [layout.slots[address] for address in addresses]


def _knows(slot: Slot, members: Sequence[int]) -> set[bool]:
    """Whether a holder has codes for the members: for all, for none, or for some."""
    return {_code(slot, member) is not None for member in members}


def _code(slot: Slot, member: int) -> int | None:
    """The code by which a holder names a member; None if it never does."""
    number = member + 1
    if slot.points is not None:
        return slot.points.index(number) if number in slot.points else None
    code = number - slot.base
    return code if slot.width and 0 <= code <= slot.mask else None


def _is_below(lower: Slot, upper: KeyPart) -> bool:
    return lower.word == upper.word and lower.shift + lower.width == upper.shift


class _ClassText:
    """The function that sorts the members of one class in the state at an address."""

    def __init__(self, layout: Layout, each: ThreadClass, name: str) -> None:
        self.layout = layout
        self.each = each
        self.name = name
        self.members = len(each.members)
        self.fields, self.words = self.place_fields()
        self.lines: list[str] = []
        self.count = 0

    def place_fields(self) -> tuple[list[Field], int]:
        """Give each field its place, the first one in the highest bits of the first word."""
        pieces: list[tuple[tuple[KeyPart, ...], Slot | None]] = [
            (parts, None) for parts in self.collect_parts()
        ]
        holders = _slots(self.layout, self.each.holders)
        pieces += [((), slot) for slot in holders if _code(slot, self.each.members[0]) is not None]
        rows: list[list[tuple[tuple[KeyPart, ...], Slot | None]]] = [[]]
        room = WORD_BITS
        for piece in pieces:
            width = piece[0][0].width if piece[0] else 1
            if width > room:
                rows.append([])
                room = WORD_BITS
            room -= width
            rows[-1].append(piece)
        fields: list[Field] = []
        for word, row in enumerate(rows):
            shift = 0
            for parts, slot in reversed(row):
                fields.append(Field(parts, slot, word, shift))
                shift += parts[0].width if parts else 1
        return fields, len(rows)

    def collect_parts(self) -> Iterator[tuple[KeyPart, ...]]:
        """Columns, joined where the next one lies directly below for every member."""
        current: tuple[KeyPart, ...] = ()
        for column in self.each.columns:
            slots = _slots(self.layout, column)
            if not slots[0].width:
                continue
            joined = current and all(map(_is_below, slots, current))
            if joined:
                current = tuple(
                    KeyPart(s.word, s.shift, s.width + p.width)
                    for s, p in zip(slots, current, strict=True)
                )
                continue
            if current:
                yield current
            current = tuple(KeyPart(slot.word, slot.shift, slot.width) for slot in slots)
        if current:
            yield current

    # --- text -------------------------------------------------------------------------------------

    def value(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %v{self.count} = {text}")
        return f"%v{self.count}"

    def emit(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def generate(self) -> str:
        self.lines = [f"define internal void @{self.name}(ptr %dst) {{", "entry:"]
        size = self.members * self.words
        self.emit(f"%keys = alloca i64, i64 {size}")
        keys = [self.collect_key(position) for position in range(self.members)]
        sorted_already = "true"
        for before, after in pairwise(keys):
            wrong = self.is_less(after, before)
            right = self.value(f"xor i1 {wrong}, true")
            sorted_already = self.value(f"and i1 {sorted_already}, {right}")
        self.emit(f"br i1 {sorted_already}, label %end, label %unsorted")
        self.lines.append("unsorted:")
        for position, key in enumerate(keys):
            for word, part in enumerate(key):
                self.emit(f"store i64 {part}, ptr {self.key_pointer(str(position), word)}")
        self.emit("br label %outer")
        self.sort()
        self.lines.append("write:")
        self.write_back()
        self.emit("br label %end")
        self.lines += ["end:", "  ret void", "}"]
        return "\n".join(self.lines)

    def load_word(self, word: int) -> str:
        pointer = self.value(f"getelementptr i64, ptr %dst, i64 {word}")
        return self.value(f"load i64, ptr {pointer}")

    def extract(self, word: str, shift: int, mask: int) -> str:
        shifted = self.value(f"lshr i64 {word}, {shift}")
        return self.value(f"and i64 {shifted}, {mask}")

    def collect_key(self, position: int) -> list[str]:
        """The words of a member's key."""
        key = ["0"] * self.words
        for field in self.fields:
            if field.holder is None:
                part = field.parts[position]
                bits = self.extract(self.load_word(part.word), part.shift, part.mask)
            else:
                slot = field.holder
                held = self.extract(self.load_word(slot.word), slot.shift, slot.mask)
                code = _code(slot, self.each.members[position])
                bits = self.value(f"zext i1 {self.value(f'icmp eq i64 {held}, {code}')} to i64")
            placed = self.value(f"shl i64 {bits}, {field.shift}")
            key[field.word] = self.value(f"or i64 {key[field.word]}, {placed}")
        return key

    def is_less(self, one: Sequence[str], other: Sequence[str]) -> str:
        """Whether a key is less than another one, the first word being the most significant."""
        less = "false"
        for mine, yours in reversed(list(zip(one, other, strict=True))):
            same = self.value(f"icmp eq i64 {mine}, {yours}")
            below = self.value(f"icmp ult i64 {mine}, {yours}")
            less = self.value(f"select i1 {same}, i1 {less}, i1 {below}")
        return less

    def key_pointer(self, position: str, word: int) -> str:
        first = self.value(f"mul i64 {position}, {self.words}")
        offset = self.value(f"add i64 {first}, {word}")
        return self.value(f"getelementptr i64, ptr %keys, i64 {offset}")

    def sort(self) -> None:
        """Insertion sort: only the thread that has moved is out of its place, as a rule."""
        self.lines.append("outer:")
        self.emit("%i = phi i64 [ 1, %unsorted ], [ %following, %next ]")
        self.emit(f"%more = icmp ult i64 %i, {self.members}")
        self.emit("br i1 %more, label %inner, label %write")
        self.lines.append("inner:")
        self.emit("%j = phi i64 [ %i, %outer ], [ %before, %swap ]")
        self.emit("%front = icmp eq i64 %j, 0")
        self.emit("br i1 %front, label %next, label %compare")
        self.lines.append("compare:")
        self.emit("%before = sub i64 %j, 1")
        here = [self.key_pointer("%j", word) for word in range(self.words)]
        there = [self.key_pointer("%before", word) for word in range(self.words)]
        mine = [self.value(f"load i64, ptr {pointer}") for pointer in here]
        yours = [self.value(f"load i64, ptr {pointer}") for pointer in there]
        self.emit(f"br i1 {self.is_less(mine, yours)}, label %swap, label %next")
        self.lines.append("swap:")
        for pointers, words in ((here, yours), (there, mine)):
            for pointer, word in zip(pointers, words, strict=True):
                self.emit(f"store i64 {word}, ptr {pointer}")
        self.emit("br label %inner")
        self.lines.append("next:")
        self.emit("%following = add i64 %i, 1")
        self.emit("br label %outer")

    def write_back(self) -> None:
        keys = [
            [
                self.value(f"load i64, ptr {self.key_pointer(str(position), word)}")
                for word in range(self.words)
            ]
            for position in range(self.members)
        ]
        for field in self.fields:
            if field.holder is not None:
                self.write_holder(field, field.holder, keys)
                continue
            for part, key in zip(field.parts, keys, strict=True):
                bits = self.extract(key[field.word], field.shift, part.mask)
                self.insert(part.word, part.shift, part.mask, bits)

    def write_holder(self, field: Field, slot: Slot, keys: Sequence[Sequence[str]]) -> None:
        """The number of the member whose key says that it is named, if there is one."""
        code = self.extract(self.load_word(slot.word), slot.shift, slot.mask)
        for member, key in zip(self.each.members, keys, strict=True):
            bit = self.extract(key[field.word], field.shift, 1)
            named = self.value(f"icmp ne i64 {bit}, 0")
            code = self.value(f"select i1 {named}, i64 {_code(slot, member)}, i64 {code}")
        self.insert(slot.word, slot.shift, slot.mask, code)

    def insert(self, word: int, shift: int, mask: int, bits: str) -> None:
        pointer = self.value(f"getelementptr i64, ptr %dst, i64 {word}")
        kept = self.value(f"and i64 {self.load_word(word)}, {~(mask << shift)}")
        placed = self.value(f"shl i64 {bits}, {shift}")
        self.emit(f"store i64 {self.value(f'or i64 {kept}, {placed}')}, ptr {pointer}")
