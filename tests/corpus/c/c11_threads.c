// expect: holds
#include <assert.h>
#include <pthread.h>
#include <threads.h>
mtx_t m;
int x;
int add(void *p) { mtx_lock(&m); x++; mtx_unlock(&m); return 4; }
int main(void) {
    thrd_t a, b;
    int r;
    mtx_init(&m, mtx_plain);
    thrd_create(&a, add, 0);
    thrd_create(&b, add, 0);
    thrd_join(a, &r);
    thrd_join(b, 0);
    assert(x == 2 && r == 4);
    return 0;
}
