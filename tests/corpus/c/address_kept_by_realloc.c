// expect: violated assert "a != b"
// Memory that grows may stay where it is.
#include <assert.h>
#include <stdlib.h>

int main(void) {
    int *a = malloc(sizeof(int));
    int *b = realloc(a, 2 * sizeof(int));
    assert(a != b);
    return 0;
}
