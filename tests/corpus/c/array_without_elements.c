// expect: violated memory "behind the end"
#include <stdlib.h>
extern unsigned char __VERIFIER_nondet_uchar(void);
int main(void) {
    size_t n = __VERIFIER_nondet_uchar() & 1;
    int *p = malloc(n * sizeof *p);
    *p = 1;
    free(p);
    return 0;
}
