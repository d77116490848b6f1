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
static char *strncat(char *target, const char *source, size_t size) {
    char *end = target;
    while (*end) end++;
    while (size-- && *source) *end++ = *source++;
    *end = 0;
    return target;
}
static size_t strnlen(const char *text, size_t size) {
    size_t length = 0;
    while (length < size && text[length]) length++;
    return length;
}
static char *strrchr(const char *text, int letter) {
    const char *found = 0;
    do
        if (*text == (char)letter) found = text;
    while (*text++);
    return (char *)found;
}
static char *strstr(const char *text, const char *wanted) {
    for (;; text++) {
        size_t i = 0;
        while (wanted[i] && text[i] == wanted[i]) i++;
        if (!wanted[i]) return (char *)text;
        if (!*text) return 0;
    }
}
static void *memchr(const void *object, int value, size_t size) {
    const unsigned char *byte = object;
    for (; size; size--, byte++)
        if (*byte == (unsigned char)value) return (void *)byte;
    return 0;
}
extern void *malloc(size_t size);
static char *strdup(const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    if (copy)
        for (size_t i = 0; i < size; i++) copy[i] = text[i];
    return copy;
}
static char *__mazurka_strcpy(char *target, const char *source) {
    char *next = target;
    while ((*next++ = *source++));
    return target;
}
#endif
