// expect: inconclusive
#include <assert.h>
extern void *__VERIFIER_nondet_pointer(void);
int x;
int main(void) {
    int *p = __VERIFIER_nondet_pointer();
    assert(p != &x);
    return 0;
}
