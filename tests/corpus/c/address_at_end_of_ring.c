// expect: holds
// The end of an array is compared with pointers into the same array.
#include <assert.h>

int ring[3], *head = ring, *tail = ring;

int put(int value) {
    int *next = head + 1;
    if (next == ring + 3)
        next = ring;
    if (next == tail)
        return 0;
    *head = value;
    head = next;
    return 1;
}

int main(void) {
    assert(put(1) && put(2) && !put(3));
    return 0;
}
