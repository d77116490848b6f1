// expect: violated memory "p[i]"
// Each call has an array of its own length.
#include <assert.h>
int sum(int length, int last) {
    int array[length], total = 0;
    int *p = array;
    for (int i = 0; i < length; i++) p[i] = i;
    for (int i = 0; i <= last; i++) total += p[i];
    return total;
}
int main(void) {
    assert(sum(2, 1) == 1);
    assert(sum(4, 3) == 6);
    return sum(2, 3);
}
