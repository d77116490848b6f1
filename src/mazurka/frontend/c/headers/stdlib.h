#ifndef __MAZURKA_STDLIB
#define __MAZURKA_STDLIB
#include <stddef.h>
#include <__mazurka_elements.h>
#include <alloca.h>
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
extern void *malloc(size_t size);
extern void *calloc(size_t count, size_t size);
extern void *realloc(void *old, size_t size);
extern void free(void *object);
extern void abort(void) __attribute__((__noreturn__));
extern void exit(int status) __attribute__((__noreturn__));
extern void _Exit(int status) __attribute__((__noreturn__));
extern void *aligned_alloc(size_t alignment, size_t size);
extern int posix_memalign(void **result, size_t alignment, size_t size);
extern void qsort(void *base, size_t count, size_t size,
                  int (*compare)(const void *, const void *));
extern void *bsearch(const void *key, const void *base, size_t count, size_t size,
                     int (*compare)(const void *, const void *));
typedef struct { int quot, rem; } div_t;
typedef struct { long quot, rem; } ldiv_t;
typedef struct { long long quot, rem; } lldiv_t;
static div_t div(int number, int by) { return (div_t){number / by, number % by}; }
static ldiv_t ldiv(long number, long by) { return (ldiv_t){number / by, number % by}; }
static lldiv_t lldiv(long long number, long long by) {
    return (lldiv_t){number / by, number % by};
}
extern _Bool __mazurka_any(void);
static char *getenv(const char *name) {
    if (__mazurka_any()) return 0;
    char *value = malloc(8); /* its letters are not set, so they may be any */
    value[7] = 0;
    return value;
}
extern int abs(int number);
extern long labs(long number);
extern int rand(void);
extern void srand(unsigned seed);
extern long random(void);
extern int rand_r(unsigned *seed);
extern int atexit(void (*function)(void));
extern void __mazurka_set_errno(int number);
static unsigned long long __mazurka_digits(const char *text, char **end, int base, int *minus, int *large) {
    const char *at = text;
    unsigned long long value = 0;
    int found = 0;
    while (*at == ' ' || (*at >= 9 && *at <= 13)) at++;
    if (*at == '-' || *at == '+') *minus = *at++ == '-';
    if ((base == 0 || base == 16) && *at == '0' && (at[1] == 'x' || at[1] == 'X')) {
        char next = at[2];
        if ((next >= '0' && next <= '9') || (next >= 'a' && next <= 'f') || (next >= 'A' && next <= 'F')) {
            at += 2;
            base = 16;
        }
    }
    if (base == 0) base = *at == '0' ? 8 : 10;
    for (;;) {
        int digit = base;
        if (*at >= '0' && *at <= '9') digit = *at - '0';
        else if (*at >= 'a' && *at <= 'z') digit = *at - 'a' + 10;
        else if (*at >= 'A' && *at <= 'Z') digit = *at - 'A' + 10;
        if (digit >= base) break;
        if (value > (~0ULL - digit) / base) *large = 1;
        value = value * base + digit;
        found = 1;
        at++;
    }
    if (end) *end = (char *)(found ? at : text);
    return value;
}
static long long strtoll(const char *text, char **end, int base) {
    int minus = 0, large = 0;
    unsigned long long value = __mazurka_digits(text, end, base, &minus, &large);
    unsigned long long most = (~0ULL >> 1) + minus;
    if (large || value > most) {
        value = most;
        __mazurka_set_errno(34);
    }
    return (long long)(minus ? 0 - value : value);
}
static long strtol(const char *text, char **end, int base) {
    int minus = 0, large = 0;
    unsigned long long value = __mazurka_digits(text, end, base, &minus, &large);
    unsigned long long most = (~0UL >> 1) + minus;
    if (large || value > most) {
        value = most;
        __mazurka_set_errno(34);
    }
    return (long)(minus ? 0 - value : value);
}
static unsigned long long strtoull(const char *text, char **end, int base) {
    int minus = 0, large = 0;
    unsigned long long value = __mazurka_digits(text, end, base, &minus, &large);
    if (large) __mazurka_set_errno(34);
    return large ? ~0ULL : minus ? 0 - value : value;
}
static unsigned long strtoul(const char *text, char **end, int base) {
    int minus = 0, large = 0;
    unsigned long long value = __mazurka_digits(text, end, base, &minus, &large);
    if (!large && value <= ~0UL) return (unsigned long)(minus ? 0 - value : value);
    __mazurka_set_errno(34);
    return ~0UL;
}
static int atoi(const char *text) { return (int)strtol(text, 0, 10); }
static long atol(const char *text) { return strtol(text, 0, 10); }
static long long atoll(const char *text) { return strtoll(text, 0, 10); }
#endif
