// expect: holds
// What the memory holds is known only to the callers of functions that allocate.
#include <assert.h>
#include <stdlib.h>
#include <string.h>
struct node { int value; struct node *next; };
static void *allocate(size_t size) {
    void *found = malloc(size);
    if (!found) abort();
    return found;
}
static void *allocate_more(size_t size) { return allocate(size); }
static char *copy(const char *text) { return strcpy(allocate(strlen(text) + 1), text); }
int main(void) {
    struct node *first = allocate(sizeof(struct node));
    struct node *second = (struct node *)allocate_more(sizeof *second);
    *second = (struct node){2, 0};
    *first = (struct node){1, second};
    int sum = 0;
    for (struct node *each = first; each; each = each->next) sum += each->value;
    char *text = copy("abc");
    assert(sum == 3 && strcmp(text, "abc") == 0);
    free(text);
    return 0;
}
