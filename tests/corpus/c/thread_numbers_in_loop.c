// expect: violated assert "kept[0] == kept[1]"
// Threads that a loop creates and joins need not have the same number.
#include <assert.h>
#include <threads.h>

int runs(void *unused) { return 0; }

int main(void) {
    thrd_t kept[2];
    for (int i = 0; i < 2; i++) {
        thrd_create(&kept[i], runs, 0);
        thrd_join(kept[i], 0);
    }
    assert(kept[0] == kept[1]);
    return 0;
}
