// expect: violated memory "freed"
// The first object is used long after it was freed, when its memory may belong to another one.
// check: --heap 4
#include <stdlib.h>
int main(void) {
    int *old = 0, i = 0;
    while (i < 12) {
        int *new = malloc(sizeof(int));
        *new = 1;
        if (i == 0) old = new;
        if (i == 11) return *old;
        free(new);
        i++;
    }
    return 0;
}
