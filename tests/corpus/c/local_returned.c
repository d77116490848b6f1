// expect: violated memory "life has ended"
#include <assert.h>
int *number(void) { int x = 3; return &x; }
int main(void) {
    int *p = number();
    assert(*p == 3);
    return 0;
}
