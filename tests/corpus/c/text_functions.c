// expect: holds
#include <assert.h>
#include <ctype.h>
#include <iso646.h>
#include <malloc.h>
#include <memory.h>
#include <stdalign.h>
#include <stdnoreturn.h>
#include <strings.h>
int main(void) {
    char text[12] = "Ab";
    strncat(text, "cdx", 2);
    assert(strcmp(text, "Abcd") == 0 and strnlen(text, 3) == 3);
    assert(strrchr("abcb", 'b')[1] == 0 && strstr(text, "bc") == text + 1 && not strstr(text, "x"));
    char *copy = strdup(text);
    assert(copy != text && strcasecmp(copy, "aBCD") == 0);
    assert(isalnum('9') && ispunct('!') && !isspace('x') && toupper('q') == 'Q');
    bzero(text, 3);
    assert(!text[2] && text[3] == 'd');
    assert(memchr(copy, 'c', 4) == copy + 2);
    free(copy);
}
