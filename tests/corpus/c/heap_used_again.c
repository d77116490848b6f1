// expect: holds
// 40 lists of two nodes need no more objects than one list.
// check: --heap 4
#include <assert.h>
#include <stdlib.h>
struct node { int value; struct node *next; };
int main(void) {
    int sum = 0, round = 0;
    while (round < 40) {
        struct node *head = 0;
        for (int i = 0; i < 2; i++) {
            struct node *new = calloc(1, sizeof *new);
            assert(new->value == 0);
            new->value = i;
            new->next = head;
            head = new;
        }
        while (head) {
            struct node *next = head->next;
            sum += head->value;
            free(head);
            head = next;
        }
        round++;
    }
    assert(sum == 40);
    return 0;
}
