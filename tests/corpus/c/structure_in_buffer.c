// expect: inconclusive
#include <assert.h>
#include <stdlib.h>
struct block { int payload; };
int main(void) {
    char *arena = malloc(64);
    struct block *b = (struct block *)(arena + 16);
    b->payload = 3;
    assert(b->payload == 3);
    free(arena);
    return 0;
}
