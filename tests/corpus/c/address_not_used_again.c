// expect: violated assert "a == b"
// Memory that has been freed need not be handed out again.
#include <assert.h>
#include <stdlib.h>

int main(void) {
    int *a = malloc(sizeof(int));
    free(a);
    int *b = malloc(sizeof(int));
    assert(a == b);
    return 0;
}
