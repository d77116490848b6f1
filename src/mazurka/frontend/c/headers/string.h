#ifndef __MAZURKA_STRING
#define __MAZURKA_STRING
#include <stddef.h>
extern void *memset(void *object, int value, size_t size);
extern void *memcpy(void *target, const void *source, size_t size);
extern void *memmove(void *target, const void *source, size_t size);
extern int memcmp(const void *left, const void *right, size_t size);
extern size_t strlen(const char *text);
extern int strcmp(const char *left, const char *right);
extern int strncmp(const char *left, const char *right, size_t size);
extern char *strcpy(char *target, const char *source);
extern char *strerror(int error);
#endif
