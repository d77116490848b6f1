// expect: violated assert "lengths(3) == 15"
// Parameters that are functions, functions that return them, constants that are worked out before
// the program runs, and arrays whose length and size are found at run time.
#include <assert.h>
#include <stddef.h>

typedef int operation(int, int);

static int add(int a, int b) { return a + b; }
static int multiply(int a, int b) { return a * b; }
static operation *operations[] = {add, multiply};

static int (*choose(int which))(int, int) { return operations[which]; }
static int apply(operation f, int a) { return f != NULL && f ? f(a, a) + (*f)(a, 1) : -1; }

static int width = sizeof(long) == 8 ? 64 : 32, filled = 0 ?: 7;
static int *chosen = &width == 0 ? NULL : &filled;
static _Bool positive = 0.5 > 0;
static const int thousand = 1e3, truncated = -2.9;

static unsigned long lengths(int n) {
    int flat[n], rows[n][2];
    n = 9;
    rows[2][1] = 4;
    return sizeof flat / sizeof flat[0] + sizeof(rows) / 2 + (rows[2][1] == 4) - 1;
}

int main(void) {
    int sum = 0;
    for (int i = 0; i < 2; i++)
        sum += apply(choose(i), 3);
    assert(sum == (6 + 4) + (9 + 3) && apply(0, 3) == -1);
    assert(width == 8 * sizeof(long) && *chosen == 7 && positive);
    assert(thousand == 1000 && truncated == -2 && (int)(0.5 * 10) == 5);
    assert(lengths(3) == 3 + 12);
    assert(lengths(4) == 4 + 16);
    assert(lengths(4) == lengths(3) + 5);
    assert(lengths(3) == 15 && lengths(4) == 19);
    return 0;
}
