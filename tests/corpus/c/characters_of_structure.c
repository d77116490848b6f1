// expect: inconclusive
// Characters of a structure may be reached through a pointer to the whole structure.
#include <assert.h>

struct record {
    char name[2], kind;
} record;

void clear(char *each, int count) {
    while (count-- > 0)
        *each++ = 0;
}

int main(void) {
    clear((char *)&record, sizeof record);
    assert(record.kind == 0);
    return 0;
}
