// expect: holds
// What a conversion makes of a `void *` tells what functions of the library find there.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
struct item { int key; short tag; };
static int numbers[3] = { 3, 1, 2 };
static struct item item = { 1, 1 };
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static void *sort(void *data) {
    qsort((int *)data, 3, sizeof(int), compare);
    return 0;
}
static void *replace(void *data) {
    size_t size = sizeof(struct item);
    memset((struct item *)data, 0, sizeof(struct item));
    memcpy((struct item *)data, &(struct item){ 5, 6 }, size);
    memset((char *)&item.tag, 0, sizeof item.tag);
    return 0;
}
int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, sort, numbers);
    pthread_create(&two, 0, replace, &item);
    pthread_join(one, 0);
    pthread_join(two, 0);
    assert(numbers[0] == 1 && numbers[2] == 3 && item.key == 5 && item.tag == 0);
    return 0;
}
