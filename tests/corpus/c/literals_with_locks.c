// expect: holds
// A literal may initialize the lock of an object that exists already.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
struct box { pthread_mutex_t lock; int count; pthread_cond_t changed; int *rest; };
static struct box *box;
static pthread_mutex_t single;
static void *work(void *unused) {
    pthread_mutex_lock(&box->lock);
    pthread_mutex_lock(&box->lock);
    box->count++;
    pthread_mutex_unlock(&box->lock);
    pthread_cond_signal(&box->changed);
    pthread_mutex_unlock(&box->lock);
    return unused;
}
int main(void) {
    pthread_t one, two;
    box = malloc(sizeof *box);
    *box = (struct box){ .lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, .count = 1,
                         .changed = PTHREAD_COND_INITIALIZER };
    assert(box->count == 1 && box->rest == NULL);
    *box = (struct box){ PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, box->count + 1 };
    single = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    struct box local = (struct box){ PTHREAD_MUTEX_INITIALIZER, 7 };
    pthread_mutex_lock(&single);
    pthread_mutex_lock(&local.lock);
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, 0);
    pthread_mutex_lock(&box->lock);
    while (box->count < 4) pthread_cond_wait(&box->changed, &box->lock);
    pthread_mutex_unlock(&box->lock);
    pthread_join(one, 0);
    pthread_join(two, 0);
    assert(box->count == 4 && local.count == 7);
    return 0;
}
