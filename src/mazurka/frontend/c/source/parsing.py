"""Parse preprocessed C with libclang, and convert its cursors to the syntax tree.

Nothing of libclang leaves this file and `clang_types.py`.  Implicit conversions are cursors of
libclang without a kind of their own, and become `Convert` nodes.  What libclang does not tell
(which parts of a `for` are missing, the name of a generic builtin) is read from the text, which has
no macros any more.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from mazurka.errors import MazurkaError, UnsupportedError
from mazurka.extras import C, MissingExtraError
from mazurka.frontend.c import tree
from mazurka.frontend.c.source.attributes import (
    find_refusal,
    hide_arguments,
    read_attributes,
    unknown_attribute,
)
from mazurka.frontend.c.source.clang_types import MOST_NESTED, TypeReader
from mazurka.frontend.c.source.cursors import children_of
from mazurka.frontend.c.source.definitions import add_definitions
from mazurka.frontend.c.source.gcc_atomics import find_refused, rewrite_calls, simplify_flags
from mazurka.frontend.c.source.generic_selections import find_selected
from mazurka.frontend.c.source.places import PlaceMap
from mazurka.frontend.c.source.probing import probe
from mazurka.frontend.c.survey import may_write
from mazurka.frontend.c.types import (
    VOID,
    ArrayType,
    CType,
    FloatType,
    ForeignType,
    FunctionType,
    IntegerType,
    PointerType,
    RecordType,
    bare,
)
from mazurka.ir.program import Span
from mazurka.processes import root_as_current_directory

_BINARY = dict(
    enumerate(
        ("", "", "", "*", "/", "%", "+", "-", "<<", ">>", "<=>", "<", ">", "<=", ">=", "==", "!=",
         "&", "^", "|", "&&", "||", "=", "*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=",
         "|=", ",")
    )
)  # fmt: skip
_UNARY = dict(
    enumerate(("", "p++", "p--", "++", "--", "&", "*", "+", "-", "~", "!", "real", "imag", "ext"))
)
_BUILTIN = re.compile(r"__(?:atomic|c11_atomic|builtin|sync)_\w+")
_WORKED_OUT = frozenset(
    {"__builtin_offsetof", "__builtin_types_compatible_p", "__builtin_object_size",
     "__builtin_constant_p", "__atomic_is_lock_free", "__atomic_always_lock_free",
     "__c11_atomic_is_lock_free"}
)  # fmt: skip
"""Builtins whose value the parser knows."""
_PLAIN = frozenset(
    {"alloca", "memcpy", "memset", "memmove", "memcmp", "strlen", "strcmp", "strcpy", "abort",
     "malloc", "calloc", "free", "printf", "puts", "abs", "labs", "exit"}
)  # fmt: skip
"""Builtins that are functions of the library by another name."""
_WRITTEN_IN_C = ("strlen", "isdigit", "snprintf", "memcpy", "qsort")
"""A function of each header whose functions are C code; who declares none calls none of them."""
_MADE_OF_OPERANDS = frozenset(
    {"UNEXPOSED_EXPR", "CSTYLE_CAST_EXPR", "BINARY_OPERATOR", "UNARY_OPERATOR"}
)
_IDLE_ASSEMBLY = re.compile(
    r'\(\s*"\s*(?:pause|yield|[mls]fence|dmb (?:sy|ish)|rep\s*;\s*nop)\s*(?:;|\\[nt]|\s)*"'
    r'[\s:]*(?:"(?:memory|cc)"[\s,]*)*\)'
)
"""Instructions that change nothing: they wait a moment, or order accesses that are in order."""
_SHOWN = 100
MOST_ELEMENTS = 1_000_000
Head: TypeAlias = tuple[Span, CType, str]
"""What every expression has: its place, its type and its text."""
LabelAndRest: TypeAlias = tuple[tree.Statement, Any]
"""A label, and the cursor of what it stands at, if there is one."""
_SIMPLE: dict[str, CType] = {
    "char": IntegerType("char", 8, True),
    "unsigned char": IntegerType("unsigned char", 8, False),
    "short": IntegerType("short", 16, True),
    "int": IntegerType("int", 32, True),
    "unsigned": IntegerType("unsigned int", 32, False),
    "unsigned int": IntegerType("unsigned int", 32, False),
}


def parse(path: str, text: str, model: str, *, preprocessed: bool = True) -> tree.TranslationUnit:
    """Parse a preprocessed text; errors of the program name the user's file.

    `preprocessed` says that the user's file is the text itself.
    """
    probe(path, text, model, preprocessed=preprocessed)
    return read_text(path, text, model, preprocessed=preprocessed)


def read_text(path: str, text: str, model: str, *, preprocessed: bool) -> tree.TranslationUnit:
    """Parse a text in this process."""
    unit = UnitReader(path, text, model, preprocessed).unit
    known = unit.functions
    if preprocessed and any(each in known for each in _WRITTEN_IN_C):
        whole = add_definitions(text, lambda name: name not in known or not known[name].defined)
        try:
            return UnitReader(path, whole, model, preprocessed).unit
        except MazurkaError:
            pass  # the file declares something else under these names
    return unit


def _load_clang() -> Any:
    try:
        from clang import cindex
    except ImportError:
        raise MissingExtraError(f"reading C needs the parser of LLVM: {C.advice}") from None
    with root_as_current_directory():
        library = cindex.conf.lib
    for name in ("clang_getCursorBinaryOperatorKind", "clang_getCursorUnaryOperatorKind"):
        function = getattr(library, name)
        function.argtypes, function.restype = [cindex.Cursor], ctypes.c_int
    initializer = library.clang_Cursor_getVarDeclInitializer
    initializer.argtypes, initializer.restype = [cindex.Cursor], cindex.Cursor
    library.clang_Cursor_isNull.argtypes = [cindex.Cursor]
    value = library.clang_Type_getValueType
    value.argtypes, value.restype = [cindex.Type], cindex.Type
    value.errcheck = cindex.Type.from_result
    evaluate = library.clang_Cursor_Evaluate
    evaluate.argtypes, evaluate.restype = [cindex.Cursor], ctypes.c_void_p
    for name, result in (
        ("clang_EvalResult_getKind", ctypes.c_int),
        ("clang_EvalResult_isUnsignedInt", ctypes.c_uint),
        ("clang_EvalResult_getAsUnsigned", ctypes.c_ulonglong),
        ("clang_EvalResult_getAsLongLong", ctypes.c_longlong),
        ("clang_EvalResult_dispose", None),
    ):
        function = getattr(library, name)
        function.argtypes, function.restype = [ctypes.c_void_p], result
    return cindex


class UnitReader:
    """One translation unit on its way from cursors to the tree."""

    def __init__(self, path: str, text: str, model: str, preprocessed: bool) -> None:
        self.path = path
        text = hide_arguments(text)
        if preprocessed and "_Atomic" in text:
            text = simplify_flags(text)
        self.data = text.encode()
        self.places = PlaceMap(path, text, preprocessed)
        self.cindex = _load_clang()
        self.library = self.cindex.conf.lib
        self.types = TypeReader(32 if model == "ilp32" else 64)
        self.unit = tree.TranslationUnit(path, self.places.sources)
        self.variables: dict[int, tree.Variable] = {}
        self.place = Span(path, 0)
        """What was read last."""
        self.depth = 0
        self.function = ""
        """The function whose body is being read."""
        self.attributed: set[int] = set()
        """Declarations whose attributes have been read."""
        self.unguarded: set[tree.Variable] = set()
        """Variables with a `cleanup` for which no `Guarded` has been made yet."""
        self.initializing: set[tree.Variable] = set()
        """Variables whose initializer is being read: it may name them."""
        target = "i386-pc-linux-gnu" if model == "ilp32" else "x86_64-pc-linux-gnu"
        arguments = ["-x", "c", "-std=gnu11", f"--target={target}", "-fno-builtin",
                     "-Wno-everything", "-Wunknown-attributes",
                     "-Wno-error", "-Wno-int-conversion", "-Wno-implicit-int",
                     "-Wno-implicit-function-declaration",
                     "-Wno-incompatible-function-pointer-types", "-Wno-return-type",
                     "-fgnu89-inline", "-ferror-limit=0"]  # fmt: skip
        name = "mazurka-input.c"

        def parse_again(changed: str) -> Any:
            files = [(name, changed)]
            return self.cindex.Index.create().parse(name, args=arguments, unsaved_files=files)

        self.parsed = parse_again(text)
        if preprocessed and (refused := find_refused(self.parsed.diagnostics)):
            text = rewrite_calls(text, refused)
            self.data, self.places = text.encode(), PlaceMap(path, text, preprocessed)
            self.unit.sources = self.places.sources
            self.parsed = parse_again(text)
        self._refuse_included()
        self._refuse_errors()
        self._refuse_pragmas(text)
        with self.located():
            self.selected = find_selected(self.data, parse_again, self.evaluate)
            self._read_unit()

    def _refuse_included(self) -> None:
        """Refuse directives that the preprocessor leaves alone, but the parser obeys: it takes more
        characters for white space than a preprocessor does."""
        for each in self.parsed.get_includes():
            place = self.places.span(each.location.line, each.location.column, 0, 0)
            raise UnsupportedError.at(
                place,
                "this line includes a file only for the parser, not for the preprocessor; begin it"
                " with `#` and give the .c file",
            )

    def _refuse_errors(self) -> None:
        for each in self.parsed.diagnostics:
            if each.severity >= 3:
                place = each.location
                span = self.places.span(place.line, place.column, 0, 0) if place.line else None
                raise MazurkaError.at(span or Span(self.path, 0), f"C: {each.spelling}")
            if name := unknown_attribute(each.spelling):
                place = each.location
                raise UnsupportedError.at(
                    self.places.span(place.line, place.column, 0, 0),
                    f"the attribute `{name}` is not known, and may change what the program does;"
                    " leave it out, for example by a macro that -D defines",
                )

    def _refuse_pragmas(self, text: str) -> None:
        """Refuse pragmas that make threads: they would be left out in silence."""
        if "#pragma" not in text:
            return
        for number, line in enumerate(text.splitlines(), 1):
            if re.match(r"\s*#pragma\s+(omp|acc)\b", line):
                raise UnsupportedError.at(
                    self.places.span(number, 1, 0, 0), "OpenMP is not supported; use pthreads"
                )

    # --- places ----------------------------------------------------------------------------

    def span(self, cursor: Any) -> Span:
        extent = cursor.extent
        start, end = extent.start, extent.end
        self.place = self.places.span(start.line, start.column, end.line, end.column)
        return self.place

    def _location(self, cursor: Any) -> Span:
        """Where the name of a declaration is."""
        place = cursor.location
        self.place = self.places.span(place.line, place.column, 0, 0)
        return self.place

    @contextmanager
    def located(self) -> Iterator[None]:
        """Let an error about nesting say where it was found."""
        try:
            yield
        except UnsupportedError as error:
            if error.file is not None:
                raise
            raise UnsupportedError.at(self.place, error.message) from None
        except (RecursionError, ctypes.ArgumentError) as error:
            if isinstance(error, ctypes.ArgumentError) and "RecursionError" not in str(error):
                raise
            raise UnsupportedError.at(self.place, "this is nested too deeply") from None

    @contextmanager
    def _deeper(self, cursor: Any) -> Iterator[None]:
        if self.depth >= MOST_NESTED:
            raise UnsupportedError.at(
                self.span(cursor), f"this is nested more than {MOST_NESTED} levels deep"
            )
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    def text(self, cursor: Any) -> str:
        extent = cursor.extent
        piece = self.data[extent.start.offset : extent.end.offset].decode(errors="replace")
        line = " ".join(each for each in piece.split("\n") if not each.startswith("# "))
        line = " ".join(line.split())
        return line if len(line) <= _SHOWN else line[: _SHOWN - 3] + "..."

    # --- declarations ----------------------------------------------------------------------

    def _read_unit(self) -> None:
        unit = self.unit
        for cursor in children_of(self.parsed.cursor):
            kind = cursor.kind.name
            if kind == "FUNCTION_DECL":
                known = unit.functions.get(cursor.spelling)
                if known is None:
                    unit.functions[cursor.spelling] = known = self._function(cursor)
                known.attributes.update(read_attributes(cursor, self.data))
                if cursor.is_definition():
                    known.span = self._location(cursor)
                    known.type = self.types.read(cursor.type)
                    known.reader = self._body_reader(known, cursor)
            elif kind == "VAR_DECL":
                variable = self._variable(cursor)
                if variable not in unit.variables:
                    unit.variables.append(variable)

    def _function(self, cursor: Any) -> tree.CFunction:
        span = self._location(cursor)
        return tree.CFunction(cursor.spelling, self.types.read(cursor.type), span)

    def _body_reader(self, function: tree.CFunction, cursor: Any) -> Callable[[], None]:
        """Convert the body when it is first asked for: much of a header never is."""

        def read() -> None:
            with self.located():
                read_now()

        def read_now() -> None:
            parameters, body = [], None
            outer, self.function = self.function, function.name
            for child in cursor.get_arguments():  # others belong to what it returns
                variable = self._variable(child)
                variable.parameter = variable.local = True
                if isinstance(variable.type, ArrayType):
                    element = variable.type.element
                    variable.type = PointerType(element, self.types.pointer_bits)
                elif isinstance(variable.type, FunctionType):
                    variable.type = PointerType(variable.type, self.types.pointer_bits)
                parameters.append(variable)
            for child in children_of(cursor):
                if child.kind.name == "COMPOUND_STMT":
                    body = child
            function.parameters = tuple(parameters)
            if body is not None:
                function.body = self.compound(body)
            self.function = outer
            for variable in self.unguarded:
                raise UnsupportedError.at(
                    variable.span, "`cleanup` is supported for variables of a block in braces only"
                )

        return read

    def _variable(self, cursor: Any) -> tree.Variable:
        """The variable that a declaration declares, once for all its declarations."""
        key = cursor.canonical.hash
        found = self.variables.get(key)
        if found is None:
            span = self._location(cursor)
            found = tree.Variable(cursor.spelling, self.types.read(cursor.type), span)
            self.variables[key] = found
            storage = cursor.storage_class.name
            inside = cursor.semantic_parent.kind.name == "FUNCTION_DECL"
            found.local = inside and storage not in ("STATIC", "EXTERN")
            found.external = storage == "EXTERN"
            found.per_thread = cursor.tls_kind.name != "NONE"
            if inside and not found.local and storage == "STATIC":
                self.unit.variables.append(found)
        elif cursor.storage_class.name != "EXTERN":
            found.external = False
        if isinstance(found.type, ArrayType) and found.type.length is None:
            found.type = self.types.read(cursor.type)
        if cursor.type.kind.name == "VARIABLEARRAY" and found.length is None:
            inner = [each for each in children_of(cursor) if each.kind.is_expression()]
            inner.sort(key=lambda each: each.extent.start.offset)  # the outermost stands first
            found.length = self.expression(inner[0]) if inner else None
        if cursor.hash not in self.attributed:
            self.attributed.add(cursor.hash)
            self._apply_attributes(found, cursor)
        initial = self.library.clang_Cursor_getVarDeclInitializer(cursor)
        if not self.library.clang_Cursor_isNull(initial):
            initial._tu = cursor._tu
            found.external = False
            if found.initial is None and found not in self.initializing:
                self.initializing.add(found)
                found.initial = self.expression(initial)
        return found

    def _apply_attributes(self, variable: tree.Variable, cursor: Any) -> None:
        attributes = read_attributes(cursor, self.data)
        if isinstance(variable.type, ForeignType):
            variable.refusal = f"`{variable.name}` is a {variable.type}, which is not supported"
        if not attributes:
            return
        variable.refusal = variable.refusal or find_refusal(attributes)
        if "weak" in attributes and not variable.local and variable.external:
            variable.refusal = f"`{variable.name}` is weak, and may have no address"
        name = attributes.get("cleanup", "")
        if name and variable.cleanup is None:
            function = self.unit.functions.get(name)
            if function is None:
                variable.refusal = f"`{name}`, which is to clean up, is not known"
                return
            span, pointer = variable.span, PointerType(variable.type, self.types.pointer_bits)
            text = f"{name}(&{variable.name})"
            named = tree.Name(span, variable.type, variable.name, variable)
            address = tree.AddressOf(span, pointer, f"&{variable.name}", named)
            callee = tree.FunctionName(span, function.type, name, function)
            self.unguarded.add(variable)
            variable.cleanup = tree.Call(span, VOID, text, callee, (address,))

    # --- statements ------------------------------------------------------------------------

    def compound(self, cursor: Any) -> tree.Compound:
        body = [each for child in children_of(cursor) for each in self._unlabelled(child)]
        return tree.Compound(self.span(cursor), self._guard(tuple(body)))

    def _unlabelled(self, cursor: Any) -> Iterator[tree.Statement]:
        """A statement of a block: its labels one after another, and then what they stand at."""
        rest: Any = cursor
        while rest is not None:
            reader = _LABELS.get(rest.kind.name)
            if reader is None:
                yield self.statement(rest)
                return
            label, rest = reader(self, rest)
            yield label

    def _guard(self, body: tuple[tree.Statement, ...]) -> tuple[tree.Statement, ...]:
        """Put what follows a variable with a `cleanup` into a statement of its own."""
        for position, each in enumerate(body):
            variables = each.variables if isinstance(each, tree.Declare) else ()
            for number, variable in enumerate(variables, 1):
                if variable.cleanup is None:
                    continue
                self.unguarded.discard(variable)
                later = variables[number:]
                rest = (tree.Declare(each.span, later),) if later else ()
                inner = tree.Compound(each.span, self._guard((*rest, *body[position + 1 :])))
                declare = tree.Declare(each.span, variables[:number])
                return (*body[:position], declare, tree.Guarded(each.span, inner, variable.cleanup))
        return body

    def statement(self, cursor: Any) -> tree.Statement:
        with self._deeper(cursor):
            return self._statement(cursor)

    def _statement(self, cursor: Any) -> tree.Statement:
        handler = _STATEMENTS.get(cursor.kind.name)
        if handler is not None:
            return handler(self, cursor)
        if cursor.kind.is_expression():
            return tree.Evaluate(self.span(cursor), self.expression(cursor))
        if cursor.kind.is_declaration():
            return tree.Empty(self.span(cursor))
        if cursor.kind.name == "UNEXPOSED_STMT":  # attributes before a statement
            children = [each for each in children_of(cursor) if not each.kind.is_attribute()]
            if len(children) == 1:
                return self.statement(children[0])
        return tree.Refused(self.span(cursor), f"`{self.text(cursor)}` is not supported")

    def _declare(self, cursor: Any) -> tree.Statement:
        variables = []
        for child in children_of(cursor):
            if child.kind.name == "VAR_DECL":
                variable = self._variable(child)
                if variable.local and variable.refusal:
                    return tree.Refused(self.span(cursor), variable.refusal)
                if variable.local:
                    variables.append(variable)
        return tree.Declare(self.span(cursor), tuple(variables))

    def _if(self, cursor: Any) -> tree.Statement:
        parts = children_of(cursor)
        otherwise = self.statement(parts[2]) if len(parts) > 2 else None
        test = self.expression(parts[0])
        return tree.If(self.span(parts[0]), test, self.statement(parts[1]), otherwise)

    def _while(self, cursor: Any) -> tree.Statement:
        test, body = children_of(cursor)
        inner = self.statement(body)
        return tree.LoopStatement(self.span(test), None, self.expression(test), None, inner)

    def _do(self, cursor: Any) -> tree.Statement:
        body, test = children_of(cursor)
        inner = self.statement(body)
        return tree.LoopStatement(
            self.span(cursor), None, self.expression(test), None, inner, test_last=True
        )

    def _for(self, cursor: Any) -> tree.Statement:
        """A `for`: libclang leaves out what is missing, so the semicolons tell which is which."""
        parts = children_of(cursor)
        body = parts.pop()
        start = cursor.extent.start.offset
        first, second = self._semicolons(start)
        initial: tree.Statement | None = None
        test = step = None
        for part in parts:
            offset = part.extent.start.offset
            if offset < first:
                initial = self.statement(part)
            elif offset < second:
                test = self.expression(part)
            else:
                step = self.expression(part)
        return tree.LoopStatement(self.span(cursor), initial, test, step, self.statement(body))

    def _semicolons(self, start: int) -> tuple[int, int]:
        """Find the two semicolons of a `for`'s head that are not inside something else."""
        found: list[int] = []
        depth, position, data = 0, start, self.data
        while len(found) < 2:
            byte = data[position : position + 1]
            if byte in (b"(", b"{", b"["):
                depth += 1
            elif byte in (b")", b"}", b"]"):
                depth -= 1
            elif byte in (b'"', b"'"):
                position = _skip_quoted(data, position)
            elif data[position : position + 2] == b"/*":
                position = data.index(b"*/", position) + 1
            elif data[position : position + 2] == b"//":
                position = data.index(b"\n", position)
            elif byte == b";" and depth == 1:
                found.append(position)
            elif not byte:
                raise MazurkaError("a `for` without an end", file=self.path)
            position += 1
        return found[0], found[1]

    def _switch(self, cursor: Any) -> tree.Statement:
        value, body = children_of(cursor)
        return tree.Switch(self.span(value), self.expression(value), self.statement(body))

    def _case(self, cursor: Any) -> LabelAndRest:
        parts = children_of(cursor)
        low = self.evaluate(parts[0])
        ranged = len(parts) > 2 or (len(parts) == 2 and self._is_range(parts))
        high = self.evaluate(parts[1]) if ranged else low
        rest = parts[2:] if ranged else parts[1:]
        if low is None or high is None:
            raise UnsupportedError.at(self.span(cursor), "this case is no constant")
        label = tree.CaseLabel(self.span(parts[0]), (low, high), None)
        return label, rest[0] if rest else None

    def _is_range(self, parts: list[Any]) -> bool:
        between = self.data[parts[0].extent.end.offset : parts[1].extent.start.offset]
        return b"..." in between

    def _default(self, cursor: Any) -> LabelAndRest:
        parts = children_of(cursor)
        return tree.CaseLabel(self.span(cursor), None, None), parts[0] if parts else None

    def _label(self, cursor: Any) -> LabelAndRest:
        parts = [each for each in children_of(cursor) if not each.kind.is_attribute()]
        label = tree.Labelled(self.span(cursor), cursor.spelling, None)
        return label, parts[0] if parts else None

    def _labelled(self, cursor: Any) -> tree.Statement:
        """A statement with labels that is not one of a block."""
        return tree.Compound(self.span(cursor), tuple(self._unlabelled(cursor)))

    def _goto(self, cursor: Any) -> tree.Statement:
        (label,) = children_of(cursor)
        return tree.Goto(self.span(cursor), label.spelling)

    def _return(self, cursor: Any) -> tree.Statement:
        parts = children_of(cursor)
        return tree.Return(self.span(cursor), self.expression(parts[0]) if parts else None)

    def _asm(self, cursor: Any) -> tree.Statement:
        text = self.text(cursor)
        # An empty one keeps the compiler from moving accesses; what it gives back it was given.
        empty = re.search(r'\(\s*""\s*(\)|:(\s*("\+[^"]*"\s*\([^()]*\)\s*,?\s*)*)(\)|:))', text)
        if empty or _IDLE_ASSEMBLY.search(text):
            return tree.Empty(self.span(cursor))
        return tree.Refused(
            self.span(cursor), "assembly is not supported; use C11 atomics or __sync functions"
        )

    # --- expressions -----------------------------------------------------------------------

    def evaluate(self, cursor: Any) -> int | None:
        """The value of a constant expression, as the parser knows it."""
        result = self.library.clang_Cursor_Evaluate(cursor)
        if not result:
            return None
        try:
            if self.library.clang_EvalResult_getKind(result) != 1:
                return None
            if self.library.clang_EvalResult_isUnsignedInt(result):
                return int(self.library.clang_EvalResult_getAsUnsigned(result))
            return int(self.library.clang_EvalResult_getAsLongLong(result))
        finally:
            self.library.clang_EvalResult_dispose(result)

    def expression(self, cursor: Any) -> tree.Expression:
        with self._deeper(cursor):
            return self._expression(cursor)

    def _expression(self, cursor: Any) -> tree.Expression:
        kind = cursor.kind.name
        if kind == "PAREN_EXPR":
            (inner,) = children_of(cursor)
            return self.expression(inner)
        head = (self.span(cursor), self.types.read(cursor.type), self.text(cursor))
        handler = _EXPRESSIONS.get(kind)
        if handler is None:
            return tree.RefusedExpression(*head, f"`{head[2]}` is not supported")
        if isinstance(head[1], ForeignType):
            reason = f"`{head[2]}` is a {head[1]}, which is not supported"
            return tree.RefusedExpression(*head, reason)
        if isinstance(head[1], IntegerType) and self._has_real_operand(cursor):
            value = self.evaluate(cursor)
            if value is not None:
                return tree.IntegerConstant(*head, value)
        return handler(self, cursor, head)

    def _has_real_operand(self, cursor: Any) -> bool:
        """Whether an integer is made of floating numbers, which is possible of constants only."""
        if cursor.kind.name not in _MADE_OF_OPERANDS:
            return False
        return any(
            each.kind.is_expression() and isinstance(self.types.read(each.type), FloatType)
            for each in children_of(cursor)
        )

    def _number(self, cursor: Any, head: Head) -> tree.Expression:
        value = self.evaluate(cursor)
        if value is None:
            return tree.RefusedExpression(*head, f"`{head[2]}` is no constant of a known size")
        return tree.IntegerConstant(*head, value)

    def _real(self, cursor: Any, head: Head) -> tree.Expression:
        return tree.Real(*head)

    def _string(self, cursor: Any, head: Head) -> tree.Expression:
        extent = cursor.extent
        raw = self.data[extent.start.offset : extent.end.offset].decode("latin-1")
        if raw in _FUNCTION_NAMES:
            return tree.StringLiteral(*head, self.function.encode() + b"\0")
        if re.search(r"\\[uU]", raw) or not (raw.isascii() or raw.startswith('"')):
            return tree.RefusedExpression(*head, f"`{head[2]}`: such characters are not supported")
        data = b"".join(_unescape(piece) for piece in re.findall(r'"((?:[^"\\]|\\.)*)"', raw))
        return tree.StringLiteral(*head, data + b"\0")

    def _reference(self, cursor: Any, head: Head) -> tree.Expression:
        target = cursor.referenced
        kind = target.kind.name if target is not None else ""
        if kind in ("VAR_DECL", "PARM_DECL"):
            variable = self._variable(target)
            if variable.refusal:
                return tree.RefusedExpression(*head, variable.refusal)
            if isinstance(head[1], FunctionType):  # a parameter, which is a pointer to one
                return tree.Name(head[0], variable.type, head[2], variable)
            return tree.Name(*head, variable)
        if kind == "ENUM_CONSTANT_DECL":
            return tree.IntegerConstant(*head, target.enum_value)
        if kind == "FUNCTION_DECL" or cursor.spelling:
            name = cursor.spelling
            function = self.unit.functions.get(name)
            if function is None:
                function = tree.CFunction(name, head[1], head[0])
                self.unit.functions[name] = function
            if refusal := find_refusal(function.attributes):
                return tree.RefusedExpression(*head, refusal)
            return tree.FunctionName(*head, function)
        return tree.RefusedExpression(*head, f"`{head[2]}` is not supported")

    def _binary(self, cursor: Any, head: Head) -> tree.Expression:
        operator = _BINARY.get(self.library.clang_getCursorBinaryOperatorKind(cursor), "")
        left, right = (self.expression(child) for child in children_of(cursor))
        if operator in ("&&", "||"):
            return tree.Logical(*head, operator, left, right)
        if operator == ",":
            return tree.Comma(*head, left, right)
        if operator == "=":
            return tree.Assignment(*head, "", left, right)
        if operator.endswith("=") and operator not in ("==", "!=", "<=", ">="):
            return tree.Assignment(*head, operator[:-1], left, right)
        return tree.BinaryOperation(*head, operator, left, right)

    def _unary(self, cursor: Any, head: Head) -> tree.Expression:
        operator = _UNARY.get(self.library.clang_getCursorUnaryOperatorKind(cursor), "")
        (child,) = children_of(cursor)
        operand = self.expression(child)
        match operator:
            case "p++" | "p--" | "++" | "--":
                step = 1 if operator.endswith("+") else -1
                return tree.Increment(*head, step, operator.startswith("p"), operand)
            case "&":
                return tree.AddressOf(*head, operand)
            case "*":
                return tree.Dereference(*head, operand)
            case "ext":
                return operand
            case "+" | "-" | "~" | "!":
                return tree.PrefixOperation(*head, operator, operand)
            case _:
                return tree.RefusedExpression(*head, f"`{head[2]}` is not supported")

    def _ternary(self, cursor: Any, head: Head) -> tree.Expression:
        test, then, otherwise = (self.expression(child) for child in children_of(cursor))
        return tree.Ternary(*head, test, then, otherwise)

    def _cast(self, cursor: Any, head: Head) -> tree.Expression:
        inner = [each for each in children_of(cursor) if each.kind.is_expression()]
        return tree.Conversion(*head, self.expression(inner[-1]), True)

    def _subscript(self, cursor: Any, head: Head) -> tree.Expression:
        base, index = (self.expression(child) for child in children_of(cursor))
        if isinstance(index.type, PointerType):
            base, index = index, base
        return tree.Subscript(*head, base, index)

    def _member(self, cursor: Any, head: Head) -> tree.Expression:
        inner = [each for each in children_of(cursor) if each.kind.is_expression()]
        base = self.expression(inner[0])
        arrow = isinstance(base.type, PointerType)
        record = base.type.target if isinstance(base.type, PointerType) else base.type
        record = bare(record)
        if not cursor.spelling and isinstance(record, RecordType):
            # A step through an anonymous member, which `RecordType.find` makes by itself.
            return base
        if not isinstance(record, RecordType):
            return tree.RefusedExpression(*head, f"`{head[2]}` is not supported")
        return tree.Member(*head, base, cursor.spelling, arrow, record)

    def _call(self, cursor: Any, head: Head) -> tree.Expression:
        children = children_of(cursor)
        if not children:
            return tree.RefusedExpression(*head, f"`{head[2]}` is not supported")
        found = _BUILTIN.match(head[2])
        if found and found[0] in _WORKED_OUT:
            return self._number(cursor, head)
        if found and (plain := found[0].removeprefix("__builtin_")) in _PLAIN:
            function = self.unit.functions.get(plain)
            if function is None:
                function = tree.CFunction(plain, self.types.read(children[0].type), head[0])
                self.unit.functions[plain] = function
            name = tree.FunctionName(head[0], function.type, plain, function)
            return tree.Call(*head, name, tuple(map(self.expression, children[1:])))
        if found and found[0] not in self.unit.functions:
            arguments = tuple(self.expression(child) for child in children[1:])
            return tree.Builtin(*head, found[0], arguments)
        callee = self.expression(children[0])
        while isinstance(callee, tree.Conversion) and isinstance(callee.operand, tree.FunctionName):
            callee = callee.operand
        return tree.Call(*head, callee, tuple(self.expression(each) for each in children[1:]))

    def _sizeof(self, cursor: Any, head: Head) -> tree.Expression:
        inner = [each for each in children_of(cursor) if each.kind.is_expression()]
        if inner and inner[0].type.kind.name == "VARIABLEARRAY":
            operand = self.expression(inner[0])
            if isinstance(operand, tree.Name) and head[2].startswith("sizeof"):
                return tree.SizeOfVariable(*head, operand.variable)
        found = self._number(cursor, head)
        if not isinstance(found, tree.IntegerConstant) or not head[2].startswith("sizeof"):
            return found
        return tree.SizeOf(*head, found.value, self._measured(cursor, head[2]))

    def _measured(self, cursor: Any, text: str) -> CType | None:
        """The type of which `sizeof` tells the size."""
        children = children_of(cursor)
        if children and children[-1].kind.is_expression():
            return self.types.read(children[-1].type)
        if children and "*" not in text and "[" not in text:
            return self.types.read(children[-1].type)
        name = re.fullmatch(r"sizeof\s*\(([\w\s]+?)\s*(\**)\s*\)", text)
        simple = _SIMPLE.get(" ".join(name[1].split())) if name else None
        if name and name[2]:
            return PointerType(VOID, self.types.pointer_bits)
        return simple

    def _statement_expression(self, cursor: Any, head: Head) -> tree.Expression:
        (body,) = children_of(cursor)
        return tree.StatementExpression(*head, self.compound(body))

    def _generic(self, cursor: Any, head: Head) -> tree.Expression:
        _, *values = (each for each in children_of(cursor) if each.kind.is_expression())
        position = self.selected.get(cursor.extent.start.offset)
        if position is None:
            return tree.RefusedExpression(*head, f"`{head[2]}`: what it selects is not known")
        return self.expression(values[position])

    def _list(self, cursor: Any, head: Head) -> tree.Expression:
        items = (item for child in children_of(cursor) for item in self._items(child))
        return tree.InitialList(*head, tuple(items))

    def _items(self, cursor: Any) -> Iterator[tuple[tuple[str | int, ...], tree.Expression]]:
        """One initializer of a list; `.a[2] = x` has designators, `[0 ... 2] = x` is several."""
        start = cursor.extent.start.offset
        children = children_of(cursor)
        named = any(child.kind.name == "MEMBER_REF" for child in children[:-1])
        if cursor.kind.name != "UNEXPOSED_EXPR" or not (
            named or self.data[start : start + 1] == b"["
        ):
            yield (), self.expression(cursor)
            return
        ways: list[tuple[str | int, ...]] = [()]
        parts = children[:-1]
        while parts:
            child = parts.pop(0)
            steps: Iterable[str | int] = (child.spelling,)
            if child.kind.name != "MEMBER_REF":
                first = last = self._index(child)
                if parts and self._is_range([child, parts[0]]):
                    last = self._index(parts.pop(0))
                steps = range(first, last + 1)
                if len(ways) * len(steps) > MOST_ELEMENTS:
                    raise UnsupportedError.at(
                        self.span(cursor), f"this initializes more than {MOST_ELEMENTS:,} elements"
                    )
            elif not child.spelling:  # libclang adds the anonymous ones on the way
                continue
            ways = [(*way, step) for way in ways for step in steps]
        value = self.expression(children[-1])
        if len(ways) > 1 and may_write(value):
            value = tree.RefusedExpression(
                value.span, value.type, value.text,
                f"`{value.text}` does something, and is the value of several elements",
            )  # fmt: skip
        for way in ways:
            yield way, value

    def _index(self, cursor: Any) -> int:
        value = self.evaluate(cursor)
        if value is None:
            raise UnsupportedError.at(self.span(cursor), "this index is no constant")
        return value

    def _literal(self, cursor: Any, head: Head) -> tree.Expression:
        inner = [each for each in children_of(cursor) if each.kind.is_expression()]
        variable = tree.Variable(
            "literal", head[1], head[0], self.expression(inner[-1]), local=True
        )
        return tree.CompoundLiteral(*head, variable)

    def _unexposed(self, cursor: Any, head: Head) -> tree.Expression:
        """An implicit conversion, or something that libclang has no kind for."""
        children = children_of(cursor)
        found = _BUILTIN.match(head[2])
        if found and self._begins_with_child(cursor, children) is None:
            if found[0] in _WORKED_OUT:
                return self._number(cursor, head)
            if found[0] == "__builtin_choose_expr":
                return self.expression(children[1 if self.evaluate(children[0]) else 2])
            given = [each for each in children if each.kind.is_expression()]
            given.sort(key=lambda each: each.extent.start.offset)  # libclang has another order
            return tree.Builtin(*head, found[0], tuple(map(self.expression, given)))
        if len(children) == 4:  # `a ?: b`, whose parts libclang repeats
            return tree.Ternary(
                *head, self.expression(children[0]), None, self.expression(children[3])
            )
        if len(children) == 1:
            inner = self.expression(children[0])
            if inner.type == head[1] and not isinstance(inner, tree.InitialList):
                return inner
            if isinstance(head[1], FunctionType):  # libclang's word for a pointer to one here
                return inner
            return tree.Conversion(*head, inner, False)
        value = self.evaluate(cursor) if isinstance(bare(head[1]), IntegerType) else None
        if value is not None:
            return tree.IntegerConstant(*head, value)
        return tree.RefusedExpression(*head, f"`{head[2]}` is not supported")

    def _begins_with_child(self, cursor: Any, children: list[Any]) -> Any:
        """The child that has the same text, for conversions of builtins' results."""
        if len(children) == 1:
            ours, inner = cursor.extent, children[0].extent
            if (ours.start.offset, ours.end.offset) == (inner.start.offset, inner.end.offset):
                return children[0]
        return None


