// expect: holds
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
struct device { int number; };
struct ring { struct ring *next; int size; } ring = {&ring, 4};
struct data { int before; struct device dev; int after; } d = {1, {2}, 3};
void *use(void *p) {
    struct device *dev = p;
    struct data *all = (struct data *)((char *)dev - offsetof(struct data, dev));
    assert(all->before == 1 && all->after == 3);
    assert(ring.next->next->size == 4);
    return 0;
}
int main(void) { pthread_t t; pthread_create(&t, 0, use, &d.dev); pthread_join(t, 0); return 0; }
