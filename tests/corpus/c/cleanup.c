// expect: holds
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n, trail;
static void unlock(pthread_mutex_t **lock) { pthread_mutex_unlock(*lock); }
#define GUARD(lock) __attribute__((cleanup(unlock))) pthread_mutex_t *guard = (pthread_mutex_lock(lock), lock)
static void mark(int *p) { trail = trail * 10 + *p; }
#define MARK __attribute__((__cleanup__(mark)))

static int leave(int way) {
    int MARK a = 1;
    for (int i = 0; i < 2; i++) {
        int b MARK = 2, c = 3, d MARK = c + 1;
        if (way == 0) return trail;
        if (way == 1) break;
        if (way == 2) continue;
        if (way == 3) goto out;
        goto inside;
    inside:;
    }
out:
    return 5;
}

static void *count(void *unused) { GUARD(&m); n++; return 0; }

int main(void) {
    trail = 0; assert(leave(0) == 0 && trail == 421);
    trail = 0; assert(leave(1) == 5 && trail == 421);
    trail = 0; leave(2); assert(trail == 42421);
    trail = 0; leave(3); assert(trail == 421);
    trail = 0; leave(4); assert(trail == 42421);
    pthread_t a, b;
    pthread_create(&a, 0, count, 0);
    pthread_create(&b, 0, count, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(n == 2);
    return 0;
}
