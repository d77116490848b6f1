// expect: holds
// Members of two objects have the same address where the objects have.
#include <assert.h>
#include <stdlib.h>

struct node {
    struct node *next;
    int value;
};

int main(void) {
    struct node *a = malloc(sizeof *a);
    int *one = &a->value;
    free(a);
    struct node *b = malloc(sizeof *b);
    int *other = &b->value;
    assert((one == other) == (a == b));
    return 0;
}