def _skip_quoted(data: bytes, start: int) -> int:
    """The position of the quote that ends a literal."""
    position = start + 1
    while data[position] != data[start]:
        position += 2 if data[position : position + 1] == b"\\" else 1
    return position


_FUNCTION_NAMES = ("__func__", "__FUNCTION__", "__PRETTY_FUNCTION__")
_ESCAPES = {"n": 10, "t": 9, "r": 13, "0": 0, "a": 7, "b": 8, "f": 12, "v": 11, "e": 27}


def _unescape(text: str) -> bytes:
    """The bytes that a string literal stands for."""

    def replace(found: re.Match[str]) -> str:
        word = found[1]
        if word[0] == "x":
            return chr(int(word[1:], 16) & 255)
        if word[0] in "01234567":
            return chr(int(word, 8) & 255)
        return chr(_ESCAPES.get(word, ord(word[0])))

    pattern = r"\\(x[0-9a-fA-F]+|[0-7]{1,3}|.)"
    return re.sub(pattern, replace, text).encode("latin-1")


_STATEMENTS: dict[str, Callable[[UnitReader, Any], tree.Statement]] = {
    "COMPOUND_STMT": UnitReader.compound,
    "DECL_STMT": UnitReader._declare,
    "IF_STMT": UnitReader._if,
    "WHILE_STMT": UnitReader._while,
    "DO_STMT": UnitReader._do,
    "FOR_STMT": UnitReader._for,
    "SWITCH_STMT": UnitReader._switch,
    **dict.fromkeys(("CASE_STMT", "DEFAULT_STMT", "LABEL_STMT"), UnitReader._labelled),
    "GOTO_STMT": UnitReader._goto,
    "RETURN_STMT": UnitReader._return,
    "ASM_STMT": UnitReader._asm,
    "BREAK_STMT": lambda self, cursor: tree.Break(self.span(cursor)),
    "CONTINUE_STMT": lambda self, cursor: tree.Continue(self.span(cursor)),
    "NULL_STMT": lambda self, cursor: tree.Empty(self.span(cursor)),
}

