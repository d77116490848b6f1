#ifndef __MAZURKA_STDIO
#define __MAZURKA_STDIO
#include <stddef.h>
typedef struct __mazurka_file FILE;
extern FILE *stdin, *stdout, *stderr;
#define EOF (-1)
extern int printf(const char *format, ...);
extern int fprintf(FILE *file, const char *format, ...);
extern int puts(const char *text);
extern int fputs(const char *text, FILE *file);
extern int putchar(int character);
extern int fflush(FILE *file);
extern void perror(const char *text);
#endif
