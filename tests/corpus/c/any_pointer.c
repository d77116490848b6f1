// expect: violated assert "both"
#include <assert.h>
#include <pthread.h>
extern void *__VERIFIER_nondet_pointer(void);
_Bool first, second;
int both;
void *choose(void *unused) {
    first = __VERIFIER_nondet_pointer();
    second = __VERIFIER_nondet_pointer() != 0;
    return __VERIFIER_nondet_pointer();
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, choose, 0);
    pthread_join(thread, 0);
    both = first + 2 * second;
    assert(both != 1 && "both");
    return 0;
}
