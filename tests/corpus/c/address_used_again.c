// expect: violated assert "a != b"
// Memory that has been freed may be handed out again, also as another type.
#include <assert.h>
#include <stdlib.h>

struct pair {
    long first;
    int second;
};

int main(void) {
    void *a = malloc(sizeof(int));
    free(a);
    struct pair *pair = malloc(sizeof(struct pair));
    void *b = pair;
    assert(a != b);
    return 0;
}
