#ifndef __MAZURKA_ERR
#define __MAZURKA_ERR
extern void exit(int status) __attribute__((__noreturn__));
extern void warn(const char *format, ...);
extern void warnx(const char *format, ...);
static void err(int status, const char *format, ...) { exit(status); }
static void errx(int status, const char *format, ...) { exit(status); }
#endif
