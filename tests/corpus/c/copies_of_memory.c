// expect: violated memory "memset(&half"
#include <assert.h>
#include <string.h>
struct record { int numbers[2]; char letter; int last; } from = {{1, 2}, 3, 4}, to;
int words[2];
int main(void) {
    memcpy(&to, &from, sizeof to);
    assert(to.numbers[1] == 2 && to.letter == 3 && to.last == 4);
    memcpy(words, from.numbers, sizeof words);
    memcpy(&words[1], &from.last, sizeof(int));
    assert(words[0] == 1 && words[1] == 4);
    memset(&to, 0, sizeof to);
    struct record copy = to;
    for (int *p = copy.numbers; p != copy.numbers + 2; p++) assert(*p == 0);
    int half[1];
    memset(&half, 0, sizeof words);
    return 0;
}
