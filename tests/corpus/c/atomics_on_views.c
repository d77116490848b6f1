// expect: holds
// An atomic operation works on the type that its pointer claims, not on that of the object.
#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
struct pair { int first, second; };
static int number = -1;
static unsigned size = UINT_MAX;
static int64_t wide = -1;
static struct pair both = { 4, 5 };
static void count(void *context) { __atomic_fetch_add((int *)context, 1, __ATOMIC_RELAXED); }
static void *work(void *unused) {
    count(&both);
    return unused;
}
int main(void) {
    pthread_t thread;
    assert(__sync_fetch_and_add((unsigned *)&number, 0) > 0);
    assert(__atomic_load_n((int *)&size, __ATOMIC_SEQ_CST) < 0);
    assert(__sync_val_compare_and_swap((unsigned *)&number, UINT_MAX, 7u) == UINT_MAX);
    assert(__sync_bool_compare_and_swap((unsigned *)&number, 7u, UINT_MAX - 1));
    assert(number == -2);
    unsigned expected = UINT_MAX - 1;
    assert(__atomic_compare_exchange_n((unsigned *)&number, &expected, 9u, 0, 5, 5) && number == 9);
    assert(__sync_fetch_and_add((uint64_t *)&wide, 0) > 0);
    int sum;
    assert(!__builtin_add_overflow(0x7fffffffu, 5u, (unsigned *)&sum) && sum == INT_MIN + 4);
    pthread_create(&thread, 0, work, 0);
    count(&both);
    pthread_join(thread, 0);
    assert(both.first == 6 && __sync_fetch_and_add((int *)&both, 1) == 6);
    return 0;
}
