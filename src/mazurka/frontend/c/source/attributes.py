"""Attributes of declarations (`__attribute__((...))`): which ones mean something, and which do not.

An attribute may change what a program does, so that one which is not known here is refused where
the program uses what it stands at.  Those of `HARMLESS` tell the compiler how to warn, where to put
something, or what it may assume of a program without undefined behaviour.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mazurka.frontend.c.source.cursors import children_of

UNDERSTOOD = frozenset({"constructor", "destructor", "cleanup", "weak"})
"""Attributes whose effect is modelled."""

HARMLESS = frozenset(
    """
    access acquire_capability acquire_handle aligned alloc_align alloc_size always_inline annotate
    artificial asm assert_capability assume_aligned availability bounded btf_decl_tag btf_type_tag
    capability cdecl cold common const counted_by deprecated designated_init diagnose_if
    disable_sanitizer_instrumentation error externally_visible fallthrough fastcall
    fd_arg fd_arg_read fd_arg_write flag_enum flatten format format_arg gcc_struct gnu_inline
    guarded_by hot internal_linkage leaf likely locks_excluded lockable lto_noinline malloc
    may_alias maybe_unused minsize mode ms_abi ms_struct musttail no_caller_saved_registers no_icf
    no_instrument_function no_profile_instrument_function no_reorder no_sanitize
    no_sanitize_address no_sanitize_memory no_sanitize_thread no_sanitize_undefined
    no_address_safety_analysis no_split_stack no_stack_limit no_stack_protector
    no_thread_safety_analysis noclone nocf_check nocommon nodebug nodiscard noduplicate noescape
    noinline noipa nomerge nonnull nonstring noplt noreturn nothrow null_terminated_string_arg
    optimize optnone packed patchable_function_entry pcs pt_guarded_by pure reentrant_capability
    regparm release_capability reproducible requires_capability retain returns_nonnull section
    sentinel speculative_load_hardening stack_protect stdcall sysv_abi target target_clones
    thiscall tls_model transparent_union try_acquire_capability uninitialized unlikely
    unsequenced unused used vector_size vectorcall visibility warn_unused warn_unused_result
    warning zero_call_used_regs no_unique_address
    _Noreturn _Alignas alignas
    """.split()  # noqa: SIM905 - a list of this length reads better so
)
"""Attributes that change nothing about what a program does.  Types of `vector_size` are refused,
`packed`, `aligned` and `mode` are part of what the parser says of types."""


def read_attributes(cursor: Any, data: bytes) -> Mapping[str, str]:
    """The attributes of a declaration, each with what stands in its parentheses."""
    found = {}
    for child in children_of(cursor):
        if child.kind.is_attribute():
            extent = child.extent
            text = data[extent.start.offset : extent.end.offset].decode(errors="replace")
            if text.startswith("#"):  # `#pragma`
                continue
            if text.startswith('"'):  # the name for the linker: `__asm__("name")`
                continue
            name, _, rest = text.partition("(")
            found[bare_name(name)] = rest.strip().removesuffix(")").strip()
    return found


_DEALLOCATOR = re.compile(r"(__attribute__\s*\(\(\s*__malloc__)(\s*\([^()]*\))")


def hide_arguments(text: str) -> str:
    """The text without the arguments of `malloc`, which gcc's headers give and the parser refuses;
    everything stays in its place."""
    return _DEALLOCATOR.sub(lambda found: found[1] + " " * len(found[2]), text)


def bare_name(text: str) -> str:
    """The name of an attribute, without the signs that may be around it."""
    word = text.strip().rpartition("::")[2]
    found = re.fullmatch(r"__(\w+?)__", word)
    return found[1] if found else word


def find_refusal(attributes: Mapping[str, str]) -> str:
    """Why something with these attributes cannot be used; empty if it can."""
    for name in attributes:
        if name not in HARMLESS and name not in UNDERSTOOD:
            return f"the attribute `{name}` may change what the program does, and is not supported"
    if re.search(r"init_array|fini_array|[cd]tors", attributes.get("section", "")):
        return "functions in this section run before or after `main`; use the attribute constructor"
    return ""


def unknown_attribute(message: str) -> str:
    """The attribute that the parser says it does not know, if it may change something."""
    found = re.match(r"unknown attribute '([\w:]+)' ignored", message)
    name = bare_name(found[1]) if found else ""
    return "" if name in HARMLESS else name
