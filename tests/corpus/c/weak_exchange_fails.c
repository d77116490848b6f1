// expect: violated assert "swapped"
// A weak exchange may fail though the object has the expected value.
#include <assert.h>
#include <stdatomic.h>
atomic_int x;
int main(void) {
    int expected = 0;
    int swapped = atomic_compare_exchange_weak(&x, &expected, 1);
    assert(expected == 0);
    assert(swapped);
    return 0;
}
