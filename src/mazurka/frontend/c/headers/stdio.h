#ifndef __MAZURKA_STDIO
#define __MAZURKA_STDIO
#include <stdarg.h>
#include <stddef.h>
typedef struct __mazurka_file FILE;
extern FILE *stdin, *stdout, *stderr;
#define EOF (-1)
extern int printf(const char *format, ...);
extern int fprintf(FILE *file, const char *format, ...);
extern int vprintf(const char *format, va_list arguments);
extern int vfprintf(FILE *file, const char *format, va_list arguments);
extern int puts(const char *text);
extern int fputs(const char *text, FILE *file);
extern int putchar(int character);
extern int fflush(FILE *file);
extern int sprintf(char *target, const char *format, ...);
extern int snprintf(char *target, size_t size, const char *format, ...);
extern int vsprintf(char *target, const char *format, va_list arguments);
extern int vsnprintf(char *target, size_t size, const char *format, va_list arguments);
extern int putc(int character, FILE *file);
extern int fputc(int character, FILE *file);
extern void setbuf(FILE *file, char *buffer);
extern int setvbuf(FILE *file, char *buffer, int mode, size_t size);
#define _IOFBF 0
#define _IOLBF 1
#define _IONBF 2
#define BUFSIZ 8192
/* What `snprintf` is made of: each function writes a part behind `at` letters. */
static unsigned long __mazurka_print_letter(char *target, unsigned long size, unsigned long at,
                                            int letter) {
    if (at + 1 < size) target[at] = (char)letter;
    return at + 1;
}
static unsigned long __mazurka_print_text(char *target, unsigned long size, unsigned long at,
                                          const char *text, int width) {
    int length = 0, i;
    while (text[length]) length++;
    for (i = length; i < width; i++) at = __mazurka_print_letter(target, size, at, ' ');
    for (i = 0; i < length; i++) at = __mazurka_print_letter(target, size, at, text[i]);
    for (i = length; i < -width; i++) at = __mazurka_print_letter(target, size, at, ' ');
    return at;
}
static unsigned long __mazurka_print_number(char *target, unsigned long size, unsigned long at,
                                            unsigned long number, int negative, int base,
                                            int width, int padding, int letter) {
    unsigned long rest = number, unit = 1;
    int length = 1 + negative, i, digit;
    while (rest >= base) rest /= base, unit *= base, length++;
    if (negative && padding == '0') at = __mazurka_print_letter(target, size, at, '-');
    for (i = length; i < width; i++) at = __mazurka_print_letter(target, size, at, padding);
    if (negative && padding != '0') at = __mazurka_print_letter(target, size, at, '-');
    for (; unit; unit /= base) {
        digit = number / unit % base;
        at = __mazurka_print_letter(target, size, at, digit < 10 ? '0' + digit : letter + digit - 10);
    }
    for (i = length; i < -width; i++) at = __mazurka_print_letter(target, size, at, ' ');
    return at;
}
static int __mazurka_print_end(char *target, unsigned long size, unsigned long at) {
    if (size) target[at < size ? at : size - 1] = 0;
    return at;
}
extern void perror(const char *text);
#endif
