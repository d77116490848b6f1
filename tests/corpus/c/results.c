// expect: holds
#include <assert.h>
#include <pthread.h>
void *square(void *p) { long n = (long)p; return (void *)(n * n); }
int main(void) {
    pthread_t t[2];
    long sum = 0;
    for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, square, (void *)(i + 2));
    for (int i = 0; i < 2; i++) { void *r; pthread_join(t[i], &r); sum += (long)r; }
    assert(sum == 13);
    return 0;
}
