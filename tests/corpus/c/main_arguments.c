// expect: violated assert "found"
// A program is started with any number of arguments.
#include <assert.h>
int main(int argc, char **argv) {
    int found = argc != 3;
    assert(found);
    return 0;
}
