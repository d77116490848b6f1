// expect: violated memory "freed"
// A pointer to freed memory must not be followed, though other memory has its address.
#include <assert.h>
#include <stdlib.h>

int main(void) {
    int *a = malloc(sizeof(int));
    free(a);
    int *b = malloc(sizeof(int));
    *b = 1;
    if (a == b)
        *a = 2;
    return 0;
}
