// expect: holds
// Each call adds its own variable to a list: they live as long as the calls.
#include <assert.h>
struct node { int value; struct node *next; };
int sum(struct node *list) { return list ? list->value + sum(list->next) : 0; }
int descend(int depth, struct node *above) {
    struct node here = {depth, above};
    if (depth == 0) return sum(&here);
    return descend(depth - 1, &here);
}
int main(void) {
    int total = 0;
    for (int i = 0; i < 2; i++) total += descend(2, 0);
    assert(total == 6);
    switch (total) {
        int *p, y;
    case 6: y = 4; p = &y; total = *p; break;
    default: y = 3;
    }
    assert(total == 4);
    return 0;
}
