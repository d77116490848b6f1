"""Convert libclang's types to Mazurka's."""

from __future__ import annotations

from typing import Any

from mazurka.errors import UnsupportedError
from mazurka.frontend.c.source.cursors import fields_of
from mazurka.frontend.c.types import (
    VOID,
    ArrayType,
    AtomicType,
    CType,
    FloatType,
    ForeignType,
    FunctionType,
    IntegerType,
    MemberField,
    PointerType,
    RecordType,
    SyncType,
)

SYNC_TYPES = frozenset(
    {
        "pthread_t", "pthread_attr_t", "pthread_mutex_t", "pthread_mutexattr_t", "pthread_cond_t",
        "pthread_condattr_t", "pthread_rwlock_t", "pthread_rwlockattr_t", "pthread_barrier_t",
        "pthread_barrierattr_t", "pthread_spinlock_t", "pthread_once_t", "pthread_key_t", "sem_t",
        "thrd_t", "mtx_t", "cnd_t", "once_flag",
    }
)  # fmt: skip

_INTEGERS = {
    "BOOL": "_Bool", "CHAR_S": "char", "CHAR_U": "char", "SCHAR": "signed char",
    "UCHAR": "unsigned char", "SHORT": "short", "USHORT": "unsigned short", "INT": "int",
    "UINT": "unsigned int", "LONG": "long", "ULONG": "unsigned long", "LONGLONG": "long long",
    "ULONGLONG": "unsigned long long", "WCHAR": "wchar_t",
    "CHAR16": "char16_t", "CHAR32": "char32_t",
}  # fmt: skip
_UNSIGNED = frozenset(
    {"BOOL", "CHAR_U", "UCHAR", "USHORT", "UINT", "ULONG", "ULONGLONG", "CHAR16",
     "CHAR32"}
)  # fmt: skip
_FOREIGN = frozenset({"VECTOR", "EXTVECTOR", "COMPLEX", "BLOCKPOINTER", "INT128", "UINT128"})
_FLOATS = {"FLOAT": "float", "DOUBLE": "double", "LONGDOUBLE": "long double", "FLOAT128": "float"}


MOST_NESTED = 200
"""How deep types, expressions and statements may be nested: what follows calls itself for each
level, and the stack is limited.  The parser has a limit of 256 for brackets."""
MOST_VISITS = 10_000_000
"""To find the offset of a member, libclang goes through all members of members, again and again."""


