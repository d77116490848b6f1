// expect: violated memory "freed already"
// With a size of 0, `realloc` has freed the object already.
#include <assert.h>
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
int main(void) {
    int n = __VERIFIER_nondet_int();
    if (n < 0 || n > 2) return 0;
    int *old = realloc(NULL, sizeof(int));
    *old = 7;
    int *new = realloc(old, n * sizeof(int));
    if (new) {
        assert(*new == 7);
        free(new);
    } else {
        assert(n == 0);
        free(old);
    }
    return 0;
}
