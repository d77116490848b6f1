// expect: violated assert "x == 2"
// A writer may wait too long; until then nobody writes at once.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int x, late;
static void *work(void *unused) {
    struct timespec until = { 1, 0 };
    int old, wrong;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    wrong = pthread_rwlock_timedwrlock(&lock, &until);
    if (!wrong) {
        x++;
        pthread_rwlock_unlock(&lock);
    } else {
        assert(wrong == ETIMEDOUT && old == PTHREAD_CANCEL_ENABLE);
        __sync_fetch_and_add(&late, 1);
    }
    return unused;
}
int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    assert(x + late == 2);
    assert(x == 2);
    return 0;
}
