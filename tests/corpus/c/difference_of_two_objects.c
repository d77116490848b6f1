// expect: violated memory "`b - a` leaves the array that it points into"
// Pointers into two objects have no difference.
#include <assert.h>
#include <stdlib.h>

int main(void) {
    int *a = malloc(sizeof(int));
    free(a);
    int *b = malloc(sizeof(int));
    assert(b - a != 0);
    free(b);
    return 0;
}
