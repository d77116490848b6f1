// expect: holds
// check: --overflow 1
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
    char *e;
    assert(atoi("12") == 12 && atoi("  -7z") == -7 && atoi("x") == 0 && atol("+5") == 5);
    assert(strtol("42x", &e, 10) == 42 && *e == 'x');
    assert(strtol("0x1fg", &e, 0) == 31 && *e == 'g');
    assert(strtol("0xg", &e, 16) == 0 && *e == 'x');
    assert(strtol("017", &e, 0) == 15 && *e == 0);
    const char *n = "zz!"; assert(strtol(n, &e, 36) == 35 * 36 + 35 && e == n + 2);
    n = " -"; assert(strtol(n, &e, 10) == 0 && e == n);
    errno = 0;
    assert(strtol("9223372036854775807", 0, 10) == LONG_MAX && errno == 0);
    assert(strtol("-9223372036854775808", 0, 10) == LONG_MIN && errno == 0);
    assert(strtol("9223372036854775808", 0, 10) == LONG_MAX && errno == ERANGE);
    errno = 0;
    assert(strtoul("-1", 0, 10) == ULONG_MAX && errno == 0);
    assert(strtoull("99999999999999999999", 0, 10) == ULONG_MAX && errno == ERANGE);
    return 0;
}
