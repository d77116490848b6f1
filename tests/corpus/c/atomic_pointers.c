// expect: holds
// Compilers' atomic operations move a pointer by bytes, those of C11 by elements.
#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
static int numbers[4], *cursor;
static char text[3], *letter;
static _Atomic(int *) top;
static size_t count = 2;
int main(void) {
    cursor = numbers;
    assert(__sync_fetch_and_add(&cursor, sizeof(int)) == numbers && cursor == numbers + 1);
    assert(__atomic_add_fetch(&cursor, count * sizeof *cursor, __ATOMIC_SEQ_CST) == numbers + 3);
    __sync_sub_and_fetch(&cursor, 8);
    assert(cursor - numbers == 1);
    letter = text;
    __sync_fetch_and_add(&letter, 2);
    assert(letter == &text[2]);
    top = numbers;
    atomic_fetch_add(&top, 3);
    assert(atomic_fetch_sub(&top, 1) == numbers + 3 && top == numbers + 2);
    return 0;
}
