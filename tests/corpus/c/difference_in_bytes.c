// expect: inconclusive
// How many bytes there are between the bytes of two elements.
#include <assert.h>

int main(void) {
    int a[2] = {1, 2};
    char *p = (char *)&a[0], *q = (char *)&a[1];
    assert(q - p == sizeof(int));
    return 0;
}
