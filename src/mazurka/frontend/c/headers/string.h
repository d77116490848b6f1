#ifndef __MAZURKA_STRING
#define __MAZURKA_STRING
#include <stddef.h>
#include <__mazurka_elements.h>
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
static int __mazurka_memcmp(const char *left, const char *right, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (left[i] != right[i]) return (unsigned char)left[i] < (unsigned char)right[i] ? -1 : 1;
    return 0;
}
static size_t strspn(const char *text, const char *accepted) {
    size_t length = 0;
    while (text[length] && strchr(accepted, text[length])) length++;
    return length;
}
static size_t strcspn(const char *text, const char *refused) {
    size_t length = 0;
    while (text[length] && !strchr(refused, text[length])) length++;
    return length;
}
static char *strpbrk(const char *text, const char *wanted) {
    text += strcspn(text, wanted);
    return *text ? (char *)text : 0;
}
static char *strtok_r(char *text, const char *between, char **rest) {
    char *word = text ? text : *rest;
    if (!word) return 0;
    word += strspn(word, between);
    if (!*word) return *rest = 0;
    char *end = word + strcspn(word, between);
    if (*end) {
        *end = 0;
        *rest = end + 1;
    } else
        *rest = 0;
    return word;
}
static char *__mazurka_strtok_rest;
static char *strtok(char *text, const char *between) {
    return strtok_r(text, between, &__mazurka_strtok_rest);
}
static size_t strlcpy(char *target, const char *source, size_t size) {
    size_t length = 0;
    for (; source[length]; length++)
        if (length + 1 < size) target[length] = source[length];
    if (size) target[length < size ? length : size - 1] = 0;
    return length;
}
static size_t strlcat(char *target, const char *source, size_t size) {
    size_t length = strnlen(target, size);
    if (length == size) return size + strlen(source);
    return length + strlcpy(target + length, source, size - length);
}
static char *stpcpy(char *target, const char *source) {
    while ((*target = *source)) target++, source++;
    return target;
}
static int strcoll(const char *left, const char *right) { return strcmp(left, right); }
extern void *malloc(size_t size);
static char *strndup(const char *text, size_t size) {
    size_t length = strnlen(text, size);
    char *copy = malloc(length + 1);
    for (size_t i = 0; i < length; i++) copy[i] = text[i];
    copy[length] = 0;
    return copy;
}
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
