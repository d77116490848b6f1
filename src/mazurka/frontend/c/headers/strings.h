#ifndef __MAZURKA_STRINGS
#define __MAZURKA_STRINGS
#include <ctype.h>
#include <string.h>
static int strcasecmp(const char *left, const char *right) {
    while (*left && tolower((unsigned char)*left) == tolower((unsigned char)*right)) left++, right++;
    return tolower((unsigned char)*left) - tolower((unsigned char)*right);
}
#define bzero(object, size) ((void)memset((object), 0, (size)))
#define bcopy(source, target, size) ((void)memmove((target), (source), (size)))
#endif
