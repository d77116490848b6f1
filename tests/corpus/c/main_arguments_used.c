// expect: violated assert "options < 2"
#include <assert.h>
int main(int argc, char **argv) {
    int options = 0;
    assert(argc > 0 && argv[0] && !argv[argc]);
    for (int i = 1; i < argc; i++)
        options += argv[i][0] == '-';
    assert(options < 2);
    return 0;
}
