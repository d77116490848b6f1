// expect: holds
// A member that nobody has written is copied, which does no harm.
#include <assert.h>
#include <stdlib.h>
struct pair { int first, second; };
int main(void) {
    struct pair *p = malloc(sizeof(struct pair)), copy;
    p->first = 1;
    copy = *p;
    assert(copy.first == 1);
    return 0;
}
