// expect: holds
// Pauses and fences of processors change nothing.
#include <assert.h>
#include <immintrin.h>
#include <pthread.h>
#define barrier() __asm__ __volatile__("" ::: "memory")
static volatile int taken;
static int count;
static void lock(void) {
    while (__sync_lock_test_and_set(&taken, 1))
        while (taken) asm volatile("pause" ::: "memory");
    barrier();
}
static void unlock(void) {
    _mm_mfence();
    __sync_lock_release(&taken);
}
static void *work(void *unused) {
    lock();
    count++;
    __asm__ volatile("mfence\n" : : : "memory", "cc");
    unlock();
    _mm_pause();
    return unused;
}
int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    assert(count == 2);
    return 0;
}
