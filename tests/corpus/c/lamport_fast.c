// expect: holds
// check: --property assert
#include <assert.h>
#include <pthread.h>
volatile int x, y;
volatile int flag[2], turn;
int inside;
void *first(void *p) {
    for (;;) {
        flag[0] = 1;
        x = 1;
        if (y != 0) {
            flag[0] = 0;
            while (y != 0) {}
            continue;
        }
        y = 1;
        if (x != 1) {
            flag[0] = 0;
            while (flag[1]) {}
            if (y != 1) continue;
        }
        break;
    }
    inside++;
    assert(inside == 1);
    inside--;
    y = 0;
    flag[0] = 0;
    return 0;
}
void *second(void *p) {
    for (;;) {
        flag[1] = 1;
        x = 2;
        if (y != 0) {
            flag[1] = 0;
            while (y != 0) {}
            continue;
        }
        y = 2;
        if (x != 2) {
            flag[1] = 0;
            while (flag[0]) {}
            if (y != 2) continue;
        }
        break;
    }
    inside++;
    assert(inside == 1);
    inside--;
    y = 0;
    flag[1] = 0;
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