class TypeReader:
    """Converts types once each; a structure may mention itself."""

    def __init__(self, pointer_bits: int) -> None:
        self.pointer_bits = pointer_bits
        self._known: dict[tuple[str, str], CType] = {}
        self._records: dict[int, RecordType] = {}
        self._members: dict[int, int] = {}
        """By structure how many members it has, with those of its members."""
        self._depth = 0

    def read(self, type_: Any) -> CType:
        """Convert a type; one that is made of too many others is refused."""
        if self._depth >= MOST_NESTED:
            raise UnsupportedError(f"a type is nested more than {MOST_NESTED} levels deep")
        self._depth += 1
        try:
            return self._read_known(type_)
        finally:
            self._depth -= 1

    def _read_known(self, type_: Any) -> CType:
        kind, key = type_.kind.name, (type_.kind.name, type_.spelling)
        if kind in _INTEGERS:
            size = max(type_.get_size(), 1) * 8
            name = _INTEGERS[kind]
            return IntegerType(name, size, kind not in _UNSIGNED, kind == "BOOL")
        if "(unnamed" in key[1] or "(anonymous" in key[1]:
            return self._read(type_, kind)
        found = self._known.get(key)
        if found is None:
            found = self._read(type_, kind)
            if not _mentions_local(type_):
                self._known[key] = found
        return found

    def _read(self, type_: Any, kind: str) -> CType:
        if kind in _FLOATS:
            return FloatType(_FLOATS[kind], type_.get_size() * 8)
        match kind:
            case "VOID":
                return VOID
            case "POINTER":
                return PointerType(self.read(type_.get_pointee()), self.pointer_bits)
            case "CONSTANTARRAY":
                return ArrayType(self.read(type_.element_type), type_.element_count)
            case "INCOMPLETEARRAY" | "VARIABLEARRAY":
                return ArrayType(self.read(type_.element_type), None)
            case "FUNCTIONPROTO":
                parameters = tuple(self.read(each) for each in type_.argument_types())
                variadic = type_.is_function_variadic()
                return FunctionType(self.read(type_.get_result()), parameters, variadic)
            case "FUNCTIONNOPROTO":
                return FunctionType(self.read(type_.get_result()), (), True)
            case "TYPEDEF":
                name = type_.get_declaration().spelling
                if name in SYNC_TYPES:
                    return SyncType(name, type_.get_size())
                return self.read(type_.get_declaration().underlying_typedef_type)
            case "ELABORATED":
                return self.read(type_.get_named_type())
            case "ENUM":
                return self.read(type_.get_declaration().enum_type)
            case "RECORD":
                return self._record(type_)
            case "ATOMIC":
                from clang.cindex import conf

                return AtomicType(self.read(conf.lib.clang_Type_getValueType(type_)))
            case _:
                canonical = type_.get_canonical()
                if canonical.kind.name in ("UNEXPOSED", "INVALID"):
                    return VOID
                if canonical.kind.name in _FOREIGN or canonical == type_:
                    return ForeignType(type_.spelling)
                return self.read(canonical)

    def _record(self, type_: Any) -> CType:
        declaration = type_.get_declaration()
        definition = declaration.get_definition() or declaration
        key = definition.hash
        found = self._records.get(key)
        if found is None:
            union = definition.kind.name == "UNION_DECL"
            word = "union" if union else "struct"
            named = definition.spelling and "(" not in definition.spelling
            name = f"{word} {definition.spelling}" if named else f"{word} {{...}}"
            found = self._records[key] = RecordType(name, key, union)
        body = found.body
        if not body.complete and definition.is_definition():
            body.complete = True
            body.size = max(type_.get_size(), 0)
            body.fields = tuple(self._fields(definition))
        return found

    def _fields(self, definition: Any) -> list[MemberField]:
        members = [(each, self.read(each.type)) for each in fields_of(definition.type)]
        count = sum(1 + self._count_members(type_) for _, type_ in members)
        self._members[definition.hash] = count
        if len(members) * count > MOST_VISITS:
            raise UnsupportedError(
                f"a structure with {count:,} members, those of its members included, is too large"
            )
        found, apart = [], False
        for each, type_ in members:
            bits = each.get_bitfield_width() if each.is_bitfield() else None
            if bits is not None and not each.spelling:  # no member: room, or an end
                apart = apart or bits == 0
                continue
            spelled = each.spelling
            name = "" if "(" in spelled else spelled
            offset = each.get_field_offsetof()
            found.append(MemberField(name, type_, max(offset, 0), bits, apart))
            apart = False
        return found

    def _count_members(self, type_: CType) -> int:
        """The members of a structure, with those of its members."""
        while isinstance(type_, ArrayType | AtomicType):
            type_ = type_.element if isinstance(type_, ArrayType) else type_.value
        return self._members.get(type_.key, 0) if isinstance(type_, RecordType) else 0


def _mentions_local(type_: Any) -> bool:
    """Whether two types of this spelling may differ: a tag or a typedef can be declared again."""
    kind = type_.kind.name
    while kind in ("POINTER", "CONSTANTARRAY", "INCOMPLETEARRAY"):
        type_ = type_.get_pointee() if kind == "POINTER" else type_.element_type
        kind = type_.kind.name
    if kind not in ("TYPEDEF", "RECORD", "ENUM", "ELABORATED"):
        return kind in ("FUNCTIONPROTO", "UNEXPOSED", "ATOMIC")
    parent = type_.get_declaration().semantic_parent
    return parent is None or parent.kind.name != "TRANSLATION_UNIT"
