// expect: inconclusive
// check: --property assert
// Half of a number is a view of it, which is not modelled.
#include <assert.h>
union { int number; short half; } u;
int main(void) {
    u.half = 1;
    u.number = 65538;
    assert(u.half == 1);
    return 0;
}
