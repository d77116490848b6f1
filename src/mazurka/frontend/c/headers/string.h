#ifndef __MAZURKA_STRING
#define __MAZURKA_STRING
#include <stddef.h>
extern void *memset(void *object, int value, size_t size);
extern void *memcpy(void *target, const void *source, size_t size);
extern void *memmove(void *target, const void *source, size_t size);
extern int memcmp(const void *left, const void *right, size_t size);
extern char *strcpy(char *target, const char *source);
extern char *strerror(int error);
static size_t strlen(const char *text) {
    size_t length = 0;
    while (text[length]) length++;
    return length;
}
static int strcmp(const char *left, const char *right) {
    while (*left && *left == *right) left++, right++;
    return (unsigned char)*left - (unsigned char)*right;
}
static int strncmp(const char *left, const char *right, size_t size) {
    while (size && *left && *left == *right) left++, right++, size--;
    return size ? (unsigned char)*left - (unsigned char)*right : 0;
}
static char *strchr(const char *text, int letter) {
    while (*text != (char)letter)
        if (!*text++) return 0;
    return (char *)text;
}
static char *strncpy(char *target, const char *source, size_t size) {
    size_t i = 0;
    for (; i < size && source[i]; i++) target[i] = source[i];
    for (; i < size; i++) target[i] = 0;
    return target;
}
static char *strcat(char *target, const char *source) {
    char *end = target;
    while (*end) end++;
    while ((*end++ = *source++));
    return target;
}
static char *__mazurka_strcpy(char *target, const char *source) {
    char *next = target;
    while ((*next++ = *source++));
    return target;
}
#endif
