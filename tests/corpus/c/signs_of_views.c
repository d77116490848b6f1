// expect: holds
#include <assert.h>
#include <limits.h>
struct both { int kind; union { int i; unsigned u; }; };
unsigned look(unsigned *p) { return *p; }
int main(void) {
    int i = -1;
    unsigned *p = (unsigned *)&i;
    assert(look((unsigned *)&i) == UINT_MAX);
    *p = UINT_MAX - 1;
    assert(i == -2);
    struct both b;
    b.i = -5;
    assert(b.u == UINT_MAX - 4);
    b.u = 7;
    assert(b.i == 7);
    struct { unsigned low : 3; int sign : 4; } f;
    assert((f.low = 9) == 1 && (f.sign = 15) == -1);
    return 0;
}
