// expect: inconclusive
#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
int x;
int main(void) {
    _Atomic(int *) *cell = malloc(sizeof *cell);
    int *expected = &x;
    int swapped = atomic_compare_exchange_strong(cell, &expected, &x);
    assert(!swapped);
    return 0;
}
