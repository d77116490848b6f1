// expect: violated memory "leads to no int"
// The end of an array has an address, `&slots[3]`, and no element.
#include <pthread.h>
static int slots[3], other;
static int *next;
static void *fill(void *unused) {
    *next = 1;
    return unused;
}
int main(void) {
    pthread_t thread;
    next = &slots[3];
    pthread_create(&thread, 0, fill, 0);
    pthread_join(thread, 0);
    return other;
}
