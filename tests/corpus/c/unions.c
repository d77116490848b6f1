// expect: holds
#include <assert.h>
#include <stdlib.h>
#include <string.h>
enum kind { NUMBER, TEXT, PAIR };
struct value {
    enum kind kind;
    union {
        int number;
        char *text;
        struct { short left, right; } pair;
    };
} zero, pair = {PAIR, .pair = {3, 4}};
struct value make(int number) {
    struct value made;
    made.kind = NUMBER;
    made.number = number;
    return made;
}
int size(struct value v) {
    switch (v.kind) {
    case NUMBER: return v.number;
    case TEXT: return v.text[0];
    case PAIR: return v.pair.left + v.pair.right;
    }
    return -1;
}
int main(void) {
    struct value all[3] = {make(5), {TEXT}, pair};
    all[1].text = "A";
    int sum = 0;
    for (int i = 0; i < 3; i++) sum += size(all[i]);
    assert(sum == 5 + 65 + 7);
    struct value *kept = malloc(sizeof *kept);
    memcpy(kept, &all[1], sizeof *kept);
    assert(size(*kept) == 65);
    kept->kind = NUMBER;
    kept->number = 9;
    assert(size(*kept) == 9 && zero.number == 0 && zero.text == 0);
    memset(kept, 0, sizeof *kept);
    assert(kept->pair.right == 0);
    free(kept);
    return 0;
}
