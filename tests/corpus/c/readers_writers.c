// expect: holds
#include <assert.h>
#include <pthread.h>
pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
int x, y;
void *reader(void *p) { pthread_rwlock_rdlock(&l); assert(x == y); pthread_rwlock_unlock(&l); return 0; }
void *writer(void *p) { pthread_rwlock_wrlock(&l); x++; y++; pthread_rwlock_unlock(&l); return 0; }

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, reader, 0);
    pthread_create(&b, 0, writer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
