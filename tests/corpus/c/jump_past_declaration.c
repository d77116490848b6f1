// expect: violated assert "x == 5"
#include <assert.h>
extern int __VERIFIER_nondet_int(void);
int main(void) {
    int c = __VERIFIER_nondet_int();
    if (c) goto inside;
    {
        int x;
        x = 5;
    inside:
        assert(x == 5);
    }
    int y;
    if (c > 3) y = 1;
    if (c > 3) assert(y == 1);
    return 0;
}
