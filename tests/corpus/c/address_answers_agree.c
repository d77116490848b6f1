// expect: holds
// Objects that are alive together have different addresses, and all answers about addresses agree.
#include <assert.h>
#include <stdlib.h>

int main(void) {
    int *p[3];
    for (int i = 0; i < 3; i++)
        p[i] = malloc(sizeof(int));
    for (int i = 0; i < 3; i++)
        free(p[i]);
    assert(p[0] != p[1] && p[1] != p[2] && p[0] != p[2]);
    int *q = malloc(sizeof(int));
    int same = q == p[0];
    assert((q == p[0]) + (q == p[1]) + (q == p[2]) <= 1);
    int *r = malloc(sizeof(int));
    assert(q != r);
    if (same)
        assert(r != p[0]);
    free(r);
    int *s = malloc(2 * sizeof(int));
    if (s == r && r == p[1])
        assert(s == p[1] && s != p[2]);
    free(s);
    free(q);
    assert(q != r && same == (p[0] == q));
    return 0;
}
