// expect: violated memory "life has ended"
// The fifth call's variable is not that of the sixth, although some calls share cells.
#include <assert.h>
int *kept, calls;
void call(int n) {
    int x = n;
    if (++calls == 5) kept = &x;
    if (calls == 6) assert(*kept == n);
}
int main(void) { call(1); call(1); call(1); call(1); call(1); call(1); return 0; }
