// expect: violated memory "freed"
// A pointer into the array is kept while another thread lets the array grow.
#include <pthread.h>
#include <stdlib.h>
static int *numbers;
static void *grow(void *unused) {
    numbers = realloc(numbers, 3 * sizeof(int));
    return 0;
}
int main(void) {
    pthread_t thread;
    numbers = calloc(2, sizeof(int));
    int *last = &numbers[1];
    pthread_create(&thread, 0, grow, 0);
    *last = 1;
    pthread_join(thread, 0);
    return 0;
}
