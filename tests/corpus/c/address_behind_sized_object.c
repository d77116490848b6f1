// expect: inconclusive
// The end of an array whose length is found at run time.
#include <assert.h>
#include <stdlib.h>

int other;

int main(int argc, char **argv) {
    int count = argc > 1 ? 2 : 3;
    int *first = malloc(count * sizeof(int)), *end = first + count;
    assert(end != first && end != &other);
    free(first);
    return 0;
}
