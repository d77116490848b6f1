// expect: violated memory "leaves the array"
#include <assert.h>
#include <string.h>
const char *names[] = {"ab", "a", 0};
int main(void) {
    char text[5] = "x";
    int length = 0;
    for (const char **p = names; *p; p++) length += strlen(*p);
    assert(length == 3);
    assert(strcmp(names[0], names[1]) > 0 && strncmp(names[0], names[1], 1) == 0);
    strcpy(text, names[0]);
    assert(strchr(text, 'b') == &text[1] && strchr(text, 'z') == 0);
    strcat(text, "cd");
    assert(strcmp(text, "abcd") == 0);
    strcat(text, "e");
    return 0;
}
