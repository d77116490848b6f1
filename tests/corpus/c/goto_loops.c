// expect: violated assert "n != 6"
// Code that only jumps from further on lead to, and loops that are entered in the middle.
#include <assert.h>
int main(void) {
    int n = 0, sum = 0;
    goto test;
body:
    n++;
test:
    if (n < 3) goto body;
    assert(n == 3);
    n = 0;
    goto middle;
    while (n < 3) {
        sum += 10;
    middle:
        sum++;
        n++;
    }
    assert(sum == 23);
    switch (n) {
    case 1:
        do {
            sum += 100;
    case 3:
            n++;
        } while (n < 6);
    }
    assert(sum == 223);
    assert(n != 6);
    return 0;
}
