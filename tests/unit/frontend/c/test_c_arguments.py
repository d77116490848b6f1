"""Library functions evaluate each of their arguments exactly once."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest
from tests.unit.frontend.c.test_c_verdicts import HEAD as BEFORE
from tests.unit.frontend.c.test_c_verdicts import verdict

from mazurka.frontend.c import load_c
from mazurka.frontend.c.lowering import BUILTINS, LIBRARY, UNREAD
from mazurka.search.reading import Reading

pytest.importorskip("clang")

HEAD = r"""
#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
int hits;
struct timespec until = {1, 0};
sem_t s; pthread_cond_t c; pthread_rwlock_t r; pthread_barrier_t b; pthread_spinlock_t p;
pthread_attr_t ta; pthread_mutexattr_t ma; pthread_condattr_t ca; pthread_rwlockattr_t ra;
pthread_once_t once; pthread_key_t key; pthread_t t; mtx_t mt; cnd_t ct; once_flag flag;
tss_t tk; thrd_t tt;
static void *work(void *u) { return 0; }
static int task(void *u) { return 0; }
static void drop(void *u) {}
static void run(void) {}
static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
"""
CALLS = {
    "semaphores": """sem_init(&s, 0, 3) sem_wait(&s) sem_trywait(&s) sem_timedwait(&s, &until)
        sem_post(&s) sem_clockwait(&s, 1, &until) sem_getvalue(&s, &x) sem_destroy(&s)""",
    "mutexes": """pthread_mutexattr_init(&ma) pthread_mutexattr_settype(&ma, 1)
        pthread_mutexattr_setpshared(&ma, 0) pthread_mutexattr_setprotocol(&ma, 0)
        pthread_mutexattr_setrobust(&ma, 0) pthread_mutex_init(&m, &ma)
        pthread_mutexattr_destroy(&ma) pthread_mutex_lock(&m) pthread_mutex_trylock(&m)
        pthread_mutex_timedlock(&m, &until) pthread_mutex_clocklock(&m, 1, &until)
        pthread_mutex_unlock(&m)""",
    "conditions": """pthread_condattr_init(&ca) pthread_condattr_setclock(&ca, 1)
        pthread_condattr_setpshared(&ca, 0) pthread_cond_init(&c, &ca)
        pthread_condattr_destroy(&ca) pthread_mutex_lock(&m)
        pthread_cond_timedwait(&c, &m, &until) pthread_cond_clockwait(&c, &m, 1, &until)
        pthread_cond_signal(&c) pthread_cond_broadcast(&c) pthread_mutex_unlock(&m)
        pthread_cond_destroy(&c) pthread_mutex_destroy(&m)""",
    "rwlocks": """pthread_rwlockattr_init(&ra) pthread_rwlockattr_setpshared(&ra, 0)
        pthread_rwlock_init(&r, &ra) pthread_rwlockattr_destroy(&ra) pthread_rwlock_rdlock(&r)
        pthread_rwlock_tryrdlock(&r) pthread_rwlock_timedrdlock(&r, &until)
        pthread_rwlock_clockrdlock(&r, 1, &until) pthread_rwlock_trywrlock(&r)
        pthread_rwlock_timedwrlock(&r, &until) pthread_rwlock_clockwrlock(&r, 1, &until)
        pthread_rwlock_unlock(&r) pthread_rwlock_unlock(&r) pthread_rwlock_unlock(&r)
        pthread_rwlock_unlock(&r) pthread_rwlock_wrlock(&r) pthread_rwlock_unlock(&r)
        pthread_rwlock_destroy(&r)""",
    "other locks": """pthread_barrier_init(&b, NULL, 1) pthread_barrier_wait(&b)
        pthread_barrier_destroy(&b) pthread_spin_init(&p, 0) pthread_spin_lock(&p)
        pthread_spin_trylock(&p) pthread_spin_unlock(&p) pthread_spin_destroy(&p)
        pthread_once(&once, run) call_once(&flag, run)""",
    "threads": """pthread_attr_init(&ta) pthread_attr_setdetachstate(&ta, 0)
        pthread_attr_setstacksize(&ta, 65536) pthread_attr_setscope(&ta, 0)
        pthread_attr_setschedpolicy(&ta, 0) pthread_attr_setinheritsched(&ta, 0)
        pthread_attr_setschedparam(&ta, 0) pthread_create(&t, &ta, work, 0)
        pthread_attr_destroy(&ta) pthread_equal(t, t) pthread_setname_np(t, "t")
        pthread_setschedparam(t, 0, 0) pthread_setschedprio(t, 0)
        pthread_setaffinity_np(t, 0, 0) sched_setaffinity(0, 0, 0) pthread_setconcurrency(2)
        pthread_join(t, 0) pthread_create(&t, 0, work, 0) pthread_detach(t)""",
    "C11 threads": """thrd_create(&tt, task, 0) thrd_equal(tt, tt) thrd_join(tt, &x)
        thrd_create(&tt, task, 0) thrd_detach(tt) mtx_init(&mt, 2) mtx_lock(&mt) mtx_unlock(&mt)
        mtx_trylock(&mt) mtx_timedlock(&mt, &until) cnd_init(&ct) cnd_signal(&ct)
        cnd_broadcast(&ct) cnd_timedwait(&ct, &mt, &until) cnd_destroy(&ct) mtx_unlock(&mt)
        mtx_destroy(&mt) thrd_sleep(&until, 0)""",
    "keys": """pthread_key_create(&key, drop) pthread_setspecific(key, &x)
        pthread_getspecific(key) pthread_key_delete(key) tss_create(&tk, drop) tss_set(tk, &x)
        tss_get(tk) tss_delete(tk)""",
    "time": """time(0) timespec_get(&now, 1) gettimeofday(&day, 0)""",
    "sleeping": """clock_gettime(1, &now) nanosleep(&until, 0) sleep(0) usleep(0)""",
    "output": """printf("%d", 1) fprintf(stderr, "%d", 1) puts("a") fputs("a", stderr)
        putchar(65) putc(65, stderr) fputc(65, stderr) fflush(stderr) perror("a") setbuf(stderr, 0)
        setvbuf(stderr, 0, 0, 0) fclose(stderr) write(1, "a", 1) strerror(1) sysconf(1)
        printk("a") warn("a") warnx("a") syslog(1, "a") openlog("a", 0, 0) __builtin_printf("a")
        vprintf("%d", all) vfprintf(stderr, "%d", all) vsyslog(1, "%d", all)
        sprintf(text, "%d", 1) snprintf(text, 4, "%d", 1) vsprintf(text, "%d", all)
        vsnprintf(text, 4, "%d", all)""",
    "input": """scanf("%d", &x) fscanf(stdin, "%d", &x) sscanf(text, "%d", &x) getc(stdin)
        fgetc(stdin) atoi("1") atol("1") atoll("1") strtol("1", 0, 10) strtoul("1", 0, 10)
        strtoll("1", 0, 10) strtoull("1", 0, 10) srand(1) srandom(1) rand_r(&seed)""",
    "memory": """malloc(4) calloc(1, 4) realloc(0, 4) aligned_alloc(16, 16) memalign(16, 16)
        valloc(16) alloca(4) posix_memalign(&place, 16, 16) free(0) memset(row, 0, 8)
        memcpy(row, other, 8) memmove(row, other, 8) memcmp(row, other, 8) strcpy(text, "a")
        qsort(row, 2, 4, order) bsearch(&x, row, 2, 4, order) abs(1) labs(1) llabs(1)""",
    "verifier": """__VERIFIER_assume(1) __VERIFIER_assert(1) assume(1) __CPROVER_assume(1)
        atexit(run)""",
    "atomics": " ".join(
        [
            "__atomic_load_n(&x, 5) __atomic_store_n(&x, 1, 5) __atomic_exchange_n(&x, 1, 5)",
            "__atomic_load(&x, &y, 5) __atomic_store(&x, &y, 5) __atomic_exchange(&x, &y, &z, 5)",
            "__atomic_clear(&one, 5) __atomic_test_and_set(&one, 5) __atomic_thread_fence(5)",
            "__atomic_signal_fence(5) __atomic_compare_exchange_n(&x, &y, 1, 0, 5, 5)",
            "__atomic_compare_exchange(&x, &y, &z, 0, 5, 5)",
            "__sync_lock_release(&x) __sync_lock_test_and_set(&x, 1)",
            "__sync_bool_compare_and_swap(&x, 0, 1) __sync_val_compare_and_swap(&x, 0, 1)",
            "__c11_atomic_init(&a, 1) __c11_atomic_load(&a, 5) __c11_atomic_store(&a, 1, 5)",
            "__c11_atomic_exchange(&a, 1, 5) __c11_atomic_thread_fence(5)",
            "__c11_atomic_signal_fence(5)",
            "__c11_atomic_compare_exchange_strong(&a, &y, 1, 5, 5)",
            "__c11_atomic_compare_exchange_weak(&a, &y, 1, 5, 5)",
            *(f"__atomic_fetch_{word}(&x, 1, 5) __atomic_{word}_fetch(&x, 1, 5)"
              f" __c11_atomic_fetch_{word}(&a, 1, 5) __sync_fetch_and_{word}(&x, 1)"
              f" __sync_{word}_and_fetch(&x, 1)"
              for word in ("add", "sub", "and", "or", "xor", "nand")),
        ]
    ),
    "numbers": " ".join(
        [
            *(f"__builtin_{word}{size}(1)"
              for word in ("popcount", "parity", "ctz", "clz", "ffs") for size in ("", "l", "ll")),
            *(f"__builtin_bswap{bits}(1)" for bits in (16, 32, 64)),
            *(f"__builtin_{word}_overflow(1, 1, &x) __builtin_s{word}_overflow(1, 1, &x)"
              f" __builtin_s{word}l_overflow(1, 1, &l) __builtin_s{word}ll_overflow(1, 1, &ll)"
              f" __builtin_u{word}_overflow(1, 1, &u) __builtin_u{word}l_overflow(1, 1, &ul)"
              f" __builtin_u{word}ll_overflow(1, 1, &ull)"
              for word in ("add", "sub", "mul")),
            "__builtin_expect(1, 1)",
        ]
    ),
}  # fmt: skip
"""Calls of every function that takes arguments and returns, by subject."""
LEAVING = """exit(0) _exit(0) _Exit(0) quick_exit(0) pthread_exit(0) thrd_exit(0)
    pthread_cond_wait(&c, &m) cnd_wait(&ct, &mt)"""
"""Calls that may not return."""
WITHOUT_ARGUMENTS = re.compile(
    r"__VERIFIER_nondet|nondet|__VERIFIER_(atomic_(begin|end)|error)$|reach_error|abort|pause|clock$"
    r"|__errno_location|getchar|rand$|random|sched_yield|(thrd|pthread)_(yield|self|current)"
    r"|closelog|__builtin_(ia32_\w+|trap|unreachable)$|__sync_synchronize"
)
IN_OTHER_TESTS = {
    "assert", "__assert", "__assert_fail", "__assert_rtn", "__assert_perror_fail",
    "gets", "fgets",  # refused
    "__mazurka_any", "__mazurka_cleanup_pop", "__mazurka_cleanup_push", "__mazurka_set_errno",
    "__mazurka_undecided",  # called by headers only
    "__builtin_constant_p",  # evaluates no argument
    "__builtin_va_start", "__builtin_c23_va_start", "__builtin_stdarg_start", "__builtin_va_arg",
    "__builtin_va_copy", "__builtin_va_end",  # take names
    "__sync_swap",  # not known to gcc
}  # fmt: skip


def split_calls(text: str) -> list[tuple[str, list[str]]]:
    """The names and arguments of calls that are written one after the other."""
    found = re.findall(r"(\w+)\(([^()]*)\)", text)
    return [(name, re.split(r", (?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)", given)) for name, given in found]


def test_every_function_is_tested() -> None:
    import_module("mazurka.frontend.c.program")  # registers the functions
    named = {name for text in (*CALLS.values(), LEAVING) for name, _ in split_calls(text)}
    known = {name for name in (*LIBRARY, *BUILTINS) if not WITHOUT_ARGUMENTS.match(name)}
    assert known - named == IN_OTHER_TESTS


def program(lines: list[str]) -> str:
    locals_ = """int x = 0, y = 0, z = 0, row[2] = {1, 2}, other[2] = {3, 4}; long l; long long ll;
        unsigned u; unsigned long ul; unsigned long long ull; unsigned seed = 1; char text[8] = "";
        struct timeval day; struct timespec now; char one = 0; _Atomic int a = 0; int *place;"""
    body = "\n".join(lines)
    return f"""{HEAD}
