// expect: violated assert "result == 4"
// A wait with a limit of time may also be woken by a signal.
#include <assert.h>
#include <threads.h>
#include <time.h>

mtx_t m;
cnd_t c;
int ready;

int signals(void *unused) {
    mtx_lock(&m);
    ready = 1;
    cnd_signal(&c);
    mtx_unlock(&m);
    return 0;
}

int main(void) {
    thrd_t t;
    struct timespec until = {0, 0};
    mtx_init(&m, mtx_timed);
    cnd_init(&c);
    mtx_lock(&m);
    thrd_create(&t, signals, 0);
    int result = cnd_timedwait(&c, &m, &until);
    if (ready)
        assert(result == 4); // thrd_timedout
    mtx_unlock(&m);
    thrd_join(t, 0);
    return 0;
}
