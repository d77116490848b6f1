// expect: inconclusive
// Another object may begin where an object ends.
#include <assert.h>
#include <stdlib.h>

int main(void) {
    int *first = malloc(2 * sizeof(int)), *second = malloc(2 * sizeof(int));
    int *end = first + 2, sum = 0;
    for (int *each = first; each != end; each++)
        sum += *each = 1;
    assert(sum == 2);
    assert(end != second);
    free(first);
    free(second);
    return 0;
}
