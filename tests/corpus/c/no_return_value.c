// expect: inconclusive
// check: --property assert
#include <assert.h>
int sign(int number) {
    if (number > 0)
        return 1;
}
int main(void) {
    assert(sign(0) == 0);
    return 0;
}
