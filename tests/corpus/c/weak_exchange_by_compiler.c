// expect: violated assert "swapped"
#include <assert.h>
int x;
int main(void) {
    int expected = 0;
    int swapped = __atomic_compare_exchange_n(&x, &expected, 1, 1, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    assert(swapped);
    return 0;
}
