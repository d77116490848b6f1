// expect: violated assert "find(second) == 20"
// A cache finds what it has kept for an object that is no more.
#include <assert.h>
#include <stdlib.h>

struct key {
    int id;
};
struct {
    struct key *key;
    int value;
} cache[2];

int find(struct key *key) {
    for (int i = 0; i < 2; i++)
        if (cache[i].key == key)
            return cache[i].value;
    for (int i = 0; i < 2; i++)
        if (!cache[i].key) {
            cache[i].key = key;
            return cache[i].value = 10 * key->id;
        }
    return 10 * key->id;
}

int main(void) {
    struct key *first = malloc(sizeof *first);
    first->id = 1;
    assert(find(first) == 10);
    free(first);
    struct key *second = malloc(sizeof *second);
    second->id = 2;
    assert(find(second) == 20);
    return 0;
}
