#undef assert
#ifndef __MAZURKA_ASSERT
#define __MAZURKA_ASSERT
extern void __assert_fail(const char *text, const char *file, unsigned line, const char *function)
    __attribute__((__noreturn__));
#define static_assert _Static_assert
#endif
#ifdef NDEBUG
#define assert(test) ((void)0)
#else
#define assert(test) ((test) ? (void)0 : __assert_fail(#test, __FILE__, __LINE__, ""))
#endif
