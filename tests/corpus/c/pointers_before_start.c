// expect: holds
// Initializers of globals may move pointers inside of arrays.
#include <assert.h>
struct record { int key; short tags[2]; };
static int numbers[3] = { 1, 2, 3 };
static struct record records[2];
static int *second = numbers + 1, *end = numbers + 3, *last = numbers + 3 - 1;
static const int *const range[2] = { numbers, numbers + sizeof numbers / sizeof *numbers };
static struct record *other = records + 1;
static short *tag = records[1].tags + 1;
int main(void) {
    int sum = 0;
    for (const int *p = range[0]; p != range[1]; p++) sum += *p;
    assert(sum == 6 && end == &numbers[3] && *last == 3 && *second == 2);
    other->key = 5;
    *tag = 7;
    assert(records[1].key == 5 && records[1].tags[1] == 7);
    return 0;
}
