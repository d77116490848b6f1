// expect: holds
// Calls in the middle of expressions, of functions that allocate and call each other.
#include <assert.h>
#include <stdlib.h>
struct box { int value; struct box *inner; };
static struct box *make(int value) {
    struct box *new = malloc(sizeof *new);
    new->value = value;
    new->inner = value > 1 ? make(value - 2) : 0;
    return new;
}
static int count(const struct box *each, int more) {
    return each ? count(each->inner, more + 1) + more * 0 : more;
}
static int mix(int a, int b) { return (a * 7 + b) % 11; }
static int even(unsigned n);
static int odd(unsigned n) { return n ? even(n - 1) : 0; }
static int even(unsigned n) { return n ? odd(n - 1) : 1; }
int three;
int main(void) {
    three = 3;
    struct box *first = make(three), *second = make(three - 1);
    assert(first != second && first->inner != second->inner);
    assert(first->value * 10 + second->value == 32);
    int left = mix(three, 2) + 5 * mix(2, mix(three, 1)) - mix(mix(1, 1), three);
    int a = mix(three, 2), b = mix(three, 1), c = mix(1, 1);
    assert(left == a + 5 * mix(2, b) - mix(c, three));
    int found = count(first, three - 3);
    int sum = first->value + (second->value * 2 + (first->value * 4 + (second->value * 8
        + (first->value * 16 + count(second, three + 7)))));
    assert(sum + found == 3 * 21 + 2 * 10 + 12 + 2);
    assert(odd(three) && even(three + 1) && !even(three));
    return 0;
}
