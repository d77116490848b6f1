// expect: violated memory "life has ended"
// The block is entered again, but its variable is another one.
#include <assert.h>
int main(void) {
    int *old = 0;
    for (int i = 0; i < 3; i++) {
        int x = 1;
        if (i == 2) assert(*old == 1);
        old = &x;
    }
    return 0;
}
