// expect: violated assert "not the same"
// Variables of calls that have returned leave their addresses to others, of blocks also.
#include <assert.h>

int *saved;

void keeps(void) {
    int here = 1;
    saved = &here;
}

int main(void) {
    keeps();
    {
        int other = 2;
        int *pointer = &other;
        assert(saved != pointer && "not the same");
    }
    return 0;
}
