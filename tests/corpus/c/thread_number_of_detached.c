// expect: violated assert "thrd_equal"
// A thread may have the number of a detached one that has ended.
#include <assert.h>
#include <threads.h>

thrd_t owner;
_Atomic int owned;

int owns(void *unused) {
    if (owned)
        assert(!thrd_equal(owner, thrd_current()));
    owner = thrd_current();
    owned = 1;
    return 0;
}

int main(void) {
    thrd_t a, b;
    thrd_create(&a, owns, 0);
    thrd_detach(a);
    if (owned) {
        thrd_create(&b, owns, 0);
        thrd_join(b, 0);
    }
    return 0;
}
