// expect: violated memory "leads to no int"
#include <assert.h>
#include <stdlib.h>
int main(void) {
    int *p = malloc(3 * sizeof(int));
    for (int i = 0; i < 3; i++) p[i] = i;
    p = realloc(p, 2 * sizeof(int));
    assert(p[0] == 0 && p[1] == 1);
    for (int i = 0; i < 3; i++) p[i]++;
    return 0;
}
