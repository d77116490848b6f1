// expect: inconclusive
// A pointer without a value is compared: it might lead to x.
#include <assert.h>
#include <stdlib.h>
struct pair { int *first, *second; };
int x;
int main(void) {
    struct pair *p = malloc(sizeof(struct pair));
    p->second = &x;
    int *q = p->first;
    assert(q != &x);
    return 0;
}