_LABELS: dict[str, Callable[[UnitReader, Any], LabelAndRest]] = {
    "CASE_STMT": UnitReader._case,
    "DEFAULT_STMT": UnitReader._default,
    "LABEL_STMT": UnitReader._label,
}

_EXPRESSIONS: dict[str, Callable[[UnitReader, Any, Head], tree.Expression]] = {
    "INTEGER_LITERAL": UnitReader._number,
    "CHARACTER_LITERAL": UnitReader._number,
    "FLOATING_LITERAL": UnitReader._real,
    "STRING_LITERAL": UnitReader._string,
    "DECL_REF_EXPR": UnitReader._reference,
    "BINARY_OPERATOR": UnitReader._binary,
    "COMPOUND_ASSIGNMENT_OPERATOR": UnitReader._binary,
    "UNARY_OPERATOR": UnitReader._unary,
    "CONDITIONAL_OPERATOR": UnitReader._ternary,
    "CSTYLE_CAST_EXPR": UnitReader._cast,
    "ARRAY_SUBSCRIPT_EXPR": UnitReader._subscript,
    "MEMBER_REF_EXPR": UnitReader._member,
    "CALL_EXPR": UnitReader._call,
    "CXX_UNARY_EXPR": UnitReader._sizeof,
    "StmtExpr": UnitReader._statement_expression,
    "INIT_LIST_EXPR": UnitReader._list,
    "COMPOUND_LITERAL_EXPR": UnitReader._literal,
    "GENERIC_SELECTION_EXPR": UnitReader._generic,
    "UNEXPOSED_EXPR": UnitReader._unexposed,
}
