// expect: holds
// The address of an element is right, too, where the length is found at run time.
#include <assert.h>
#include <stdlib.h>
struct packet { int length; int data[]; };
static int length = 3;
static void put(int *place, int value) { *place = value; }
int main(void) {
    struct packet *p = malloc(sizeof *p + 3 * sizeof(int));
    p->length = 3;
    put(&p->data[0], 1);
    put(&p->data[1], 4);
    put(&p->data[p->length - 1], 7);
    assert(p->data[1] == 4 && p->data[2] == 7 && &p->data[3] - &p->data[0] == 3);
    int local[length];
    put(&local[2], 9);
    put(&local[length - 2], 5);
    assert(local[2] == 9 && local[1] == 5 && &local[3] - local == length);
    free(p);
    return 0;
}
