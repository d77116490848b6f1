// expect: violated assert "tag is (void *)7, chosen is twice, last is worker#2"
// What pointers, functions and threads are called in messages and traces.
#include <assert.h>
#include <pthread.h>
static int twice(int x) { return 2 * x; }
static int next(int x) { return x + 1; }
static int (*chosen)(int) = next;
static void *tag;
static pthread_t last;
static void *worker(void *given) {
    tag = given;
    chosen = twice;
    return 0;
}
int main(void) {
    pthread_t first;
    pthread_create(&first, 0, worker, (void *)5);
    pthread_join(first, 0);
    pthread_create(&last, 0, worker, (void *)7);
    pthread_join(last, 0);
    assert(tag == (void *)5 || chosen == next || last == first);
    return 0;
}
