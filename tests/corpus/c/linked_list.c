// expect: holds
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
struct node { int value; struct node *next; };
struct node *head;
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

void *append(void *p) {
    for (int i = 0; i < 3; i++) {
        struct node *last = malloc(sizeof(struct node));
        last->value = i;
        last->next = 0;
        __VERIFIER_atomic_begin();
        struct node **end = &head;
        while (*end) end = &(*end)->next;
        *end = last;
        __VERIFIER_atomic_end();
    }
    return 0;
}

void *count(void *p) {
    int seen = 0;
    __VERIFIER_atomic_begin();
    for (struct node *each = head; each; each = each->next) {
        assert(each->value == seen);
        seen++;
    }
    __VERIFIER_atomic_end();
    assert(seen <= 3);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, append, 0);
    pthread_create(&b, 0, count, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