static int go(int count, ...) {{ va_list all; va_start(all, count); {locals_}
{body}
va_end(all); return 0; }}
int main(void) {{ return go(1, 7); }}"""


@pytest.mark.parametrize("subject", CALLS)
def test_each_argument_is_evaluated_once(subject: str, tmp_path: Path) -> None:
    lines = []
    for name, given in split_calls(CALLS[subject]):
        wrapped = ", ".join(f"(hits++, {each})" for each in given)
        lines.append(f"hits = 0; {name}({wrapped}); assert(hits == {len(given)});")
    assert verdict(program(lines), tmp_path) == ("holds", "")


def test_an_argument_that_means_nothing_is_read(tmp_path: Path) -> None:
    """As in `sem_init(&s, shared, 1)`: the handler need not know the argument."""
    lines, declared, marks = [], "", []
    for name, given in split_calls(" ".join(CALLS.values())):
        for position in UNREAD.get(name, ()):
            if position < len(given) and name[0] != "_" and given[position][0] != '"':
                mark = f"{name}_{position}"
                declared += f"__typeof__({given[position]}) volatile {mark};\n"
                wrapped = [mark if at == position else x for at, x in enumerate(given)]
                lines.append(f"{mark} = {given[position]}; {name}({', '.join(wrapped)});")
                marks.append(mark)
    text = BEFORE + program(lines).replace("static void *work", f"{declared}static void *work")
    path = tmp_path / "program.c"
    path.write_text(text)
    seen = {edge.text for each in load_c(path, Reading()).threads for edge in each.edges}
    assert [mark for mark in marks if f"read {mark}" not in seen] == []


@pytest.mark.parametrize(("name", "given"), split_calls(LEAVING))
def test_arguments_come_before_a_call_that_may_not_return(
    name: str, given: list[str], tmp_path: Path
) -> None:
    for position in range(len(given)):
        wrapped = [f"(assert(0), {x})" if at == position else x for at, x in enumerate(given)]
        code = program([f"{name}({', '.join(wrapped)});"])
        assert verdict(code, tmp_path) == ("violated", "assert")


@pytest.mark.parametrize(
    "line",
    [
        "struct timespec *after[2] = {&until, 0}; sem_init(&s, 0, 1);"
        " sem_timedwait(&s, after[hits++]); assert(hits == 1);",
        "sem_t two[2]; sem_t *at = two; sem_init(at++, hits++, hits++); assert(at == two + 1);"
        " sem_init(&two[--hits], 0, 2); sem_getvalue(two + hits, &x); assert(x == 2);",
        "int *made = malloc((hits++, 2) * sizeof *made); made[1] = 4; assert(hits == 1);",
        "x = 5; int got = atomic_fetch_add(&a, x++ + 1); assert(x == 6 && a == 6 && !got);",
        "assert(!__builtin_constant_p(hits++) && !hits);",
    ],
)
def test_forms_of_arguments(line: str, tmp_path: Path) -> None:
    assert verdict(program([line]), tmp_path) == ("holds", "")
