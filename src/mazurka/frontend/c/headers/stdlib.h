#ifndef __MAZURKA_STDLIB
#define __MAZURKA_STDLIB
#include <stddef.h>
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
extern int abs(int number);
extern long labs(long number);
extern int rand(void);
extern void srand(unsigned seed);
extern long random(void);
extern int rand_r(unsigned *seed);
extern int atoi(const char *text);
extern int atexit(void (*function)(void));
#endif
