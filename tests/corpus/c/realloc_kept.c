// expect: holds
// What an object holds is there after it has been made larger.
#include <assert.h>
#include <stdlib.h>

int main(void) {
    int *numbers = malloc(sizeof(int));
    *numbers = 7;
    numbers = realloc(numbers, 2 * sizeof(int));
    numbers[1] = 1;
    assert(numbers[0] == 7);
    free(numbers);
    return 0;
}
