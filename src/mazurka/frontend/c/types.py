"""C's types, and how their objects lie in cells.

Memory is made of *scalar cells* (paper 004, section 4.1): an integer or a pointer is one cell,
whatever its width; structures and arrays are the cells of their parts, one after another.  Sizes in
bytes (`sizeof`, `offsetof`) are the compiler's; they come from the parser and never become
addresses.  What synchronizes (`pthread_mutex_t`) is a type of its own, whatever a header makes of
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from mazurka.errors import UnsupportedError


@dataclass(frozen=True, slots=True)
class CType:
    """A type; two equal types are the same type."""


@dataclass(frozen=True, slots=True)
class VoidType(CType):
    def __str__(self) -> str:
        return "void"


@dataclass(frozen=True, slots=True)
class ForeignType(VoidType):
    """A type of the compiler that is not supported: a vector, a complex number, `__int128`."""

    name: str = ""

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class IntegerType(CType):
    """An integer type of the given width; `_Bool` has one bit of value."""

    name: str
    bits: int
    signed: bool
    boolean: bool = False

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class FloatType(CType):
    """A floating type.  Its values are not followed: see `docs/limits.md`."""

    name: str
    bits: int

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class PointerType(CType):
    target: CType
    bits: int

    def __str__(self) -> str:
        return f"{self.target} *"


@dataclass(frozen=True, slots=True)
class ArrayType(CType):
    element: CType
    length: int | None
    """None where the number of elements is not known."""

    def __str__(self) -> str:
        return f"{self.element} [{'' if self.length is None else self.length}]"


@dataclass(frozen=True, slots=True)
class FunctionType(CType):
    result: CType
    parameters: tuple[CType, ...]
    variadic: bool

    def __str__(self) -> str:
        return f"{self.result} ({', '.join(map(str, self.parameters))})"


@dataclass(frozen=True, slots=True)
class SyncType(CType):
    """A type of the library whose objects are not data: `pthread_mutex_t`, `pthread_t`."""

    name: str
    size: int

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class AtomicType(CType):
    """`_Atomic` of a type: each access is one indivisible operation."""

    value: CType

    def __str__(self) -> str:
        return f"_Atomic({self.value})"


@dataclass(frozen=True, slots=True)
class GapType(CType):
    """What lies behind an array inside of a structure: a cell that belongs to nobody.

    A pointer to the end of the array points there, and not to the next member."""

    def __str__(self) -> str:
        return "the end of an array"


GAP = GapType()


@dataclass(frozen=True, slots=True)
class MemberField:
    name: str
    type: CType
    offset: int
    """In bits, from the beginning of the structure."""
    bits: int | None = None
    """The width of a bit-field."""
    apart: bool = False
    """Whether a bit-field without a width ends the location before it (C11, 3.14)."""


@dataclass(eq=False, slots=True)
class RecordBody:
    """The fields of a structure or union; they are known only once it is complete."""

    fields: tuple[MemberField, ...] = ()
    size: int = 0
    complete: bool = False


@dataclass(frozen=True, slots=True)
class RecordType(CType):
    """A structure or union; `key` tells apart those of one name."""

    name: str
    key: int
    union: bool
    body: RecordBody = field(compare=False, repr=False, default_factory=RecordBody)

    def __str__(self) -> str:
        return self.name

    def find(self, name: str) -> tuple[MemberField, ...] | None:
        """The way to a member: through anonymous members, one after another."""
        for each in self.body.fields:
            if each.name == name:
                return (each,)
        for each in self.body.fields:
            if not each.name and isinstance(each.type, RecordType):
                way = each.type.find(name)
                if way is not None:
                    return (each, *way)
        return None


@dataclass(frozen=True, slots=True)
class ExtendedType(RecordType):
    """A structure, and behind it elements of the array without a length that is its last member."""


def find_open_array(type_: CType) -> MemberField | None:
    """The last member of a structure, if it is an array without a length (C11, 6.7.2.1)."""
    inner = bare(type_)
    if not isinstance(inner, RecordType) or inner.union or not inner.body.fields:
        return None
    last = inner.body.fields[-1]
    kind = bare(last.type)
    return last if isinstance(kind, ArrayType) and not kind.length else None


def extend(type_: RecordType, member: MemberField, count: int) -> ExtendedType:
    """A structure with so many elements of the array without a length."""
    array = bare(member.type)
    assert isinstance(array, ArrayType)
    whole = ArrayType(array.element, count)
    made = ExtendedType(type_.name, hash((type_.key, count)), False)
    made.body.complete, made.body.size = True, member.offset // 8 + size_of(whole)
    made.body.fields = (
        MemberField("", type_, 0),
        MemberField(member.name, whole, member.offset),
    )
    return made


VOID = VoidType()
HANDLES = frozenset({"pthread_t", "thrd_t", "pthread_key_t", "tss_t"})
"""Types of the library whose objects are plain numbers, copied and compared at will."""


def bare(type_: CType) -> CType:
    """The type without `_Atomic`."""
    return type_.value if isinstance(type_, AtomicType) else type_


def is_scalar(type_: CType) -> bool:
    """Whether an object of the type is one cell of data."""
    inner = bare(type_)
    if isinstance(inner, SyncType):
        return inner.name in HANDLES
    return isinstance(inner, IntegerType | FloatType | PointerType)


def is_character(type_: CType) -> bool:
    inner = bare(type_)
    return isinstance(inner, IntegerType) and inner.bits == 8


@dataclass(frozen=True, slots=True)
class ScalarPart:
    """One cell of an object: where it is in it, and what it holds."""

    suffix: str
    type: CType
    offset: int
    """In bits, from the beginning of the object."""
    bits: int | None = None
    unlike: bool = False
    """Whether a union has it that has other members, which look different."""


@dataclass(frozen=True, slots=True)
class ElementRow:
    """Elements of one type inside of an object, between which pointers can be moved."""

    start: int
    """In cells, from the beginning of the object."""
    end: int
    """Behind the last element."""
    single: bool = False
    """A member that is no array: behind it another one begins."""

    def moved(self, distance: int) -> ElementRow:
        return ElementRow(self.start + distance, self.end + distance, self.single)


MOST_CELLS = 1 << 20
"""How many cells one object may have: all of them are looked at, many times."""


@dataclass(slots=True)
class Layouts:
    """How many cells each type takes, and what they hold.

    `mutex_cells` and its like come from the program: a mutex is one cell unless some mutex is
    recursive, a condition variable has a cell for each thread.
    """

    threads: int = 1
    mutex_cells: int = 1
    known: dict[CType, tuple[ScalarPart, ...]] = field(default_factory=dict)
    bounds: dict[CType, int] = field(default_factory=dict)
    known_rows: dict[tuple[CType, tuple[object, ...]], tuple[ElementRow, ...]] = field(
        default_factory=dict
    )

    def parts(self, type_: CType) -> tuple[ScalarPart, ...]:
        """The cells of an object, in the order of their addresses."""
        found = self.known.get(type_)
        if found is None:
            count = self._bound(type_)
            if count > MOST_CELLS:
                raise UnsupportedError(
                    f"an object of about {count:,} numbers and pointers; at most {MOST_CELLS:,} are"
                    " supported"
                )
            found = self.known[type_] = tuple(self._parts(type_))
        return found

    def _bound(self, type_: CType) -> int:
        """An upper bound of the cells of an object, found without looking at each."""
        found = self.bounds.get(type_)
        if found is None:
            match bare(type_):
                case ArrayType(element, length):
                    found = self._bound(element) * (length or 0)
                case RecordType(body=body):
                    found = sum(self._bound(each.type) + 1 for each in body.fields)
                case _:
                    found = 1
            self.bounds[type_] = found
        return found

    def cells(self, type_: CType) -> int:
        return len(self.parts(type_))

    def _parts(self, type_: CType) -> Iterator[ScalarPart]:
        inner = bare(type_)
        match inner:
            case ArrayType(element, length):
                size = size_of(element) * 8
                each = self.parts(element)
                for position in range(length or 0):
                    for part in each:
                        offset = position * size + part.offset
                        yield replace(part, suffix=f"[{position}]{part.suffix}", offset=offset)
            case RecordType(union=True):
                yield from self._union(inner)
            case RecordType():
                for member in inner.body.fields:
                    name = f".{member.name}" if member.name else ""
                    for part in self.parts(member.type):
                        yield replace(
                            part,
                            suffix=name + part.suffix,
                            offset=member.offset + part.offset,
                            bits=member.bits or part.bits,
                        )
                    if self._gap_behind(member):
                        end = member.offset + size_of(member.type) * 8
                        yield ScalarPart(f"{name} end", GAP, end)
            case SyncType(name) if name not in HANDLES:
                for position in range(self.sync_cells(name)):
                    yield ScalarPart(f".{position}" if position else "", inner, 0)
            case VoidType() | FunctionType():
                return
            case _:
                yield ScalarPart("", type_, 0)

    def sync_cells(self, name: str) -> int:
        """How many cells an object of the library takes."""
        match name:
            case "pthread_mutex_t" | "mtx_t":
                return self.mutex_cells
            case "pthread_cond_t" | "cnd_t":
                return self.threads
            case "pthread_rwlock_t":
                return 1 + self.threads
            case "pthread_barrier_t":
                return 3
            case _:
                return 1

    def _union(self, type_: RecordType) -> Iterator[ScalarPart]:
        """Members that look alike cell by cell share cells; unlike ones have cells of their own."""
        groups = self.groups(type_)
        for members in groups:
            longest = max((self.parts(each.type) for each in members), key=len)
            for part in longest:
                if len(groups) == 1:
                    yield part
                else:
                    suffix = f".{members[0].name}{part.suffix}"
                    yield replace(part, suffix=suffix, unlike=True)

    def groups(self, type_: RecordType) -> list[list[MemberField]]:
        """The members of a union, those together that look alike."""
        found: list[list[MemberField]] = []
        for member in type_.body.fields:
            for group in found:
                if all(self._look_alike(member, each) for each in group):
                    group.append(member)
                    break
            else:
                found.append([member])
        return found

    def _look_alike(self, first: MemberField, second: MemberField) -> bool:
        return all(
            (part.offset, part.bits, part_class(part))
            == (other.offset, other.bits, part_class(other))
            for part, other in zip(self.parts(first.type), self.parts(second.type), strict=False)
        )

    def rivals(self, type_: RecordType, member: MemberField) -> tuple[int, ...]:
        """The cells of a union that lose their values when a member is written."""
        start = self.field_cell(type_, member)
        group = next(each for each in self.groups(type_) if member in each)
        end = start + max(self.cells(each.type) for each in group)
        return tuple(each for each in range(self.cells(type_)) if not start <= each < end)

    def rival_cells(self, type_: CType) -> dict[int, frozenset[int]]:
        """By cell the cells of an object that lose their values when it is written."""
        inner = bare(type_)
        found: dict[int, frozenset[int]] = {}
        if not any(part.unlike for part in self.parts(type_)):
            return found
        places: list[tuple[int, CType, frozenset[int]]] = []
        if isinstance(inner, ArrayType):
            each = self.cells(inner.element)
            places = [(each * at, inner.element, frozenset()) for at in range(inner.length or 0)]
        elif isinstance(inner, RecordType):
            for member in inner.body.fields:
                rivals = frozenset(self.rivals(inner, member) if inner.union else ())
                places.append((self.field_cell(inner, member), member.type, rivals))
        for start, part, others in places:
            nested = self.rival_cells(part)
            for cell in range(self.cells(part)):
                own = {start + each for each in nested.get(cell, ())}
                found[start + cell] = found.get(start + cell, frozenset()) | own | others
        return found

    def has_cells(self, type_: CType) -> bool:
        """Whether the type can be laid out: a lock that shares memory cannot."""
        return not any(
            part.unlike and isinstance(bare(part.type), SyncType) and not is_scalar(part.type)
            for part in self.parts(type_)
        )

    def field_cell(self, type_: RecordType, member: MemberField) -> int:
        """The offset of a member in cells."""
        total = 0
        if type_.union:
            for group in self.groups(type_):
                if member in group:
                    break
                total += max(self.cells(each.type) for each in group)
            return total
        for each in type_.body.fields:
            if each is member:
                break
            total += self.cells(each.type) + self._gap_behind(each)
        return total

    def bit_neighbours(self, type_: RecordType, member: MemberField) -> list[MemberField]:
        """The bit-fields that are one memory location with one of them (C11, 3.14): those next to
        it, up to one without a width and to other members."""
        runs: list[list[MemberField]] = [[]]
        for each in type_.body.fields:
            if each.bits is None or each.apart:
                runs.append([])
            if each.bits is not None:
                runs[-1].append(each)
        here = next(run for run in runs if any(each is member for each in run))
        return [each for each in here if each is not member]

    def _gap_behind(self, member: MemberField) -> bool:
        return isinstance(bare(member.type), ArrayType) and self.cells(member.type) > 0

    def cell_at(self, type_: CType, offset: int) -> int | None:
        """The cell at an offset in bytes; None where no scalar begins."""
        for position, part in enumerate(self.parts(type_)):
            if part.offset == offset * 8 and part.type != GAP:
                return position
        return None

    def rows(self, type_: CType, classes: tuple[object, ...]) -> tuple[ElementRow, ...]:
        """Where objects with these classes lie in an object of the type."""
        key = (type_, classes)
        found = self.known_rows.get(key)
        if found is None:
            found = self.known_rows[key] = tuple(dict.fromkeys(self._rows(type_, classes)))
        return found

    def _rows(self, type_: CType, classes: tuple[object, ...]) -> Iterator[ElementRow]:
        inner, own = bare(type_), self.classes(type_)
        size = len(own)
        if not size or not classes:
            return
        if isinstance(inner, ArrayType):
            element = inner.element
            while isinstance(bare(element), ArrayType):
                element = bare(element).element  # type: ignore[attr-defined]
            whole = own == classes * (size // len(classes))
            if whole and (is_scalar(element) or self.classes(element) == classes):
                yield ElementRow(0, size)
                return
            each = self.cells(inner.element)
            for start in range(0, size, each):
                for row in self.rows(inner.element, classes):
                    yield row.moved(start)
            return
        if own == classes:
            yield ElementRow(0, size)
        if isinstance(inner, RecordType):
            for member in inner.body.fields:
                start = self.field_cell(inner, member)
                array = isinstance(bare(member.type), ArrayType)
                for row in self.rows(member.type, classes):
                    yield ElementRow(row.start + start, row.end + start, row.single or not array)

    def classes(self, type_: CType) -> tuple[object, ...]:
        """What the cells of a type hold: memory of equal classes can be read as that type."""
        return tuple(part_class(part) for part in self.parts(type_))


def part_class(part: ScalarPart) -> object:
    """What can share a cell with a part: a member of an unlike union shares it with nothing."""
    found = cell_class(part.type)
    return ("unlike", found) if part.unlike else found


def cell_class(type_: CType) -> object:
    """What two types have in common that can share a cell: width, or being a pointer."""
    inner = bare(type_)
    match inner:
        case IntegerType(bits=bits, boolean=boolean):
            return "bool" if boolean else bits
        case PointerType():
            return "pointer"
        case FloatType(bits=bits):
            return f"float {bits}"
        case SyncType(name):
            return name
        case _:
            return str(inner)


def size_of(type_: CType) -> int:
    """The size in bytes."""
    inner = bare(type_)
    match inner:
        case IntegerType(bits=bits, boolean=boolean):
            return 1 if boolean else bits // 8
        case FloatType(bits=bits) | PointerType(bits=bits):
            return bits // 8
        case ArrayType(element, length):
            return size_of(element) * (length or 0)
        case RecordType(body=body):
            return body.size
        case SyncType(size=size):
            return size
        case _:
            return 1
