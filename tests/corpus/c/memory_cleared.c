// expect: violated assert "pairs[n - 1].count"
// Arrays of any elements are set to 0, as many as are found at run time; the last one is left out.
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct pair { int count; const char *name; struct { short parts[2]; } inner; };

static int clear(struct pair *pairs, int n) {
    if (n < 0) return -EIO;
    memset(pairs, 0, n * sizeof *pairs);
    return 0;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? 2 : 3;
    struct pair *pairs = malloc(n * sizeof *pairs);
    long numbers[n];
    for (int i = 0; i < n; i++) {
        pairs[i] = (struct pair){5, "x", {{6, 7}}};
        numbers[i] = 4;
    }
    memset(numbers, 0, sizeof numbers);
    assert(clear(pairs, -1) == -EIO && clear(pairs, n - 1) == 0);
    assert(!pairs[0].count && !pairs[0].name && !pairs[0].inner.parts[1] && !numbers[n - 1]);
    assert(pairs[n - 1].inner.parts[1] == 7);
    assert(pairs[n - 1].count == 0);
    return 0;
}
