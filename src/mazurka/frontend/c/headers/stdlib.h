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
extern int atoi(const char *text);
extern int atexit(void (*function)(void));
#endif
