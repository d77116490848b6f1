// expect: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct node { int value; struct node *next; };
_Atomic(struct node *) top;
void push(int value) {
    struct node *fresh = malloc(sizeof(struct node));
    fresh->value = value;
    struct node *old = atomic_load(&top);
    do fresh->next = old; while (!atomic_compare_exchange_strong(&top, &old, fresh));
}

void *first(void *p) { push(1); return 0; }
void *second(void *p) { push(2); return 0; }

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    struct node *n = top;
    assert(n && n->next && !n->next->next && n->value + n->next->value == 3);
    return 0;
}
